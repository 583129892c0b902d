"""From a clause to claims: find a row whose words all stand, and read what is before it without rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..claims import Claim
from ..extractor import Utterance
from ..timewords import TimeSpan
from .assembly import EACH, claims_of
from .attribution import who
from .clauses import Sentence
from .elliptic import contrasted, instead, is_ended
from .frames import Found, Frame
from .grammar import Carry, Grammar, Place, Reading
from .subjects import Part, Subject, Voice
from .systems import owner_of
from .times import spans_of

_ONCE: Final = 20
"""Characters of the longest clause that says no more than that what follows is past."""
_LONGEST_CLAUSE: Final = 300
"""Characters beyond which a clause is no sentence anyone said, and not read."""
_COPULA: Final = re.compile(r" (?:is|are|was)(?: |$)|'s$")
_BOUNDS: Final = ("since", "until", "during")


def read_sentence(grammar: Grammar, sentence: Sentence, verdicts: Sequence[str | None], utterance: Utterance, carry: Carry, voice: Voice) -> Iterator[Claim]:
    """Claims of one sentence, in order of place."""
    spans: tuple[TimeSpan, ...] | None = None
    carry.subject, carry.start, carry.spans, carry.spans_start = None, None, (), None
    past = False
    for clause, verdict in zip(sentence.clauses, verdicts, strict=True):
        if grammar.once is not None and len(clause.text) <= _ONCE and grammar.once.fullmatch(clause.text) is not None:
            past = True
            continue
        past = past and grammar.since is not None and grammar.since.search(clause.text) is None
        if verdict not in (None, "request") or len(clause.text) > _LONGEST_CLAUSE:
            carry.subject = False if carry.subject is None else carry.subject
            continue
        third, before, carry.last = carry.third, carry.last, None
        found = list(grammar.tables.frames.found(clause.text.lower(), words=grammar.words))
        if verdict is not None:
            found = [row for row in found if row[2].wishes]
        claims: list[Claim] = []
        over = before is not None and verdict is None and is_ended(clause.text, chinese=not grammar.words)
        if found and not over:
            if spans is None:
                spans = spans_of(sentence.text, said_at=utterance.said_at)
            place = Place(voice=voice, utterance=utterance, sentence=sentence, clause=clause, spans=spans, past=past)
            if spans:
                lent, lead = _leading(grammar, place, spans)
                place = replace(place, spans=place.inside(spans) or lent, lead=lead)
            claims = _read_clause(grammar, found, place, carry, wishes=verdict is not None)
        if not claims and before is not None and verdict is None:
            if spans is None:
                spans = spans_of(sentence.text, said_at=utterance.said_at)
            place = Place(voice=voice, utterance=utterance, sentence=sentence, clause=clause, spans=())
            claims = _goes_on(grammar, before, replace(place, spans=place.inside(spans)), carry)
        if verdict is not None:
            carry.subject = False if carry.subject is None else carry.subject
        elif not claims:
            leading = grammar.leading_subject(clause.text, voice)
            if leading is not None:
                carry.subject, carry.start = leading, clause.start
                if isinstance(leading, Subject) and leading.kind in ("person", "relative"):
                    carry.third = leading
                elif isinstance(leading, Subject):
                    carry.owner = owner_of(leading, start=clause.start, chinese=not grammar.words) or carry.owner
        mentioned = grammar.mentioned(clause.text, voice)
        if mentioned is not None and carry.third is third:
            carry.third = mentioned
        yield from claims


def _leading(grammar: Grammar, place: Place, spans: Sequence[TimeSpan]) -> tuple[tuple[TimeSpan, ...], int | None]:
    """The times that stand alone before the clause at the sentence's beginning ("On 2 May, we moved"), which are its
    own, and where in the text they begin."""
    shift = place.shift
    lent = tuple(span for span in spans if span.start < shift and span.kind not in ("vague", "frequency"))
    if not lent or grammar.alone.fullmatch(_outside(place.sentence.text, lent, 0, 0, max(shift, lent[-1].end))) is None:
        return (), None
    own = tuple(span for span in place.inside(spans) if span.kind not in ("vague", "frequency"))
    return (lent, place.sentence.start + lent[0].start) if not own else ((), None)


_AT_THE_TIME: Final = re.compile(r"的?时候?(?![间区钟代候常装光薪])|那时候?|那会儿")
"""What closes a time that something is told of: `2019年时`, `上学的时候`."""


def _outside(text: str, spans: Sequence[TimeSpan], shift: int, begin: int, end: int) -> str:
    """`text[begin:end]` without time words."""
    if not spans:
        return text[begin:end]
    out, at = [], begin
    for span in spans:
        a, b = max(span.start - shift, begin), min(span.end - shift, end)
        if a < b:
            out.append(text[at:a])
            closed = _AT_THE_TIME.match(text, b, end)
            at = b if closed is None else closed.end()
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


def _read_clause(grammar: Grammar, found: Sequence[Found], place: Place, carry: Carry, *, wishes: bool) -> list[Claim]:
    seen: dict[tuple[int, bool, bool], _Right] = {}
    free = found
    if place.spans:
        shift = place.shift
        taken = [(s.start - shift, s.end - shift) for s in place.spans if s.kind != "frequency"]
        free = [row for row in found if not any(a <= row[0] < b for a, b in taken)]
    for late in (False,) if wishes else (False, True):
        for start, end, rows in free:
            for frame in rows.wishes if wishes else rows.late if late else rows.prompt:
                claims = _apply(grammar, frame, start, end, place, carry, seen)
                if claims:
                    return claims
    return []


@dataclass(slots=True)
class _Right:
    """What follows a trigger, as one kind of row sees it: the words, and where they stand. `lead`: characters of them that
    lead in."""

    body: str
    begin: int
    end: int
    le: bool
    open_end: bool
    lead: int = 0


def _right(grammar: Grammar, place: Place, end: int, *, verbatim: bool) -> _Right:
    """The words from `end` on: with their time words where they are part of the value, else without."""
    text, shift = place.clause.text, place.shift
    begin, stop = (end, len(text)) if verbatim else _trimmed(text, place.spans, shift, end, len(text))
    body, le, open_end = grammar.tail_off(text[begin:stop], text[:begin])
    if verbatim:
        return _Right(body.strip(), begin, begin + len(body), le, open_end)
    begin, stop = _trimmed(text, place.spans, shift, begin, begin + len(body))
    if not grammar.words and text[begin:stop].endswith("的") and any(_dates(span, end + shift) for span in place.spans):
        stop -= 1
    body = _outside(text, place.spans, shift, begin, stop).replace("  ", " ").strip()
    return _Right(body, begin, stop if body else end, le, open_end)


def _dates(span: TimeSpan, before: int) -> bool:
    """Is it a date that stands before? Then a closing 的 marks when it came about, and is none of the value's."""
    return span.kind in ("when", "since", "during") and span.end <= before


def _apply(
    grammar: Grammar, frame: Frame, start: int, end: int, place: Place, carry: Carry, seen: dict[tuple[int, bool, bool], _Right]
) -> list[Claim]:
    text = place.clause.text
    shift = place.shift
    if frame.holds and any(s.kind not in _BOUNDS for s in place.spans):
        place = replace(place, spans=tuple(s for s in place.spans if s.kind in _BOUNDS))
    left_begin, left_end = 0, start
    if frame.whole is not None:
        key = (-1, True, frame.holds)
        value_at = 0
        right = seen.get(key)
        if right is None:
            right = seen[key] = _right(grammar, place, 0, verbatim=True)
            lead = None if grammar.lead_in is None else grammar.lead_in.match(right.body)
            right.lead = 0 if lead is None else lead.end()
        match = frame.whole.fullmatch(right.body)
        if match is None and right.lead:
            match = frame.whole.fullmatch(right.body, right.lead)
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
    if match is None or right.open_end and not frame.wish:
        return []
    parts = _parts(grammar, frame, match, text[start:end])
    if parts is None:
        return []
    spans = [s for s in place.spans if s.kind != "frequency"] if frame.explicit and (frame.verbatim or frame.subjects == "system") else place.spans
    found = who(grammar, frame, _outside(text, spans, shift, left_begin, left_end), place, carry)
    if found is None:
        return []
    left, subject, inherited = found
    then = left.was and frame.course == "state" and all(s.kind in ("vague", "frequency") for s in place.spans)
    if frame.past or then or place.past and not place.spans:
        left = replace(left, past=True)
    owns = left.possessive and not _COPULA.search(text[start:end].lower())
    if frame.whole is None and (owns or not grammar.agrees(text[start:end].lower(), left, subject, inherited)):
        return []
    negated = left.negated ^ frame.flip ^ (match.groupdict().get("neg") is not None)
    if left.negated if frame.affirm else frame.denied and not left.negated:
        return []
    if frame.done and not (right.le or left.done or grammar.done(text[start:end], right.body)):
        return []
    whole = Part(text[start : right.end].strip())
    if "vp" in frame.classes:
        cleaned = grammar.cleaners[frame.classes["vp"]](whole.text)
        if cleaned is None:
            return []
        whole = cleaned
    if frame.again is not None:
        again = carry.again(frame.again)
        if again is None:
            return []
        parts["that"] = Part(again[0])
        carry.start, inherited = again[1], True
    parts["vp"] = whole
    parts["s"] = Part(subject.name)
    if frame.verbatim and frame.course in ("state", "change"):
        place = replace(place, spans=tuple(s for s in place.spans if s.end - shift <= value_at))
    reading = Reading(
        frame=frame, parts=parts, left=left, subject=subject, negated=negated, le=right.le, inherited=inherited
    )
    claims = claims_of(grammar, reading, place, carry)
    if claims:
        carry.last = reading
    if claims and frame.subjects.startswith(("thing", "system")):
        start = carry.start if inherited and carry.start is not None else place.clause.start
        carry.owner = owner_of(subject, start=start, chinese=not grammar.words) or carry.owner
    return claims


_PLACED: Final = frozenset({"works_at", "lives_in", "studies_at", "located_in"})
"""What "I'm at" and "I'm in" may say without naming it."""


def _goes_on(grammar: Grammar, before: Reading, place: Place, carry: Carry) -> list[Claim]:
    """The clause before with another value, or at its end, where the words say no more than that."""
    frame, text, chinese = before.frame, place.clause.text, not grammar.words
    if is_ended(text, chinese=chinese):
        if before.negated or frame.course not in ("state", "change", "acquired"):
            return []
        ended = replace(before, frame=replace(frame, course="change"), negated=True, inherited=True)
        return claims_of(grammar, ended, place, carry)
    denied = contrasted(text, chinese=chinese)
    now = instead(text, chinese=chinese) if denied is None and before.left.past else None
    if now is not None and now.placed and frame.emit[0].predicate not in _PLACED:
        return []
    value = denied if now is None else now.value
    old = before.parts.get("o")
    if not value or old is None or frame.affirm and denied is not None or value[0].isupper() is not old.text[0].isupper():
        return []
    body, _, open_end = grammar.tail_off(value, "")
    match = None if frame.right is None else frame.right.fullmatch(body)
    parts = None if match is None else _parts(grammar, frame, match, before.parts["verb"].text)
    if (parts is None or "o" not in parts) and "o" in frame.classes:
        part = _cleaned(grammar, frame.classes["o"], body, each=any(e.each for e in frame.emit))
        parts = None if part is None else {"o": part}
    if open_end or parts is None or "o" not in parts:
        return []
    left = replace(before.left, past=False)
    course = "change" if denied is None and frame.course == "state" else frame.course
    reading = replace(
        before, frame=replace(frame, course=course), parts={**before.parts, **parts}, left=left, inherited=True,
        negated=before.negated if denied is None else not before.negated,
    )
    claims = claims_of(grammar, reading, place, carry)
    carry.last = before if claims else None
    return claims


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
    return Part(EACH.join(item.text for item in cleaned if item is not None), "list")
