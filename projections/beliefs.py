"""Beliefs: which statement holds a slot, at which valid time, as far as was known when.

A slot's history is a pure function of the *set* of its operations, ordered by (known instant, position of the words
that state it): when an extraction finishes cannot matter. An operation adds a statement or removes statements (found
wrong, retracted, forgotten). After each one the slot holds
**rectangles**: statement × valid interval, open in known time. What an operation changes is closed at its known
instant and kept as history; nothing is ever altered in place.

`admit` folds one statement and touches only the open rectangles that overlap it; `slot_history.replay` folds a whole
set of operations, which is what late arrivals, removals and resolutions need. Both go through the same `admit`.

Who holds a point of valid time, when `new` meets what is `held` there (DESIGN §4):

1. the same value: the held one keeps it, unless the new one is of stronger origin or a correction;
2. a weaker origin never takes from a stronger one; a stronger one takes;
3. an end that nobody stated yields to what begins later. A beginning that nobody stated either (the moment of speech)
   only says that it held *then*: told of a change within the year before, or told so as a correction, the newer
   statement is news and takes it; a change of longer ago is history and yields;
4. an explicit correction keeps its place against later plain statements about the same or an earlier beginning;
5. equal in known time, beginning and strength, from different events: contested, both stay;
6. otherwise the later statement takes it.

A negated statement of a single-valued slot ends its own value alone; it leaves other values be. A statement that only
`succeeds` holds where it takes another's place, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from taishi.ingest.instants import DAY


class Statement(NamedTuple):
    """A claim as the fold sees it. Times are instants, [start, end). `claim` is the sequence number of its event.

    `source` is the sequence number of the event whose words state it: its own where it was stated outright.
    """

    claim: int
    value: str
    negates: bool
    start: int
    end: int
    end_inferred: bool
    known: int
    strength: int
    correction: bool
    source: int
    start_inferred: bool = False
    succeeds: bool = False

    @property
    def order(self) -> tuple[int, int, int]:
        """Where it stands among the slot's operations."""
        return self.known, self.source, self.claim


class Rectangle(NamedTuple):
    """`claim` is believed over [start, end) of valid time since the known instant `known`.

    Rectangles with the same `accord` (the position of a resolution, 0 for none) were said to hold side by side.
    """

    claim: int
    start: int
    end: int
    known: int
    accord: int = 0


class Closed(NamedTuple):
    """A rectangle that was believed from `known` until `until`."""

    claim: int
    start: int
    end: int
    known: int
    accord: int
    until: int


class Link(NamedTuple):
    """One step of the supersede chain: over [start, end) `new` took the place of `old` at known instant `known`.

    `new` is None where the old one was removed and nothing stated took its place.
    """

    old: int
    new: int | None
    start: int
    end: int
    known: int
    rule: str


@dataclass(frozen=True, slots=True)
class Change:
    """What one operation did: `shut` are rectangles that were open before it, as they were."""

    shut: Sequence[Rectangle] = ()
    opened: Sequence[Rectangle] = ()
    links: Sequence[Link] = ()


class _Outcome(Enum):
    KEEPS = "keeps"
    JOINS = "joins"
    TAKES = "takes"


LATER_STATEMENT: Final = "later_statement"
BEGAN_LATER: Final = "began_later"
STRONGER_ORIGIN: Final = "stronger_origin"
CORRECTION: Final = "correction"
ENDED: Final = "ended"
END_STATED: Final = "end_stated"


NEWS: Final = 366 * DAY
"""How far back a change may lie that is told after the state it changes was told as present."""


def _is_news(new: Statement, held: Statement) -> bool:
    return held.start_inferred and (new.correction or held.start - new.start <= NEWS)


def _meet(new: Statement, held: Statement) -> tuple[_Outcome, str]:
    """The outcome for `new` at a point of valid time that `held` holds, and the rule that decided it."""
    if new.value == held.value and new.negates == held.negates:
        if new.strength > held.strength:
            return _Outcome.TAKES, STRONGER_ORIGIN
        if new.correction and not held.correction and new.strength == held.strength:
            return _Outcome.TAKES, CORRECTION
        return _Outcome.KEEPS, ""
    if new.negates and new.value != held.value:
        return (_Outcome.JOINS if held.negates else _Outcome.KEEPS), ""
    if new.strength < held.strength:
        return (_Outcome.JOINS if held.negates and new.value != held.value else _Outcome.KEEPS), ""
    if new.strength > held.strength:
        return _Outcome.TAKES, STRONGER_ORIGIN
    if new.end_inferred and held.start > new.start and not _is_news(new, held):
        return _Outcome.KEEPS, ""
    if held.correction and not new.correction and (new.start <= held.start or not held.end_inferred):
        return _Outcome.KEEPS, ""
    if (
        new.known == held.known
        and new.start == held.start
        and new.correction == held.correction
        and new.source != held.source
    ):
        return _Outcome.JOINS, ""
    if new.correction:
        return _Outcome.TAKES, CORRECTION
    if new.negates:
        return _Outcome.TAKES, ENDED
    return _Outcome.TAKES, BEGAN_LATER if new.start > held.start else LATER_STATEMENT


def _states_end_of(new: Statement, held: Statement) -> bool:
    """Whether `new` repeats `held` and says when it ends, which nobody had."""
    return (
        new.value == held.value
        and new.negates == held.negates
        and held.end_inferred
        and not new.end_inferred
        and new.start >= held.start
        and new.strength == held.strength
    )


def pieces(start: int, end: int, cuts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """[start, end) without `cuts` (sorted, disjoint)."""
    left, at = [], start
    for a, b in cuts:
        if a > at:
            left.append((at, a))
        at = max(at, b)
    if at < end:
        left.append((at, end))
    return left


def joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted spans with neighbours made one."""
    out: list[tuple[int, int]] = []
    for a, b in spans:
        if out and out[-1][1] >= a:
            out[-1] = (out[-1][0], max(b, out[-1][1]))
        else:
            out.append((a, b))
    return out


def admit(new: Statement, overlapping: Sequence[Rectangle], statements: Mapping[int, Statement]) -> Change:
    """Folds the slot's newest statement.

    `overlapping` are the open rectangles that share valid time with it (others are not touched); `statements` holds
    the statement of each. The result is in terms of those rectangles.
    """
    if new.start >= new.end:
        return Change()
    bounds = {new.start, new.end}
    for r in overlapping:
        if new.start < r.start:
            bounds.add(r.start)
        if r.end < new.end:
            bounds.add(r.end)
    edges = sorted(bounds)
    verdicts = {r.claim: _meet(new, statements[r.claim]) for r in overlapping}
    held_spans: list[tuple[int, int]] = []
    cuts: dict[Rectangle, list[tuple[int, int]]] = {}
    links: list[Link] = []
    # Sweep the elementary spans from left to right; rectangles enter in the order of their starts.
    queue = sorted(overlapping, key=lambda r: r.start)
    active: list[Rectangle] = []
    taken = 0
    for a, b in zip(edges, edges[1:], strict=False):
        active = [r for r in active if r.end > a]
        while taken < len(queue) and queue[taken].start <= a:
            if queue[taken].end > a:
                active.append(queue[taken])
            taken += 1
        if any(verdicts[r.claim][0] is _Outcome.KEEPS for r in active):
            continue
        if new.succeeds and not any(verdicts[r.claim][0] is _Outcome.TAKES for r in active):
            continue
        held_spans.append((a, b))
        for r in active:
            outcome, rule = verdicts[r.claim]
            if outcome is _Outcome.TAKES:
                cuts.setdefault(r, []).append((a, b))
                links.append(Link(r.claim, new.claim, a, b, new.known, rule))
    for r in overlapping:
        if r.end > new.end and _states_end_of(new, statements[r.claim]):
            cuts.setdefault(r, []).append((new.end, r.end))
            links.append(Link(r.claim, new.claim, new.end, r.end, new.known, END_STATED))
    opened = [
        Rectangle(r.claim, a, b, new.known, r.accord)
        for r, spans in cuts.items()
        for a, b in pieces(r.start, r.end, joined(spans))
    ]
    opened += [Rectangle(new.claim, a, b, new.known) for a, b in joined(held_spans)]
    return Change(shut=tuple(cuts), opened=opened, links=joined_links(links))


def joined_links(links: list[Link]) -> list[Link]:
    """Links of one pair by one rule over neighbouring spans, made one."""
    out: list[Link] = []
    for link in sorted(links, key=lambda k: (k.old, k.rule, k.start)):
        last = out[-1] if out else None
        if last and (last.old, last.new, last.rule, last.end) == (link.old, link.new, link.rule, link.start):
            out[-1] = last._replace(end=link.end)
        else:
            out.append(link)
    return out
