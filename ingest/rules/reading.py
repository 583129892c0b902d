"""From a clause to claims: find a frame whose words all stand, read what is before it, and say when it holds.

Language-neutral: `Grammar` gives the left side, the cleaners and the tables of one language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from ..claims import Claim, Quote
from ..extractor import Utterance
from ..timewords import TimeSpan, tense_of
from .clauses import Clause, Sentence
from .frames import Emit, Frame, Tables
from .subjects import Left, Part, Subject, Voice
from .times import Validity, spans_of, validity


class Grammar(Protocol):
    """One language. `words`: triggers are whole words. `drops_subject`: a clause may leave its subject out."""

    words: bool
    drops_subject: bool
    tables: Tables
    cleaners: Mapping[str, Callable[[str], Part | None]]

    def read_left(self, text: str, voice: Voice) -> Left | None: ...

    def without_pronoun(self, text: str) -> str | None: ...

    def mentioned(self, text: str, voice: Voice) -> Subject | None: ...

    def leading_subject(self, text: str, voice: Voice) -> Subject | None | bool: ...

    def tail_off(self, text: str) -> tuple[str, bool, bool]: ...

    def split_list(self, text: str) -> list[str]: ...

    def done(self, trigger: str, right: str) -> bool: ...

    def agrees(self, trigger: str, left: Left, subject: Subject, inherited: bool) -> bool: ...

    def hands_on(self, gap: str) -> bool: ...


@dataclass(slots=True)
class Carry:
    """Whom the sentence speaks of so far: `subject` is None before anyone is named, False after someone unreadable.
    `third` is the last third person of the utterance, for he and she. `start` is where the carried subject stands."""

    subject: Subject | None | bool = None
    third: Subject | None = None
    start: int | None = None
    spans: tuple[TimeSpan, ...] = ()
    spans_start: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A clause in its sentence, with the time words in it (offsets within the clause)."""

    voice: Voice
    utterance: Utterance
    sentence: Sentence
    clause: Clause
    spans: tuple[TimeSpan, ...]


_BOUNDS: Final = ("since", "until", "during")
_TEMPLATE: Final = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


def read_sentence(grammar: Grammar, sentence: Sentence, verdicts: Sequence[str | None], utterance: Utterance, carry: Carry, voice: Voice) -> Iterator[Claim]:
    """Claims of one sentence, in order of place."""
    spans: tuple[TimeSpan, ...] | None = None
    carry.subject, carry.start, carry.spans, carry.spans_start = None, None, (), None
    for clause, verdict in zip(sentence.clauses, verdicts, strict=True):
        if verdict is not None:
            carry.subject = False if carry.subject is None else carry.subject
            continue
        third = carry.third
        found = list(grammar.tables.frames.found(clause.text.lower(), words=grammar.words))
        claims: list[Claim] = []
        if found:
            if spans is None:
                spans = spans_of(sentence.text, said_at=utterance.said_at)
            shift = clause.start - sentence.start
            inside = tuple(s for s in spans if s.start >= shift and s.end <= shift + len(clause.text))
            place = _Place(voice=voice, utterance=utterance, sentence=sentence, clause=clause, spans=inside)
            claims = _read_clause(grammar, found, place, carry)
        if not claims:
            leading = grammar.leading_subject(clause.text, voice)
            if leading is not None:
                carry.subject, carry.start = leading, clause.start
                if isinstance(leading, Subject) and leading.kind in ("person", "relative"):
                    carry.third = leading
        mentioned = grammar.mentioned(clause.text, voice)
        if mentioned is not None and carry.third is third:
            carry.third = mentioned
        yield from claims


def _outside(text: str, spans: Sequence[TimeSpan], shift: int, begin: int, end: int) -> str:
    """`text[begin:end]` without time words."""
    out, at = [], begin
    for span in spans:
        a, b = max(span.start - shift, begin), min(span.end - shift, end)
        if a < b:
            out.append(text[at:a])
            at = b
    out.append(text[at:end])
    return "".join(out)


def _trimmed(text: str, spans: Sequence[TimeSpan], shift: int, begin: int, end: int) -> tuple[int, int]:
    """The bounds of `text[begin:end]` without time words at its ends."""
    moved = True
    while moved:
        moved = False
        while begin < end and text[begin] in " ,，、":
            begin += 1
        while end > begin and text[end - 1] in " ,，、":
            end -= 1
        for span in spans:
            a, b = span.start - shift, span.end - shift
            if a <= begin < b <= end and span.kind != "frequency":
                begin, moved = b, True
            elif begin <= a < end <= b and a > begin and span.kind != "frequency":
                end, moved = a, True
    return begin, end


def _read_clause(grammar: Grammar, found: Sequence[tuple[int, int, tuple[Frame, ...]]], place: _Place, carry: Carry) -> list[Claim]:
    shift = place.clause.start - place.sentence.start
    taken = [(s.start - shift, s.end - shift) for s in place.spans if s.kind != "frequency"]
    seen: dict[tuple[int, bool, bool], _Right] = {}
    free = [row for row in found if not any(a <= row[0] < b for a, b in taken)]
    for late in (False, True):
        for start, end, frames in free:
            for frame in frames:
                if frame.late is late:
                    claims = _apply(grammar, frame, start, end, place, carry, seen)
                    if claims:
                        return claims
    return []


@dataclass(slots=True)
class _Right:
    """What follows a trigger, as one kind of row sees it: the words, and where they stand."""

    body: str
    begin: int
    end: int
    le: bool
    open_end: bool


def _right(grammar: Grammar, place: _Place, end: int, *, verbatim: bool) -> _Right:
    """The words from `end` on: with their time words where they are part of the value, else without."""
    text, shift = place.clause.text, place.clause.start - place.sentence.start
    begin, stop = (end, len(text)) if verbatim else _trimmed(text, place.spans, shift, end, len(text))
    body, le, open_end = grammar.tail_off(text[begin:stop])
    if verbatim:
        return _Right(body.strip(), begin, begin + len(body), le, open_end)
    begin, stop = _trimmed(text, place.spans, shift, begin, begin + len(body))
    body = _outside(text, place.spans, shift, begin, stop).replace("  ", " ")
    return _Right(body.strip(), begin, stop, le, open_end)


def _apply(
    grammar: Grammar, frame: Frame, start: int, end: int, place: _Place, carry: Carry, seen: dict[tuple[int, bool, bool], _Right]
) -> list[Claim]:
    text = place.clause.text
    shift = place.clause.start - place.sentence.start
    if frame.holds and any(s.kind not in _BOUNDS for s in place.spans):
        place = replace(place, spans=tuple(s for s in place.spans if s.kind in _BOUNDS))
    left_begin, left_end = 0, start
    if frame.whole is not None:
        key = (-1, True, frame.holds)
        value_at = 0
        right = seen.get(key)
        if right is None:
            right = seen[key] = _right(grammar, place, 0, verbatim=True)
        match = frame.whole.fullmatch(right.body)
        if match is not None:
            left_begin, left_end = match.span("s") if "s" in match.re.groupindex else (0, 0)
            value_at = match.start("o") if "o" in match.re.groupindex else 0
    else:
        key = (end, frame.verbatim, frame.holds)
        value_at = end
        right = seen.get(key)
        if right is None:
            right = seen[key] = _right(grammar, place, end, verbatim=frame.verbatim)
        assert frame.right is not None
        match = frame.right.fullmatch(right.body)
    if match is None or right.open_end:
        return []
    parts = _parts(grammar, frame, match, text[start:end])
    if parts is None:
        return []
    who = _who(grammar, frame, _outside(text, place.spans, shift, left_begin, left_end), place, carry)
    if who is None:
        return []
    left, subject, inherited = who
    if frame.whole is None and (left.possessive or not grammar.agrees(text[start:end].lower(), left, subject, inherited)):
        return []
    negated = left.negated ^ frame.flip ^ (match.groupdict().get("neg") is not None)
    if frame.affirm and left.negated:
        return []
    if frame.done and not (right.le or left.done or grammar.done(text[start:end], right.body)):
        return []
    whole = Part(text[start : right.end].strip())
    if "vp" in frame.classes:
        cleaned = grammar.cleaners[frame.classes["vp"]](whole.text)
        if cleaned is None:
            return []
        whole = cleaned
    parts["vp"] = whole
    parts["s"] = Part(subject.name)
    if frame.verbatim and frame.course in ("state", "change"):
        place = replace(place, spans=tuple(s for s in place.spans if s.end - shift <= value_at))
    return _claims(grammar, frame, parts, left, subject, negated, right.le, place, carry, inherited)


def _parts(grammar: Grammar, frame: Frame, match: re.Match[str], trigger: str) -> dict[str, Part] | None:
    raw = {name: value.strip() for name, value in match.groupdict().items() if value is not None and name not in ("s", "neg")}
    raw["trigger"] = trigger
    raw["verb"] = trigger
    parts: dict[str, Part] = {}
    for name, value in raw.items():
        kind = frame.classes.get(name)
        if kind is None:
            parts[name] = Part(value)
            continue
        cleaned = _cleaned(grammar, kind, value, each=any(e.each for e in frame.emit))
        if cleaned is None:
            return None
        parts[name] = cleaned
    return parts


def _cleaned(grammar: Grammar, kind: str, value: str, *, each: bool) -> Part | None:
    cleaner = grammar.cleaners[kind]
    if not each:
        return cleaner(value)
    items = grammar.split_list(value)
    if len(items) < 2:
        return cleaner(value)
    cleaned = [cleaner(item) for item in items]
    if any(item is None for item in cleaned):
        return cleaner(value)
    return Part("\x1f".join(item.text for item in cleaned if item is not None), "list")


_SUITS: Final[Mapping[str, frozenset[str]]] = {
    "self": frozenset({"self"}),
    "person": frozenset({"self", "relative", "person", "org"}),
    "relative": frozenset({"relative"}),
    "org": frozenset({"org"}),
    "living": frozenset({"self", "relative", "person"}),
    "thing": frozenset({"org", "thing", "person"}),
    "thing_or_speaker": frozenset({"org", "thing", "person", "self"}),
    "any": frozenset({"self", "relative", "person", "org", "thing"}),
    "thing_named": frozenset({"org", "thing", "person"}),
    "any_named": frozenset({"org", "thing", "person", "relative"}),
}


def _who(grammar: Grammar, frame: Frame, before: str, place: _Place, carry: Carry) -> tuple[Left, Subject, bool] | None:
    """The left side, the subject, and whether the subject stands in an earlier clause. None: not certain who."""
    speaker = Subject(kind="self", name=place.voice.owner)
    if frame.subjects == "speaker":
        return (Left(subject=speaker), speaker, False) if place.voice.first_person else None
    left = grammar.read_left(before, place.voice)
    inherited = False
    if left is None:
        rest = grammar.without_pronoun(before)
        if carry.third is None or rest is None:
            return None
        left = grammar.read_left(rest, place.voice)
        if left is None or left.subject is not None:
            return None
        subject: Subject = carry.third
        inherited = True
    elif left.subject is not None:
        subject = left.subject
    elif frame.explicit:
        if not (frame.subjects == "thing" and isinstance(carry.subject, Subject) and carry.subject.kind in ("thing", "org")):
            return None
        subject, inherited = carry.subject, True
    elif frame.subjects == "thing_or_speaker" and place.voice.first_person:
        subject = speaker
    elif carry.subject is False:
        return None
    elif isinstance(carry.subject, Subject):
        if frame.course != "happening" and not grammar.hands_on(_gap(place)):
            return None
        subject, inherited = carry.subject, True
    elif not grammar.drops_subject or not place.voice.first_person:
        return None
    else:
        subject = speaker
    if subject.kind not in _SUITS[frame.subjects]:
        if not (frame.subjects == "thing" and left.subject is None and not inherited and not frame.explicit):
            return None
    if left.subject is not None:
        carry.subject, carry.start = subject, place.clause.start
        if subject.kind in ("person", "relative"):
            carry.third = subject
    return left, subject, inherited


def _gap(place: _Place) -> str:
    """What parts the clause from the one before it, and how it begins."""
    at = place.clause.start - place.sentence.start
    return place.sentence.text[max(0, at - 6) : at].lower()


def _claims(
    grammar: Grammar, frame: Frame, parts: dict[str, Part], left: Left, subject: Subject, negated: bool, le: bool,
    place: _Place, carry: Carry, inherited: bool,
) -> list[Claim]:
    spans = place.spans
    borrowed = False
    if not spans and carry.spans and frame.course in ("happening", "plan"):
        spans, borrowed = carry.spans, True
    elif place.spans and not frame.verbatim:
        carry.spans, carry.spans_start = place.spans, place.clause.start
    if left.plan and frame.course != "plan":
        return []
    if not _timely(grammar, frame, spans, left, le, place, parts["vp"]):
        return []
    when = validity(frame.course, spans, place.utterance.said_at, negated=negated, temporary=left.temporary, past=left.past)
    if when is None:
        return []
    claims: list[Claim] = []
    for emit in frame.emit:
        if emit.when is not None and not re.search(emit.when, place.sentence.text, re.I):
            continue
        claims += _emitted(emit, frame, parts, left, subject, negated, when, place, carry, inherited, borrowed)
    if claims and left.subject is not None and subject.relation is not None and subject.named is not None and subject.kind == "relative":
        claims.append(replace(
            claims[0], subject=place.voice.owner, predicate="relative", value=subject.named, negated=False, modality="fact",
            qualifiers={"relation": subject.relation}, valid_from=None, valid_to=None, to_inferred=True, from_source="event",
            grain="instant", occurs_from=None, occurs_to=None, temporary=False, transfer=False, rule="relative-beside-name",
        ))
    if claims and subject.kind == "self" and claims[0].predicate == "relative":
        named = Subject(kind="person", name=claims[0].value, relation=claims[0].qualifiers.get("relation"))
        carry.third = named
    if claims and claims[0].predicate == "relative" and subject.kind == "relative":
        carry.subject = carry.third = Subject(kind="person", name=claims[0].value)
        carry.start = place.clause.start
    return claims


def _timely(grammar: Grammar, frame: Frame, spans: Sequence[TimeSpan], left: Left, le: bool, place: _Place, vp: Part) -> bool:
    now = int(place.utterance.said_at.timestamp() * 1_000_000)
    dated = [s for s in spans if s.kind not in ("frequency",)]
    if frame.timed == "future":
        return any(s.begins > now or (s.ends > now and s.kind in ("when", "until")) for s in dated) and not le
    if frame.course == "happening":
        if any(s.begins > now for s in dated) or left.past and not dated:
            return False
        if left.be:
            return False
        done = le or left.done or grammar.done("", place.clause.text)
        if dated:
            return done or any(s.ends <= now for s in dated)
        return done and left.subject is not None and vp.kind == "event"
    if frame.course == "plan":
        return not any(s.ends <= now and s.kind == "when" for s in dated) and tense_of(place.clause.text) != "past"
    return True


def _emitted(
    emit: Emit, frame: Frame, parts: Mapping[str, Part], left: Left, subject: Subject, negated: bool, when: Validity,
    place: _Place, carry: Carry, inherited: bool, borrowed: bool,
) -> Iterator[Claim]:
    def fill(template: str) -> str:
        return _TEMPLATE.sub(lambda m: _filled(m[1], m[2], parts, subject, place), template)

    predicate = fill(emit.predicate)
    against = negated if emit.negated is None else emit.negated
    if left.past:
        if emit.past is None and frame.course == "state":
            return
        if emit.past is not None:
            predicate = emit.past
    value = fill(emit.value)
    qualifiers = {k: filled for k, v in emit.qualifiers.items() if (filled := fill(v))}
    owner = subject.name if emit.subject is None else fill(emit.subject)
    if left.also and predicate == "member_of":
        qualifiers["besides"] = value
    quote = _quote(place, carry if inherited or borrowed else None, inherited)
    for item in value.split("\x1f"):
        if item:
            yield Claim(
                subject=owner, predicate=predicate, value=item, quote=quote, negated=against, qualifiers=qualifiers,
                modality=_modality(frame), valid_from=when.valid_from, valid_to=when.valid_to, to_inferred=when.to_inferred,
                from_source=when.from_source, grain=when.grain, occurs_from=when.occurs_from, occurs_to=when.occurs_to,
                temporary=when.temporary, transfer=frame.transfer, confidence=frame.confidence,
                said_by=place.utterance.speaker, rule=frame.rule,
            )


def _modality(frame: Frame) -> Any:
    return frame.modality


def _filled(name: str, attribute: str | None, parts: Mapping[str, Part], subject: Subject, place: _Place) -> str:
    if attribute == "owner":
        return place.voice.owner
    if attribute == "relation":
        return subject.relation or ""
    part = parts.get(name, Part(""))
    return part.kind if attribute == "kind" else part.text


def _quote(place: _Place, carry: Carry | None, inherited: bool) -> Quote:
    """The clause, or from where its subject or time stands, so that it can be read alone."""
    start, end = place.clause.start, place.clause.end
    if carry is not None:
        starts = [s for s in ((carry.start if inherited else None), carry.spans_start if not inherited else None) if s is not None]
        earliest = min(starts, default=start)
        if place.sentence.start <= earliest < start and end - earliest <= 200:
            start = earliest
    return Quote(event_id=place.utterance.event_id, start=start, end=end, text=place.utterance.text[start:end])
