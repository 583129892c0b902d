"""Cuts a normalised text into runs of one kind: Han, other scripts written without spaces, emoji, Latin words and
codes, and words of all other scripts. What is in none of them (spaces, punctuation, controls) parts the runs.

Scanning is one pass of one expression without overlapping alternatives: linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_SPACELESS: Final = (  # kana, Hangul, Thai, Lao, Myanmar, Khmer: words are not parted by spaces, or carry endings
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u1100-\u11ff\uac00-\ud7a3"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eb9\u0ebb-\u0ecd\u1000-\u103f\u1780-\u17d3"
)
_ALNUM: Final = "0-9a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_EMOJI: Final = (
    "\u203c\u2049\u2194-\u21aa\u231a-\u23ff\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_ZWJ: Final = "\u200d"
VARIATION: Final = "\ufe0f"
SKIN: Final = "\U0001f3fb-\U0001f3ff"


def _marks() -> str:
    """Combining marks of the BMP as ranges of a character class, without variation selectors and the keycap."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x10000):
        if unicodedata.category(chr(code)).startswith("M") and not 0xFE00 <= code <= 0xFE0F and code != 0x20E3:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in ranges)


_ONE_EMOJI: Final = f"[{_EMOJI}]{VARIATION}?[{SKIN}]?"
RUNS: Final = re.compile(
    f"(?P<han>[{HAN}]+)"
    f"|(?P<emoji>{_ONE_EMOJI}(?:{_ZWJ}{_ONE_EMOJI})*[\U000e0020-\U000e007f]*"
    f"|[\U0001f1e6-\U0001f1ff]{{1,2}}|[0-9#*]{VARIATION}?\u20e3|[{SKIN}])"
    f"|(?P<latin>(?:(?<![^\\s{HAN}])[.@#](?=[a-z]))?[{_ALNUM}]+"
    f"(?:[._+\\-/@%&:=#'\u2019,]{{1,3}}[{_ALNUM}]+)*(?:\\+{{1,2}}|[#%])?)"
    f"|(?P<spaceless>[{_SPACELESS}]+)"
    f"|(?P<other>(?:(?![{HAN}{_ALNUM}{_SPACELESS}{_EMOJI}{SKIN}])[^\\W_][{_marks()}]*)+)"
)
"""Every match has exactly one named group, its kind."""
