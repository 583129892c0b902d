"""Verifying a partition of the log: every entry is there, is what was appended, and stands where it was appended.

Segments and stream are walked from the first entry to the head, without opening a body. What each entry must be is told
by its digest; what the sequence must be, by the hash chain, compared wherever somebody remembers its value: manifests,
checkpoints of read models, exported heads. An entry that does not fit is named; where only a stretch is known to be
wrong, the log's index of event ids tells which entry of it stands elsewhere than it was appended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from .archive import Archive
from .chain import GENESIS
from .entries import StoredEntry
from .envelope import Position
from .errors import LogDamaged
from .segments import Manifest, SegmentDamaged, SegmentName, chained
from .valkey_stream import EntryMissing, ValkeyStream

BATCH: Final = 2_000
_TOLD_EVERY: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What somebody (`name`) remembers of a partition: the chain's value after entry `seq`, and that entry's digest.

    None where it remembers only the other. `seq` is at least 1.
    """

    name: str
    partition: int
    seq: int
    chain: bytes | None = None
    digest: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Something that is wrong. `position` is the first entry concerned; `where` the file, stream or checkpoint."""

    position: Position
    where: str
    what: str

    def to_json(self) -> dict[str, str]:
        return {"position": str(self.position), "where": self.where, "what": self.what}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`entries` were read, `sealed` of them from segments. `chain` is the value after the last entry, where it could be
    followed to the end. `flaws` are in the order of their positions."""

    partition: int
    entries: int
    sealed: int
    head: int
    chain: str | None
    compared: int
    flaws: tuple[Flaw, ...]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "partition": f"p{self.partition}", "flaws": [flaw.to_json() for flaw in self.flaws]}


class PartitionAudit:
    """One walk over one partition. `remembered` may be in any order, and of other partitions too."""

    def __init__(
        self,
        partition: int,
        *,
        archive: Archive,
        stream: ValkeyStream,
        head: int,
        remembered: Sequence[Remembered] = (),
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._partition: Final = partition
        self._archive: Final = archive
        self._stream: Final = stream
        self._head: Final = head
        self._remembered: Final = _by_seq(remembered, partition)
        self._progress: Final = progress
        self._flaws: list[Flaw] = []
        self._chain: bytes | None = GENESIS
        self._seq = 0
        self._appended_at = 0
        self._entries = self._sealed = self._compared = 0
        self._sound = 0  # up to here the sequence is known to be what it was
        self._vouched = max((seq for seq, those in self._remembered.items() if any(k.chain for k in those)), default=0)
        self._strayed: Flaw | None = None  # behind what anybody vouches for
        self._doubted: list[tuple[int, int, Remembered]] = []
        self._told: dict[str, int] = {}
        self._source = ""  # the segment that is being walked

    def run(self) -> Verdict:
        """Raises Unavailable."""
        begins = self._stream.first(self._partition)
        overlap = self._walk_segments(begins)
        if begins is not None and begins <= self._seq:
            self._seq, self._chain, self._appended_at = begins - 1, overlap, 0
        self._walk_stream()
        self._close()
        return Verdict(
            partition=self._partition,
            entries=self._entries,
            sealed=self._sealed,
            head=self._head,
            chain=None if self._chain is None else self._chain.hex(),
            compared=self._compared,
            flaws=tuple(sorted(dict.fromkeys(self._flaws), key=lambda flaw: flaw.position)),
        )

    # segments

    def _walk_segments(self, begins: int | None) -> bytes | None:
        """The chain's value before the stream's first entry, where that lies within the segments."""
        overlap: bytes | None = None
        for name in self._archive.segments(self._partition):
            if name.first != self._seq + 1:
                self._gap(self._seq + 1, name.first - 1, str(self._archive.folder), "a segment was lost")
                self._chain = None
            self._seq, self._source = name.first - 1, str(name)
            try:
                manifest = Manifest.read(self._archive.folder, name, self._archive.verifier)
                before = bytes.fromhex(manifest.chain_before)
                if self._chain is not None and self._chain != before:
                    self._flaw(name.first, str(name), "it does not follow what is before it: the chain is another")
                self._chain = before
                overlap = self._walk_segment(name, begins) or overlap
                if self._chain != bytes.fromhex(manifest.chain_after):
                    self._flaw(name.first, str(name), "its entries do not make the chain that its manifest tells")
                    self._chain = bytes.fromhex(manifest.chain_after)
                self._sound = name.last
            except SegmentDamaged as damage:
                self._flaw(damage.first, str(name), damage.message)
                self._chain = None
            except LogDamaged as damage:
                self._flaw(self._seq + 1, str(name), damage.message)
                self._chain = None
            self._seq = name.last
        self._source = ""
        return overlap

    def _walk_segment(self, name: SegmentName, begins: int | None) -> bytes | None:
        overlap = self._chain if begins == name.first else None
        segment = self._archive.segment(name)
        for entry in segment.entries():
            self._step(entry)
            if begins == self._seq + 1:
                overlap = self._chain
            self._sealed += 1
        segment.check_whole()
        return overlap

    # stream

    def _walk_stream(self) -> None:
        where = f"stream of p{self._partition}"
        while self._seq < self._head:
            try:
                run = self._stream.run(self._partition, after=self._seq, limit=BATCH)
            except EntryMissing as missing:
                following = self._stream.following(self._partition, missing.seq)
                until = self._head if following is None else following - 1
                self._gap(missing.seq, until, where, "removed from the stream, or trimmed and not sealed")
                self._skip_to(until)
                continue
            except LogDamaged as damage:
                self._flaw(self._seq + 1, where, damage.message)
                self._skip_to(self._seq + 1)
                continue
            for entry in run.entries:
                self._step(entry)
            self._check_places(run.entries)

    def _check_places(self, entries: Sequence[StoredEntry]) -> None:
        """Of those that no later chain value vouches for, while they are at hand."""
        begin = max(self._vouched, self._archive.last(self._partition)) + 1
        unvouched = [entry for entry in entries if entry.position.seq >= begin]
        if unvouched and self._strayed is None:
            self._strayed = self._stray(unvouched)

    def _skip_to(self, seq: int) -> None:
        self._seq, self._chain = seq, None
        self._compare(None)

    # entries

    def _step(self, entry: StoredEntry) -> None:
        seq = entry.position.seq
        if entry.appended_at <= self._appended_at:
            self._flaw(seq, self._where(), "it was appended before the entry that stands before it: reordered")
        self._appended_at = entry.appended_at
        if self._chain is not None:
            self._chain = chained(self._chain, entry)
        self._seq = seq
        self._entries += 1
        if seq in self._remembered:
            self._compare(entry)
        if entry.header["y"] == "log.sealed":
            self._told[entry.header["f"]["segment"]] = seq
        if self._entries % _TOLD_EVERY == 0:
            self._progress(_TOLD_EVERY)

    def _compare(self, entry: StoredEntry | None) -> None:
        """With what is remembered of the place just reached; `entry` None where it is missing."""
        for known in self._remembered.get(self._seq, ()):
            self._compared += 1
            if entry is not None and known.digest is not None and known.digest != entry.digest:
                self._flaw(self._seq, known.name, "the entry here has another digest than was read: one was altered")
                continue
            if known.chain is None:
                continue
            if self._chain is None:
                self._chain = known.chain
            elif self._chain == known.chain:
                self._sound = self._seq
            else:
                self._doubted.append((self._sound + 1, self._seq, known))

    # what does not fit

    def _close(self) -> None:
        self._progress(self._entries % _TOLD_EVERY)
        for seq, those in self._remembered.items():
            for known in those if seq > self._head else ():
                self._flaw(self._head + 1, known.name, f"it has read to {seq}, the log ends at {self._head}")
        here = {str(name) for name in self._archive.segments(self._partition)}
        for segment in self._told.keys() - here:
            first = SegmentName.parse(self._partition, segment.partition("/")[2]).first
            self._flaw(first, str(self._archive.folder), f"the segment {segment} was sealed and is not there")
        if self._flaws:
            begin = min(flaw.position.seq for flaw in self._flaws)
        else:
            begin = self._head + 1
        for first, last, known in self._doubted:
            if self._sound >= last:
                self._flaw(last, known.name, "its chain value is not the log's, which later ones confirm: altered")
                continue
            if begin <= last:
                continue  # follows from what is wrong there
            if not self._misplaced(first, last):
                self._flaw(
                    first, known.name, f"its chain value is not that of the log: it, or an entry to {last}, was altered"
                )
            begin = min(begin, first)
        if not self._doubted and self._sound < self._head:
            if not self._misplaced(self._sound + 1, min(self._vouched, self._head)) and self._strayed is not None:
                self._flaws.append(self._strayed)

    def _misplaced(self, first: int, last: int) -> bool:
        """Whether the index of event ids places an entry of the stretch elsewhere; the first such is named."""
        after = max(first, self._stream.first(self._partition) or 1, self._archive.last(self._partition) + 1) - 1
        while after < last:
            try:
                entries = self._stream.run(self._partition, after=after, limit=min(BATCH, last - after)).entries
            except LogDamaged:  # named already
                following = self._stream.following(self._partition, after + 1)
                after = last if following is None else following - 1
                continue
            if (stray := self._stray(entries)) is not None:
                self._flaws.append(stray)
                return True
            after = entries[-1].position.seq
        return False

    def _stray(self, entries: Sequence[StoredEntry]) -> Flaw | None:
        """The first whose event the index of event ids places elsewhere."""
        for entry, seq in zip(entries, self._stream.placed(self._partition, entries), strict=True):
            if seq != entry.position.seq:
                there = f"at {Position(self._partition, seq)}" if seq else "nowhere"
                what = f"its event was appended {there}: reordered, or put there by others"
                return Flaw(position=entry.position, where=self._where(), what=what)
        return None

    def _gap(self, first: int, last: int, where: str, why: str) -> None:
        missing = f"entry {first} is" if first == last else f"entries {first} to {last} are"
        self._flaw(first, where, f"{missing} missing: {why}")

    def _where(self) -> str:
        return self._source or f"stream of p{self._partition}"

    def _flaw(self, seq: int, where: str, what: str) -> None:
        self._flaws.append(Flaw(position=Position(self._partition, seq), where=where, what=what))


def _by_seq(remembered: Sequence[Remembered], partition: int) -> Mapping[int, list[Remembered]]:
    found: dict[int, list[Remembered]] = {}
    for known in remembered:
        if known.partition == partition and known.seq > 0:
            found.setdefault(known.seq, []).append(known)
    return dict(sorted(found.items()))
