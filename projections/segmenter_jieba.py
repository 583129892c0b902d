"""Segmenter adapter: jieba itself, the reference. 2-3 s and 90 MB to load; for comparison and for exotic platforms."""

from __future__ import annotations

import hashlib
import logging
from importlib.metadata import version
from typing import Any

import jieba

from .segmenter import SegmenterId


class JiebaSegmenter:
    """A tokenizer of its own, so that words added to jieba's global one elsewhere do not leak in."""

    def __init__(self) -> None:
        jieba.setLogLevel(logging.WARNING)
        self._jieba: Any = jieba.Tokenizer()
        self._jieba.initialize()
        with self._jieba.get_dict_file() as file:
            words = file.read()
        self._id = SegmenterId(
            name="jieba", version=version("jieba"), dictionary=hashlib.sha256(words).hexdigest()[:16], size=len(words)
        )

    @property
    def id(self) -> SegmenterId:
        return self._id

    def cut_for_search(self, run: str) -> list[str]:
        return list(self._jieba.cut_for_search(run))
