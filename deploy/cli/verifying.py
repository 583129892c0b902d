"""`verify`: the content digest of each read model, and whether a clean replay of the log comes to the same."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from taishi.ingest.errors import NotFound

from ..generations import Generations
from ..settings import load_settings
from ..verifying import Digest, digests, replayed, scratch
from .generations import numbered
from .session import AsJson, failing_clearly, out, print_json


def verify(
    number: Annotated[
        int | None, typer.Argument(metavar="GENERATION", parser=numbered, help="Default: the live one.")
    ] = None,
    replay: Annotated[bool, typer.Option("--replay", help="Fold the log anew, and compare.")] = False,
    batch: Annotated[int, typer.Option(min=1, max=10_000, help="Events that a replay folds at a time.")] = 2_000,
    as_json: AsJson = False,
) -> None:
    """Prints each read model's content digest and position; with --replay, compares them with a clean replay.

    Exit code 1 where they differ.
    """
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        register = Generations(settings.home).read()
        generation = register.live if number is None else register.generation(number)
        found = digests(settings, generation)
        if not found:
            raise NotFound(f"{generation.name} has no read models yet: `taishi up` builds them from the log")
        fresh: list[Digest] = []
        if replay:
            with scratch(settings.home) as folder:
                fresh = replayed(settings, generation, found, folder=folder, batch=batch)
    differ = [a.partition for a, b in zip(found, fresh, strict=False) if a != b]
    if as_json:
        reply: dict[str, Any] = {"generation": generation.number, "digests": [d.to_json() for d in found]}
        print_json({**reply, "replayed": [d.to_json() for d in fresh] if replay else None, "equal": not differ})
    else:
        for d in found:
            told = "" if not replay else "  differs from a replay" if d.partition in differ else "  as replayed"
            out.print(f"g{generation.number} p{d.partition}:{d.seq}  {d.digest}{told}")
    if differ:
        raise typer.Exit(1)
