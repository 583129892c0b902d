"""Poison events: what could not be folded is parked, with all that later speaks of the same things; the rest flows.

An event is parked when its fold fails twice. What comes after it and names the same memory, slot or words waits behind
it, in order, so that nothing is built on what is missing. Forgetting never waits. A parked event is tried again when
the worker starts or an operator says so, and given up by an `event.skipped` with its reason in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import apsw
import orjson

from taishi.ingest.envelope import Event

from .model import Model

WAITS: Final = "waits"
"""The error code of an event that did not fail itself but stands behind one that did."""
_NEVER: Final = frozenset({"claim.forgotten", "scope.forgotten", "event.skipped", "namespace.configured"})
"""Types that are folded whatever is parked."""
_NAMES: Final = ("claim", "slot", "winner", "targets", "claims", "events", "items")
"""Facts that hold ids of memories, or slots."""
_TO_TRY: Final = "SELECT seq FROM dead_letters WHERE state = 'retry' OR (state = 'parked' AND error = ?) ORDER BY seq"
Fold = Callable[[Model, Event], None]


def concerns(event: Event) -> frozenset[str]:
    """The ids and slots an event speaks of, its own included. Takes facts of any shape."""
    return frozenset({event.event_id, *event.evidence, *(n for name in _NAMES for n in _ids(event.facts.get(name)))})


def _ids(given: Any) -> Iterator[str]:
    match given:
        case str():
            yield given
        case {"claim_id": str(claim), "slot": str(slot), **rest}:
            yield from (claim, slot, *_ids(rest.get("targets")))
        case [str(first), int()]:
            yield first
        case list() | tuple():
            for one in given:
                yield from _ids(one)


class Parking:
    """What is parked in one partition's read model. Used inside the worker's transaction, by one thread."""

    def __init__(self, model: Model, fold: Fold) -> None:
        self._model: Final = model
        self._fold: Final = fold
        self._held: dict[int, set[str]] | None = None

    def forget_cache(self) -> None:
        """After a rollback."""
        self._held = None

    @property
    def is_empty(self) -> bool:
        return not self._blocking()

    def fold(self, event: Event) -> bool:
        """Folds the event, or parks it. True if it was parked."""
        if event.type not in _NEVER and self._is_held(event):
            self._park(event, WAITS)
            return True
        error = self._attempt(event)
        if error is not None:
            self._park(event, error)
        elif event.type == "event.skipped":
            self._held = None
        return error is not None

    def ask_again(self) -> None:
        """Has every parked event tried at the next `retry`."""
        self._model.execute("UPDATE dead_letters SET state = 'retry' WHERE state = 'parked'")

    def asked(self) -> bool:
        return self._model.execute("SELECT 1 FROM dead_letters WHERE state = 'retry' LIMIT 1").fetchone() is not None

    def retry(self, fetch: Callable[[int], Event]) -> int:
        """Tries again what was asked for, oldest first, and what then waits for nothing any more. How many folded.

        `fetch` gives the event at a sequence number of this partition.
        """
        execute = self._model.execute
        done, before = 0, -1
        while done != before:
            before = done
            for (seq,) in self._model.rows(_TO_TRY, (WAITS,)):
                event = fetch(seq)
                if self._is_held(event, than=seq):
                    execute("UPDATE dead_letters SET state = 'parked' WHERE seq = ?", (seq,))
                    continue
                error = self._attempt(event)
                if error is None:
                    execute("DELETE FROM dead_letters WHERE seq = ?", (seq,))
                    done += 1
                else:
                    execute(
                        "UPDATE dead_letters SET state = 'parked', error = ?, attempts = attempts + 1 WHERE seq = ?",
                        (error, seq),
                    )
                self._held = None
        return done

    def skip(self, event: Event) -> None:
        """An event that a rebuild leaves out because an operator gave it up before."""
        self._park(event, "skipped", state="skipped")

    def _attempt(self, event: Event) -> str | None:
        """The kind of the error that kept the event from being folded; then it left nothing behind."""
        execute = self._model.execute
        execute("SAVEPOINT one_event")
        try:
            self._fold(self._model, event)
        except (apsw.BusyError, apsw.FullError, apsw.IOError):
            raise
        except Exception as e:
            execute("ROLLBACK TO one_event")
            self._model.forget_cache()
            execute("RELEASE one_event")
            return type(e).__name__
        execute("RELEASE one_event")
        return None

    def _park(self, event: Event, error: str, *, state: str = "parked") -> None:
        named = sorted(concerns(event))
        self._model.execute(
            "INSERT INTO dead_letters (seq, ns, event_id, type, key_id, error, at, attempts, state, concerns)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                event.position.seq, self._model.namespace(event), event.event_id, event.type, event.key_id, error,
                event.recorded_at, 0 if error == WAITS else 2, state, orjson.dumps(named).decode(),
            ),
        )  # fmt: skip
        if state == "parked":
            self._blocking().setdefault(self._model.namespace(event), set()).update(named)

    def _blocking(self) -> dict[int, set[str]]:
        """Of each namespace, what its parked events speak of."""
        if self._held is None:
            self._held = {}
            for ns, named in self._model.rows("SELECT ns, concerns FROM dead_letters WHERE state != 'skipped'", ()):
                self._held.setdefault(ns, set()).update(orjson.loads(named))
        return self._held

    def _is_held(self, event: Event, *, than: int | None = None) -> bool:
        """Whether something parked (before position `than`) speaks of what the event speaks of."""
        if than is None:
            held = self._blocking().get(self._model.namespace(event)) if self._blocking() else None
            return bool(held) and not concerns(event).isdisjoint(held or ())
        ns = self._model.namespace(event)
        older = self._model.rows(
            "SELECT concerns FROM dead_letters WHERE ns = ? AND seq < ? AND state != 'skipped'", (ns, than)
        )
        named = concerns(event)
        return any(not named.isdisjoint(orjson.loads(row)) for (row,) in older)


def given_up(model: Model, event: Event, ns: int) -> None:
    """Folds `event.skipped`: what it names blocks nothing any more."""
    mark = "UPDATE dead_letters SET state = ? WHERE ns = ? AND "
    model.execute(mark + "seq = ?", ("skipped", ns, event.facts["seq"]))
    model.execute(mark + "error = ? AND state = 'parked'", ("retry", ns, WAITS))
