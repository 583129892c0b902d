"""Sealed files: deflated and encrypted. Copies of read models are, under a key that the next forgetting destroys, and
exports, under one that follows from a passphrase.

Frames of up to `FRAME` bytes: length, nonce, AES-256-GCM of the deflated bytes; what the file is, the frame's number
and whether it is the last are authenticated with it, so that frames can be neither swapped, dropped nor cut off.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from isal import isal_zlib

from taishi.ingest.errors import BackupDamaged

FRAME: Final = 1 << 20
_LENGTH: Final = struct.Struct(">I")
_NONCE: Final = 12


class FrameWriter:
    """Writes what it is given in sealed frames; `finish` marks the last. `about` is authenticated with each of them."""

    def __init__(self, file: BinaryIO, *, key: bytes, about: str) -> None:
        self._file: Final = file
        self._cipher: Final = AESGCM(key)
        self._about: Final = about
        self._held = bytearray()
        self._number = 0

    def write(self, data: bytes) -> None:
        self._held += data
        while len(self._held) > FRAME:
            self._seal(bytes(self._held[:FRAME]), last=False)
            del self._held[:FRAME]

    def finish(self) -> None:
        self._seal(bytes(self._held), last=True)

    def _seal(self, frame: bytes, *, last: bool) -> None:
        nonce = os.urandom(_NONCE)
        sealed = self._cipher.encrypt(nonce, isal_zlib.compress(frame, 1), _bound(self._about, self._number, last))
        self._file.write(_LENGTH.pack(len(sealed)) + nonce + sealed)
        self._number += 1


def read_frames(path: Path, *, key: bytes, about: str, after: int = 0) -> Iterator[bytes]:
    """The frames behind the first `after` bytes. Raises BackupDamaged where the key is not the one they were sealed
    with, or one was altered, swapped or cut off."""
    cipher, number, size = AESGCM(key), 0, path.stat().st_size
    with path.open("rb") as file:
        file.seek(after)
        last = False
        while not last:
            head = file.read(_LENGTH.size + _NONCE)
            try:
                (length,) = _LENGTH.unpack(head[: _LENGTH.size])
                sealed = file.read(length)
                last = file.tell() >= size
                frame = isal_zlib.decompress(
                    cipher.decrypt(head[_LENGTH.size :], sealed, _bound(about, number, last))
                )
            except (InvalidTag, ValueError, struct.error):
                raise BackupDamaged(f"{path} does not open under the key it should, or was altered") from None
            yield frame
            number += 1


def seal_into(target: Path, source: BinaryIO, *, key: bytes) -> None:
    with target.open("xb") as file:
        writer = FrameWriter(file, key=key, about=target.name)
        while chunk := source.read(FRAME):
            writer.write(chunk)
        writer.finish()


def unsealed(path: Path, *, key: bytes) -> Iterator[bytes]:
    """Raises BackupDamaged where the key is not the one it was sealed with, or the file was altered."""
    yield from read_frames(path, key=key, about=path.name)


def _bound(about: str, number: int, last: bool) -> bytes:
    return f"{about}\0{number}\0{int(last)}".encode()
