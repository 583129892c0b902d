"""What time words make of a claim: since when it holds, until when, and when a happening was or a plan is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..claims import Grain, TimeSource
from ..instants import BEGINNING, DAY, FOREVER, from_datetime
from ..timewords import Tense, TimeSpan, read_times
from .frames import Course


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """Fields of a claim that say when. `future` where the words speak of a time that has not begun."""

    valid_from: int | None
    valid_to: int | None = None
    to_inferred: bool = True
    from_source: TimeSource = "event"
    grain: Grain = "instant"
    occurs_from: int | None = None
    occurs_to: int | None = None
    temporary: bool = False


def spans_of(text: str, *, said_at: datetime, tense: Tense = None) -> tuple[TimeSpan, ...]:
    """The time words of a sentence, in order."""
    return tuple(read_times(text, said_at=said_at, tense=tense))


def _open(instant: int) -> int | None:
    return None if instant in (BEGINNING, FOREVER) else instant


def validity(course: Course, spans: Sequence[TimeSpan], said_at: datetime, *, negated: bool, temporary: bool, past: bool, so_far: bool = False) -> Validity | None:
    """None where words and time do not go together, so that nothing may be claimed. `so_far`: a state that is told up to
    now ("for the last six years") goes on."""
    now = from_datetime(said_at)
    dated = [s for s in spans if s.kind not in ("vague", "frequency")]
    if course in ("always", "habit"):
        return Validity(valid_from=None if course == "always" else now)
    if course == "happening":
        return _happened([s for s in spans if s.kind != "frequency"], now)
    if course == "plan":
        return _planned([s for s in spans if s.kind != "frequency"], now)
    if past and not dated:
        return Validity(valid_from=None, valid_to=now, to_inferred=False, from_source="inferred")
    held = Validity(valid_from=now, temporary=temporary)
    for span in dated:
        if so_far and course == "state" and span.kind == "during" and span.ends == now:
            span = replace(span, kind="since", ends=FOREVER)
        ranged = _held(course, span, now, negated=negated, temporary=temporary)
        if ranged is None:
            return None
        held = ranged
    return held


def _held(course: Course, span: TimeSpan, now: int, *, negated: bool, temporary: bool) -> Validity | None:
    begins, ends = _open(span.begins), _open(span.ends)
    if span.kind == "since" or (span.kind == "after" and begins is not None and begins <= now):
        return None if begins is not None and begins > now else Validity(
            valid_from=begins, from_source="stated", grain=span.grain, temporary=temporary, valid_to=ends, to_inferred=ends is None)
    if span.kind == "until":
        if ends is not None and ends <= now:
            return None
        return Validity(valid_from=now, valid_to=ends, to_inferred=ends is None, grain=span.grain, temporary=temporary)
    if begins is None or begins > now:
        return None
    if course == "acquired":
        return Validity(
            valid_from=begins, from_source="stated", grain=span.grain, temporary=temporary, occurs_from=begins, occurs_to=ends
        )
    if course == "noted" and (ends is None or ends > now or ends - begins <= DAY):
        course = "change"
    if course == "change" or (negated and ends is not None and ends <= now):
        return Validity(valid_from=begins, from_source="stated", grain=span.grain, temporary=temporary)
    bounded = ends is not None
    return Validity(
        valid_from=begins, valid_to=ends, to_inferred=not bounded, from_source="stated", grain=span.grain,
        temporary=temporary or (bounded and ends is not None and ends > now),
    )


def _happened(spans: Sequence[TimeSpan], now: int) -> Validity | None:
    if not spans:
        return Validity(valid_from=now)
    span = spans[0]
    begins, ends = _open(span.begins), _open(span.ends)
    if begins is None or begins > now:
        return None
    return Validity(valid_from=begins, from_source="stated", grain=span.grain, occurs_from=begins, occurs_to=ends)


def _planned(spans: Sequence[TimeSpan], now: int) -> Validity | None:
    if not spans:
        return Validity(valid_from=now)
    span = spans[0]
    begins, ends = _open(span.begins), _open(span.ends)
    if ends is not None and ends <= now:
        return None
    return Validity(valid_from=now, valid_to=ends, to_inferred=ends is None, grain=span.grain,
                    occurs_from=begins if span.kind != "until" else None, occurs_to=ends)
