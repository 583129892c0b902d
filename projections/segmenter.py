"""The segmenter's port: where the words of a run of Chinese characters begin and end.

A run holds Han characters only. The words come in reading order, a long word after the shorter words it is made of
(search mode), and cover the run: every character of it is in one of them. Name, version and dictionary are stored with
every index that was built on it; other words mean a re-index.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

_PROBE: Final = (
    "南京市长江大桥", "研究生命的起源", "乒乓球拍卖完了", "下雨天留客天留我不留", "结婚的和尚未结婚的",
    "他从马上跳了下来", "这个门把手坏了", "请把手举起来", "工信处女干事每月经过下属科室", "长春市长春节致辞",
    "武汉市长江二桥", "雨花石头真好看", "小红在中山大学附属医院实习", "张华考上了北京大学", "李萍进了中等技术学校",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmenterId:
    """`dictionary` is a digest of what the words are cut by, `size` its extent (in what, the adapter says)."""

    name: str
    version: str
    dictionary: str
    size: int


class Segmenter(Protocol):
    @property
    def id(self) -> SegmenterId: ...

    def cut_for_search(self, run: str) -> list[str]:
        """Words of a non-empty run of Han characters."""
        ...


def probe_digest(cut: Callable[[str], list[str]]) -> tuple[str, int]:
    """Digest and extent of what a segmenter makes of a fixed set of ambiguous sentences.

    For segmenters whose dictionary is compiled in: the file differs between platforms, its words do not.
    """
    words = [word for sentence in _PROBE for word in (*cut(sentence), "")]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16], len(words)
