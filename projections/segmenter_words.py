"""Segmenter with words of one's own over another one: what stands in its dictionary is a word wherever it is written.

The longest word counts, from left to right; what is between is cut by the segmenter below, and so are the words
themselves, whose parts come before them (search mode). A set of words costs its own size, and no second dictionary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from .segmenter import Segmenter, SegmenterId


class WordsSegmenter:
    """`words` are normalised Han words of two characters and more."""

    def __init__(self, below: Segmenter, words: Sequence[str]) -> None:
        self._below = below
        self._by_first: dict[str, list[str]] = {}
        for word in sorted(words, key=lambda word: (-len(word), word)):
            self._by_first.setdefault(word[0], []).append(word)
        known = below.id
        told = "\n".join([known.dictionary, *sorted(words)])
        self._id = SegmenterId(
            name=known.name,
            version=known.version,
            dictionary=hashlib.sha256(told.encode()).hexdigest()[:16],
            size=known.size + len(words),
        )

    @property
    def id(self) -> SegmenterId:
        return self._id

    def cut_for_search(self, run: str) -> list[str]:
        cut, by_first = self._below.cut_for_search, self._by_first
        if by_first.keys().isdisjoint(run):
            return cut(run)
        words: list[str] = []
        begin = at = 0
        while at < len(run):
            found = next((word for word in by_first.get(run[at], ()) if run.startswith(word, at)), None)
            if found is None:
                at += 1
                continue
            if begin < at:
                words += cut(run[begin:at])
            words += [part for part in cut(found) if part != found]
            words.append(found)
            begin = at = at + len(found)
        if begin < at:
            words += cut(run[begin:])
        return words
