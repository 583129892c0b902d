"""An export on disk: JSON lines as they stand, or sealed under a passphrase (scrypt, AES-256-GCM).

A sealed file is `MAGIC ‖ salt(16) ‖ frames` (see `sealed_file`). The key is scrypt(passphrase, salt, n=2^17, r=8, p=1).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from taishi.ingest.durable_files import sync
from taishi.ingest.errors import BackupDamaged

from .export_lines import is_header
from .sealed_file import FrameWriter, read_frames

MAGIC: Final = b"taishi export sealed 1\n"
_SALT: Final = 16
_ABOUT: Final = "taishi export"


def _key(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=1 << 17, r=8, p=1).derive(passphrase.encode())


@contextmanager
def written(path: Path, passphrase: str | None) -> Iterator[Callable[[bytes], object]]:
    """Takes lines. The file is there when all of them were taken, whole and durable, or it is not there."""
    fresh = path.with_name(path.name + ".partial")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        if passphrase is None:
            yield file.write
        else:
            salt = os.urandom(_SALT)
            file.write(MAGIC + salt)
            frames = FrameWriter(file, key=_key(passphrase, salt), about=_ABOUT)
            yield frames.write
            frames.finish()
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
    sync(path.absolute().parent)


def is_sealed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def is_export(path: Path) -> bool:
    if is_sealed(path):
        return True
    with path.open("rb") as file:
        return is_header(file.read(32))


def lines_of(path: Path, passphrase: str | None) -> Iterator[bytes]:
    """Each with its end. Raises BackupDamaged where the passphrase is another one, or the file was altered."""
    if not is_sealed(path):
        with path.open("rb") as file:
            yield from file
        return
    with path.open("rb") as file:
        salt = file.read(len(MAGIC) + _SALT)[len(MAGIC) :]
    held = b""
    try:
        for frame in read_frames(path, key=_key(passphrase or "", salt), about=_ABOUT, after=len(MAGIC) + _SALT):
            *whole, held = (held + frame).split(b"\n")
            yield from (line + b"\n" for line in whole)
    except BackupDamaged:
        raise BackupDamaged(f"{path} does not open: the passphrase is another one, or the file was altered") from None
