"""Windows: which raw events are read together.

A window is a pure function of the order of a session's raw events and their `appended_at`: neighbours of one session,
at most `events` of them, none appended more than `span` after the first. A clock only tells that a window will not
grow any more; it decides nothing. Earlier events of the session go along as context, to be understood by.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from .instants import DAY, SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """`span` and `context_span` in microseconds. `context` earlier events at most, none older than `context_span`."""

    events: int
    span: int
    context: int = 6
    context_span: int = DAY


AT_ONCE: Final = Policy(events=1, span=0)
"""One event, one window, read as soon as it is there: for rules."""
GATHERED: Final = Policy(events=5, span=120 * SECOND)
"""Up to five events of two minutes: for model extractors, whose calls cost money."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A raw event's place in its session. `recalled` are positions of what recall had lately shown when it was said,
    for words that are not the user's own."""

    seq: int
    event_id: str
    appended_at: int
    recalled: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """`open` are the members of the window that still grows, `past` those before it that it is understood by."""

    open: tuple[Member, ...] = ()
    past: tuple[Member, ...] = ()

    @property
    def last_at(self) -> int:
        """When its last event was appended; 0 where it has none."""
        return max((m.appended_at for m in (*self.past, *self.open)), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A window that will not grow: sequence numbers in its namespace's partition, each ascending."""

    window_id: str
    seqs: tuple[int, ...]
    context: tuple[int, ...]
    recalled: tuple[int, ...] = ()


def window_id(namespace: str, event_ids: Sequence[str]) -> str:
    """32 hex digits that name these events of this namespace and no others."""
    return hashlib.sha256("\x1f".join(("window", namespace, *event_ids)).encode()).hexdigest()[:32]


def advance(
    state: SessionState, member: Member, *, namespace: str, policy: Policy
) -> tuple[SessionState, list[Window]]:
    """The session after its next raw event, and the windows which that event closed: none, one or two."""
    state, closed = expire(state, now=member.appended_at, namespace=namespace, policy=policy)
    windows = [] if closed is None else [closed]
    past = state.past
    if not state.open:
        past = tuple(m for m in past if m.appended_at >= member.appended_at - policy.context_span)
    state = SessionState(open=(*state.open, member), past=past)
    if len(state.open) >= policy.events:
        state, full = close(state, namespace=namespace, policy=policy)
        windows.append(full)
    return state, windows


def expire(state: SessionState, *, now: int, namespace: str, policy: Policy) -> tuple[SessionState, Window | None]:
    """Closes the open window if nothing appended at `now` or later belongs to it.

    `now` must not lie behind the clock of the log: everything appended before it has been seen.
    """
    if not state.open or now <= state.open[0].appended_at + policy.span:
        return state, None
    return close(state, namespace=namespace, policy=policy)


def passed(state: SessionState, member: Member, *, policy: Policy) -> SessionState:
    """The session after a raw event that was read elsewhere: later ones are understood by it."""
    past = (*state.past, replace(member, recalled=()))[-policy.context :] if policy.context else ()
    return replace(state, past=past)


def close(state: SessionState, *, namespace: str, policy: Policy) -> tuple[SessionState, Window]:
    """Closes the open window, of which there must be one."""
    window = Window(
        window_id=window_id(namespace, [m.event_id for m in state.open]),
        seqs=tuple(m.seq for m in state.open),
        context=tuple(m.seq for m in state.past),
        recalled=tuple(sorted({seq for m in state.open for seq in m.recalled})),
    )
    past = (*state.past, *state.open)[-policy.context:] if policy.context else ()
    return SessionState(past=tuple(replace(m, recalled=()) if m.recalled else m for m in past)), window
