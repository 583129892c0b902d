"""Forgetting that the log still owes: words said before a tombstone and read only after it.

The read models erase such words as soon as they meet them (by the tombstone's own facts) and say which they are. For
the keys to be destroyed, and for every other reader, a tombstone of their own must enter the log; the keeper appends
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .envelope import Actor, NewEvent
from .ids import derived_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """What must go of one namespace. `claims` are (claim_id, seq of the claim event), `events` are (event_id, seq,
    key_id) of raw and claim events, `after` is the position of the tombstone that forbade them."""

    namespace: str
    after: int
    claims: Sequence[tuple[str, int]]
    events: Sequence[tuple[str, int, int]]


OwedOf = Callable[[int], Sequence[Owed]]
"""What the read models say is owed in a partition. Blocks for a moment."""


def tombstone_of(owed: Owed) -> NewEvent:
    """The same debt twice is one event."""
    named = [str(seq) for _, seq in owed.claims] + ["events"] + [str(seq) for _, seq, _ in owed.events]
    return NewEvent(
        event_id=derived_id("claim.forgotten", owed.namespace, *named),
        type="claim.forgotten",
        namespace=owed.namespace,
        actor=Actor(role="system"),
        origin="system",
        body={},
        facts={
            "kind": "late",
            "after": owed.after,
            "claims": [[claim_id, seq] for claim_id, seq in owed.claims],
            "events": [[event_id, seq] for event_id, seq, _ in owed.events],
            "keys": sorted({key_id for _, _, key_id in owed.events}),
        },
        erases=tuple(event_id for event_id, _, _ in owed.events),
    )
