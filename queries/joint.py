"""Joint slots: slots that speak of one thing, because their subjects are one entity or their objects near copies.

Nothing is joined in the log or in the slots: each claim stays in the slot it was said in. Where a question meets slots
that are joint at the asked point, they are folded together there, as if all had been said of one subject in one form;
so the later belief wins, by the same rules as within a slot, and equal ones stand for each other. What was parted with
in other words (`parting`) is folded in likewise, where it ends something.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from taishi.ingest.instants import FOREVER
from taishi.projections.beliefs import Statement
from taishi.projections.dedup import classes
from taishi.projections.model import statement
from taishi.projections.slot_history import UNREAD, Removal, Resolution, SlotHistory, replay

from .parting import partings
from .point import WHOLE, Point
from .reading import ReadModel
from .rows import ClaimRow, Covering, Link, Rectangle

ALWAYS: Final = FOREVER - 1
SAME: Final = 20
"""Statements that one claim stands for, at most that are named."""


def homes_of(model: ReadModel, slots: Iterable[int], *, point: Point | None) -> dict[int, int]:
    """For each slot of one namespace that is joint with others, and for those others: the slot that stands for all of
    them, by the names and verdicts known and read at the point (None: now)."""
    seen = set(slots)
    fresh = list(seen)
    aliases = bool(fresh) and model.one("SELECT 1 FROM names LIMIT 1") is not None
    judged = model.one("SELECT 1 FROM verdicts LIMIT 1") is not None
    at = _names_known(model, "(SELECT ns FROM slots WHERE slot = ?)", fresh[0], point) if aliases else ALWAYS
    bounds = WHOLE if point is None else point.bounds
    same: set[tuple[int, int]] = set()
    apart: set[tuple[int, int]] = set()
    while fresh:
        found = set(model.rows_in(_NEAR, fresh))
        if aliases:
            found |= set(model.rows_in(_ALIASED, fresh, at, at, at, at))
        if judged:
            rows = [row for sql in (_JUDGED_A, _JUDGED_B) for row in model.rows_in(sql, fresh, *bounds)]
            for one, other, merged in rows:
                if merged:
                    found.add((one, other))
                else:
                    apart.add((one, other))
        same |= {(a, b) for a, b in found if a != b}
        fresh = list({b for _, b in found} - seen)
        seen.update(fresh)
    if not same:
        return {}
    return {slot: group[0] for slot, group in classes(seen, same, apart).items()}


_NEAR: Final = """SELECT s.slot, o.slot FROM slots s CROSS JOIN slots o
    ON o.ns = s.ns AND o.subject = s.subject AND o.rest = s.rest AND o.rest IS NOT NULL
    WHERE s.slot IN carray(?) AND s.rest IS NOT NULL AND o.slot <> s.slot"""
_ALIASED: Final = """SELECT s.slot, o.slot FROM slots s
    CROSS JOIN names a ON a.ns = s.ns AND a.name_key = s.subject
    CROSS JOIN names b ON b.ns = a.ns AND b.entity = a.entity AND b.name_key <> a.name_key
    CROSS JOIN slots o ON o.ns = b.ns AND o.subject = b.name_key AND o.rest = s.rest AND o.rest IS NOT NULL
    WHERE s.slot IN carray(?) AND s.rest IS NOT NULL
    AND a.known_from <= ? AND a.known_to > ? AND b.known_from <= ? AND b.known_to > ?"""
_JUDGED: Final = """SELECT {one}.slot, {other}.slot, v.same FROM verdicts v
    JOIN claims a ON a.claim_id = v.claim_a AND a.ns = v.ns JOIN claims b ON b.claim_id = v.claim_b AND b.ns = v.ns
    WHERE {one}.slot IN carray(?) AND v.at <= ? AND v.seq <= ? AND a.erased_at IS NULL AND b.erased_at IS NULL"""
_JUDGED_A: Final = _JUDGED.format(one="a", other="b")
_JUDGED_B: Final = _JUDGED.format(one="b", other="a")


_FIRST_SAID: Final = "SELECT min(at) FROM identities"


def _names_known(model: ReadModel, namespace: str, value: int, point: Point | None) -> int:
    """The instant as of which names count at the point: before the first thing said of who is who that was not read
    there, for none is recorded before an earlier one. `namespace` is the SQL that makes its number of `value`."""
    known = ALWAYS if point is None or point.known is None else point.known
    if point is None or point.position is None:
        return known
    (unread,) = model.one(f"{_FIRST_SAID} WHERE ns = {namespace} AND seq > ?", value, point.position) or (None,)
    return known if unread is None else min(known, unread - 1)


def has_names(model: ReadModel, ns: int) -> bool:
    """Whether anything in the namespace goes, or went, by several names."""
    return model.one("SELECT 1 FROM names WHERE ns = ? LIMIT 1", ns) is not None


def names_of(model: ReadModel, ns: int, key: str, *, point: Point) -> list[str]:
    """The (normalised) names of one entity at the point, itself first."""
    at = _names_known(model, "?", ns, point)
    return [key, *(row[0] for row in model.rows(_NAMES, ns, key, at, at, at, at))]


def names_in(model: ReadModel, ns: int, spans: Iterable[str], *, point: Point) -> list[str]:
    """Those of `spans` that are names of an entity which has others at the point."""
    at = _names_known(model, "?", ns, point)
    sql = "SELECT name_key FROM names WHERE name_key IN carray(?) AND ns = ? AND known_from <= ? AND known_to > ?"
    return [row[0] for row in model.rows_named(sql, spans, ns, at, at)]


_NAMES: Final = """SELECT b.name_key FROM names a
    CROSS JOIN names b ON b.ns = a.ns AND b.entity = a.entity AND b.name_key <> a.name_key
    WHERE a.ns = ? AND a.name_key = ? AND a.known_from <= ? AND a.known_to > ? AND b.known_from <= ? AND b.known_to > ?
    ORDER BY b.name_key"""


@dataclass(slots=True)
class Replayed:
    """Slots folded anew. Rectangles name the slot that stands for theirs; `closed` are those that were believed once
    and, at the asked instant, no longer are. `keepers`: by slot and what is said, a claim believed somewhere then.
    `lent`: rectangles of claims of other slots that were folded in (`parting`)."""

    histories: dict[int, SlotHistory] = field(default_factory=dict)
    rows: dict[int, ClaimRow] = field(default_factory=dict)
    rectangles: list[Rectangle] = field(default_factory=list)
    closed: list[Rectangle] = field(default_factory=list)
    keepers: dict[tuple[int, str, int], int] = field(default_factory=dict)
    lent: list[Rectangle] = field(default_factory=list)

    def add(self, more: Replayed) -> None:
        """What was folded of other slots."""
        self.histories |= more.histories
        self.rows |= more.rows
        self.rectangles += more.rectangles
        self.closed += more.closed
        self.keepers |= more.keepers
        self.lent += more.lent

    def covering(self, valid_at: int) -> list[Covering]:
        return [
            Covering(*r, self.rows[r.claim].value_fp, self.rows[r.claim].negates)
            for r in (*self.rectangles, *self.lent)
            if r.valid_from <= valid_at < r.valid_to
        ]


def replayed(
    model: ReadModel, homes: Mapping[int, int], *, known_at: int, upto: int | None = None,
    parted: Mapping[int, Sequence[ClaimRow]] = MappingProxyType({}),
) -> Replayed:
    """Each group of slots folded as one, from what had been read up to the position `upto`; rectangles as known at
    that instant. `parted`: by slot, claims of other slots that are folded in there as well."""
    told = Replayed()
    lent: dict[int, dict[int, ClaimRow]] = {}
    for slot, claims in parted.items():
        lent.setdefault(homes[slot], {}).update({c.seq: c for c in claims if homes.get(c.slot) != homes[slot]})
    said = {home: list(claims.values()) for home, claims in lent.items()}
    told.rows.update({c.seq: c for claims in said.values() for c in claims})
    for c in model.claims_of_slots(homes):
        if upto is None or c.seq <= upto:
            told.rows[c.seq] = c
            said.setdefault(homes[c.slot], []).append(c)
    settled: dict[int, list[Resolution]] = {}
    for s in model.settled(homes):
        if upto is None or s.seq <= upto:
            winner = None if s.winner is None else UNREAD if s.winner_seq is None else s.winner_seq
            settled.setdefault(homes[s.slot], []).append(Resolution(winner, s.at, s.seq))
    for home, claims in said.items():
        history = replay([_statement(c) for c in claims], _removals(claims, upto), settled.get(home, ()))
        told.histories[home] = history
        held = [Rectangle(b.claim, home, b.start, b.end, b.known, FOREVER, b.accord) for b in history.open]
        held += [Rectangle(b.claim, home, b.start, b.end, b.known, b.until, b.accord) for b in history.closed]
        for r in held:
            own = r.claim not in lent.get(home, ())
            if r.known_from <= known_at < r.known_to:
                (told.rectangles if own else told.lent).append(r)
            elif own and r.known_to <= known_at:
                told.closed.append(r)
    for r in sorted(told.rectangles, key=lambda r: r.claim):
        claim = told.rows[r.claim]
        told.keepers.setdefault((r.slot, claim.value_fp, claim.negates), r.claim)
    return told


def folded_anew(
    model: ReadModel, claims: Collection[ClaimRow], point: Point | None
) -> tuple[dict[int, int], dict[int, list[ClaimRow]]]:
    """For `replayed`: the slots of `claims` that have to be folded anew for the point (None: for all there is) and
    those that are joint with them, each with the slot that stands for it; and what of other slots is folded in."""
    slots = {c.slot for c in claims}
    homes = homes_of(model, slots, point=point)
    mates = homes.keys() - slots
    parted = partings(model, [*claims, *model.claims_of_slots(mates)] if mates else claims, point)
    alone = parted if point is None or point.position is None else slots
    return {**{slot: slot for slot in alone}, **homes}, parted


class Joint:
    """Some claims' slots with those that are joint with them, by all that was known and had been read at the point;
    None: by all there is."""

    def __init__(self, model: ReadModel, claims: Collection[ClaimRow], *, point: Point | None = None) -> None:
        self._model = model
        self._claims = {c.seq: c for c in claims}
        self._upto = None if point is None else point.position
        self._known = None if point is None else point.known
        self._homes, parted = folded_anew(model, claims, point)
        self._told = Replayed()
        if self._homes:
            at = ALWAYS if self._known is None else self._known
            self._told = replayed(model, self._homes, known_at=at, upto=self._upto, parted=parted)

    def equals(self) -> dict[int, list[int]]:
        """For each of the claims: others that say the same and hold nothing of their own, in its slot or in a joint
        one. It stands for them."""
        found = self._model.equals(self._claims, known_at=self._known) if self._upto is None else {}
        homes, told = self._homes, self._told
        holding = {r.claim for r in told.rectangles}
        for seq, claim in self._claims.items():
            home = homes.get(claim.slot)
            if home is None:
                continue
            found[seq] = sorted({*found.get(seq, ()), *(
                c.seq
                for c in told.rows.values()
                if homes.get(c.slot) == home and (c.value_fp, c.negates) == (claim.value_fp, claim.negates)
                and self._stands(c) and c.seq not in holding and c.seq != seq
            )})[:SAME]  # fmt: skip
        return found

    def _stands(self, claim: ClaimRow) -> bool:
        """It was known, and nothing that was read and known took it back."""
        at = ALWAYS if self._known is None else self._known
        back = claim.removed_at is not None and claim.removed_at <= at
        return claim.known_from <= at and not (back and (self._upto is None or (claim.removed_seq or 0) <= self._upto))

    def links(self) -> list[Link]:
        """Chain steps from or to one of the claims; where their slots are joint with others, those of all together."""
        alone = self._model.links_of([c.seq for c in self._claims.values() if c.slot not in self._homes])
        if not self._homes:
            return alone
        joint = [
            Link(home, k.known, k.old, k.new, k.start, k.end, k.rule)
            for home, history in self._told.histories.items()
            for k in history.links
            if k.old in self._claims or k.new in self._claims
        ]
        return sorted({*alone, *joint}, key=lambda k: (k.known_at, k.old_claim, k.valid_from))


def _statement(c: ClaimRow) -> Statement:
    return statement(
        (
            c.seq, c.value_fp, c.negates, c.valid_from, c.valid_to, c.to_inferred, c.known_from, c.strength,
            c.correction, c.source, c.from_inferred, c.succeeds,
        )
    )  # fmt: skip


def _removals(claims: Collection[ClaimRow], upto: int | None) -> list[Removal]:
    grouped: dict[tuple[int, int, str], set[int]] = {}
    for c in claims:
        if c.removed_at is not None and c.removed_seq is not None and (upto is None or c.removed_seq <= upto):
            key = (c.removed_at, c.removed_seq, c.removed_why or "retracted")
            grouped.setdefault(key, set()).add(c.seq)
    seqs = {c.seq for c in claims}
    return [
        Removal(frozenset(gone), why, known, seq, successor=seq if seq in seqs else None)  # type: ignore[arg-type]
        for (known, seq, why), gone in grouped.items()
    ]
