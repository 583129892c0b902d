"""Whether the log that stands in a home may be served: not behind a newer ledger."""

from __future__ import annotations

from taishi.ingest.entries import StoredEntry
from taishi.ingest.errors import RestoreRefused
from taishi.ingest.ledger import Ledger

from ..event_log import opened_log
from ..settings import Settings
from .tombstones import holds


def refuse_behind_ledger(settings: Settings) -> None:
    """Raises RestoreRefused where the ledger's newest tombstone of a partition is not in the log: an older log was put
    in place of the one that things were forgotten from. LogDamaged where the ledger was altered."""
    with opened_log(settings) as (log, keys):
        newest = {entry.partition: entry for entry in Ledger(settings.ledger, keys.secret("ledger")).entries()}
        for partition, entry in newest.items():

            def at(partition: int, seq: int) -> StoredEntry | None:
                return log.stored.at(partition, [seq])[0] if seq <= log.head(partition) else None

            if partition >= log.partitions or not holds(entry, at):
                raise RestoreRefused(
                    f"the ledger {settings.ledger} names a tombstone at p{partition}:{entry.seq} that the log does not "
                    "have: the log is older than what was forgotten; restore it with `taishi restore`, which forgets "
                    "that again"
                )
