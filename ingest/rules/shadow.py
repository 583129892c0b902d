"""The words as the rows know them: simplified characters, length kept, so that offsets and quotes are the original's.

Rows and word lists are written in simplified Chinese. A text in traditional characters is read through its shadow, and
what the claims hold is put back in the speaker's own characters.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Final

from ..claims import Claim
from ..extractor import Utterance
from ..simplified import simplified

_TAIWAN: Final[dict[str, str]] = tomllib.loads(files(__package__).joinpath("variants.toml").read_text("utf-8"))["taiwan"]
_VARIANT: Final = re.compile("|".join(sorted(map(re.escape, _TAIWAN), key=len, reverse=True)))
_DURATIVE: Final = re.compile(r"(?<![原名专编显卓论土巨合遗])著(?![名作者述称录书])")
_CANONICAL: Final = frozenset({"kind", "relation"})
"""Qualifiers whose values are words of the rows, not of the speaker."""


def shadow(text: str) -> str:
    """`text` in the rows' own characters; `text` itself where it is in them already."""
    if text.isascii():
        return text
    plain = simplified(text)
    if plain == text:
        return text
    return _DURATIVE.sub("着", _VARIANT.sub(lambda m: _TAIWAN[m[0]], plain))


def shadowed(utterance: Utterance) -> Utterance:
    """The utterance with the words that are matched."""
    plain = shadow(utterance.text)
    return utterance if plain is utterance.text else replace(utterance, text=plain)


def restored(claim: Claim, pairs: Sequence[tuple[str, str]]) -> Claim:
    """The claim in the speaker's characters. `pairs` are texts as matched and as spoken: the claim's own, then those
    of the session that it may take a name from."""
    if claim.quote is None:
        return claim
    plain, original = pairs[0]
    start, end = claim.quote.start, claim.quote.end
    quote = replace(claim.quote, text=original[start:end])
    pairs = ((plain[start:end], original[start:end]), *pairs)
    return replace(
        claim, quote=quote, value=_own(claim.value, pairs), subject=_own(claim.subject, pairs),
        qualifiers={k: v if k in _CANONICAL else _own(v, pairs) for k, v in claim.qualifiers.items()},
    )


def _own(words: str, pairs: Sequence[tuple[str, str]]) -> str:
    """`words` as they stand in the original; those that stand nowhere in one piece, character by character."""
    if words.isascii():
        return words
    for plain, original in pairs:
        at = plain.find(words)
        if at >= 0:
            return original[at : at + len(words)]
    plain, original = pairs[0]
    own: list[str] = []
    at = 0
    for char in words:
        found = plain.find(char, at)
        if found < 0:
            own.append(char)
        else:
            own.append(original[found])
            at = found + 1
    return "".join(own)
