"""Sealing: what is old leaves the server for segment files, and stays readable.

A segment is written beside its place, synced, renamed, its folder synced, and read again before it counts; its manifest
follows in the same way and makes it one. A `log.sealed` event then tells of it in its own partition, and only then is
the stream trimmed. A process may die anywhere in between: what is half made is made again, what is sealed and not told
is told, what is told and not trimmed is trimmed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final

from .archive import Archive
from .archived_log import ArchivedLog
from .chain import GENESIS
from .crashpoints import reach
from .durable_files import sync
from .envelope import NewEvent
from .errors import LogDamaged, Unavailable
from .log import Batch
from .partitions import system_namespace
from .segment_writer import SegmentWriter
from .segments import Manifest, Segment, chained
from .signatures import Signer
from .stored_entries import StoredEntries
from .system_events import system_event, system_event_id

TYPE: Final = "log.sealed"
SEGMENT_ENTRIES: Final = 50_000
SEGMENT_BYTES: Final = 64 * 1024 * 1024
"""A segment is ended when it holds so many entries, or headers and bodies of so many bytes."""
_READ: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was done in one partition: the segments that were made, and how many entries left the server."""

    partition: int
    segments: tuple[Manifest, ...] = ()
    trimmed: int = 0

    @property
    def sealed(self) -> int:
        return sum(manifest.last - manifest.first + 1 for manifest in self.segments)


class Sealer:
    """Makes segments, each from where the last one ends."""

    def __init__(self, archive: Archive, stored: StoredEntries, signer: Signer) -> None:
        self._archive: Final = archive
        self._folder: Final = archive.folder
        self._stored: Final = stored
        self._signer: Final = signer

    def seal(self, partition: int, *, upto: int) -> Manifest:
        """Seals what follows the last segment, to `upto` or until the segment is full.

        What is sealed must be safe in the server: an entry that a power cut may still take back is not to be here.
        """
        folder = self._folder / f"p{partition}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        after = self._archive.last(partition)
        fresh = folder / "segment.tmp"
        with fresh.open("wb") as file:
            writer = SegmentWriter(file, chain=self._chain(partition))
            while after < upto and writer.raw_bytes < SEGMENT_BYTES:
                run = self._stored.run(partition, after=after, limit=min(_READ, upto - after))
                for entry in run.entries:
                    writer.add(entry)
                after = run.entries[-1].position.seq
            manifest = writer.finish()
            _sync(file)
        os.replace(fresh, manifest.name.path(self._folder))
        sync(folder)
        reach("segment_written")
        self._check(manifest)
        fresh = folder / "manifest.tmp"
        with fresh.open("wb") as file:
            file.write(manifest.signed(self._signer))
            _sync(file)
        os.replace(fresh, manifest.name.manifest_path(self._folder))
        sync(folder)
        Manifest.read(self._folder, manifest.name, self._signer)
        self._clear(manifest)
        reach("segment_sealed")
        return manifest

    def _chain(self, partition: int) -> bytes:
        """The hash chain's value where the last segment ends."""
        names = self._archive.segments(partition)
        if not names:
            return GENESIS
        return bytes.fromhex(Manifest.read(self._folder, names[-1], self._signer).chain_after)

    def _check(self, manifest: Manifest) -> None:
        """Reads a segment again, from its file. Raises LogDamaged where it is not what was meant."""
        segment = Segment(self._folder, manifest)
        segment.check_whole()
        chain = bytes.fromhex(manifest.chain_before)
        for entry in segment.entries():
            chain = chained(chain, entry)
        if chain.hex() != manifest.chain_after:
            raise LogDamaged(f"the segment {manifest.name} is not what was written: the disk does not keep its word")

    def _clear(self, manifest: Manifest) -> None:
        """Removes what killed processes left of the same run. Nothing else without a manifest is touched: where a
        manifest was lost, its segment may be all that is left."""
        path = manifest.name.path(self._folder)
        for other in path.parent.glob(f"{manifest.first:012d}-*.seg"):
            if other != path:
                other.unlink()


class Sealing:
    """Seals all but the last `keep` entries of each partition, if that makes segments of at least `least`.

    `needed` tells up to which sequence number every live reader has read a partition: what lies behind is sealed, but
    stays in the server too. One run at a time: Raises Unavailable while another process seals the same archive.
    """

    def __init__(
        self,
        log: ArchivedLog,
        signer: Signer,
        *,
        needed: Callable[[int], int],
        keep: int,
        least: int = 1,
        most: int = SEGMENT_ENTRIES,
        progress: Callable[[Outcome], None] = lambda _: None,
    ) -> None:
        self._log: Final = log
        self._signer: Final = signer
        self._sealer: Final = Sealer(log.archive, log.stored, signer)
        self._needed: Final = needed
        self._keep: Final = keep
        self._least: Final = max(1, least)
        self._most: Final = most
        self._progress: Final = progress

    def run(self) -> list[Outcome]:
        """What was done in each partition. Raises LogDamaged, Unavailable; what was done before stays done."""
        with self._alone():
            heads = [self._log.head(partition) for partition in range(self._log.partitions)]
            self._log.stream.sync()
            outcomes = [self._partition(partition, head - self._keep) for partition, head in enumerate(heads)]
            if any(outcome.trimmed for outcome in outcomes):
                self._log.stream.shrink()
        return outcomes

    def _partition(self, partition: int, upto: int) -> Outcome:
        made: list[Manifest] = []
        while upto - (last := self._log.archive.last(partition)) >= self._least:
            made.append(self._sealer.seal(partition, upto=min(upto, last + self._most)))
            self._progress(Outcome(partition=partition, segments=(made[-1],)))
        self._tell(partition)
        trimmed = self._trim(partition, upto)
        self._progress(Outcome(partition=partition, trimmed=trimmed))
        return Outcome(partition=partition, segments=tuple(made), trimmed=trimmed)

    def _tell(self, partition: int) -> None:
        """Appends a `log.sealed` event for each segment that has none."""
        names = list(self._log.archive.segments(partition))
        space = system_namespace(partition, self._log.partitions)
        found = self._log.locate(space, [system_event_id(TYPE, str(name), partition) for name in names])
        for name, place in zip(names, found, strict=True):
            if place is None:
                manifest = Manifest.read(self._log.archive.folder, name, self._signer)
                self._log.append(Batch(events=[_event(manifest, self._log.partitions)]))
                reach("segment_told")

    def _trim(self, partition: int, upto: int) -> int:
        upto = min(upto, self._log.archive.last(partition), self._needed(partition))
        first = self._log.stream.first(partition)
        if first is None or first > upto:
            return 0
        dropped = self._log.stream.drop(partition, upto=upto)
        reach("stream_trimmed")
        return dropped

    @contextmanager
    def _alone(self) -> Iterator[None]:
        folder = self._log.archive.folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Unavailable(f"the archive {folder} is being sealed by another process") from None
            yield


def _event(manifest: Manifest, partitions: int) -> NewEvent:
    return system_event(
        TYPE,
        command=str(manifest.name),
        partition=manifest.partition,
        partitions=partitions,
        facts={
            "segment": str(manifest.name),
            "first": manifest.first,
            "last": manifest.last,
            "chain_before": manifest.chain_before,
            "chain_after": manifest.chain_after,
            "sha256": manifest.sha256,
        },
    )


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
