"""Importance as the whole shows it: what was said on many occasions, or confirmed, weighs more (`ingest.importance`).

A claim's row keeps what it was stated with (`own_importance`) beside what it weighs (`importance`): the highest of that
and of the floors that apply, which follows from the set of claims and confirmations alone. Occasions are events whose
words state the same in one slot and were not taken back.
"""

from __future__ import annotations

from taishi.ingest.importance import rules

from .model import Model


def weight_of_new(
    model: Model, ns: int, slot: int, source: int, claim_id: str, value: str, negates: bool, own: float
) -> float:
    """What a claim weighs that is about to be written, in the order of its slot. Where it makes its value a repeated
    one, its equals are raised."""
    given = rules()
    known = {row[0] for row in model.rows(_OCCASIONS, (slot, value, negates, given.said))}
    if len(known | {source}) >= given.said:
        own = max(own, given.repeated)
        if len(known) < given.said:
            model.execute(_RAISE_EQUALS, (given.repeated, slot, value, negates))
    return weight_if_confirmed(model, ns, claim_id, own)


def weight_if_confirmed(model: Model, ns: int, claim_id: str, own: float) -> float:
    """What the first claim of a slot weighs: another generation may have shown it, and had it confirmed."""
    if model.execute(_IS_CONFIRMED, (ns, claim_id)).fetchone() is None:
        return own
    return max(own, rules().confirmed)


def weigh_slot(model: Model, ns: int, slot: int) -> None:
    """After claims of a slot were taken back or forgotten, or came late: all of them anew."""
    given = rules()
    model.execute("UPDATE claims SET importance = own_importance WHERE slot = ?", (slot,))
    groups = "SELECT DISTINCT value_fp, negates FROM claims WHERE slot = ? AND removed_at IS NULL"
    for value, negates in model.rows(groups, (slot,)):
        if len(model.rows(_OCCASIONS, (slot, value, negates, given.said))) == given.said:
            model.execute(_RAISE_EQUALS, (given.repeated, slot, value, negates))
    confirmed = "slot = ? AND claim_id IN (SELECT memory_id FROM standing WHERE ns = ? AND confirmations > 0)"
    model.execute(f"{_RAISE} {confirmed}", (given.confirmed, slot, ns))


def weigh_confirmed(model: Model, ns: int, claim_id: str) -> None:
    model.execute(f"{_RAISE} claim_id = ? AND ns = ?", (rules().confirmed, claim_id, ns))


_OCCASIONS = (
    "SELECT DISTINCT source FROM claims WHERE slot = ? AND value_fp = ? AND negates = ? AND removed_at IS NULL LIMIT ?"
)
_RAISE = "UPDATE claims SET importance = max(importance, ?) WHERE"
_RAISE_EQUALS = f"{_RAISE} slot = ? AND value_fp = ? AND negates = ? AND removed_at IS NULL"
_IS_CONFIRMED = "SELECT 1 FROM standing WHERE ns = ? AND memory_id = ? AND confirmations > 0"
