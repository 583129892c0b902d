"""Event ids: UUIDs in their canonical lower-case form. The log mints version 7, callers may bring any version."""

from __future__ import annotations

import os
import re
import time
from typing import Final
from uuid import UUID

_CANONICAL: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_CLAIM: Final = re.compile(r"[0-9a-f]{32}")
_RANDOM: Final = (1 << 80) - 1


def new_event_id() -> str:
    """A UUIDv7: 48 bits of milliseconds, 74 random ones."""
    value = (time.time_ns() // 1_000_000) << 80 | (int.from_bytes(os.urandom(10)) & _RANDOM)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def canonical_event_id(text: str) -> str | None:
    """The canonical form of a UUID written with or without hyphens, in any case; None where it is none."""
    lowered = text.lower()
    if _CANONICAL.fullmatch(lowered):
        return lowered
    return str(UUID(hex=lowered)) if _CLAIM.fullmatch(lowered) else None


def canonical_memory_id(text: str) -> str | None:
    """A memory id is a claim id (32 hex digits) or a raw event's id (a UUID with hyphens); None where it is neither."""
    lowered = text.lower()
    return lowered if _CLAIM.fullmatch(lowered) or _CANONICAL.fullmatch(lowered) else None
