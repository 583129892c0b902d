"""What the reader needs to know of a language, and what it knows while it reads a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..extractor import Utterance
from ..timewords import TimeSpan
from .clauses import Clause, Sentence
from .frames import Frame, Tables
from .subjects import Left, Part, Subject, Voice
from .systems import Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """One language. `words`: triggers are whole words. `drops_subject`: a clause may leave its subject out.

    `once`: a clause that says no more than that what follows is past, until one with `since` ("now"); None where
    verbs say so themselves. `lead_in`: words before a statement that say nothing of it ("oh and"); None where rows know of
    them. `alone`: what may stand beside time words that stand alone before a clause. `read_left` gives None where something is left over. `tail_off` gives the text (first what stands before it) without end
    particles, whether it ended in 了, and whether its end leaves the statement open. `leading_subject` gives False for someone not to be carried on.
    """

    words: bool
    drops_subject: bool
    alone: re.Pattern[str]
    lead_in: re.Pattern[str] | None
    once: re.Pattern[str] | None
    since: re.Pattern[str] | None
    tables: Tables
    cleaners: Mapping[str, Callable[[str], Part | None]]
    read_left: Callable[[str, Voice], Left | None]
    without_pronoun: Callable[[str, bool], str | None]
    mentioned: Callable[[str, Voice], Subject | None]
    leading_subject: Callable[[str, Voice], Subject | None | bool]
    tail_off: Callable[[str, str], tuple[str, bool, bool]]
    split_list: Callable[[str], list[str]]
    done: Callable[[str, str], bool]
    agrees: Callable[[str, Left, Subject, bool], bool]
    hands_on: Callable[[str], bool]


@dataclass(slots=True)
class Carry:
    """Whom the sentence speaks of so far: `subject` is None before anyone is named, False after someone unreadable.
    `third` is the last third person of the utterance, for he and she. `start` is where the carried subject stands.
    `told` are values and their places in the utterance by predicate; `before` finds one in the speaker's earlier words.
    `owner` is the system last spoken of, for its bare parts and for "it". `last` is what the clause just before was read as."""

    subject: Subject | None | bool = None
    third: Subject | None = None
    start: int | None = None
    spans: tuple[TimeSpan, ...] = ()
    spans_start: int | None = None
    told: dict[str, tuple[str, int]] = field(default_factory=dict)
    before: Callable[[str], str | None] | None = None
    owner: Owner | None = None
    last: Reading | None = None

    def again(self, predicate: str) -> tuple[str, int | None] | None:
        """What was last said of the predicate, and where in this utterance."""
        if predicate in self.told:
            return self.told[predicate]
        value = self.before(predicate) if self.before is not None else None
        return None if value is None else (value, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A clause in its sentence, with its time words (offsets within the sentence). `lead`: where in the text those begin
    that stand alone before it. `past`: an earlier clause says that it is past."""

    voice: Voice
    utterance: Utterance
    sentence: Sentence
    clause: Clause
    spans: tuple[TimeSpan, ...]
    lead: int | None = None
    past: bool = False

    @property
    def shift(self) -> int:
        """Where the clause begins in its sentence: time words count from the sentence's start."""
        return self.clause.start - self.sentence.start

    def inside(self, spans: Sequence[TimeSpan]) -> tuple[TimeSpan, ...]:
        """The time words of the sentence that stand in this clause."""
        end = self.shift + len(self.clause.text)
        return tuple(span for span in spans if span.start >= self.shift and span.end <= end)

    @property
    def gap(self) -> str:
        """The last of what stands between this clause and the one before."""
        return self.sentence.text[max(0, self.shift - 6) : self.shift].lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A row that matched: its parts, who it speaks of, and whether it is denied. `le`: the words end in 了.

    `inherited`: the subject stands in an earlier clause.
    """

    frame: Frame
    parts: Mapping[str, Part]
    left: Left
    subject: Subject
    negated: bool
    le: bool
    inherited: bool
