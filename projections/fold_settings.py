"""What a namespace is set up with: each setting as it was given, and what holds by all that are left of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from taishi.ingest.envelope import Event

from .fold_dictionary import redefine
from .model import Model


def configured(model: Model, event: Event, ns: int) -> None:
    """`namespace.configured`: it may hold names and stands in the body. One that was forgotten sets nothing."""
    if not event.body:
        return
    given = orjson.dumps(event.body, option=orjson.OPT_SORT_KEYS).decode()
    model.execute(
        "INSERT INTO settings (seq, ns, event_id, at, key_id, given) VALUES (?, ?, ?, ?, ?, ?)",
        (event.position.seq, ns, event.event_id, event.recorded_at, event.key_id, given),
    )
    row = model.execute("SELECT settings FROM namespaces WHERE ns = ?", (ns,)).get
    _set(model, ns, orjson.loads(row), event.position.seq, event.body)


def erase_settings(model: Model, ns: int, seqs: Iterable[int]) -> None:
    """The events at these positions set nothing any more: the others hold as if they had been alone."""
    gone = 0
    for seq in seqs:
        model.execute("DELETE FROM settings WHERE seq = ? AND ns = ?", (seq, ns))
        gone += model.connection.changes()
    if not gone:
        return
    redefine(model, ns, 0, ())
    _set(model, ns, {}, 0, {})
    for seq, given in model.rows("SELECT seq, given FROM settings WHERE ns = ? ORDER BY seq", (ns,)):
        row = model.execute("SELECT settings FROM namespaces WHERE ns = ?", (ns,)).get
        _set(model, ns, orjson.loads(row), seq, orjson.loads(given))


def _set(model: Model, ns: int, before: Mapping[str, Any], seq: int, given: Mapping[str, Any]) -> None:
    settings = {**before, **given}
    words = settings.pop("dictionary", None)
    if words is not None:
        redefine(model, ns, seq, words)
    model.execute(
        "UPDATE namespaces SET timezone = ?, settings = ? WHERE ns = ?",
        (settings.get("timezone", "UTC"), orjson.dumps(settings, option=orjson.OPT_SORT_KEYS).decode(), ns),
    )
