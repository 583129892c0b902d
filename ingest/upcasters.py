"""Schema evolution: events are stored for good and read as if they had been written today.

An upcaster is a pure function from (type, v) to (type, v+1); reading applies them until none is left. Each historical
version has a golden stored event in `tests/unit/golden/`. An event newer than this code is never guessed at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from .errors import UnknownEventVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What changes between versions. `body` is None when it was erased: an upcaster must cope with that."""

    type: str
    version: int
    facts: Mapping[str, Any]
    body: Mapping[str, Any] | None


Upcaster = Callable[[Shape], Shape]


class Upcasters:
    """Steps by (type, version). A type without steps is at version 1."""

    def __init__(self, steps: Mapping[tuple[str, int], Upcaster]) -> None:
        self._steps: Final = dict(steps)
        self._newest: Final[dict[str, int]] = {}
        for name, version in self._steps:
            self._newest[name] = max(self._newest.get(name, 1), version + 1)
        for name, newest in self._newest.items():
            missing = [v for v in range(1, newest) if (name, v) not in self._steps]
            if missing:
                raise ValueError(f"no upcaster for {name} from version {missing[0]}")

    def newest(self, name: str) -> int:
        """The version that events of this type are written with."""
        return self._newest.get(name, 1)

    def upcast(self, shape: Shape) -> Shape:
        """`shape` at its type's newest version. Raises UnknownEventVersion when it is newer than that."""
        while shape.version != (newest := self._newest.get(shape.type, 1)):
            if not 1 <= shape.version < newest:
                raise UnknownEventVersion(
                    f"an event of type {shape.type} has schema version {shape.version}, this code reads {newest}: "
                    "upgrade it"
                )
            before = shape
            shape = self._steps[shape.type, shape.version](shape)
            if (shape.type, shape.version) != (before.type, before.version + 1):
                raise ValueError(f"the upcaster of {before.type} version {before.version} must give the next version")
        return shape


def _recalled_2(old: Shape) -> Shape:
    """`memory.recalled` 2 names each id once, with its kind beside it, and says who read.

    Version 1 told the ids again under `claims` and `events`; its first writers knew neither these nor `seqs`.
    """
    facts = dict(old.facts)
    claims, events = facts.pop("claims", None), facts.pop("events", ())
    items = facts.get("items") or [*(claims or ()), *events]
    facts["items"] = items
    facts["kinds"] = ["claim" if claims is None or memory_id in claims else "event" for memory_id in items]
    return replace(old, version=2, facts={"seqs": [], "reader": {}, **facts})


UPCASTERS: Final = Upcasters({("memory.recalled", 1): _recalled_2})
"""The product's steps. Types that are not named are at their first version."""
