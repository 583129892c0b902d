"""Sealed copies of read models: deflated and encrypted, under a key that the next forgetting destroys.

Frames of up to `FRAME` bytes: length, nonce, AES-256-GCM of the deflated bytes; the file's name, the frame's number and
whether it is the last are authenticated with it, so that frames can be neither swapped, dropped nor cut off.
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


def seal_into(target: Path, source: BinaryIO, *, key: bytes) -> None:
    cipher, number = AESGCM(key), 0
    with target.open("xb") as file:
        frame = source.read(FRAME)
        while True:
            following = source.read(FRAME)
            nonce = os.urandom(_NONCE)
            sealed = cipher.encrypt(nonce, isal_zlib.compress(frame, 1), _about(target.name, number, not following))
            file.write(_LENGTH.pack(len(sealed)) + nonce + sealed)
            if not following:
                return
            frame, number = following, number + 1


def unsealed(path: Path, *, key: bytes) -> Iterator[bytes]:
    """Raises BackupDamaged where the key is not the one it was sealed with, or the file was altered."""
    cipher, number, size = AESGCM(key), 0, path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            head = file.read(_LENGTH.size + _NONCE)
            try:
                (length,) = _LENGTH.unpack(head[: _LENGTH.size])
                sealed = file.read(length)
                about = _about(path.name, number, file.tell() >= size)
                yield isal_zlib.decompress(cipher.decrypt(head[_LENGTH.size :], sealed, about))
            except (InvalidTag, ValueError, struct.error):
                raise BackupDamaged(f"{path} does not open under the key it should") from None
            number += 1


def _about(name: str, number: int, last: bool) -> bytes:
    return f"{name}\0{number}\0{int(last)}".encode()
