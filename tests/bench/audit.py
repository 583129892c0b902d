"""Sealing and verifying a log: bytes an event takes where, what sealing leaves in the server, entries a second.

    python -m tests.bench.audit [--events 200000] [--length 40]

Raw messages alone (a derived event is larger). A server and an archive of its own in a folder that is removed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.envelope import NewEvent
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from taishi.ingest.sealing import Sealing
from taishi.ingest.signatures import Signer
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.verification import PartitionAudit, Remembered, Verdict
from tests.support.valkey_server import ValkeyServer

NAMESPACES = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--length", type=int, default=40, help="characters of a message")
    parser.add_argument("--keep", type=int, default=1_000, help="entries of a partition that stay")
    given = parser.parse_args()
    server = ValkeyServer("--hash-max-listpack-entries", "1024", "--stream-node-max-entries", "0").start()
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(json.dumps(measure(server, Path(folder), given.events, given.length, given.keep), indent=1))
        finally:
            server.stop()


def measure(server: ValkeyServer, folder: Path, events: int, length: int, keep: int) -> dict[str, object]:
    keys = SqlAlchemyKeyStore(f"sqlite:///{folder}/keys.db")
    signer = Signer.of(keys)
    log = ArchivedLog(server.url, keys=keys, archive=Archive(folder / "archive", signer))
    with server.client() as client:
        empty = client.info("memory")["used_memory"]
        text = "住在城里的人今天说了些什么我们都记下来了" * (length // 20 + 1)
        for start in range(0, events, 100):
            space = f"user {start // 100 % NAMESPACES}"
            batch = [
                NewEvent(event_id=new_id(), type="message.recorded", namespace=space, session="s1",
                         body={"text": f"{start + i} {text}"[:length]})
                for i in range(100)
            ]  # fmt: skip
            log.append(Batch(events=batch))
        full = client.info("memory")["used_memory"] - empty
        streams = sum(log.stream.bytes_held(p) for p in range(4))
        told: dict[str, object] = {
            "events": events, "valkey_bytes_per_event": round(full / events),
            "streams_share": round(streams / full, 3), "verified_from_stream_per_s": rate(log, events),
            "verified_with_checkpoints_per_s": rate(log, events, remembered=checkpoints(log)),
        }  # fmt: skip
        begun, cpu = time.monotonic(), time.process_time()
        Sealing(log, signer, needed=lambda _: 2**62, keep=keep).run()
        told["sealed_per_s"] = round(events / (time.monotonic() - begun))
        told["sealed_per_cpu_s"] = round(events / (time.process_time() - cpu))
        sealed = sum(path.stat().st_size for path in (folder / "archive").rglob("*.seg"))
        left = client.info("memory")["used_memory"] - empty
        told |= {
            "segment_bytes_per_event": round(sealed / (events - 4 * keep)), "valkey_bytes_left": round(left / full, 3),
            "verified_from_segments_per_s": rate(log, events),
            "verified_per_cpu_s": rate(log, events, clock=time.process_time),
        }  # fmt: skip
    begun, count = time.monotonic(), 0
    for partition in range(4):
        while run := log.read(partition, after=count, limit=500):
            count = run[-1].position.seq
        count = 0
    told["read_and_opened_per_s"] = round(events / (time.monotonic() - begun))
    log.close()
    keys.close()
    return told


def rate(
    log: ArchivedLog,
    events: int,
    clock: Callable[[], float] = time.monotonic,
    remembered: Sequence[Remembered] = (),
) -> int:
    """Where nobody remembers anything, what the index of event ids says of each entry is asked, too."""
    begun = clock()
    for verdict in verdicts(log, remembered):
        assert not verdict.flaws
    return round(events / (clock() - begun))


def verdicts(log: ArchivedLog, remembered: Sequence[Remembered] = ()) -> Iterator[Verdict]:
    for partition in range(4):
        archive = Archive(log.archive.folder, log.archive.verifier)
        head = log.stream.head(partition)
        yield PartitionAudit(partition, archive=archive, stream=log.stream, head=head, remembered=remembered).run()


def checkpoints(log: ArchivedLog) -> list[Remembered]:
    """As read models have them that have read all."""
    return [
        Remembered(name="read", partition=v.partition, seq=v.head, chain=bytes.fromhex(v.chain or ""))
        for v in verdicts(log)
    ]


if __name__ == "__main__":
    main()
