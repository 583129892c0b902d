"""Who is who: names that stand for one person or thing, from what callers said of them. Nothing is guessed.

Identity is a matter of reading: the log keeps each subject as it was said, and claims stay in the slots of the names
they were said under. What is folded here is only which names were known to mean the same, and since when.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from taishi.ingest.instants import FOREVER
from taishi.ingest.normal import normal_value

Kind = Literal["aliased", "merged", "split"]


class Identity(NamedTuple):
    """Something said of who is who, in the order of `seq`: `name` is a name of `other` (aliased), is the same as
    `other` and known by that name (merged), or is one's own again (split; `other` None)."""

    seq: int
    kind: Kind
    at: int
    name: str
    other: str | None


class Name(NamedTuple):
    """`key` (normalised) means `entity` as known over [known_from, known_to); `main` names it."""

    key: str
    entity: int
    name: str
    main: bool
    known_from: int
    known_to: int


class _Open(NamedTuple):
    entity: int
    name: str
    since: int


class _Registry:
    def __init__(self) -> None:
        self.open: dict[str, _Open] = {}
        self.main: dict[int, str] = {}
        self.closed: list[Name] = []

    def members(self, entity: int) -> list[str]:
        return [key for key, row in self.open.items() if row.entity == entity]

    def put(self, key: str, entity: int, name: str, at: int) -> None:
        self.close(key, at)
        self.open[key] = _Open(entity, name, at)

    def close(self, key: str, at: int) -> None:
        row = self.open.pop(key, None)
        if row is not None and row.since < at:
            main = self.main.get(row.entity) == key
            self.closed.append(Name(key, row.entity, row.name, main, row.since, at))

    def join(self, said: Identity, other: str) -> None:
        one, into = normal_value(said.name), normal_value(other)
        if one == into:
            return
        if into not in self.open:
            self.put(into, said.seq, other, said.at)
            self.main[said.seq] = into
        entity = self.open[into].entity
        known = self.open.get(one)
        if known is None:
            self.put(one, entity, said.name, said.at)
        elif known.entity != entity:
            for key in self.members(known.entity):
                self.put(key, entity, self.open[key].name, said.at)

    def split(self, said: Identity) -> None:
        key = normal_value(said.name)
        known = self.open.get(key)
        if known is None:
            return
        self.close(key, said.at)
        left = self.members(known.entity)
        if len(left) == 1:
            self.close(left[0], said.at)
        elif self.main.get(known.entity) == key:
            self.main[known.entity] = min(left, key=lambda k: (self.open[k].since, k))


def names(said: Iterable[Identity]) -> list[Name]:
    """All names that are or once were known to stand for an entity that has others."""
    registry = _Registry()
    for one in sorted(said):
        if one.kind == "split" or one.other is None:
            registry.split(one)
        else:
            registry.join(one, one.other)
    rows = [
        Name(key, row.entity, row.name, registry.main.get(row.entity) == key, row.since, FOREVER)
        for key, row in registry.open.items()
    ]
    return registry.closed + rows
