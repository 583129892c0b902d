"""Canaries: words that stand nowhere else, and a search for them in every form in which a file could hold them.

Half are word-like (lower case, so that no folding changes them), half are four rare Han characters each, none of which
any other canary has, so that not even segmentation into single characters hides them.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
import orjson

from taishi.projections.store import open_connection

_ONSETS = "b d f g k l m n p r t v z br dr gl kr pl tr".split()
_VOWELS = "a e i o u".split()
_RARE = range(0x3447, 0x4DB0)
_TAIL = 8
"""Bytes by which a form is looked for: the last ones, so that a form that lost its beginning is found as well."""
_LOST = 4
"""Letters that may be missing at the beginning of a word: an index that shares prefixes does not store them again."""


def canaries(count: int, seed: int) -> list[str]:
    """Word-like and Han by turns."""
    rng = random.Random(seed)
    rare = rng.sample(list(_RARE), 4 * count)
    made: dict[str, None] = {}
    while len(made) < count:
        if len(made) % 2:
            at = 4 * len(made)
            made["".join(map(chr, rare[at : at + 4]))] = None
        else:
            made["".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(7)) + "x"] = None
    return list(made)


def is_han(canary: str) -> bool:
    return not canary.isascii()


def forms(canary: str) -> Iterator[bytes]:
    """What a file could hold of a canary, as far as it must be there in one piece."""
    kept = canary[1:] if is_han(canary) else canary[_LOST:]
    yield kept.encode()
    yield (canary if is_han(canary) else kept).encode("utf-16-le")
    yield (canary if is_han(canary) else kept).encode("utf-16-be")
    if is_han(canary):
        yield " ".join(kept).encode()
        yield quote(kept).encode()
        yield quote(kept).lower().encode()
        yield orjson.dumps(kept).strip(b'"')
        yield kept.encode("ascii", "backslashreplace")
        yield kept.encode("ascii", "backslashreplace").upper()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + canary.encode()).rstrip(b"=")
        inner = whole[(shift * 8 + 5) // 6 : -1]
        yield inner
        yield inner.replace(b"+", b"-").replace(b"/", b"_")


def files_of(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def found_in(paths: Iterable[Path], wanted: Sequence[str]) -> dict[str, set[str]]:
    """Canary → names of the files that hold it in some form."""
    tails: dict[int, list[tuple[bytes, str]]] = {}
    for canary in wanted:
        for form in set(forms(canary)):
            (number,) = np.frombuffer(form[-_TAIL:], dtype="<u8")
            tails.setdefault(int(number), []).append((form, canary))
    numbers = np.array(sorted(tails), dtype=np.uint64)
    hits: dict[str, set[str]] = {}
    for path in paths:
        content = path.read_bytes()
        for number, end in _matches(content, numbers):
            for form, canary in tails[number]:
                if content[max(0, end - len(form)) : end] == form:
                    hits.setdefault(canary, set()).add(path.name)
    return hits


def _matches(content: bytes, numbers: np.ndarray) -> Iterator[tuple[int, int]]:
    """(number, end) wherever the eight bytes before `end` are one of `numbers`."""
    for shift in range(_TAIL):
        usable = (len(content) - shift) // _TAIL * _TAIL
        if usable <= 0:
            continue
        words = np.frombuffer(content, dtype="<u8", count=usable // _TAIL, offset=shift)
        places = np.searchsorted(numbers, words)
        places[places == len(numbers)] = 0
        for at in np.flatnonzero(numbers[places] == words):
            yield int(words[at]), shift + int(at) * _TAIL + _TAIL


def found_in_indexes(models: Iterable[Path], wanted: Sequence[str]) -> dict[str, set[str]]:
    """Canary → read-model files whose full-text terms hold it (of a Han one, any of its characters), or whose pages
    hold single characters of it: more than one, since three bytes of numbers may look like a character."""
    hits: dict[str, set[str]] = {}
    for path in models:
        connection = open_connection(path, read_only=True)
        terms = "\n".join(str(row[0]) for row in connection.execute("SELECT DISTINCT term FROM terms"))
        connection.close()
        content = path.read_bytes()
        for canary in wanted:
            in_terms = any(c in terms for c in canary) if is_han(canary) else canary[:_LOST + 4] in terms
            in_pages = is_han(canary) and sum(c.encode() in content for c in canary) > 1
            if in_terms or in_pages:
                hits.setdefault(canary, set()).add(path.name)
    return hits
