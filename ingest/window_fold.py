"""The keeper's fold: which windows a batch of events opens, closes, fails or takes away.

The result depends on the events and their order alone, not on how they were cut into batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .echoes import OTHERS, Recalls, lately, remembered
from .envelope import FORGETTING_TYPES, RAW_TYPES, Event
from .outbox_fold import Failure, Fold, OpenWindow, SessionKey, Zone
from .retries import NO_RETRIES, RetrySchedule
from .windows import Member, Policy, SessionState, Window, advance, close, expire, passed

CLOSING_TYPES: Final = frozenset({"extraction.completed", "window.skipped"})
_TOUCHING: Final = RAW_TYPES | CLOSING_TYPES | {"extraction.failed", "memory.recalled"}


class WindowFold:
    """Folds events of one partition, in order, then `write`s what came of them into the transaction `fold`.

    Derived events of other generations than `generation` are not seen. Raw events that say they were `read` by it (they
    were brought with what was read of them) open no window.
    """

    def __init__(
        self,
        fold: Fold,
        events: Sequence[Event],
        *,
        policy: Policy,
        generation: int,
        carries: bool = False,
        retries: RetrySchedule = NO_RETRIES,
    ) -> None:
        """Where it `carries` over what another generation had read, a window whose words are all forgotten is read as
        well: to take over the claims that outlived them."""
        self._fold = fold
        self._policy = policy
        self._generation = generation
        self._carries = carries
        self._retries = retries
        touched = [e for e in events if e.type in _TOUCHING]
        self._sessions: dict[SessionKey, SessionState] = fold.sessions({_key(e) for e in touched}) if touched else {}
        zoned = {e.namespace for e in events if e.type in _TOUCHING or e.type in FORGETTING_TYPES}
        self._zones: dict[str, Zone | None] = {**fold.zones(zoned)} if zoned else {}
        self._new_zones: dict[str, Zone | None] = {}
        self._recalls: dict[str, Recalls] = fold.recalls({e.namespace for e in touched}) if touched else {}
        self._recalled: set[str] = set()
        self._opened: dict[str, OpenWindow] = {}
        self._closed: set[str] = set()
        self._failed: dict[str, list[Failure]] = {}
        for event in events:
            self._see(event)

    def expire(self, now: int) -> None:
        """Closes the windows that cannot grow any more. All that was appended before `now` must have been folded."""
        old = {**self._fold.open_before(now - self._policy.span), **self._sessions}
        for key, state in old.items():
            self._sessions[key], window = expire(state, now=now, namespace=key.namespace, policy=self._policy)
            self._open(key.namespace, [] if window is None else [window], at=now)

    def write(self, *, now: int) -> None:
        """`now` is the time of the partition's last event: sessions silent for too long before it are forgotten."""
        self._fold.put_sessions(self._sessions)
        self._fold.put_zones(self._new_zones)
        self._fold.put_recalls({namespace: self._recalls[namespace] for namespace in self._recalled})
        self._fold.add(list(self._opened.values()))
        for window_id, failures in self._failed.items():
            for failure in failures:
                self._fold.fail(window_id, failure, self._retries)
        self._fold.close(self._closed)
        if self._closed or self._failed:
            self._fold.end_jobs()
        self._fold.drop_sessions(now - self._policy.context_span)

    def _see(self, event: Event) -> None:
        if event.type in RAW_TYPES:
            key = _key(event)
            heard = lately(self._recalls.get(event.namespace, ()), event.appended_at) if event.origin in OTHERS else ()
            member = Member(
                seq=event.position.seq, event_id=event.event_id, appended_at=event.appended_at, recalled=heard
            )
            state = self._sessions.get(key, SessionState())
            if self._generation in event.facts.get("read", ()):
                self._sessions[key] = passed(state, member, policy=self._policy)
                return
            self._sessions[key], windows = advance(state, member, namespace=event.namespace, policy=self._policy)
            self._open(event.namespace, windows, at=event.appended_at)
        elif event.type == "memory.recalled":
            self._recalls[event.namespace] = remembered(self._recalls.get(event.namespace, ()), event)
            self._recalled.add(event.namespace)
        elif event.type in FORGETTING_TYPES:
            self._forget_zone(event)
            if not self._carries:
                self._forget(event)
        elif event.type == "namespace.configured":
            zone = (event.body or {}).get("timezone")
            if zone:
                self._set_zone(event.namespace, Zone(zone, event.position.seq))
        elif event.generation == self._generation:
            self._anticipate(event)
            if event.type in CLOSING_TYPES:
                self._close(event.facts["window"])
            elif event.type == "extraction.failed":
                failure = Failure(
                    attempts=event.facts["attempt"] + 1, error=event.facts["error"], at=event.appended_at
                )
                self._failed.setdefault(event.facts["window"], []).append(failure)

    def _open(self, namespace: str, windows: Sequence[Window], *, at: int) -> None:
        for window in windows:
            zone = self._zones.get(namespace)
            named = None if zone is None else zone.name
            self._closed.discard(window.window_id)
            self._failed.pop(window.window_id, None)
            self._opened[window.window_id] = OpenWindow(window=window, namespace=namespace, zone=named, due=at)

    def _anticipate(self, event: Event) -> None:
        """Closes a growing window that the log speaks of: a clock had closed it when these events were first read."""
        state = self._sessions.get(_key(event))
        if state is not None and state.open:
            after, window = close(state, namespace=event.namespace, policy=self._policy)
            if window.window_id == event.facts.get("window"):
                self._sessions[_key(event)] = after
                self._open(event.namespace, [window], at=event.appended_at)

    def _close(self, window_id: str) -> None:
        if self._opened.pop(window_id, None) is None:
            self._closed.add(window_id)

    def _set_zone(self, namespace: str, zone: Zone | None) -> None:
        self._zones[namespace] = self._new_zones[namespace] = zone

    def _forget_zone(self, event: Event) -> None:
        """A zone that was forgotten with its namespace is not the one that new words are read in."""
        zone = self._zones.get(event.namespace)
        if zone is not None and zone.set_by in {seq for _, seq in event.facts["events"]}:
            self._set_zone(event.namespace, None)

    def _forget(self, event: Event) -> None:
        erased = {seq for _, seq in event.facts["events"]}
        gone = [w.window.window_id for w in self._opened.values() if set(w.window.seqs) <= erased]
        for window_id in (*gone, *self._fold.holding(event.namespace, erased)):
            self._close(window_id)


def _key(event: Event) -> SessionKey:
    return SessionKey(namespace=event.namespace, session=event.session)
