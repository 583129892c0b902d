"""Times in requests: ISO 8601, naive ones read in the namespace's zone, as instants."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson

from taishi.ingest.instants import from_datetime, parse

from .point import Point
from .reading import ReadModel
from .rows import NamespaceRow


def zone_of(namespace: NamespaceRow | None) -> tzinfo:
    if namespace is None:
        return UTC
    return _zone(namespace.timezone)


def as_set_up(model: ReadModel, namespace: NamespaceRow | None, point: Point) -> NamespaceRow | None:
    """With the time zone that had been set by the point; none where it was not there yet at a position."""
    if namespace is None or point.whole:
        return namespace
    if not point.read(namespace.ns):
        return None
    sql = "SELECT given FROM settings WHERE ns = ? AND at <= ? AND seq <= ? ORDER BY seq DESC"
    given = (orjson.loads(row[0]) for row in model.rows(sql, namespace.ns, *point.bounds))
    return namespace._replace(timezone=next((one["timezone"] for one in given if "timezone" in one), "UTC"))


@lru_cache(maxsize=512)
def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def instant(text: str | None, *, zone: tzinfo, field: str) -> int | None:
    """None stays None. Raises InvalidInput naming `field`."""
    return None if text is None else from_datetime(parse(text, zone=zone, field=field))
