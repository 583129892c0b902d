"""Chinese and English number words. Full-width digits are ASCII by the time a text comes here."""

from __future__ import annotations

import re
from typing import Final

ZH_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_ZH_SCALE: Final = {"十": 10, "百": 100, "千": 1000}
ZH_NUMBER: Final = r"(?:[0-9]{1,5}(?:\.[0-9]{1,2})?|[零〇一二两三四五六七八九十百千]{1,7})"

_EN_UNITS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_EN_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
EN_WORDS: Final = {w: i for i, w in enumerate(_EN_UNITS)} | {w: 10 * i for i, w in enumerate(_EN_TENS, 2)} | {
    "a": 1, "an": 1, "couple": 2, "dozen": 12,
}
EN_FEW: Final = frozenset({"few", "several", "some"})
_TENS = "|".join(_EN_TENS)
EN_NUMBER: Final = (
    r"(?:[0-9]{1,4}(?:\.[0-9]{1,2})?|(?:one|two|three) and a half|half an?|an?(?: couple(?: of)?| few| dozen| half)?|several"
    r"|some"
    rf"|couple of|few|(?:{_TENS})(?:[- ](?:{'|'.join(_EN_UNITS[1:10])}))?|{'|'.join(reversed(_EN_UNITS[1:]))})"
)
EN_ORDINALS: Final = {
    w: i for i, w in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
} | {"last": -1}


def zh_number(words: str) -> float | None:
    """`十五` 15, `二十三` 23, `一百零五` 105, `两` 2, `二〇一九` 2019, `3.5` 3.5; None where it is no number."""
    if words[0] in "0123456789":
        return float(words)
    if all(c in ZH_DIGITS for c in words):
        value = 0
        for c in words:
            value = value * 10 + ZH_DIGITS[c]
        return float(value)
    total, pending = 0, None
    for c in words:
        if c in ZH_DIGITS:
            if pending:
                return None
            pending = ZH_DIGITS[c]
        else:
            total += (1 if pending is None else pending) * _ZH_SCALE[c]
            pending = None
    return float(total + (pending or 0))


def zh_int(words: str) -> int:
    """A whole number of a matched group; `廿` is twenty. ValueError where it is none."""
    value = zh_number(words.replace("廿", "二十"))
    if value is None or value != int(value):
        raise ValueError(f"no whole number: {words!r}")
    return int(value)


_AND_HALF: Final = re.compile(r" and a half$")


def en_number(words: str) -> float | None:
    """`three` 3, `twenty-one` 21, `a couple of` 2, `half a` .5, `one and a half` 1.5; None for few and several."""
    if words[0] in "0123456789":
        return float(words)
    half = 0.5 if _AND_HALF.search(words) else 0.0
    parts = _AND_HALF.sub("", words).replace("-", " ").split()
    if "half" in parts:
        return 0.5
    if EN_FEW.intersection(parts):
        return None
    found = [EN_WORDS[p] for p in parts if p in EN_WORDS]
    if len(found) > 1 and parts[0] in {"a", "an"}:
        found = found[1:]
    return sum(found) + half
