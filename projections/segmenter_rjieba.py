"""Segmenter adapter: jieba's dictionary and algorithm in Rust (0.1 s to load, ten times jieba's speed)."""

from __future__ import annotations

from importlib.metadata import version

import rjieba

from .segmenter import SegmenterId, probe_digest


class RjiebaSegmenter:
    """Its dictionary is compiled in, so that `dictionary` is a digest of its words for a set of probe sentences."""

    def __init__(self) -> None:
        self._jieba = rjieba.Jieba()
        dictionary, size = probe_digest(self._jieba.cut_for_search)
        self._id = SegmenterId(name="rjieba", version=version("rjieba"), dictionary=dictionary, size=size)

    @property
    def id(self) -> SegmenterId:
        return self._id

    def cut_for_search(self, run: str) -> list[str]:
        return self._jieba.cut_for_search(run)
