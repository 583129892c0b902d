"""Copies of the read models (claims, chains, full text, vectors) of the live generation, sealed.

They are a short cut: whatever they hold follows from the log. They are sealed under a secret that goes with the next
destroyed key, so that a copy made before something was forgotten cannot be opened after it; restoring then replays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from taishi.ingest.durable_files import sync
from taishi.ingest.envelope import FORGETTING_TYPES
from taishi.ingest.stored_entries import StoredEntries

from ..generations import live_folder, vectors_folder
from .copies import nameless_copy
from .sealed_file import seal_into, unsealed

SECRET: Final = "models"
_SEALED: Final = ".sealed"
_PARTED: Final = "~"
_SCAN: Final = 1_000
_FOLDED: Final = "SELECT seq FROM checkpoint"
_FORGOTTEN: Final = "SELECT forgotten FROM checkpoint"


def _files(home: Path) -> Iterator[tuple[Path, int, str]]:
    """Each file of the live read models with its partition and the query that tells how far its forgetting went."""
    for folder, pattern, ask in (
        (live_folder(home), "claims-p*.db", _FOLDED),
        (vectors_folder(home), "vectors-p*.db", _FORGOTTEN),
    ):
        for path in sorted(folder.glob(pattern)):
            partition = path.name.split("-p", 1)[1].split(".", 1)[0]
            yield path, int(partition), ask


def copy_models(home: Path, into: Path, *, key: bytes) -> Mapping[int, int]:
    """How far, by partition, everything that was copied has forgotten what it was told to forget."""
    folded: dict[int, int] = {}
    for path, partition, ask in _files(home):
        name = _PARTED.join(path.relative_to(home).parts) + _SEALED
        with nameless_copy(path, path.with_name(f"copy-{os.getpid()}.scratch"), ask=ask) as (file, upto):
            seal_into(into / name, file, key=key)
        folded[partition] = min(upto, folded.get(partition, upto))
    return folded


def forgets_since(stored: StoredEntries, partition: int, *, after: int, upto: int) -> bool:
    """Whether a tombstone stands in (after, upto]."""
    while after < upto:
        entries = stored.run(partition, after=after, limit=min(_SCAN, upto - after)).entries
        if any(entry.header["y"] in FORGETTING_TYPES for entry in entries):
            return True
        after = entries[-1].position.seq
    return False


def put_back_models(copied: Path, names: list[str], home: Path, *, key: bytes) -> None:
    """Raises BackupDamaged where a copy does not open; what was put back before it stands."""
    for name in names:
        target = home.joinpath(*name.removesuffix(_SEALED).split(_PARTED))
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            for chunk in unsealed(copied / name, key=key):
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        sync(target.parent)


def discard_models(home: Path) -> None:
    for folder in (home / "models", home / "vectors"):
        for path in folder.glob("**/*.db*") if folder.is_dir() else ():
            path.unlink()
