"""Keeping what was worked out of a memory's words without keeping the words: what is forgotten leaves no copy here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from threading import Lock
from typing import TypeVar

Found = TypeVar("Found")


def by_digest(most: int) -> Callable[[Callable[[str], Found]], Callable[[str], Found]]:
    """Like `functools.lru_cache(most)` for a pure function of one text, keyed by the text's digest (BLAKE2b, 16 bytes).
    What the function gives must not hold the text."""

    def keeping(work: Callable[[str], Found]) -> Callable[[str], Found]:
        kept: OrderedDict[bytes, Found] = OrderedDict()
        lock = Lock()

        @wraps(work)
        def found(text: str) -> Found:
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            with lock:
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key]
            value = work(text)
            with lock:
                kept[key] = value
                if len(kept) > most:
                    kept.popitem(last=False)
            return value

        return found

    return keeping
