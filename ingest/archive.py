"""The archive: sealed segments in a folder, read as one run of entries per partition from its first entry on.

Which segments there are is told by the names of their manifests. A segment is opened, and its signature checked, when
something in it is asked for: one that is lost or altered stops the readers that come to it, and no others.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .entries import StoredEntry
from .errors import LogDamaged
from .segments import Block, Manifest, Segment, SegmentDamaged, SegmentName
from .signatures import Verifier

_BLOCKS_KEPT: Final = 32
"""Inflated blocks that are kept, the last used: some megabytes."""


class Archive:
    """Safe for threads and processes. A folder that is not there yet is an empty archive."""

    def __init__(self, folder: Path, verifier: Verifier) -> None:
        self.folder: Final = folder
        self.verifier: Final = verifier
        self._lock: Final = threading.Lock()
        self._names: dict[int, tuple[int, list[SegmentName]]] = {}
        self._segments: dict[SegmentName, Segment] = {}
        self._blocks: OrderedDict[tuple[SegmentName, int], Block] = OrderedDict()

    def segments(self, partition: int) -> Sequence[SegmentName]:
        """In order, as the folder has them now."""
        folder = self.folder / f"p{partition}"
        try:
            changed = folder.stat().st_mtime_ns
        except FileNotFoundError:
            return ()
        with self._lock:
            known = self._names.get(partition)
            if known is None or known[0] != changed:
                known = changed, self._listed(partition, folder)
                self._names[partition] = known
            return known[1]

    def last(self, partition: int) -> int:
        """Sequence number of the last entry that was sealed, 0 if none."""
        names = self.segments(partition)
        return names[-1].last if names else 0

    def segment(self, name: SegmentName) -> Segment:
        """Raises SegmentDamaged."""
        with self._lock:
            known = self._segments.get(name)
        if known is None:
            known = Segment(self.folder, Manifest.read(self.folder, name, self.verifier))
            with self._lock:
                self._segments[name] = known
        return known

    def run(self, partition: int, *, after: int, limit: int) -> list[StoredEntry]:
        """Entries with seq > `after` in a row; none where `after` is at or behind the last that was sealed.

        What stands before a lost or altered segment is returned; SegmentDamaged where the very first is not there.
        """
        entries: list[StoredEntry] = []
        last = self.last(partition)
        try:
            while after < last and len(entries) < limit:
                name = self._holding(partition, after + 1)
                segment = self.segment(name)
                number = segment.block_of(after + 1)
                _, end = segment.span(number)
                block = self._block(segment, number)
                for seq in range(after + 1, min(end, after + limit - len(entries)) + 1):
                    entries.append(block.entry(partition, seq))
                    after = seq
        except LogDamaged:
            if not entries:
                raise
        return entries

    def at(self, partition: int, seq: int) -> StoredEntry:
        """Raises SegmentDamaged where it was sealed and is not there."""
        segment = self.segment(self._holding(partition, seq))
        return self._block(segment, segment.block_of(seq)).entry(partition, seq)

    def _holding(self, partition: int, seq: int) -> SegmentName:
        names = self.segments(partition)
        at = bisect_right(names, seq, key=lambda name: name.first) - 1
        if at >= 0 and seq <= names[at].last:
            return names[at]
        first = names[at].last + 1 if at >= 0 else 1
        until = f" to {names[at + 1].first - 1}" if at + 1 < len(names) else ""
        raise SegmentDamaged(
            f"the archive {self.folder} has no segment with entries {first}{until} of partition {partition}: "
            "a segment was lost",
            partition=partition,
            first=first,
        )

    def _block(self, segment: Segment, number: int) -> Block:
        key = segment.name, number
        with self._lock:
            known = self._blocks.get(key)
            if known is not None:
                self._blocks.move_to_end(key)
                return known
        found = segment.block(number)
        with self._lock:
            self._blocks[key] = found
            while len(self._blocks) > _BLOCKS_KEPT:
                self._blocks.popitem(last=False)
        return found

    @staticmethod
    def _listed(partition: int, folder: Path) -> list[SegmentName]:
        names: list[SegmentName] = []
        for path in folder.glob("*.json"):
            try:
                names.append(SegmentName.parse(partition, path.stem))
            except ValueError:
                continue  # not ours
        return sorted(names)
