"""A backup's folders on disk, and how one comes to be whole: written beside, synced, renamed, synced.

A folder whose name ends in `.partial` was cut short: nothing refers to it and the next backup discards it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from taishi.ingest.durable_files import sync, write_durably
from taishi.ingest.errors import BackupDamaged

from .manifest import FileSum, Manifest, ManifestRefused

MANIFEST: Final = "manifest.json"
GENERATIONS_FILE: Final = "generations.json"
"""In a part of the log: which generation of read models was live when it was made."""
_PARTIAL: Final = ".partial"
_CHUNK: Final = 1 << 20


def log_parts(folder: Path) -> Path:
    return folder / "parts"


def model_copies(folder: Path) -> Path:
    return folder / "models"


def ledger_copy(folder: Path) -> Path:
    return folder / "ledger.jsonl"


def default_keys_folder(folder: Path) -> Path:
    """Beside the backup, not in it: who takes the backup elsewhere does not take the keys along by accident."""
    return folder.with_name(folder.name + "-keys")


def numbered(parent: Path) -> list[Path]:
    """The whole folders, in order."""
    if not parent.is_dir():
        return []
    return sorted(path for path in parent.iterdir() if path.is_dir() and path.name.isdigit())


def discard_partial(parent: Path) -> int:
    """Takes away what an interrupted backup left. How many folders."""
    partial = [path for path in parent.iterdir() if path.name.endswith(_PARTIAL)] if parent.is_dir() else []
    for path in partial:
        shutil.rmtree(path)
    return len(partial)


class Draft:
    """A folder that is being written. `keep` makes it whole; until then it is a `.partial` one."""

    def __init__(self, parent: Path, number: int) -> None:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.number: Final = number
        self._final: Final = parent / f"{number:06}"
        self.path: Final = parent / f"{self._final.name}{_PARTIAL}"
        self.path.mkdir(mode=0o700)

    def keep(self, manifest: Manifest, secret: bytes) -> Path:
        """Every file is durable before the manifest is, and that before the folder has its name."""
        for path in [*self.path.rglob("*")]:
            sync(path)
        write_durably(self.path / MANIFEST, manifest.signed(secret))
        sync(self.path)
        os.rename(self.path, self._final)
        sync(self._final.parent)
        return self._final

    def sums(self) -> dict[str, FileSum]:
        """Of every file in it."""
        names = sorted(path.relative_to(self.path).as_posix() for path in self.path.rglob("*") if path.is_file())
        return {name: file_sum(self.path / name) for name in names}


def chunks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def file_sum(path: Path) -> FileSum:
    digest, size = hashlib.sha256(), 0
    for chunk in chunks_of(path):
        digest.update(chunk)
        size += len(chunk)
    return FileSum(size=size, sha256=digest.hexdigest())


def read_manifest(folder: Path, secret: bytes) -> Manifest:
    """Raises BackupDamaged that names the file."""
    path = folder / MANIFEST
    try:
        return Manifest.read(path.read_bytes(), secret)
    except OSError as e:
        raise BackupDamaged(f"{path} cannot be read: {e.strerror}") from None
    except ManifestRefused as e:
        raise BackupDamaged(f"{path}: {e}") from None


def verify_files(folder: Path, manifest: Manifest) -> None:
    """Raises BackupDamaged that names the first file that is not as the manifest has it."""
    for name, expected in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise BackupDamaged(f"{path} is missing")
        if file_sum(path) != expected:
            raise BackupDamaged(f"{path} is not what was backed up: size or checksum differ")


def remove_folder(folder: Path) -> None:
    """Its files are overwritten first, so that keys do not stay behind where the disk keeps a file's place."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        with path.open("r+b") as file:
            left = path.stat().st_size
            while left > 0:
                left -= file.write(bytes(min(left, _CHUNK)))
            file.flush()
            os.fsync(file.fileno())
    shutil.rmtree(folder)
    sync(folder.parent)
