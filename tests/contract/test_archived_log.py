"""The log over an archive: the contract with segments sealed all the time, and what is its own: seams, loss, damage."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.envelope import Position
from taishi.ingest.errors import Conflict, LogDamaged, Unavailable
from taishi.ingest.keys import KeyStore
from taishi.ingest.log import Appended, Batch
from taishi.ingest.sealing import Outcome, Sealer, Sealing
from taishi.ingest.segments import SegmentDamaged
from taishi.ingest.signatures import Signer
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from tests.contract.event_log import EventLogContract, message
from tests.support.valkey_server import ValkeyServer


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[SqlAlchemyKeyStore]:
    store = SqlAlchemyKeyStore(f"sqlite:///{tmp_path}/keys/keys.db")
    yield store
    store.close()


class EagerLog(ArchivedLog):
    """After every other exchange all but the last entry of each partition is sealed and trimmed."""

    signer: Signer
    sealing: threading.Lock
    exchanges = 0

    def append_many(self, batches: Sequence[Batch]) -> list[Appended | Exception]:
        outcomes = super().append_many(batches)
        with self.sealing:
            self.exchanges += 1
            if self.exchanges % 2:
                written = {self.partition_of(b.namespace) for b, o in zip(batches, outcomes) if type(o) is Appended}
                for partition in written:
                    self._seal(partition)
        return outcomes

    def _seal(self, partition: int) -> None:
        upto = self.head(partition) - 1
        if upto > self.archive.last(partition):
            last = Sealer(self.archive, self.stored, self.signer).seal(partition, upto=upto).last
            self.stream.drop(partition, upto=last)


class TestSealedAllTheTime(EventLogContract):
    @pytest.fixture
    def log(self, valkey: ValkeyServer, keys: KeyStore, tmp_path: Path) -> Iterator[ArchivedLog]:
        signer = Signer.of(keys)
        opened = EagerLog(valkey.url, keys=keys, archive=Archive(tmp_path / "archive", signer))
        opened.signer, opened.sealing = signer, threading.Lock()
        yield opened
        opened.close()


@pytest.fixture
def archive(tmp_path: Path, keys: KeyStore) -> Archive:
    return Archive(tmp_path / "archive", Signer.of(keys))


@pytest.fixture
def log(valkey: ValkeyServer, keys: KeyStore, archive: Archive) -> Iterator[ArchivedLog]:
    opened = ArchivedLog(valkey.url, keys=keys, archive=archive, partitions=1)
    yield opened
    opened.close()


def sealing(log: ArchivedLog, keys: KeyStore, *, needed: int = 2**62, keep: int = 0, most: int = 10) -> Sealing:
    return Sealing(log, Signer.of(keys), needed=lambda _: needed, keep=keep, most=most)


def fill(log: ArchivedLog, count: int = 35) -> list[str]:
    texts = [f"said {i}" for i in range(count)]
    log.append(Batch(events=[message(text) for text in texts]))
    return texts


def texts_of(log: ArchivedLog, *, limit: int = 500) -> list[str]:
    found: list[str] = []
    after = 0
    while events := log.read(0, after=after, limit=limit):
        found += [e.body["text"] for e in events if e.type == "message.recorded" and e.body]
        after = events[-1].position.seq
    return found


def test_sealing_moves_what_is_old_and_tells_of_it(log: ArchivedLog, keys: KeyStore, archive: Archive) -> None:
    texts = fill(log)
    before = log.read(0, after=0)
    (outcome,) = sealing(log, keys, keep=5).run()
    assert [(m.first, m.last) for m in outcome.segments] == [(1, 10), (11, 20), (21, 30)]
    assert outcome.trimmed == outcome.sealed == 30
    assert log.stream.first(0) == 31
    for limit in (1, 7, 500):
        assert texts_of(log, limit=limit) == texts
    assert log.read(0, after=0, limit=35) == before
    told = [e for e in log.read(0, after=35) if e.type == "log.sealed"]
    assert [(e.facts["first"], e.facts["last"]) for e in told] == [(1, 10), (11, 20), (21, 30)]
    assert told[0].facts["chain_after"] == told[1].facts["chain_before"]
    assert log.fetch(Position(0, 3)) == before[2]


def test_a_second_run_goes_on_where_the_first_ended(log: ArchivedLog, keys: KeyStore) -> None:
    fill(log, 12)
    sealing(log, keys, keep=2).run()
    fill(log, 10)
    (outcome,) = sealing(log, keys, keep=2).run()
    assert [(m.first, m.last) for m in outcome.segments] == [(11, 20), (21, 21)]
    assert sealing(log, keys, keep=5).run() == [Outcome(partition=0)]


def test_what_a_live_reader_needs_stays_in_the_server(log: ArchivedLog, keys: KeyStore) -> None:
    texts = fill(log)
    (outcome,) = sealing(log, keys, needed=4).run()
    assert (outcome.sealed, outcome.trimmed, log.stream.first(0)) == (35, 4, 5)
    assert texts_of(log) == texts


def test_a_retry_of_what_was_sealed_is_a_duplicate(log: ArchivedLog, keys: KeyStore) -> None:
    batch = Batch(events=[message("once"), message("twice")])
    log.append(batch)
    sealing(log, keys).run()
    assert log.stream.first(0) == 3
    assert all(r.duplicate for r in log.append(batch).recorded)
    with pytest.raises(Conflict):
        log.append(Batch(events=[message("other", event_id=batch.events[0].event_id)]))


def test_only_one_process_seals(log: ArchivedLog, keys: KeyStore) -> None:
    fill(log)
    first = sealing(log, keys)
    with first._alone(), pytest.raises(Unavailable):
        sealing(log, keys).run()


def test_a_server_that_was_emptied_is_refused(log: ArchivedLog, keys: KeyStore, valkey: ValkeyServer) -> None:
    fill(log)
    sealing(log, keys).run()
    with valkey.client() as client:
        client.flushall()
    fresh = ArchivedLog(valkey.url, keys=keys, archive=log.archive, partitions=1)
    for attempt in (
        lambda: fresh.append(Batch(events=[message()])),
        lambda: log.read(0, after=0),
        lambda: log.head(0),
    ):
        with pytest.raises(LogDamaged):
            attempt()


# -- loss and damage: named, and nothing goes on past it


@pytest.fixture
def sealed(log: ArchivedLog, keys: KeyStore) -> ArchivedLog:
    fill(log)
    sealing(log, keys).run()
    return log


@pytest.mark.parametrize("suffix", ["seg", "json"])
@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_lost_segment_is_named(sealed: ArchivedLog, keys: KeyStore, number: int, suffix: str) -> None:
    name = sealed.archive.segments(0)[number]
    (sealed.archive.folder / f"{name}.{suffix}").unlink()
    fresh = Archive(sealed.archive.folder, sealed.archive.verifier)
    sealed._stored.archive = fresh  # type: ignore[attr-defined]
    found = sealed.read(0, after=0) if number else []
    assert [e.position.seq for e in found] == list(range(1, name.first))
    with pytest.raises(LogDamaged) as damage:
        sealed.read(0, after=name.first - 1)
    assert str(name) in damage.value.message or str(name.first) in damage.value.message
    if number < 3:
        assert sealed.read(0, after=name.last)[0].position.seq == name.last + 1, "what lies behind can be asked for"


@pytest.mark.parametrize("place", [0.3, 0.6, 0.99])
def test_a_flipped_bit_in_a_segment_is_named(sealed: ArchivedLog, place: float) -> None:
    name = sealed.archive.segments(0)[1]
    path = name.path(sealed.archive.folder)
    data = bytearray(path.read_bytes())
    data[int(len(data) * place)] ^= 1
    path.write_bytes(data)
    sealed._stored.archive = Archive(sealed.archive.folder, sealed.archive.verifier)  # type: ignore[attr-defined]
    assert [e.position.seq for e in sealed.read(0, after=0)] == list(range(1, 11))
    with pytest.raises(SegmentDamaged, match=str(path)):
        sealed.read(0, after=10)
    with pytest.raises(SegmentDamaged, match=str(path)):
        sealed.fetch(Position(0, 12))


def test_a_manifest_of_another_hand_is_named(sealed: ArchivedLog) -> None:
    name = sealed.archive.segments(0)[0]
    path = name.manifest_path(sealed.archive.folder)
    path.write_text(path.read_text().replace('"appended_to": 1', '"appended_to": 2'))
    with pytest.raises(SegmentDamaged, match="signature"):
        Archive(sealed.archive.folder, sealed.archive.verifier).run(0, after=0, limit=5)
    with pytest.raises(SegmentDamaged, match="signature"):
        Archive(sealed.archive.folder, Signer(b"x" * 32)).run(0, after=12, limit=5)
