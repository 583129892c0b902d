"""Times in requests: ISO 8601, naive ones read in the namespace's zone, as instants."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson

from taishi.ingest.instants import from_datetime, parse

from .reading import ReadModel
from .rows import NamespaceRow


def zone_of(namespace: NamespaceRow | None) -> tzinfo:
    if namespace is None:
        return UTC
    return _zone(namespace.timezone)


def as_set_up(model: ReadModel, namespace: NamespaceRow | None, position: int | None) -> NamespaceRow | None:
    """With the time zone that had been set by the position (None: by now); none where it was not there yet."""
    if namespace is None or position is None:
        return namespace
    if namespace.ns > position:
        return None
    sql = "SELECT given FROM settings WHERE ns = ? AND seq <= ? ORDER BY seq DESC"
    given = (orjson.loads(row[0]) for row in model.rows(sql, namespace.ns, position))
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
