"""The gate before a switch: how much another generation would change, and whether it shows what was forgotten."""

from __future__ import annotations

from typing import Final

from taishi.ingest.errors import Conflict
from taishi.projections.worker import model_path
from taishi.queries.differences import Differences, Pair

from .amounts import amount
from .generations import Generation, Generations, finished, generation_folder
from .settings import Settings

LIMIT: Final = 0.25
"""The share of claims lost or changed from which on a switch must be forced."""


def check_gate(settings: Settings, number: int, *, limit: float) -> None:
    """Raises Conflict where a switch from the live generation is not to be made: too much would be lost or changed, or
    something forgotten would be read again."""
    register = Generations(settings.home).read()
    wanted = register.generation(number)
    if wanted.number == register.live.number:
        return
    found = compare(settings, register.live, wanted, most=0)
    if found.readable:
        shown = amount(len(found.readable), "memory", "memories")
        raise Conflict(f"g{number} shows what was forgotten ({shown}): it is not to be activated")
    if found.share > limit:
        raise Conflict(
            f"{found.share:.1%} of the claims are lost or changed in g{number}, more than {limit:.0%}:"
            f" look at `taishi diff {register.live.name} g{number}`, then use --force"
        )


def compare(settings: Settings, before: Generation, after: Generation, *, most: int) -> Differences:
    """Of every partition. `most` bounds the changes that are told in full. Raises Conflict where one is not finished,
    Unavailable."""
    found = Differences()
    for pair in opened_pairs(settings, before, after):
        try:
            found.add(pair.differences(most=most - len(found.changes)))
        finally:
            pair.close()
    return found


def opened_pairs(settings: Settings, before: Generation, after: Generation) -> list[Pair]:
    """Of every partition, open. Raises Conflict where one is not finished, Unavailable."""
    folders = [generation_folder(settings.home, finished(g)) for g in (before, after)]
    return [
        Pair(model_path(folders[0], p), model_path(folders[1], p), p)
        for p in range(settings.partitions)
    ]  # fmt: skip
