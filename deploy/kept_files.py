"""Every file made from the log that may hold words: the read models of all generations, and the vector files.

A forget is over once it is over in each of them. Generations that follow the log come to it by themselves; one that is
still being built, or was given up and lies there, *rests*: it may hold words until it follows or is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from taishi.ingest.envelope import Position
from taishi.ingest.owed import Owed
from taishi.projections.closure import owed_of
from taishi.projections.lookup import Lookup
from taishi.projections.vectors import vectors_left, vectors_scrubbed
from taishi.projections.worker import model_path

from .generations import FOLLOWING, Generations, generation_folder, models_folder, vectors_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """Of read models: those that follow the log, and the others."""

    following: Sequence[Path]
    resting: Sequence[Path]


class KeptFiles:
    """`folders` are asked for anew each time; `vectors` is the vector files' folder. Safe for threads."""

    def __init__(self, folders: Callable[[], Folders], vectors: Path) -> None:
        self._folders: Final = folders
        self._vectors: Final = vectors
        self._lookups: dict[Path, Lookup] = {}

    def _in(self, folders: Iterable[Path], partition: int) -> list[Lookup]:
        """Lookups of the folders that hold a file of the partition."""
        return [
            self._lookups.setdefault(folder, Lookup(partial(_itself, folder)))
            for folder in folders
            if model_path(folder, partition).exists()
        ]

    def are_scrubbed(self, position: Position) -> bool:
        """Whether nothing that was forgotten up to `position` is left in what follows the log."""
        vectors = vectors_scrubbed(self._vectors, position.partition)
        models = self._in(self._folders().following, position.partition)
        behind = any(lookup.scrubbed(position.partition) < position.seq for lookup in models)
        return not behind and (vectors is None or vectors >= position.seq)

    def resting(self, partition: int) -> bool:
        """Whether a generation that does not follow the log has a file there."""
        return bool(self._in(self._folders().resting, partition))

    def left(self, partition: int, claims: Collection[int], events: Collection[int]) -> int:
        """Rows of words, index entries and vectors of claims and events at these positions, wherever they are."""
        folders = self._folders()
        models = self._in((*folders.following, *folders.resting), partition)
        rows = sum(lookup.left(partition, claims, events) for lookup in models)
        return rows + vectors_left(self._vectors, partition, claims, events)

    def owed(self, partition: int) -> list[Owed]:
        """What any generation that follows the log erased though no tombstone names it."""
        return [o for lookup in self._in(self._folders().following, partition) for o in owed_of(lookup, partition)]


def _itself(folder: Path) -> Path:
    return folder


def kept_files(home: Path) -> KeptFiles:
    return KeptFiles(partial(_folders, home), vectors_folder(home))


def _folders(home: Path) -> Folders:
    following = [
        generation_folder(home, generation)
        for generation in Generations(home).read().generations.values()
        if generation.state in FOLLOWING
    ]
    every = [folder for folder in models_folder(home).glob("g*") if folder.is_dir()]
    return Folders(following=following, resting=[folder for folder in every if folder not in following])


def drop_vectors(home: Path) -> None:
    """Where no embedder runs, nobody takes out of the vector files what is forgotten: they are not kept."""
    for path in vectors_folder(home).glob("vectors-p*"):
        path.unlink(missing_ok=True)
