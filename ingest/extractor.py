"""The extractor's port: words in, claims out, with a name and a version.

A reading is a pure function of the window: its utterances (to be read), its context (earlier words of the session, to
be understood by, not read again) and the namespace's zone. Adapters: `rules` (no network), `model` (a chat model).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Protocol

from .claims import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One raw event as an extractor sees it. `said_at` is aware, in the utterance's own offset.

    `speaker` is the claim subject of the first person: `user`, or the speaker's name in a chat of several.
    """

    event_id: str
    text: str
    said_at: datetime
    speaker: str = "user"
    role: str = "user"
    origin: str = "user_direct"
    session_kind: str = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    namespace: str
    session: str | None
    utterances: Sequence[Utterance]
    context: Sequence[Utterance] = ()
    zone: tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why an utterance, or a span of it, became no claim: a code such as `small_talk`, `gate.heartbeat`, `echo`."""

    event_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Every claim's quote names one of the window's utterances.

    `usage` is what the reading took, where it took anything (model, prompt version, tokens, cost, time), JSON-ready. It
    is recorded in the clear: never words.
    """

    claims: Sequence[Claim]
    decisions: Sequence[Decision] = ()
    usage: Mapping[str, Any] | None = None


class Extractor(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def extract(self, window: Window) -> Extraction:
        """Raises Postponed where the window must wait, AnswerRefused where a model's answer cannot be used.

        Anything else that is raised is a failure of this window that waits for an operator.
        """
        ...
