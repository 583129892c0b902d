"""Where the reading of each raw event stands, what was decided on it, and how many wait or failed in its namespace."""

from __future__ import annotations

from collections.abc import Callable

from taishi.ingest.envelope import Event

from .model import Model


def closed(state: str) -> Callable[[Model, Event, int], None]:
    """The fold of an event that closes (or gives up) a window: `done`, `failed` or `skipped`."""

    def handler(model: Model, event: Event, ns: int) -> None:
        facts = event.facts
        decisions = facts.get("decisions", {})
        for event_id in facts["events"]:
            row = model.execute(
                "SELECT seq, extraction, erased_at FROM events WHERE event_id = ? AND ns = ?", (event_id, ns)
            ).fetchone()
            if row is not None and row[1] != "done" and row[2] is None:
                settle(model, ns, row[1], state, row[0])
                model.execute(
                    "UPDATE events SET closing = ?, extractor = ?, decision = ? WHERE seq = ?",
                    (
                        event.position.seq, facts.get("extractor"), decisions.get(event_id, facts.get("error")),
                        row[0],
                    ),
                )  # fmt: skip

    return handler


def settle(model: Model, ns: int, was: str, now: str, seq: int) -> None:
    """Moves a raw event's extraction from one state to another and keeps its namespace's counts."""
    if was == now:
        return
    model.execute("UPDATE events SET extraction = ? WHERE seq = ?", (now, seq))
    model.execute(
        "UPDATE namespaces SET pending = pending - ?, failed = failed + ? WHERE ns = ?",
        (int(was == "pending"), int(now == "failed") - int(was == "failed"), ns),
    )
