"""What holds when: the status of claims at an asked point of the two time axes.

A claim is judged by its rectangles. It is `current` where one covers the point, `contested` where another claim of the
slot says something else there with equal right, `planned` before its first, `ended` where its own time is over,
`superseded` where another took its place. Removal comes first: `forgotten`, `retracted` (also: found never true), then
`archived`. A state that passes and that nobody spoke of for long is taken to be over (`claim.expired`): it has `ended`.

Claims that say the same in one slot are one memory: the one that holds the rectangle stands for the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, get_args

from taishi.ingest.instants import FOREVER

from .joint import Replayed, folded_anew, replayed
from .point import Point
from .reading import ReadModel
from .rows import ClaimRow, Covering, Rectangle

Status = Literal["current", "planned", "ended", "superseded", "contested", "archived", "retracted", "forgotten"]
STATUSES: Final[tuple[str, ...]] = get_args(Status)
HOLDING: Final = frozenset({"current", "contested"})
"""Statuses of what is true at the asked point."""
GONE: Final = frozenset({"archived", "retracted", "forgotten"})


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
    return Judging(model, point).verdicts(claims)


class Judging:
    """Claims judged at one point. What a slot is joint with, and what covers the point in it, is read once."""

    def __init__(self, model: ReadModel, point: Point) -> None:
        self._model = model
        self._point = point
        self._homes: dict[int, int] = {}
        self._told = Replayed()
        self._covering: dict[int, list[Covering]] = {}

    def verdicts(self, claims: Mapping[int, ClaimRow]) -> dict[int, Verdict]:
        """As `judge`."""
        point, homes = self._point, self._homes
        known = {seq: c for seq, c in claims.items() if point.whole or point.knows(c.known_from) and point.read(seq)}
        if not known:
            return {}
        self._read_slots([c for c in known.values() if c.slot not in self._covering])
        known = _as_faded(self._model, known, point)
        at_point = {
            r.claim: r for slot in {c.slot for c in known.values()} for r in self._covering[slot]
            if (c := known.get(r.claim)) is not None and r.slot == homes.get(c.slot, c.slot)
        }
        bare = [seq for seq, c in known.items() if seq not in at_point and c.slot not in homes]
        nearest, closed = _nearest(self._model, bare, self._told, point)
        verdicts = {
            seq: _verdict(claim, at_point.get(seq), nearest.get(seq), self._covering[claim.slot], point)
            for seq, claim in known.items()
        }
        own = nearest.keys() - closed
        _lead_to_equals(self._model, known, verdicts, self._covering, own, point, homes, self._told)
        return verdicts

    @property
    def held(self) -> frozenset[int]:
        """Slots, of those in which claims were judged and their joints, in which something holds at the point."""
        return frozenset(slot for slot, rectangles in self._covering.items() if rectangles)

    def holders(self, slot: int) -> list[int]:
        """Claims that hold at the point in a slot of which some claim was judged, or in one that is joint with it."""
        return [r.claim for r in self._covering.get(slot, ())]

    def _read_slots(self, claims: Collection[ClaimRow]) -> None:
        """The slots of `claims`, of which nothing was read."""
        if not claims:
            return
        point, slots = self._point, {c.slot for c in claims}
        homes, parted = folded_anew(self._model, claims, point)
        homes = {slot: home for slot, home in homes.items() if slot not in self._homes}
        told = Replayed()
        if homes:
            parted = {slot: denials for slot, denials in parted.items() if slot in homes}
            told = replayed(self._model, homes, known_at=point.known_at, upto=point.position, parted=parted)
        plain = slots - homes.keys()
        covering = self._model.covering(plain, valid_at=point.valid_at, known_at=point.known) if plain else []
        by_slot: dict[int, list[Covering]] = {}
        for r in (*covering, *told.covering(point.valid_at)):
            by_slot.setdefault(r.slot, []).append(r)
        self._homes.update(homes)
        self._told.add(told)
        self._covering.update({slot: by_slot.get(homes.get(slot, slot), []) for slot in {*slots, *homes}})


def _as_faded(model: ReadModel, claims: dict[int, ClaimRow], point: Point) -> dict[int, ClaimRow]:
    """Claims that have faded and were said again since have not."""
    faded = [seq for seq, c in claims.items() if c.faded_why is not None]
    renewed = model.renewed(faded, point) if faded else set()
    if not renewed:
        return claims
    return {
        seq: c._replace(expired_at=None, archived_at=None, faded_why=None) if seq in renewed else c
        for seq, c in claims.items()
    }


def _expired(claim: ClaimRow, point: Point) -> bool:
    at = claim.expired_at
    return at is not None and point.knows(at) and point.read(claim.expired_seq or 0) and point.valid_at >= at


def _lead_to_equals(
    model: ReadModel,
    claims: Mapping[int, ClaimRow],
    verdicts: dict[int, Verdict],
    by_slot: Mapping[int, Sequence[Covering]],
    own: Collection[int],
    point: Point,
    homes: Mapping[int, int],
    told: Replayed,
) -> None:
    """Lets a claim that holds nothing lead to the one of its slot that says the same and does. Those in `own` hold
    another time: v1 before the roll-back is not v1 after it."""
    bare: list[int] = []
    for seq, verdict in verdicts.items():
        claim = claims[seq]
        if verdict.holds or verdict.status in GONE or seq in own or _expired(claim, point):
            continue
        rectangles = by_slot.get(claim.slot, ())
        same = [r for r in rectangles if r.value_fp == claim.value_fp and r.negates == claim.negates]
        if same:
            r = same[0]
            status: Status = "contested" if _has_rival(r, rectangles) else "current"
            verdicts[seq] = Verdict(status, r.valid_from, r.valid_to, r.known_from, r.known_to, r.claim)
        else:
            bare.append(seq)
    plain = [seq for seq in bare if claims[seq].slot not in homes]
    leads = model.stand_ins(plain, known_at=point.known) if plain else {}
    theirs = _nearest(model, set(leads.values()), told, point)[0]
    if homes:
        for seq in bare:
            claim = claims[seq]
            keeper = told.keepers.get((homes.get(claim.slot, 0), claim.value_fp, claim.negates), seq)
            if keeper != seq:
                leads[seq] = keeper
    for seq, keeper in leads.items():
        if keeper in theirs:
            claim = claims[seq]
            found = _verdict(claim, None, theirs[keeper], by_slot.get(claim.slot, ()), point)
            verdicts[seq] = found._replace(into=keeper)


def _closest(rectangles: Iterable[Rectangle], point: Point) -> dict[int, Rectangle]:
    nearest: dict[int, Rectangle] = {}
    for r in rectangles:
        if r.claim not in nearest or _distance(r, point.valid_at) < _distance(nearest[r.claim], point.valid_at):
            nearest[r.claim] = r
    return nearest


def _nearest(
    model: ReadModel, claims: Collection[int], told: Replayed, point: Point
) -> tuple[dict[int, Rectangle], set[int]]:
    """Of each of `claims` and of those in slots that were folded anew: its rectangle nearest to the point, as known
    then; else its last one. And those of which only that is left."""
    open_ = model.rectangles(claims, known_at=point.known) if claims else []
    nearest = _closest((*open_, *told.rectangles), point)
    closed: set[int] = set()
    over = [seq for seq in claims if seq not in nearest]
    for r in (*(model.closed_rectangles(over) if over else ()), *told.closed):
        if r.claim in nearest and r.claim not in closed:
            continue
        if point.knows(r.known_from) and (r.claim not in closed or r.known_to > nearest[r.claim].known_to):
            nearest[r.claim] = r
            closed.add(r.claim)
    return nearest, closed


def _distance(r: Rectangle, valid_at: int) -> int:
    return max(r.valid_from - valid_at, valid_at - r.valid_to, 0)


def _verdict(
    claim: ClaimRow, here: Covering | None, near: Rectangle | None, slot: Collection[Covering], point: Point
) -> Verdict:
    status = _status(claim, here, near, slot, point)
    if here is not None:
        ends = here.valid_to if claim.expired_at is None or status != "ended" else min(here.valid_to, claim.expired_at)
        return Verdict(status, here.valid_from, ends, here.known_from, here.known_to)
    if near is not None:
        return Verdict(status, near.valid_from, near.valid_to, near.known_from, near.known_to)
    return Verdict(status, claim.valid_from, claim.valid_to, claim.known_from, FOREVER)


def _has_rival(here: Covering, slot: Collection[Covering]) -> bool:
    """Whether something else of `here`'s slot holds there with equal right, and no one said that both do."""
    return len(slot) > 1 and not here.negates and any(
        r.value_fp != here.value_fp and not r.negates and not 0 < r.accord == here.accord for r in slot
    )


def _status(
    claim: ClaimRow, here: Covering | None, near: Rectangle | None, slot: Collection[Covering], point: Point
) -> Status:
    if claim.erased_at is not None or claim.removed_why == "forgotten":
        return "forgotten"
    if claim.removed_at is not None and point.knows(claim.removed_at) and point.read(claim.removed_seq or 0):
        return "retracted"
    if claim.archived_at is not None and point.knows(claim.archived_at) and point.read(claim.archived_seq or 0):
        return "archived"
    if here is not None and _expired(claim, point):
        return "ended"
    if here is not None:
        return "contested" if _has_rival(here, slot) else "current"
    starts = claim.valid_from if near is None else near.valid_from
    if starts > point.valid_at:
        return "planned"
    covered = any(not r.negates for r in slot)
    return "superseded" if covered and point.valid_at < claim.valid_to else "ended"
