"""Traditional Chinese in simplified characters, length kept: what the patterns of reading and redaction are matched on.

Invariant: `len(simplified(text)) == len(text)`, so that an offset found in the one is an offset in the other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from opencc import OpenCC

_HAN: Final = range(0x3400, 0xA000)
_BY_HAND: Final = {"妳": "你", "牠": "它", "祂": "他", "衹": "只", "砲": "炮"}
"""Characters that are no variants of each other in the converter's tables and are written for each other."""


@lru_cache(maxsize=1)
def _tools() -> tuple[OpenCC, dict[int, str]]:
    """The converter, and its table for single characters."""
    converter = OpenCC("t2s")
    chars = [chr(code) for code in _HAN]
    plain = converter.convert("\n".join(chars)).split("\n")
    table = {ord(a): b for a, b in zip(chars, plain, strict=True) if a != b and len(b) == 1}
    return converter, table | {ord(a): b for a, b in _BY_HAND.items()}


def simplified(text: str) -> str:
    """`text` in simplified characters, character for character."""
    if text.isascii():
        return text
    converter, table = _tools()
    plain = text.translate(table)
    if plain == text:
        return text
    try:
        whole: str = converter.convert(text)
    except UnicodeEncodeError:  # a lone surrogate
        return plain
    if len(whole) != len(text):
        return plain
    for odd, usual in _BY_HAND.items():
        whole = whole.replace(odd, usual)
    return whole
