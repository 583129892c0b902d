"""What stands beside a log that was put back: the segments and the ledger that it speaks of itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.durable_files import sync
from taishi.ingest.envelope import FORGETTING_TYPES
from taishi.ingest.keys import KeyStore
from taishi.ingest.ledger import Ledger, LedgerEntry
from taishi.ingest.sealing import Sealer
from taishi.ingest.signatures import Signer

_READ: Final = 1_000


def seal_again(log: ArchivedLog, keys: KeyStore, ends: Sequence[Sequence[int]]) -> None:
    """The segments that the log says were sealed; `ends` are, by partition, their last entries. The server drops
    theirs when it next seals."""
    sealer = Sealer(log.archive, log.stored, Signer.of(keys))
    log.stream.sync()
    for partition, lasts in enumerate(ends):
        for last in sorted(lasts):
            if log.archive.last(partition) < last:
                sealer.seal(partition, upto=last)


def write_ledger(log: ArchivedLog, keys: KeyStore, path: Path) -> None:
    """A ledger of this log's own tombstones: places of a time that was lost would stand in the way of new ones."""
    fresh = path.with_name(path.name + ".restoring")
    fresh.unlink(missing_ok=True)
    ledger = Ledger(fresh, keys.secret("ledger"))
    ledger.append()
    for partition in range(log.partitions):
        place, head = 0, log.head(partition)
        while place < head:
            entries = log.stored.run(partition, after=place, limit=_READ).entries
            ledger.append(
                *(
                    LedgerEntry.of_facts(
                        entry.header["f"], namespace=entry.header["n"], position=entry.position, at=entry.recorded_at
                    )
                    for entry in entries
                    if entry.header["y"] in FORGETTING_TYPES
                )
            )
            place = entries[-1].position.seq
    os.replace(fresh, path)
    sync(path.parent)
