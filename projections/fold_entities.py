"""What is said of who is who, folded: kept as it was said, and the names that follow from all of it."""

from __future__ import annotations

from collections.abc import Iterable

from taishi.ingest.envelope import Event

from .entities import Identity, names
from .model import Model


def identified(model: Model, event: Event, ns: int) -> None:
    """`entity.aliased`, `entity.merged`, `entity.split`: their names are personal and stand in the body. One
    whose names were forgotten before it was brought here has an empty one."""
    if not event.body:
        return
    kind = event.type.removeprefix("entity.")
    model.execute(
        "INSERT INTO identities (seq, ns, event_id, at, key_id, kind, name, other) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event.position.seq, ns, event.event_id, event.recorded_at, event.key_id, kind, event.body["name"],
            event.body.get("of") or event.body.get("into"),
        ),
    )  # fmt: skip
    _name(model, ns)


def erase_identities(model: Model, ns: int, seqs: Iterable[int]) -> None:
    gone = 0
    for seq in seqs:
        model.execute("DELETE FROM identities WHERE seq = ? AND ns = ?", (seq, ns))
        gone += model.connection.changes()
    if gone:
        _name(model, ns)


def _name(model: Model, ns: int) -> None:
    model.execute("DELETE FROM names WHERE ns = ?", (ns,))
    said = model.rows("SELECT seq, kind, at, name, other FROM identities WHERE ns = ?", (ns,))
    for row in names(Identity(*one) for one in said):
        model.execute(
            "INSERT INTO names (ns, name_key, entity, name, main, known_from, known_to) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (ns, *row),
        )
