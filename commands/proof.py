"""Proving a receipt: that what it says was forgotten is forgotten, as far as this deployment can look.

Each check is made anew, from the log, the key store, the ledger and every file made from the log; the receipt is
believed in nothing but what to look for. `proved` is true when all of them hold.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, Field

from taishi.ingest.envelope import FORGETTING_TYPES, Event, Position
from taishi.ingest.errors import InvalidInput, LogDamaged, NotCaughtUp, NotFound
from taishi.ingest.web import Contract

from .erasure import sign_receipt
from .ports import Ports

READ: Final = 500
"""Events read from the log at a time."""
CHECKS: Final = ("signature", "tombstones", "chain", "ledger", "keys", "bodies", "read_models")


class Prove(Contract):
    """`receipt` as a forget gave it, whole."""

    receipt: dict[str, Any] = Field(max_length=50)


class Proof(BaseModel):
    """`checks`: name → `ok`, or what was found instead. `keys` is how many data keys were looked for."""

    proved: bool
    checks: dict[str, str]
    tombstones: int
    keys: int


def receipts_namespace(receipt: Mapping[str, Any]) -> str:
    """Raises InvalidInput where it is no receipt."""
    what = receipt.get("what")
    namespace = what.get("namespace") if isinstance(what, Mapping) else None
    if not isinstance(namespace, str):
        raise InvalidInput("this is no receipt of a forget", field="receipt.what")
    return namespace


async def prove(body: Prove, ports: Ports) -> dict[str, Any]:
    """Raises InvalidInput for what is no receipt, Unavailable where something cannot be looked at now."""
    receipt = body.receipt
    namespace = receipts_namespace(receipt)
    if not _signed(receipt, await ports.call(ports.keys.secret, "ledger")):
        return _proof({"signature": "wrong: this receipt was altered, or is another deployment's"}, [])
    positions = [Position.parse(token) for token in receipt["tombstones"]]
    found, problem = await ports.call(_tombstones, ports, positions, namespace, str(receipt["digest"]))
    checks = {"signature": "ok", "tombstones": problem}
    if problem != "ok":
        return _proof(checks, found)
    checks["chain"] = await ports.call(_chain, ports, receipt)
    checks["ledger"] = await ports.call(_ledger, ports, positions)
    checks["keys"] = await ports.call(_keys, ports, found)
    checks["bodies"] = await ports.call(_bodies, ports, found)
    checks["read_models"] = await ports.call(_read_models, ports, namespace, found)
    return _proof(checks, found)


def _signed(receipt: Mapping[str, Any], secret: bytes) -> bool:
    try:
        signature = sign_receipt(receipt, secret)
    except TypeError:  # it holds what no receipt holds: whole numbers beyond 64 bits, or a tower of lists
        return False
    return hmac.compare_digest(str(receipt.get("signature")).encode(), signature.encode())


def _proof(checks: Mapping[str, str], tombstones: Sequence[Event]) -> dict[str, Any]:
    made = {name: checks.get(name, "not looked at") for name in CHECKS}
    return {
        "proved": all(said == "ok" for said in made.values()),
        "checks": made,
        "tombstones": len(tombstones),
        "keys": sum(len(tombstone.facts["keys"]) for tombstone in tombstones),
    }


def _tombstones(ports: Ports, positions: Sequence[Position], namespace: str, digest: str) -> tuple[list[Event], str]:
    found: list[Event] = []
    for position in positions:
        try:
            event = ports.log.fetch(position)
        except (NotFound, LogDamaged):
            return found, f"the log has nothing readable at {position}"
        if event.type not in FORGETTING_TYPES or event.namespace != namespace:
            return found, f"what stands at {position} is no tombstone of this namespace"
        found.append(event)
    if not found or found[-1].digest.hex() != digest:
        return found, "the last tombstone is not the one that the receipt was given for"
    return found, "ok"


def _chain(ports: Ports, receipt: Mapping[str, Any]) -> str:
    """The hash chain that the read models keep runs through the tombstone as it did."""
    try:
        chain = ports.directory.erased(Position.parse(receipt["position"]), seconds=1.0)
    except NotCaughtUp:
        return "the read models have not come so far"
    if receipt["chain"] is not None and chain != receipt["chain"]:
        return "the log before the tombstone is another than it was"
    return "ok"


def _ledger(ports: Ports, positions: Sequence[Position]) -> str:
    try:
        entered = {entry.position for entry in ports.ledger.entries()}
    except LogDamaged as e:
        return e.message
    missing = [position for position in positions if position not in entered]
    return f"{missing[0]} is not in it" if missing else "ok"


def _keys(ports: Ports, tombstones: Sequence[Event]) -> str:
    alive = 0
    for tombstone in tombstones:
        alive += sum(1 for key in ports.keys.keys(tombstone.facts["keys"]).values() if key is not None)
    return f"{alive} are still there" if alive else "ok"


def _bodies(ports: Ports, tombstones: Sequence[Event]) -> str:
    """Nothing that was named can be opened; what was never encrypted stays in the log as it is."""
    readable = unencrypted = 0
    for tombstone in tombstones:
        seqs = sorted(seq for _, seq in tombstone.facts["events"])
        for event in _named(ports, tombstone.position.partition, seqs):
            readable += not event.erased
            unencrypted += event.key_id == 0
    if readable:
        return f"{readable} can still be opened"
    return f"{unencrypted} were never encrypted: the log keeps their bytes" if unencrypted else "ok"


def _named(ports: Ports, partition: int, seqs: Sequence[int]) -> Iterator[Event]:
    """The events at these positions, neighbours read together."""
    wanted = set(seqs)
    at = 0
    while at < len(seqs):
        events = ports.log.read(partition, after=seqs[at] - 1, limit=min(READ, 2 * (len(seqs) - at)))
        yield from (event for event in events if event.position.seq in wanted)
        last = events[-1].position.seq
        while at < len(seqs) and seqs[at] <= last:
            at += 1


def _read_models(ports: Ports, namespace: str, tombstones: Sequence[Event]) -> str:
    left = 0
    for tombstone in tombstones:
        claims = [seq for _, seq in tombstone.facts["claims"]]
        events = [seq for _, seq in tombstone.facts["events"]]
        left += ports.directory.remains(namespace, claims, events)
    return f"{left} rows are still there" if left else "ok"
