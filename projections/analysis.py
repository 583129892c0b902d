"""Text analysis: what a text is found by, the same for what is stored and what is asked.

Texts are normalised (`taishi.ingest.normal`), then cut into runs. Two columns come of it: `words` (segmented Han
words, Latin stems and raw forms, codes whole and in parts, emoji, other scripts' words) and `chars` (every character of
scripts without spaces, in order, so that a phrase of single characters finds a word however it was segmented).

Tokens hold non-ASCII characters and, of ASCII, only `a-z0-9_.+-/@%&:=#`. A stem begins with `=`; `/` alone in `chars`
is a boundary that phrases do not cross. `|` parts the namespace's number from the token and is in no token.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import Stemmer

from taishi.ingest.normal import NORMAL_VERSION, normalise

from .scanner import RUNS, SKIN, VARIATION
from .segmenter import Segmenter
from .segmenter_rjieba import RjiebaSegmenter
from .segmenter_words import WordsSegmenter
from .stopwords import STOP_WORDS

ANALYSIS_VERSION: Final = 1
"""Raise it when a text's tokens change: indexes of another version are rebuilt."""

BOUNDARY: Final = "/"
STEM: Final = "="
LONGEST: Final = 64
"""Characters of a token that are kept: what is longer is found by its first 64 and by its parts."""

TermKind = Literal["word", "stem", "raw", "number", "code", "emoji", "other"]

_PARTS: Final = re.compile(r"[^\W_]+(?:\+\+|#(?![^\W_]))?")
_MIXED: Final = re.compile(r"[^\W\d_]+|\d+")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_RELEASE: Final = re.compile(r"[a-z]+(\d+(?:\.\d+)+)")
_APOSTROPHES: Final = re.compile("['\u2019]")
_EMOJI_PARTS: Final = re.compile(f"[{SKIN}{VARIATION}\u200d\u2640\u2642\u20e3\U000e0020-\U000e007f]+")
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Analysed:
    """Space-joined tokens without a namespace. `length` is how many tokens `words` has."""

    words: str
    chars: str
    length: int


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """`group` is shared by the terms of one piece of the question (a word and its shorter words, a stem and its raw
    form, a code and its parts): an answer that has one of them speaks of that piece."""

    token: str
    kind: TermKind
    group: int


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What to look for, each once, in the question's order.

    `terms` go to the column `words`; each of `phrases` is a sequence of single characters for the column `chars`.
    `stops` are the stop words that were left out, as tokens. `text` is the normalised question.
    """

    text: str
    terms: tuple[QueryTerm, ...]
    phrases: tuple[tuple[str, ...], ...]
    stops: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.terms or self.phrases)


def base36(number: int) -> str:
    """`number` >= 0."""
    digits = ""
    while number >= 36:
        number, rest = divmod(number, 36)
        digits = _DIGITS[rest] + digits
    return _DIGITS[number] + digits


def term(ns: int, token: str) -> str:
    """The token as it stands in the index of namespace number `ns`."""
    return f"{base36(ns)}|{token}"


def prefixed(tokens: str, ns: int) -> str:
    """Every one of the space-joined `tokens` with the namespace's prefix."""
    if not tokens:
        return ""
    prefix = base36(ns) + "|"
    return prefix + tokens.replace(" ", " " + prefix)


class _Stemmers(threading.local):
    """PyStemmer's objects are not safe to share between threads."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english")


_STEMMERS: Final = _Stemmers()
_Piece = tuple[str, TermKind]


def _word(word: str) -> Iterator[_Piece]:
    """A Latin word: its stem (accents taken off), and itself where it differs."""
    plain = word
    if not word.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    stem: str = _STEMMERS.english.stemWord(plain)
    yield STEM + stem[:LONGEST], "stem"
    if stem != word:
        yield word[:LONGEST], "raw"


def _part(part: str) -> Iterator[_Piece]:
    if part.isdecimal():
        yield part[:LONGEST], "number"
        return
    if part.isalpha():
        yield from _word(part)
        return
    yield part[:LONGEST], "code"
    pieces = _MIXED.findall(part)
    if len(pieces) <= 3:  # gpt4, v1, c++; not a hash
        for piece in pieces:
            if piece.isdecimal():
                yield piece[:LONGEST], "number"
            elif len(piece) > 1 or len(pieces) == 1:
                yield from _word(piece)


def _pieces(run: str) -> tuple[_Piece, ...]:
    """What a run of Latin letters, digits and marks between them is found by, each once, the whole of it first.

    Lists ("a,b") are parted; "1,000" is one number; "'s" and apostrophes are taken off.
    """
    found: dict[str, TermKind] = {}
    if "," in run:
        if _THOUSANDS.fullmatch(run):
            found[run.replace(",", "")[:LONGEST]] = "number"
        for part in run.split(","):
            if part:
                found |= dict(_pieces(part))
        return tuple(found.items())
    run = _APOSTROPHES.sub("", run.removesuffix("'s").removesuffix("\u2019s"))
    parts = _PARTS.findall(run)
    if parts != [run]:
        found[run[:LONGEST]] = "number" if all(part.isdecimal() for part in parts) else "code"
        release = _RELEASE.fullmatch(run)
        if release is not None:
            found[release[1][:LONGEST]] = "number"
    for part in parts:
        for token, kind in _part(part):
            found.setdefault(token, kind)
    return tuple(found.items())


@lru_cache(maxsize=32_768)
def _tokens(run: str) -> tuple[str, ...]:
    return tuple(token for token, _ in _pieces(run))


def _emoji(run: str) -> list[str]:
    """The whole sequence, then its base emoji."""
    whole = run.replace(VARIATION, "")
    if whole[-1] == "\u20e3":
        return [run[0] + "\u20e3"] if run[0].isdigit() else ["\u20e3"]
    return list(dict.fromkeys([whole[:LONGEST], *(base for base in _EMOJI_PARTS.split(whole) if base)]))


def _normal(text: str) -> str:
    """Normalised; halves of surrogate pairs become question marks."""
    return normalise(text.encode("utf-8", "replace").decode())


class Analyzer:
    """Safe to share between threads. Linear in the text's length."""

    def __init__(self, segmenter: Segmenter | None = None) -> None:
        self._segmenter = RjiebaSegmenter() if segmenter is None else segmenter
        self._cut = self._segmenter.cut_for_search

    def with_words(self, words: Sequence[str]) -> Analyzer:
        """The same with words of one's own (`taishi.ingest.dictionary`); itself where there are none."""
        return Analyzer(WordsSegmenter(self._segmenter, words)) if words else self

    def settings(self) -> dict[str, Any]:
        """What the tokens depend on, JSON-ready; stored with every index. Unequal settings mean a re-index."""
        segmenter = self._segmenter.id
        return {
            "analysis": ANALYSIS_VERSION,
            "normal": NORMAL_VERSION,
            "segmenter": f"{segmenter.name}@{segmenter.version}",
            "dictionary": segmenter.dictionary,
            "dictionary_size": segmenter.size,
            "stemmer": "snowball-english",
            "unicode": unicodedata.unidata_version,
        }

    def index(self, text: str) -> Analysed:
        words: list[str] = []
        chars: list[str] = []
        end = -1  # where the last run of characters ended
        for match in RUNS.finditer(_normal(text)):
            kind, run = match.lastgroup, match[0]
            if kind == "latin":
                words += _tokens(run) if len(run) <= LONGEST else _tokens.__wrapped__(run)
            elif kind == "han" or kind == "spaceless":
                if chars and match.start() != end:
                    chars.append(BOUNDARY)
                chars += run
                end = match.end()
                if kind == "han":
                    words += self._cut(run)
                else:
                    words.append(run[:LONGEST])
            elif kind == "emoji":
                words += _emoji(run)
            else:
                words.append(run[:LONGEST])
        return Analysed(" ".join(words), " ".join(chars), len(words))

    def query(self, text: str) -> QueryTerms:
        text = _normal(text)
        found: dict[str, QueryTerm] = {}
        stops: dict[str, None] = {}
        phrases: dict[tuple[str, ...], None] = {}
        group = 0
        for match in RUNS.finditer(text):
            kind, run = match.lastgroup, match[0]
            if kind == "han":
                group = self._han_query(run, group, found, stops, phrases)
                continue
            group += 1
            if kind == "latin":
                pieces = _pieces(run)
                if _APOSTROPHES.sub("", run) in STOP_WORDS:
                    stops.update((token, None) for token, _ in pieces)
                    continue
            elif kind == "emoji":
                pieces = tuple((token, "emoji") for token in _emoji(run))
            else:
                pieces = ((run[:LONGEST], "other"),)
                if kind == "spaceless":
                    phrases[tuple(run[:LONGEST])] = None
            for token, piece in pieces:
                found.setdefault(token, QueryTerm(token, piece, group))
        return QueryTerms(text, tuple(found.values()), tuple(phrases), tuple(stops))

    def _han_query(
        self,
        run: str,
        group: int,
        found: dict[str, QueryTerm],
        stops: dict[str, None],
        phrases: dict[tuple[str, ...], None],
    ) -> int:
        """Words of one Han run. The shorter words of a longer one, which come before it, share its group. Each word
        that is no part of a longer one is a phrase of its characters too; words of one character side by side (a name
        the dictionary lacks) are one phrase."""
        singles: list[str] = []
        words = self._cut(run)
        whole = _wholes(words)
        for i, word in enumerate(words):
            if word in STOP_WORDS:
                stops[word] = None
            else:
                found.setdefault(word, QueryTerm(word, "word", group + whole[i]))
            if len(word) == 1 and word not in STOP_WORDS:
                singles.append(word)
                continue
            if singles:
                phrases[tuple(singles)] = None
                singles.clear()
            if word not in STOP_WORDS and (i + 1 == len(words) or whole[i + 1] != whole[i]):
                phrases[tuple(word)] = None
        if singles:
            phrases[tuple(singles)] = None
        return group + len(words)


def _wholes(words: list[str]) -> list[int]:
    """For each word of a search-mode segmentation, the index of the longest word it is part of (else its own), + 1."""
    whole = list(range(1, len(words) + 1))
    for i in range(len(words) - 2, -1, -1):
        longest = whole[i + 1]
        if 1 < len(words[i]) < len(words[longest - 1]) and words[i] in words[longest - 1]:
            whole[i] = longest
    return whole
