"""`generations`, `activate`, `rollback`: which read models there are, which one answers, and going back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from taishi.ingest.instants import render

from ..amounts import amount
from ..gate import LIMIT, check_gate
from ..generations import Generation, Generations, Register
from ..settings import load_settings
from ..switching import activate as switch_to
from ..switching import behind, previous, prune
from .render import moment
from .session import AsJson, failing_clearly, out, print_json


def numbered(name: str) -> int:
    """The number of the generation `g2`, which may be called `2`."""
    number = name.removeprefix("g")
    if not (number.isascii() and number.isdigit()):
        raise typer.BadParameter(f"{name} is no generation such as g2")
    return int(number)


Number = Annotated[
    int, typer.Argument(metavar="GENERATION", parser=numbered, help="Its name, as `taishi generations` shows it.")
]


def list_generations(
    prune_old: Annotated[bool, typer.Option("--prune", help="Drop failed and old ones by `keep_generations`.")] = False,
    as_json: AsJson = False,
) -> None:
    """Lists the generations of read models: which is live, and what the others are."""
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        generations = Generations(settings.home)
        dropped = prune(generations, keep=settings.keep_generations, ready=True) if prune_old else []
        register = generations.read()
        shown = [
            {**described(g, register), "behind": behind(generations, g, register.live, partitions=settings.partitions)}
            for g in register.generations.values()
        ]
    if as_json:
        print_json({"generations": shown, "live": register.live.number, "dropped": [g.number for g in dropped]})
        return
    for g in dropped:
        out.print(f"{g.name} is dropped")
    for item in shown:
        error = f"  {item['error']}" if item["error"] else ""
        lag = f"  {amount(item['behind'], 'event')} behind" if item["behind"] else ""
        out.print(f"g{item['number']}  {item['state']:<10}  extraction {item['extraction']} ({item['extractor']})"
                  f"  {_since(item)}{lag}{error}")  # fmt: skip


def _since(item: Mapping[str, Any]) -> str:
    """Since when it is what it is; of one that was live before, when it last became so."""
    match item["state"]:
        case "live":
            return f"since {moment(item['activated_at'])}"
        case "kept":
            return f"was live from {moment(item['activated_at'])}"
        case "ready":
            return f"since {moment(item['ready_at'])}"
        case _:
            return f"begun {moment(item['started_at'])}"


def activate(
    number: Number,
    limit: Annotated[
        float, typer.Option(min=0, max=1, help="Refuse where a greater share of claims is lost or changed.")
    ] = LIMIT,
    force: Annotated[bool, typer.Option("--force", help="Whatever the share.")] = False,
    as_json: AsJson = False,
) -> None:
    """Makes a generation the live one, at once for every reader. `rollback` returns to the one before; older ones than
    `keep_generations` go.

    Refused where more claims are lost or changed than the limit allows, unless forced; and always where it shows what
    was forgotten.
    """
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        generations = Generations(settings.home)
        check_gate(settings, number, limit=1.0 if force else limit)
        live = switch_to(generations, number, partitions=settings.partitions)
        prune(generations, keep=settings.keep_generations)
        _say(live, generations.read(), as_json=as_json)


def rollback(as_json: AsJson = False) -> None:
    """Makes the generation live again that was so before."""
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        generations = Generations(settings.home)
        back = previous(generations.read())
        live = switch_to(generations, back.number, partitions=settings.partitions)
        _say(live, generations.read(), as_json=as_json)


def _say(live: Generation, register: Register, *, as_json: bool) -> None:
    if as_json:
        print_json({"live": described(live, register)})
    else:
        out.print(f"{live.name} is live")


def described(generation: Generation, register: Register) -> dict[str, Any]:
    """As JSON: instants written out."""
    shown = asdict(generation)
    for name in ("started_at", "ready_at", "activated_at"):
        shown[name] = render(shown[name]) if shown[name] else None
    return {"name": generation.name, **shown, "extractor": register.extraction_of(generation).extractor or "as set"}
