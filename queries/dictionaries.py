"""Questions are cut by the words that the namespace's texts are cut by: its own dictionary, as the model has it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import orjson

from taishi.projections.analysis import Analyzer

from .reading import ReadModel

KEPT: Final = 500
"""Namespaces whose dictionaries stay in memory."""


class Dictionaries:
    """Safe to share between threads: one that was made twice is as good."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[str, int, int], tuple[int, Analyzer]] = OrderedDict()

    def analyzer(self, model: ReadModel, ns: int, general: Analyzer) -> Analyzer:
        """`general` itself where the namespace has no words of its own."""
        row = model.one("SELECT seq FROM dictionaries WHERE ns = ?", ns)
        key = (model.generation, model.partition, ns)
        if row is None:
            self._made.pop(key, None)
            return general
        made = self._made.get(key)
        if made is None or made[0] != row[0]:
            (words,) = model.one("SELECT words FROM dictionaries WHERE ns = ?", ns) or ("[]",)
            made = self._made[key] = (row[0], general.with_words(orjson.loads(words)))
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
        return made[1]
