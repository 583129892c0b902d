"""The event log whose older entries lie in an archive: sealed segments and the server's tail, read as one.

An entry may be in both for a while (sealed, not yet trimmed): the stream is asked first. Where it does not begin early
enough, segments supply what is missing, and what they supply must join the stream without a gap. A server that holds
less than was sealed from it (restored from an older copy, or emptied) is refused before anything is written to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from .archive import Archive
from .entries import StoredEntry
from .errors import LogDamaged
from .keys import KeyStore
from .stored_entries import Run
from .valkey_log import ValkeyLog
from .valkey_server import behind_archive
from .valkey_stream import EntryMissing, ValkeyStream


class ArchivedEntries:
    """`StoredEntries` adapter over both. Safe for threads and across fork."""

    def __init__(self, archive: Archive, stream: ValkeyStream, *, partitions: int) -> None:
        self.archive: Final = archive
        self.stream: Final = stream
        self._begins: Final = [1] * partitions  # what lies before was found to be in the archive alone

    def run(self, partition: int, *, after: int, limit: int) -> Run:
        if after + 1 >= self._begins[partition]:
            try:
                return self._checked(partition, self.stream.run(partition, after=after, limit=limit))
            except EntryMissing as missing:
                sealed = self._sealed(partition, after, limit, missing)
        else:
            sealed = self.archive.run(partition, after=after, limit=limit)
        last = self.archive.last(partition)
        if len(sealed) == limit or (sealed and sealed[-1].position.seq < last):
            return Run(head=last, entries=sealed)
        if sealed:
            after = sealed[-1].position.seq
        try:
            rest = self._checked(partition, self.stream.run(partition, after=after, limit=limit - len(sealed)))
        except LogDamaged:
            if not sealed:
                raise
            return Run(head=last, entries=sealed)
        return Run(head=rest.head, entries=[*sealed, *rest.entries])

    def at(self, partition: int, seqs: Sequence[int]) -> list[StoredEntry]:
        found: list[StoredEntry] = []
        for seq in seqs:
            try:
                found += self.stream.at(partition, [seq])
            except EntryMissing as missing:
                if seq > self.archive.last(partition):
                    raise self._lost(partition, seq) from missing
                found.append(self.archive.at(partition, seq))
        return found

    def _sealed(self, partition: int, after: int, limit: int, missing: EntryMissing) -> list[StoredEntry]:
        """What the archive has of what the stream has not."""
        sealed = self.archive.run(partition, after=after, limit=limit)
        if not sealed:
            raise self._lost(partition, missing.seq) from missing
        first = self.stream.first(partition)
        if first is not None and after + 1 < first:
            self._begins[partition] = max(self._begins[partition], min(first, self.archive.last(partition) + 1))
        return sealed

    def _checked(self, partition: int, run: Run) -> Run:
        if run.head < (last := self.archive.last(partition)):
            raise behind_archive(partition, run.head, last)
        return run

    def _lost(self, partition: int, seq: int) -> LogDamaged:
        return LogDamaged(
            f"entry {seq} of partition {partition} is in neither the server's stream nor the archive "
            f"{self.archive.folder}: entries were removed, or a segment was lost"
        )


class ArchivedLog(ValkeyLog):
    """`EventLog` adapter: a ValkeyLog that reads through the archive."""

    def __init__(
        self,
        url: str,
        *,
        archive: Archive,
        keys: KeyStore,
        partitions: int = 4,
        encryption: Literal["on", "off"] = "on",
        durability: Literal["everysec", "always"] = "everysec",
    ) -> None:
        super().__init__(
            url, keys=keys, partitions=partitions, encryption=encryption, durability=durability, floor=archive.last
        )
        self.archive: Final = archive
        self._stored = ArchivedEntries(archive, self.stream, partitions=partitions)

    def head(self, partition: int) -> int:
        head = super().head(partition)
        if head < (last := self.archive.last(partition)):
            raise behind_archive(partition, head, last)
        return head

    def wait(self, after: dict[int, int], *, seconds: float) -> bool:
        if any(seq < self.archive.last(partition) for partition, seq in after.items()):
            return True  # and perhaps in no stream any more
        return super().wait(after, seconds=seconds)
