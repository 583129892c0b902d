"""What fits into one call: whole utterances, long ones cut at sentence ends with an overlap.

A token is about one Chinese character, or four letters; sizes here are such estimates. Prices are reckoned from bytes,
which no tokenizer passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..extractor import Utterance

CALL_TOKENS: Final = 3_000
"""Words of events in one call, estimated."""
OVERLAP: Final = 300
"""Characters that a piece repeats of the one before it."""
_WIDE: Final = re.compile(r"[\u2e80-\U0003ffff]")
_NARROW_PER_TOKEN: Final = 4
_SENTENCE_END: Final = re.compile(r"[。！？!?\n]|\.(?=\s)")


@dataclass(frozen=True, slots=True)
class Piece:
    """`utterance.text[start:end]`."""

    utterance: Utterance
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.utterance.text[self.start : self.end]


def tokens(text: str) -> int:
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // _NARROW_PER_TOKEN)


def calls_of(utterances: Sequence[Utterance], *, most: int = CALL_TOKENS) -> list[list[Piece]]:
    """What each call is asked to read, in order: one call where all fit into it."""
    calls: list[list[Piece]] = []
    room = 0
    for utterance in utterances:
        for piece in _cut(utterance, most):
            size = tokens(piece.text)
            if not calls or size > room:
                calls.append([])
                room = most
            calls[-1].append(piece)
            room -= size
    return calls


def _cut(utterance: Utterance, most: int) -> Iterator[Piece]:
    text = utterance.text
    start = 0
    while True:
        end = _fitting(text, start, most)
        if end < len(text):
            ends = [m.end() for m in _SENTENCE_END.finditer(text, start + (end - start) * 3 // 4, end)]
            end = ends[-1] if ends else end
        yield Piece(utterance, start, end)
        if end >= len(text):
            return
        start = max(end - OVERLAP, start + 1)


def _fitting(text: str, start: int, most: int) -> int:
    """The furthest end of a piece that begins at `start`."""
    low, high = min(start + most, len(text)), min(start + most * _NARROW_PER_TOKEN, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if tokens(text[start:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return low
