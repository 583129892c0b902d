"""The history of one slot from the set of its operations: statements, removals, and words that settle a conflict.

Operations are ordered by (known instant, position), whatever order they are given in, so that it cannot matter when an
extraction finishes. A removal takes statements back as if they had never been made; a resolution stands among the
statements and is folded anew with them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from taishi.ingest.instants import FOREVER

from .beliefs import Change, Closed, Link, Rectangle, Statement, admit, joined, joined_links, pieces

RemovalReason = Literal["wrong", "retracted", "forgotten"]
RESOLVED: Final = "resolved"
UNREAD: Final = -1
"""Stands for a winner whose statement is not there."""


@dataclass(frozen=True, slots=True)
class Removal:
    """From `known` on, `claims` are not believed."""

    claims: frozenset[int]
    reason: RemovalReason
    known: int
    seq: int
    successor: int | None = None

    @property
    def order(self) -> tuple[int, int, int]:
        """Before the statement that its own event makes."""
        return self.known, self.seq, 0


@dataclass(frozen=True, slots=True)
class Resolution:
    """From `known` on, what is contested then is settled: `winner` takes it, or (None) all who hold it coexist.

    A winner that is not contested takes from all that contradicts it, where it says that it holds. Without the
    winner's statement (removed, or not read yet) nothing is settled. Later statements meet the winner as they would
    meet any other.
    """

    winner: int | None
    known: int
    seq: int

    @property
    def order(self) -> tuple[int, int, int]:
        return self.known, self.seq, 0


Operation = Statement | Resolution


@dataclass(frozen=True, slots=True)
class SlotHistory:
    """The whole of a slot: what is believed now, what was, and why it changed."""

    open: Sequence[Rectangle]
    closed: Sequence[Closed]
    links: Sequence[Link]


def _by_end(r: Rectangle) -> tuple[int, int, int]:
    return r.end, r.start, r.claim


class _OpenRectangles:
    """Open rectangles of one slot, ordered by their ends, so that a statement about the present meets few of them."""

    def __init__(self) -> None:
        self.all: list[Rectangle] = []

    def overlapping(self, start: int, end: int) -> list[Rectangle]:
        first = bisect_right(self.all, (start, FOREVER, 0), key=_by_end)
        return [r for r in self.all[first:] if r.start < end]

    def apply(self, change: Change) -> None:
        for r in change.shut:
            del self.all[bisect_left(self.all, _by_end(r), key=_by_end)]
        for r in change.opened:
            insort(self.all, r, key=_by_end)

    def change(self, operation: Operation, folded: Mapping[int, Statement]) -> Change:
        """What the operation does; `folded` holds every statement up to it, its own included."""
        if isinstance(operation, Resolution):
            return resolve(operation, self.all, folded)
        return admit(operation, self.overlapping(operation.start, operation.end), folded)


# resolutions


def contend(a: Rectangle, b: Rectangle, statements: Mapping[int, Statement]) -> bool:
    """Whether two rectangles over one point of valid time say different things with equal right."""
    one, other = statements[a.claim], statements[b.claim]
    return not one.negates and not other.negates and one.value != other.value and not 0 < a.accord == b.accord


def _contradicts(one: Statement, other: Statement) -> bool:
    if one.negates or other.negates:
        return one.negates != other.negates and one.value == other.value
    return one.value != other.value


def _spans(rectangles: Sequence[Rectangle]) -> Iterator[tuple[int, int, list[Rectangle]]]:
    """Elementary spans of valid time, from left to right, with the rectangles that hold each."""
    edges = sorted({edge for r in rectangles for edge in (r.start, r.end)})
    queue = sorted(rectangles, key=lambda r: r.start)
    active: list[Rectangle] = []
    taken = 0
    for a, b in zip(edges, edges[1:], strict=False):
        active = [r for r in active if r.end > a]
        while taken < len(queue) and queue[taken].start <= a:
            active.append(queue[taken])
            taken += 1
        yield a, b, active


def _is_contested(held: Sequence[Rectangle], statements: Mapping[int, Statement]) -> bool:
    return any(contend(r, o, statements) for i, r in enumerate(held) for o in held[:i])


def resolve(resolution: Resolution, open_: Sequence[Rectangle], statements: Mapping[int, Statement]) -> Change:
    """Settles what is contested among the open rectangles."""
    spans = [(a, b, list(held)) for a, b, held in _spans(open_)]
    contested = [span for span in spans if _is_contested(span[2], statements)]
    if resolution.winner is None:
        return _side_by_side(resolution, contested, statements)
    winner = statements.get(resolution.winner)
    if winner is None or winner.start >= winner.end:
        return Change()
    bounds = {winner.start, winner.end}
    within = _within(contested, bounds, winner) or _within(spans, bounds, winner)
    own = [r for r in open_ if r.claim == winner.claim and not r.accord]
    return _taken(resolution, winner, own, within, statements)


def _within(
    spans: Sequence[tuple[int, int, list[Rectangle]]], bounds: set[int], winner: Statement
) -> list[tuple[int, int, list[Rectangle]]]:
    """The parts of `spans` inside the winner's own interval."""
    cut = ((max(a, winner.start), min(b, winner.end), held) for a, b, held in spans)
    return [(a, b, held) for a, b, held in cut if a < b]


def _side_by_side(
    resolution: Resolution,
    contested: Sequence[tuple[int, int, list[Rectangle]]],
    statements: Mapping[int, Statement],
) -> Change:
    cuts: dict[Rectangle, list[tuple[int, int]]] = {}
    for a, b, held in contested:
        for r in held:
            if not statements[r.claim].negates:
                cuts.setdefault(r, []).append((a, b))
    opened = []
    for r, spans in cuts.items():
        agreed = joined(spans)
        opened += [r._replace(start=a, end=b, known=resolution.known) for a, b in pieces(r.start, r.end, agreed)]
        opened += [r._replace(start=a, end=b, known=resolution.known, accord=resolution.seq) for a, b in agreed]
    return Change(shut=tuple(cuts), opened=opened)


def _taken(
    resolution: Resolution,
    winner: Statement,
    own: Sequence[Rectangle],
    spans: Sequence[tuple[int, int, list[Rectangle]]],
    statements: Mapping[int, Statement],
) -> Change:
    """What the winner takes is one with what it held beside it: a rectangle is never parted without a reason."""
    cuts: dict[Rectangle, list[tuple[int, int]]] = {}
    won: list[tuple[int, int]] = []
    links = []
    for a, b, held in spans:
        losers = [r for r in held if _contradicts(winner, statements[r.claim])]
        for r in losers:
            cuts.setdefault(r, []).append((a, b))
            links.append(Link(r.claim, winner.claim, a, b, resolution.known, RESOLVED))
        said = ((statements[r.claim].value, statements[r.claim].negates) for r in held)
        if losers and (winner.value, winner.negates) not in said:
            won.append((a, b))
    opened = [
        r._replace(start=a, end=b, known=resolution.known)
        for r, lost in cuts.items()
        for a, b in pieces(r.start, r.end, joined(lost))
    ]
    grown = [r for r in own if any(r.end == a or r.start == b for a, b in won)]
    whole = joined(sorted([*won, *((r.start, r.end) for r in grown)]))
    opened += [Rectangle(winner.claim, a, b, resolution.known) for a, b in whole]
    return Change(shut=(*cuts, *grown), opened=opened, links=joined_links(links))


# removals


def _fold(operations: Iterable[Operation]) -> list[Rectangle]:
    """Open rectangles after all of `operations` (in order), as if nothing had ever been removed."""
    open_ = _OpenRectangles()
    folded: dict[int, Statement] = {}
    for operation in operations:
        if isinstance(operation, Statement):
            folded[operation.claim] = operation
        open_.apply(open_.change(operation, folded))
    return open_.all


def remove(removal: Removal, open_: Sequence[Rectangle], survivors: Sequence[Operation]) -> Change:
    """Takes statements out of a slot. `survivors` are all operations folded before it, in order, without the
    statements that were removed.

    What they had displaced is believed again from the removal's known instant on.
    """
    before = {(r.claim, r.start, r.end, r.accord): r for r in open_}
    after = {(r.claim, r.start, r.end, r.accord) for r in _fold(survivors)}
    shut = [r for key, r in before.items() if key not in after]
    return Change(
        shut=shut,
        opened=[Rectangle(c, a, b, removal.known, accord) for c, a, b, accord in sorted(after - before.keys())],
        links=[
            Link(r.claim, removal.successor, r.start, r.end, removal.known, removal.reason)
            for r in shut
            if r.claim in removal.claims
        ],
    )


def replay(
    statements: Collection[Statement], removals: Collection[Removal], resolutions: Collection[Resolution] = ()
) -> SlotHistory:
    """The history of a slot from the set of its operations, whatever order they are given in."""
    operations: list[Operation | Removal] = [*statements, *removals, *resolutions]
    operations.sort(key=lambda operation: operation.order)
    open_ = _OpenRectangles()
    closed: list[Closed] = []
    links: list[Link] = []
    folded: dict[int, Statement] = {}
    survivors: dict[tuple[int, int, int], Operation] = {}
    for operation in operations:
        if isinstance(operation, Removal):
            for claim in operation.claims & folded.keys():
                del survivors[folded.pop(claim).order]
            change = remove(operation, open_.all, list(survivors.values()))
        else:
            if isinstance(operation, Statement):
                folded[operation.claim] = operation
            survivors[operation.order] = operation
            change = open_.change(operation, folded)
        known = operation.order[0]
        closed += [Closed(*r, until=known) for r in change.shut if r.known < known]
        open_.apply(change)
        links += change.links
    return SlotHistory(open_.all, closed, links)
