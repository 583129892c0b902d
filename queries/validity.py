"""What holds when: the status of claims at an asked point of the two time axes.

A claim is judged by its rectangles. It is `current` where one covers the point, `contested` where another claim of the
slot says something else there with equal right, `planned` before its first, `ended` where its own time is over,
`superseded` where another took its place. Removal comes first: `forgotten`, `retracted` (also: found never true), then
`archived`.

Claims that say the same in one slot are one memory: the one that holds the rectangle stands for the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from taishi.ingest.instants import FOREVER
from taishi.projections.beliefs import Statement
from taishi.projections.model import statement
from taishi.projections.slot_history import UNREAD, Removal, Resolution, replay

from .reading import ReadModel
from .rows import ClaimRow, Covering, Rectangle

Status = Literal["current", "planned", "ended", "superseded", "contested", "archived", "retracted", "forgotten"]
STATUSES: Final[tuple[str, ...]] = get_args(Status)
HOLDING: Final = frozenset({"current", "contested"})
"""Statuses of what is true at the asked point."""
_REMOVED: Final = frozenset({"archived", "retracted", "forgotten"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The asked instants. `past_knowledge` says that `known_at` lies behind now, so that closed rectangles count.

    `position` keeps out what was read after it (a sequence number of the partition).
    """

    valid_at: int
    known_at: int
    past_knowledge: bool = False
    position: int | None = None

    @property
    def known(self) -> int | None:
        """For `reading`: None where what is known now is asked."""
        return self.known_at if self.past_knowledge else None

    def read(self, seq: int) -> bool:
        return self.position is None or seq <= self.position

    def knows(self, known_from: int) -> bool:
        """Something known from that instant on was known at the point."""
        return not self.past_knowledge or known_from <= self.known_at


class Verdict(NamedTuple):
    """A claim's status and its rectangle at the asked point (where it has none there: the nearest it has).

    `into` is the equal claim that stands for it at the point, if another one does.
    """

    status: Status
    valid_from: int
    valid_to: int
    known_from: int
    known_to: int
    into: int | None = None

    @property
    def holds(self) -> bool:
        return self.status in HOLDING


def judge(model: ReadModel, claims: Mapping[int, ClaimRow], point: Point) -> dict[int, Verdict]:
    """Verdicts on `claims` (by sequence number). Claims not yet known or read at the point are left out."""
    return judge_slots(model, claims, point)[0]


def judge_slots(
    model: ReadModel, claims: Mapping[int, ClaimRow], point: Point
) -> tuple[dict[int, Verdict], dict[int, list[int]]]:
    """As `judge`, and by slot the claims that hold at the point."""
    known = {seq: c for seq, c in claims.items() if point.knows(c.known_from) and point.read(seq)}
    if not known:
        return {}, {}
    slots = {c.slot for c in known.values()}
    if point.position is None:
        covering = model.covering(slots, valid_at=point.valid_at, known_at=point.known)
        nearest: Mapping[int, Rectangle] | None = None
    else:
        covering, nearest = _as_read(model, slots, point)
        closed: Collection[int] = ()
    by_slot: dict[int, list[Covering]] = {}
    at_point: dict[int, Covering] = {}
    for r in covering:
        by_slot.setdefault(r.slot, []).append(r)
        at_point[r.claim] = r
    if nearest is None:
        nearest, closed = _nearest(model, known.keys() - at_point.keys(), point)
    verdicts = {
        seq: _verdict(claim, at_point.get(seq), nearest.get(seq), by_slot.get(claim.slot, ()), point)
        for seq, claim in known.items()
    }
    own = nearest.keys() - closed
    _lead_to_equals(model, known, verdicts, by_slot, own, point)
    return verdicts, {slot: [r.claim for r in rectangles] for slot, rectangles in by_slot.items()}


def _lead_to_equals(
    model: ReadModel,
    claims: Mapping[int, ClaimRow],
    verdicts: dict[int, Verdict],
    by_slot: Mapping[int, Sequence[Covering]],
    own: Collection[int],
    point: Point,
) -> None:
    """Lets a claim that holds nothing lead to the one of its slot that says the same and does. Those in `own` hold
    another time: v1 before the roll-back is not v1 after it."""
    bare: list[int] = []
    for seq, verdict in verdicts.items():
        claim = claims[seq]
        if verdict.holds or verdict.status in _REMOVED or seq in own:
            continue
        rectangles = by_slot.get(claim.slot, ())
        same = [r for r in rectangles if r.value_fp == claim.value_fp and r.negates == claim.negates]
        if same:
            r = same[0]
            status: Status = "contested" if _has_rival(r, rectangles) else "current"
            verdicts[seq] = Verdict(status, r.valid_from, r.valid_to, r.known_from, r.known_to, r.claim)
        else:
            bare.append(seq)
    leads = model.stand_ins(bare) if bare and point.position is None else {}
    theirs = _nearest(model, set(leads.values()), point)[0] if leads else {}
    for seq, keeper in leads.items():
        if keeper in theirs:
            claim = claims[seq]
            found = _verdict(claim, None, theirs[keeper], by_slot.get(claim.slot, ()), point)
            verdicts[seq] = found._replace(into=keeper)


def _as_read(model: ReadModel, slots: Collection[int], point: Point) -> tuple[list[Covering], dict[int, Rectangle]]:
    """The slots folded anew from what had been read by the asked position."""
    statements: dict[int, list[Statement]] = {}
    removals: dict[int, dict[tuple[int, int, str], set[int]]] = {}
    rows = {}
    for c in model.claims_of_slots(slots):
        if not point.read(c.seq):
            continue
        rows[c.seq] = c
        statements.setdefault(c.slot, []).append(
            statement(
                (
                    c.seq, c.value_fp, c.negates, c.valid_from, c.valid_to, c.to_inferred, c.known_from, c.strength,
                    c.correction, c.source, c.from_inferred, c.succeeds,
                )
            )
        )  # fmt: skip
        if c.removed_at is not None and c.removed_seq is not None and point.read(c.removed_seq):
            key = (c.removed_at, c.removed_seq, c.removed_why or "retracted")
            removals.setdefault(c.slot, {}).setdefault(key, set()).add(c.seq)
    settled: dict[int, list[Resolution]] = {}
    for s in model.settled(slots):
        if point.read(s.seq):
            winner = None if s.winner is None else UNREAD if s.winner_seq is None else s.winner_seq
            settled.setdefault(s.slot, []).append(Resolution(winner, s.at, s.seq))
    rectangles: list[Rectangle] = []
    for slot, said in statements.items():
        gone = [
            Removal(frozenset(claims), why, known, seq)  # type: ignore[arg-type]
            for (known, seq, why), claims in removals.get(slot, {}).items()
        ]
        told = replay(said, gone, settled.get(slot, ()))
        rectangles += [Rectangle(r.claim, slot, r.start, r.end, r.known, FOREVER, r.accord) for r in told.open]
        rectangles += [Rectangle(r.claim, slot, r.start, r.end, r.known, r.until, r.accord) for r in told.closed]
    then = [r for r in rectangles if r.known_from <= point.known_at < r.known_to]
    covering = [
        Covering(*r, rows[r.claim].value_fp, rows[r.claim].negates)
        for r in then
        if r.valid_from <= point.valid_at < r.valid_to
    ]
    nearest: dict[int, Rectangle] = {}
    for r in then:
        if r.claim not in nearest or _distance(r, point.valid_at) < _distance(nearest[r.claim], point.valid_at):
            nearest[r.claim] = r
    return covering, nearest


def _nearest(
    model: ReadModel, claims: Collection[int], point: Point
) -> tuple[dict[int, Rectangle], set[int]]:
    """Of each claim that holds nothing at the point: its rectangle nearest to it, as known then; else its last one.
    And those of which only that is left."""
    nearest: dict[int, Rectangle] = {}
    for r in model.rectangles(claims, known_at=point.known):
        best = nearest.get(r.claim)
        if best is None or _distance(r, point.valid_at) < _distance(best, point.valid_at):
            nearest[r.claim] = r
    closed: set[int] = set()
    for r in model.closed_rectangles([seq for seq in claims if seq not in nearest]):
        if point.knows(r.known_from) and (r.claim not in closed or r.known_to > nearest[r.claim].known_to):
            nearest[r.claim] = r
            closed.add(r.claim)
    return nearest, closed


def _distance(r: Rectangle, valid_at: int) -> int:
    return max(r.valid_from - valid_at, valid_at - r.valid_to, 0)


def _verdict(
    claim: ClaimRow, here: Covering | None, near: Rectangle | None, slot: Iterable[Covering], point: Point
) -> Verdict:
    status = _status(claim, here, near, slot, point)
    if here is not None:
        return Verdict(status, here.valid_from, here.valid_to, here.known_from, here.known_to)
    if near is not None:
        return Verdict(status, near.valid_from, near.valid_to, near.known_from, near.known_to)
    return Verdict(status, claim.valid_from, claim.valid_to, claim.known_from, FOREVER)


def _has_rival(here: Covering, slot: Iterable[Covering]) -> bool:
    """Whether something else holds there with equal right, and no one said that both do."""
    return not here.negates and any(
        r.value_fp != here.value_fp and not r.negates and not 0 < r.accord == here.accord for r in slot
    )


def _status(
    claim: ClaimRow, here: Covering | None, near: Rectangle | None, slot: Iterable[Covering], point: Point
) -> Status:
    if claim.erased_at is not None or claim.removed_why == "forgotten":
        return "forgotten"
    if claim.removed_at is not None and point.knows(claim.removed_at) and point.read(claim.removed_seq or 0):
        return "retracted"
    if claim.archived_at is not None and point.knows(claim.archived_at):
        return "archived"
    if here is not None:
        return "contested" if _has_rival(here, slot) else "current"
    starts = claim.valid_from if near is None else near.valid_from
    if starts > point.valid_at:
        return "planned"
    covered = any(not r.negates for r in slot)
    return "superseded" if covered and point.valid_at < claim.valid_to else "ended"
