"""Event ids: UUIDs in their canonical form (lower case, hyphens), and nothing else.

A fresh id is a UUIDv7 (RFC 9562): ids made by one process sort in the order they were made. An id that must come out
the same on every retry is a UUIDv8 over the parts it stands for.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from typing import Final

from .errors import InvalidInput

_CANONICAL: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_COUNTER_BITS: Final = 12


class IdSource:
    """Mints UUIDv7 ids, strictly increasing within this object, whatever the clock does.

    48 bits of milliseconds, 12 bits of counter within one millisecond (it runs into the milliseconds when full, as
    RFC 9562 §6.2 allows), 62 random bits: a forked child shares the counter but not the random bits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> str:
        now = time.time_ns() // 1_000_000 << _COUNTER_BITS
        random = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
        with self._lock:
            self._last = max(self._last + 1, now)
            tick = self._last
        millis, counter = tick >> _COUNTER_BITS, tick & (1 << _COUNTER_BITS) - 1
        return _written(millis << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | random)


_SOURCE: Final = IdSource()


def new_id() -> str:
    """A fresh UUIDv7, greater than every one this process made before."""
    return _SOURCE.next()


def derived_id(*parts: str) -> str:
    """A UUIDv8 that is a function of `parts` alone; ("ab", "c") and ("a", "bc") differ."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    number = int.from_bytes(digest.digest()[:16], "big")
    number = number & ~(0xF << 76) | 0x8 << 76
    return _written(number & ~(0b11 << 62) | 0b10 << 62)


def is_canonical(text: str) -> bool:
    """Whether `text` is a UUID exactly as the log writes it."""
    return _CANONICAL.fullmatch(text) is not None


def canonical_id(text: str, *, field: str | None = None) -> str:
    """The canonical form of a UUID written with hyphens in any case. Raises InvalidInput on anything else."""
    lowered = text.lower()
    if not text.isascii() or not is_canonical(lowered):
        raise InvalidInput("an id must be a UUID such as 0198c0de-7a11-7000-8000-00000000002a", field=field)
    return lowered


def _written(number: int) -> str:
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
