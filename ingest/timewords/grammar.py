"""The machinery: patterns with readers, and the choice among their matches.

A `Pattern` pairs a regular expression with a reader. A reader returns None where the words are no time after all (a
shorter match may then win) and raises ValueError or OverflowError where they name a time that does not exist (31 June):
those words are taken, and give nothing. Among matches the longest wins; kept ones never overlap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from ..claims import Grain
from .calendar import Unit, midnight
from .spans import Kind, Tense
from .tense import tense_of_normal

_FILLER: Final = re.compile(
    r"\s+|(?<![a-z])(?:starting|beginning|back|in|on|at|since|from|the|of|by|until|and|to|early|late|so)(?![a-z])"
    r"|[从自在到就于起]|开始|以后|之后"
)
Role = Literal["date", "part", "clock", "length", "now"]
CLAUSE_END: Final = re.compile(r"[，。！？；,.;!?\n]")


@dataclass(slots=True, kw_only=True)
class Reading:
    """One expression, in naive local time, before it is joined with its neighbours.

    `role`: a `date` (a day or longer), a `part` of the day, a `clock` time, a `length` that hangs on another date, or
    `now`, which only anchors a range. `weak` words are a time only beside a preposition or another time. `closes`: an
    end of something (月底), so that "until" means its end. `cycle`: the step by which an unnamed larger unit may be
    moved. `offset`: from and to since local midnight, for parts and clocks. None in `begins`/`ends`: open.
    """

    begins: datetime | None
    ends: datetime | None
    grain: Grain
    confidence: float = 0.9
    kind: Kind = "when"
    role: Role = "date"
    weak: bool = False
    closes: bool = False
    cycle: Unit | None = None
    offset: tuple[timedelta, timedelta] | None = None
    length: tuple[Unit, float] | None = None
    start: int = 0
    end: int = 0


class Context:
    """What readers may look at: the words (normalised and as written, of equal length), the time of speech, the tense."""

    __slots__ = ("_given", "_tenses", "offset", "raw", "said", "text", "today")

    def __init__(self, *, text: str, raw: str, said: datetime, tense: Tense, offset: timedelta | None) -> None:
        self.text = text
        self.raw = raw
        self.said = said
        self.today = midnight(said)
        self.offset = offset
        self._given = tense
        self._tenses: dict[int, Tense] = {}

    def tense(self, match: re.Match[str]) -> Tense:
        """The caller's tense, else that of the clause; a clause that is all time words takes the next clause's."""
        return self._given or self._clause_tense(match) or _implied(match, self.text)

    def _clause_tense(self, match: re.Match[str]) -> Tense:
        first, last = self._clause(match.start(), match.end())
        if first not in self._tenses:
            self._tenses[first] = tense_of_normal(self.text[first:last])
        tense = self._tenses[first]
        if tense is None and last < len(self.text):
            rest = _FILLER.sub("", self.text[first : match.start()] + " " + self.text[match.end() : last])
            if len(rest) <= 2:
                return tense_of_normal(self.text[last : self._clause(last + 1, last + 1)[1]])
        return tense

    def _clause(self, start: int, end: int) -> tuple[int, int]:
        first = 0
        for mark in CLAUSE_END.finditer(self.text, max(0, start - 200), start):
            first = mark.end()
        if first == 0 and start > 200:
            first = start - 200
        stop = CLAUSE_END.search(self.text, end, min(len(self.text), end + 200))
        return first, stop.start() if stop else min(len(self.text), end + 200)


_SINCE: Final = re.compile(r"(?:(?<![a-z])since (?:the )?|自从?|打从)$")
_DEADLINE: Final = re.compile(r"(?<![a-z])(?:until|till|by|before|due|due on|due by|no later than)(?: the)? $|最晚$|不晚于$|截止到?$")
_SINCE_AFTER: Final = re.compile(r"以来|至今|到现在")
_DEADLINE_AFTER: Final = re.compile(r"(?<=[底末日号])(?:之前|前)|截止")


def _implied(match: re.Match[str], text: str) -> Tense:
    """What a preposition tells where no verb does: "since" looks back, a deadline ahead."""
    start, end = match.span()
    if _SINCE.search(text, max(0, start - 16), start) or _SINCE_AFTER.match(text, end):
        return "past"
    if _DEADLINE.search(text, max(0, start - 16), start) or _DEADLINE_AFTER.match(text, end):
        return "future"
    return None


Reader = Callable[[re.Match[str], Context], Reading | None]


@dataclass(frozen=True, slots=True)
class Pattern:
    """`cues`: the pattern is tried only where the text holds one of these characters (zh) or words (en)."""

    name: str
    cues: frozenset[str]
    regex: re.Pattern[str]
    read: Reader


def pattern(name: str, cues: Iterable[str], regex: str, read: Reader) -> Pattern:
    return Pattern(name, frozenset(cues), re.compile(regex), read)


def words(names: Iterable[str]) -> str:
    """An alternation of plain words, longest first."""
    return "|".join(re.escape(w) for w in sorted(names, key=len, reverse=True))


def group(match: re.Match[str], name: str) -> str | None:
    """A group that not every pattern of a reader has."""
    return match[name] if name in match.re.groupindex else None


class Grammar:
    """Patterns, in order of preference among matches of equal length and place, and which of them a cue calls."""

    __slots__ = ("_called", "_patterns", "cues")

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(patterns)
        self._called: dict[str, list[int]] = {}
        for number, pattern in enumerate(self._patterns):
            for cue in pattern.cues:
                self._called.setdefault(cue, []).append(number)
        self.cues = frozenset(self._called)

    def found(self, cues: set[str], context: Context) -> list[Reading]:
        """Kept readings in order of place; `cues`: those of the text."""
        numbers = {number for cue in cues for number in self._called[cue]}
        candidates: list[tuple[int, int, Reading | None]] = []
        for number in sorted(numbers):
            pattern = self._patterns[number]
            for match in pattern.regex.finditer(context.text):
                try:
                    reading = pattern.read(match, context)
                    if reading is None:
                        continue
                    reading.start, reading.end = match.span()
                except (ValueError, OverflowError):
                    reading = None
                candidates.append((match.start(), match.end(), reading))
        return _longest(candidates, len(context.text))


def _longest(candidates: list[tuple[int, int, Reading | None]], size: int) -> list[Reading]:
    if not candidates:
        return []
    candidates.sort(key=lambda c: (c[0] - c[1], c[0]))
    taken = bytearray(size)
    kept: list[Reading] = []
    for start, end, reading in candidates:
        if any(taken[start:end]):
            continue
        taken[start:end] = b"\x01" * (end - start)
        if reading is not None:
            kept.append(reading)
    kept.sort(key=lambda r: r.start)
    return kept
