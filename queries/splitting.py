"""Two questions in one: each is asked by itself, and their answers alternate, the surest first. So are the two times
between which a question asks how long it was, beside the question itself.

What one half asks for is no part of the other's answer: asked together, the half with the rarer words would take the
whole of a short answer, and a name or a time in one half would be looked for in the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .folding import Ranked

PARTS: Final = 3
"""Questions that are asked by themselves, at most."""
SHORTEST: Final = 4
LONGEST: Final = 300
"""Characters of a question that is looked through."""

_END: Final = re.compile(r"(?<=[?？])\s*")
_JOIN: Final = re.compile(r"^(?:另外|还有|以及|对了|同时|顺便问一下|and also|also|and)[，,、:：\s]*", re.IGNORECASE)


def questions_in(text: str) -> tuple[str, ...]:
    """The questions that a text consists of; none where it is one, or says anything besides."""
    if len(text) > LONGEST:
        return ()
    parts = [part for part in _END.split(text.strip()) if part]
    if not 2 <= len(parts) <= PARTS or any(part[-1] not in "?？" for part in parts):
        return ()
    parts = [_JOIN.sub("", part) for part in parts]
    return tuple(parts) if all(len(part) >= SHORTEST for part in parts) else ()


_ITEM: Final = r"(?P<{0}>.{{8,160}}?)"
_HOW: Final = r"^how (?:many|long|much)\b.{0,60}?"
_BETWEEN: Final = (
    re.compile(
        rf"{_HOW} between {_ITEM.format('a')},? and (?=(?:when|the|my|our|his|her|their|its)\b)"
        rf"{_ITEM.format('b')}[\s?]*$"
    ),
    re.compile(rf"{_HOW} between {_ITEM.format('a')},? and {_ITEM.format('b')}[\s?]*$"),
    re.compile(rf"{_HOW} from {_ITEM.format('a')} (?:un)?till? {_ITEM.format('b')}[\s?]*$"),
    re.compile(
        r"^(?:从|自)?(?P<a>[^，,？?]{2,40}?)(?:到|和|与|跟)(?P<b>[^，,？?]{2,40}?)"
        r"(?:之间|中间)?(?:一共|总共)?(?:相?隔|间隔|过|差)了?多(?:少|久|长)"
    ),
)
_WHEN: Final = re.compile(r"^(?:when|the time|the day)\s+")


def sides_in(text: str) -> tuple[str, ...]:
    """The two times between which a (normalised) question asks for the time that passed: each is told by words of its
    own. None where a text asks nothing of the kind."""
    if len(text) > LONGEST:
        return ()
    for pattern in _BETWEEN:
        if found := pattern.match(text):
            return tuple(_WHEN.sub("", side).strip() for side in (found["a"], found["b"]))
    return ()


def interleaved(answers: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """The best of each, then the second of each, and so on; each source once.

    The best of all stands first, whichever half it answers; after that, the half that found the least goes first: it
    needs the most tries. Dev halves, in the order of asking and so: memdaily MRR .920 and .942, R@5 .903 and .902;
    memdaily_mix R@5 .867 and .882, MRR .919 and .911.
    """
    found: list[Ranked] = []
    told: set[int] = set()
    for n in range(max(map(len, answers), default=0)):
        row = sorted((ranked[n] for ranked in answers if n < len(ranked)), key=lambda entry: entry.score)
        for entry in row if n else reversed(row):
            if not told.issuperset(entry.sources):
                found.append(entry)
                told.update(entry.sources)
    return found
