"""Instants: whole microseconds since 1970-01-01T00:00Z, as `int`.

Both time axes are half-open intervals over instants. `FOREVER` is an end that has not come, `BEGINNING` a start before
all others; neither is ever shown to a caller (they are rendered as null).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo

from .errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FOREVER = 253_402_300_800_000_000  # 10000-01-01T00:00Z
BEGINNING = -62_135_596_800_000_000  # 0001-01-01T00:00Z
SECOND = 1_000_000
DAY = 86_400 * SECOND


def from_datetime(at: datetime) -> int:
    """`at` must be aware."""
    if at.tzinfo is None:
        raise ValueError("a naive datetime has no instant")
    gap = at - EPOCH
    return (gap.days * 86_400 + gap.seconds) * SECOND + gap.microseconds


def to_datetime(instant: int, zone: tzinfo = UTC) -> datetime:
    return (EPOCH + timedelta(microseconds=instant)).astimezone(zone)


def parse(text: str, *, zone: tzinfo = UTC, field: str | None = None) -> datetime:
    """An ISO 8601 time as an aware datetime that keeps its own offset; a naive one is read in `zone`."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        said = f"{text[:40]!r} is not an ISO 8601 time such as 2026-03-01T09:00:00+08:00"
        raise InvalidInput(said, field=field) from None
    if at.tzinfo is None:
        at = at.replace(tzinfo=zone)
    try:
        at.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("the time is out of range", field=field) from None
    return at


def render(instant: int | None) -> str | None:
    """ISO 8601 in UTC with microseconds dropped when zero; None for an open end."""
    if instant is None or instant >= FOREVER or instant <= BEGINNING:
        return None
    return to_datetime(instant).isoformat().replace("+00:00", "Z")


def with_offset(instant: int, offset_minutes: int) -> datetime:
    return to_datetime(instant, timezone(timedelta(minutes=offset_minutes)))
