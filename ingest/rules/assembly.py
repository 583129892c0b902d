"""From a matched row to claims: when it holds, what it is called, and which words state it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from ..claims import Claim, Quote
from ..instants import FOREVER, from_datetime
from ..timewords import TimeSpan, tense_of
from .frames import Course, Emit, Frame
from .grammar import Carry, Grammar, Place, Reading
from .modality import corrects, is_required
from .subjects import Subject
from .systems import has_changed, is_of_systems, kept_name
from .times import Validity, spans_of, validity

_TEMPLATE: Final = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_LONGEST_QUOTE: Final = 200
"""Characters up to which a quote is widened to take in where its subject or time stands."""
EACH: Final = "\x1f"
"""Parts the items of an enumeration within one part of a claim."""


_NOWADAYS: Final = re.compile(r"today\b", re.I)
"""In front of what lasts, an English "today" is no day."""
_WAS: Final = re.compile(r"\b(?:was|were)\b", re.I)
_WAS_PLANNED: Final = re.compile(r"\b(?:was|were)(?: \w+)? (?:going to|planning|about to|gonna|meant to|hoping|intending)\b", re.I)
"""What was planned then: whether it is still, or came about, the words do not say."""
_BEGINS: Final = re.compile(r"开始(?![时的])|从此|\b(?:started|began|switched|changed|migrated)\b", re.I)
_AFTERWARDS: Final = re.compile(r"\W*(?:后来|之后|再后来|如今|现在|(?:and |but )?(?:later|afterwards|since then|now)\b)", re.I)
"""What came after is of no time told before it."""
_DONE_TO_ME: Final = re.compile(r"[给让帮叫带把送派教请]我")
"""What someone does to the speaker: of which of them the next clause speaks is not plain."""


def claims_of(grammar: Grammar, reading: Reading, place: Place, carry: Carry) -> list[Claim]:
    """The row's claims; none where words and time do not go together."""
    frame, left, subject = reading.frame, reading.left, reading.subject
    spans, borrowed = _spans(frame, place, carry)
    course = _course(reading, place)
    if course is None or not _timely(grammar, reading, spans, place):
        return []
    if course == "state" and place.lead is not None and _NOWADAYS.match(place.utterance.text, place.lead) is not None:
        spans = ()
    when = validity(
        course, spans, place.utterance.said_at, negated=reading.negated, temporary=left.temporary, past=left.past,
        so_far=not left.past and _WAS.search(place.clause.text) is None,
    )
    if when is None:
        return []
    quote = _quote(place, carry, inherited=reading.inherited, borrowed=borrowed)
    claims: list[Claim] = []
    _tell(reading, place, carry)
    for emit in frame.emit:
        if emit.when is None or re.search(emit.when, place.sentence.text, re.I):
            claims += _emitted(emit, reading, when, place, quote)
    if claims:
        claims += _kin(claims[0], left.subject, place)
        _carry_on(claims[0], subject, place, carry)
        if frame.brings_up or subject.kind != "self" and _DONE_TO_ME.search(place.clause.text) is not None:
            carry.subject = False
    return claims


def _spans(frame: Frame, place: Place, carry: Carry) -> tuple[Sequence[TimeSpan], bool]:
    """The times the row is told of, and whether they are borrowed: a happening or a plan without any is of those that
    an earlier clause told."""
    spans, borrowed = place.spans, False
    if not spans and carry.spans and frame.course in ("happening", "plan") and _AFTERWARDS.match(place.clause.text) is None:
        spans, borrowed = carry.spans, True
    elif spans and not frame.verbatim:
        carry.spans, carry.spans_start = spans, place.clause.start
    if frame.ahead and spans and not any(_ahead(span, place) for span in spans):
        spans = place.inside(spans_of(place.sentence.text, said_at=place.utterance.said_at, tense="future"))
    return spans, borrowed


def _course(reading: Reading, place: Place) -> Course | None:
    """How the row goes on in time, by what the clause says besides; None where it tells of what was planned once, of a
    plan instead of what is, or of what a system is required to be."""
    frame, course, text = reading.frame, reading.frame.course, place.clause.text
    if course == "plan" and _WAS_PLANNED.search(text) is not None or course != "plan" and reading.left.plan:
        return None
    if course == "state" and _BEGINS.search(text) is not None:
        course = "change"
    if frame.subjects.startswith(("thing", "system")) and is_of_systems(frame.emit[0].predicate):
        if is_required(text, chinese=place.sentence.chinese):
            return None
        if course == "change" and not has_changed(text):
            return "noted"
    return course


def _tell(reading: Reading, place: Place, carry: Carry) -> None:
    """What a later clause may leave out: "I used to like it, now I don't"."""
    value = reading.parts.get("o")
    if value is not None and reading.subject.kind == "self":
        carry.told[reading.frame.emit[0].predicate] = (value.text.split(EACH)[0], place.clause.start)


def _kin(first: Claim, subject: Subject | None, place: Place) -> Iterator[Claim]:
    """"My sister Clara ..." also says that Clara is a sister."""
    if subject is None or subject.kind != "relative" or subject.named is None or first.predicate == "relative":
        return
    yield replace(
        first, subject=place.voice.owner, predicate="relative", value=subject.named, negated=False, modality="fact",
        qualifiers={"relation": subject.relation or ""}, valid_from=from_datetime(place.utterance.said_at), valid_to=None,
        to_inferred=True, from_source="event", grain="instant", occurs_from=None, occurs_to=None, temporary=False,
        transfer=False, rule="relative-beside-name",
    )


def _carry_on(first: Claim, subject: Subject, place: Place, carry: Carry) -> None:
    """Whom a later clause may speak of without saying so, once a relative's name was told."""
    if first.predicate != "relative":
        return
    named = Subject(kind="person", name=first.value, relation=first.qualifiers.get("relation"))
    if subject.kind == "self":
        carry.third = named
    elif subject.kind == "relative":
        carry.subject = carry.third = named
        carry.start = place.clause.start


def _ahead(span: TimeSpan, place: Place) -> bool:
    return span.kind != "frequency" and span.begins > from_datetime(place.utterance.said_at)


_AS_A_RULE: Final = re.compile(r"一般|通常|平时|经常|常常|总是|\b(?:usually|normally|generally|typically|always|often)\b", re.I)
"""What is done so is no plan for the next time."""
_DAY_NAMED: Final = re.compile(
    r"\b(?:tomorrow|tonight|today|next|this|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend|\d+(?:st|nd|rd|th)"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\b", re.I)


def _one_day(span: TimeSpan, place: Place) -> bool:
    """Is it a day that is still to come, rather than a time of any day?"""
    return span.kind == "when" and _ahead(span, place) and _DAY_NAMED.search(place.sentence.text, span.start, span.end) is not None


def _timely(grammar: Grammar, reading: Reading, spans: Sequence[TimeSpan], place: Place) -> bool:
    """Do the time words fit the row: has a happening happened, is a plan still to come?"""
    frame, left = reading.frame, reading.left
    now = from_datetime(place.utterance.said_at)
    dated = [span for span in spans if span.kind != "frequency"]
    if frame.timed == "scope":
        return any(span.kind in ("when", "during", "until") and span.begins <= now < span.ends < FOREVER for span in dated)
    if frame.timed == "future":
        if _AS_A_RULE.search(place.clause.text) is not None:
            return False
        ahead = any(span.begins > now or (span.ends > now and span.kind in ("when", "until")) for span in dated)
        told = not grammar.words and "vp" in reading.parts and grammar.done("", reading.parts["vp"].text)
        return ahead and not reading.le and not told
    if frame.emit[0].predicate == "habit" and len(dated) == len(spans) and any(_one_day(span, place) for span in dated):
        return False
    if frame.course == "happening":
        if left.be or any(span.begins > now for span in dated) or (left.past and not dated):
            return False
        done = reading.le or left.done or grammar.done("", place.clause.text)
        dated = dated if done else [span for span in dated if span.kind != "vague"]
        if dated:
            return done or any(span.ends <= now for span in dated)
        return done and left.subject is not None and reading.parts["vp"].kind == "event"
    if frame.course == "plan":
        if any(span.ends <= now and span.kind == "when" for span in dated):
            return False
        return frame.ahead and any(_ahead(span, place) for span in dated) or tense_of(place.clause.text) != "past"
    return True


def _emitted(emit: Emit, reading: Reading, when: Validity, place: Place, quote: Quote) -> Iterator[Claim]:
    def fill(template: str) -> str:
        return _TEMPLATE.sub(lambda m: _filled(m[1], m[2], reading, place), template)

    frame, left = reading.frame, reading.left
    predicate = fill(emit.predicate)
    if left.past and emit.past is not None:
        if not emit.past:
            yield from _no_longer(replace(emit, past=None), reading, place, quote)
            return
        predicate = fill(emit.past)
    elif left.past and frame.course in ("state", "habit"):
        return
    value = fill(emit.value)
    qualifiers = {name: filled for name, template in emit.qualifiers.items() if (filled := fill(template))}
    if left.also and predicate == "member_of":
        qualifiers["besides"] = value
    listed = next((name for name, filled in qualifiers.items() if EACH in filled), None)
    several = [qualifiers] if listed is None else [{**qualifiers, listed: one} for one in qualifiers[listed].split(EACH)]
    for item, told in product(value.split(EACH), several):
        if item:
            yield Claim(
                subject=kept_name(reading.subject.name if emit.subject is None else fill(emit.subject), predicate), predicate=predicate, value=item,
                quote=quote, negated=reading.negated if emit.negated is None else emit.negated, qualifiers=told,
                modality=emit.modality or frame.modality, valid_from=when.valid_from, valid_to=when.valid_to, to_inferred=when.to_inferred,
                from_source=when.from_source, grain=when.grain, occurs_from=when.occurs_from, occurs_to=when.occurs_to,
                temporary=when.temporary, corrects=corrects(place.sentence), succeeds=emit.succeeds,
                transfer=frame.transfer, confidence=frame.confidence,
                said_by=place.utterance.speaker, rule=frame.rule,
            )


_NO_MORE: Final = re.compile(r"以前|原来|从前|原先|早先|\b(?:used to|formerly|previously)\b", re.I)
"""Words for the past that say that it is over; what was so in one's childhood may be so still."""
_STILL: Final = re.compile(r"还|仍|依然|依旧|至今|一直|\b(?:still|again|to this day|(?:do|am) now)\b", re.I)
"""Words after them that say that it goes on."""


def _no_longer(emit: Emit, reading: Reading, place: Place, quote: Quote) -> Iterator[Claim]:
    """What used to be so is so no more, from when that is said on; the quote goes on to what came of it. What used not
    to be may be or not."""
    upto = place.shift + len(place.clause.text)
    over = reading.frame.past or _NO_MORE.search(place.sentence.text, 0, upto) is not None
    if over and not reading.negated and _STILL.search(place.utterance.text, place.clause.end) is None:
        denied = replace(reading, negated=True, left=replace(reading.left, past=False))
        stop = place.sentence.start + len(place.sentence.text.rstrip(" ,，、…~～"))
        if stop - quote.start <= _LONGEST_QUOTE:
            quote = replace(quote, end=stop, text=place.utterance.text[quote.start : stop])
        yield from _emitted(emit, denied, Validity(valid_from=from_datetime(place.utterance.said_at)), place, quote)


def _filled(name: str, attribute: str | None, reading: Reading, place: Place) -> str:
    if attribute == "owner":
        return reading.subject.owner or place.voice.owner
    if attribute == "relation":
        return reading.subject.relation or ""
    part = reading.parts.get(name)
    if part is None:
        return ""
    return part.kind if attribute == "kind" else part.text


def _quote(place: Place, carry: Carry, *, inherited: bool, borrowed: bool) -> Quote:
    """The clause, or from where its subject or time stands, so that it can be read alone."""
    start, end = place.clause.start, place.clause.end
    if place.lead is not None and end - place.lead <= _LONGEST_QUOTE:
        start = place.lead
    earlier = carry.start if inherited else carry.spans_start if borrowed else None
    within = place.sentence.start if carry.owner is None or earlier != carry.owner.start else 0
    if earlier is not None and within <= earlier < start and end - earlier <= _LONGEST_QUOTE:
        start = earlier
    return Quote(event_id=place.utterance.event_id, start=start, end=end, text=place.utterance.text[start:end])
