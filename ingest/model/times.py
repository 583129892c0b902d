"""When a claim holds: the model names the words, our own time grammar reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..extractor import Utterance
from ..rules.frames import Course
from ..rules.times import Validity, spans_of, validity
from ..timewords import Tense, TimeSpan
from .answer import Kind, Said
from .prompt import data

_AROUND: Final = 40
"""Characters on each side of the time words that may say how they are meant (until, since, 之前)."""
_COURSES: Final[dict[Kind, Course]] = {
    "fact": "state", "change": "change", "preference": "state", "plan": "plan", "happening": "happening",
}
_TENSES: Final[dict[Kind, Tense]] = {"plan": "future", "happening": "past"}


def when(said: Said, utterance: Utterance, *, quoted: tuple[int, int]) -> tuple[Kind, Validity] | None:
    """The claim's kind, as its time words bear it out, and when it holds. None: words and time do not go together.

    `quoted` is where its quote stands.
    """
    spans = _spans(said, utterance, quoted)
    always = said.predicate in data()["checks"]["always"].split() and not spans
    course: Course = "always" if always else "habit" if said.predicate == "habit" else _COURSES[said.kind]
    found = _validity(course, said, spans, utterance)
    if found is not None:
        return said.kind, found
    for kind in ("plan", "happening"):
        if said.kind in ("plan", "happening") and kind != said.kind:
            found = _validity(_COURSES[kind], said, spans, utterance)
            if found is not None:
                return kind, found
    return None


def _validity(course: Course, said: Said, spans: Sequence[TimeSpan], utterance: Utterance) -> Validity | None:
    return validity(
        course, spans, utterance.said_at, negated=said.negated, temporary=said.temporary, past=said.past
    )


def _spans(said: Said, utterance: Utterance, quoted: tuple[int, int]) -> tuple[TimeSpan, ...]:
    """The spans of the text that the model's time words touch; none where these are not in the text."""
    words = said.time.strip()
    if not words:
        return ()
    text = utterance.text
    start = text.find(words, *quoted)
    if start < 0:
        start = text.find(words)
    if start < 0:
        return ()
    first, last = max(0, start - _AROUND), start + len(words) + _AROUND
    tense = _TENSES.get(said.kind)
    spans = spans_of(text[first:last], said_at=utterance.said_at, tense=tense)
    end = start + len(words)
    return tuple(s for s in spans if first + s.start < end and first + s.end > start)
