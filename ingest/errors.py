"""The one exception tree of Taishi.

Every error a caller can meet derives from `TaishiError`. `status` is the HTTP status it is reported with (RFC 9457),
`slug` the stable last part of its problem type, `field` the input field it speaks of, dotted (`events.0.content`).
Messages name the remedy and never hold a message body, a key or a token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class TaishiError(Exception):
    status: ClassVar[int] = 500
    slug: ClassVar[str] = "internal"

    def __init__(self, message: str, *, field: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.details = details


class InvalidInput(TaishiError):
    """The request itself is wrong: `field` says where."""

    status = 422
    slug = "invalid-input"


class MalformedBody(InvalidInput):
    """The request body is not JSON at all (syntax, encoding, nesting, numbers beyond any reader)."""

    status = 400
    slug = "malformed-body"


class TooSlow(TaishiError):
    """The request did not come to its end in time."""

    status = 408
    slug = "too-slow"


class UnsupportedContent(TaishiError):
    """The body is declared to be something else than plain JSON."""

    status = 415
    slug = "unsupported-content"


class NotFound(TaishiError):
    """No such memory, event or slot in this namespace."""

    status = 404
    slug = "not-found"


class Unauthorised(TaishiError):
    status = 401
    slug = "unauthorised"


class Forbidden(TaishiError):
    status = 403
    slug = "forbidden"


class Conflict(TaishiError):
    """The state of the log forbids the write."""

    status = 409
    slug = "conflict"


class EventIdConflict(Conflict):
    """The event id is known with another body."""

    slug = "event-id-conflict"


class WrongExpectedVersion(Conflict):
    """The namespace is not at the version the writer expected."""

    slug = "wrong-expected-version"


class RecordedBehind(Conflict):
    """`recorded_at` lies behind what the namespace has recorded; `details['earliest']` is the earliest allowed time."""

    slug = "recorded-behind"


class Gone(TaishiError):
    """What was asked for was forgotten and does not come back."""

    status = 410
    slug = "gone"


class EvidenceErased(Gone):
    """A derived event rests on erased evidence; `refused` are the indexes of such events in the batch."""

    slug = "evidence-erased"

    def __init__(self, message: str, *, refused: Sequence[int]) -> None:
        super().__init__(message)
        self.refused = tuple(refused)


class TooLarge(TaishiError):
    status = 413
    slug = "too-large"


class Unavailable(TaishiError):
    """A part Taishi needs is down; try again after `retry_after` seconds. Nothing was acknowledged."""

    status = 503
    slug = "unavailable"

    def __init__(self, message: str, *, retry_after: int = 1, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class Overloaded(Unavailable):
    """More is written than is read, or than the server can hold: try again after `retry_after` seconds."""

    status = 429
    slug = "overloaded"


class NotCaughtUp(Unavailable):
    """The read models have not reached the position that was asked for."""

    slug = "not-caught-up"


class Postponed(Unavailable):
    """Not now, and through no fault of the words: a model that is down, a budget that is spent. The work waits."""

    slug = "postponed"


class AnswerRefused(TaishiError):
    """A model answered with what cannot be used. `code` says how (`model.truncated`), `answer` is what came.

    `usage` is what the call took, JSON-ready, where that is known.
    """

    status = 502
    slug = "answer-refused"

    def __init__(self, code: str, *, answer: bytes = b"", usage: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"the model's answer cannot be used ({code})")
        self.code = code
        self.answer = answer
        self.usage = usage


class UnsafeServer(TaishiError):
    """The Redis/Valkey server would lose or evict events; the message says what to change."""

    slug = "unsafe-server"


class LogDamaged(TaishiError):
    """A hole, an altered entry or a rolled-back log. Readers stop here and say so."""

    slug = "log-damaged"


class LogRolledBack(LogDamaged):
    """The log lost its end: what was read from it is no longer in it."""

    slug = "log-rolled-back"


class KeyMissing(LogDamaged):
    """The key store has no row for an event's key: not erased, but lost."""

    slug = "key-missing"


class BackupDamaged(TaishiError):
    """A file of a backup is missing or not what was backed up; the message names it."""

    slug = "backup-damaged"


class RestoreRefused(Conflict):
    """Restoring, or going on with what is there, could bring back what was forgotten; the message says what to give."""

    slug = "restore-refused"


class UnknownEventVersion(TaishiError):
    """The event is newer than this code reads; the reader holds until it is upgraded."""

    slug = "unknown-event-version"


class ConfigurationError(TaishiError):
    slug = "configuration"
