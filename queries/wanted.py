"""What a request restricts answers to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from .rows import EventRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """`metadata` are exact values of the source's metadata."""

    kinds: frozenset[str] = frozenset({"claim", "event"})
    metadata: Mapping[str, object] | None = None

    def fits(self, event: EventRow) -> bool:
        if not self.metadata:
            return True
        held = {} if event.metadata is None else orjson.loads(event.metadata)
        return all(name in held and held[name] == value for name, value in self.metadata.items())
