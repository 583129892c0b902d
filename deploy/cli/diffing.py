"""`diff`: what another generation would change, before it is made live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from taishi.ingest.errors import ConfigurationError
from taishi.queries.answer_changes import Question

from ..amounts import amount
from ..diff_page import page
from ..diffing import report
from ..generations import FOLLOWING, Generation, Generations, Register
from ..settings import load_settings
from .generations import numbered
from .session import AsJson, fail, failing_clearly, out, print_json


def diff(
    before: Annotated[
        int | None, typer.Argument(metavar="A", parser=numbered, help="Such as g1. Default: the live one.")
    ] = None,
    after: Annotated[
        int | None, typer.Argument(metavar="B", parser=numbered, help="Default: the newest other one that is finished.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="JSON lines of namespace and question, to be asked on both sides."
        ),
    ] = None,
    asked: Annotated[int, typer.Option(min=0, help="Else, how many questions are made from the claims.")] = 50,
    most: Annotated[int, typer.Option(min=0, help="Claims that are told in full.")] = 10_000,
    page_to: Annotated[Path | None, typer.Option("--page", metavar="FILE", help="Write a page to read.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compares two generations: claims lost, gained and changed, beliefs over time, answers, what was forgotten."""
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        register = Generations(settings.home).read()
        one = register.live if before is None else register.generation(before)
        other = _other(register, one) if after is None else register.generation(after)
        given = None if questions is None else list(_questions(questions))
        found = report(settings, one, other, most=most, questions=given, asked=asked).to_json()
    if page_to is not None:
        page_to.write_text(page(found), "utf-8")
    if as_json:
        print_json(found)
    else:
        _print(found, page_to)


def _other(register: Register, one: Generation) -> Generation:
    others = [g for g in register.generations.values() if g.number != one.number and g.state != "failed"]
    if not others:
        fail("there is no other generation: `taishi rebuild` makes one")
    return max(others, key=lambda g: (g.state in FOLLOWING, g.number))


def _questions(path: Path) -> list[Question]:
    try:
        rows = [orjson.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        return [Question(namespace=row["namespace"], text=row["question"]) for row in rows]
    except (ValueError, KeyError, TypeError) as e:
        raise ConfigurationError(f"{path} holds a line that is no question: {type(e).__name__}") from None


def _print(found: dict[str, Any], page_to: Path | None) -> None:
    before, after, claims = found["before"], found["after"], found["claims"]
    out.print(f"g{before['generation']} {before['extractor']} → g{after['generation']} {after['extractor']}")
    out.print(
        f"claims: {claims['same']} same, {claims['lost']} lost, {claims['changed']} changed ({found['share']:.1%}),"
        f" {claims['gained']} gained; {amount(after['unread'], 'event')} unread, {after['failed']} failed"
    )
    for row in found["by"]:
        if row["lost"] or row["gained"] or row["changed"]:
            out.print(f"  {row['namespace']}  {row['predicate']}: {row['lost']} lost, {row['changed']} changed,"
                      f" {row['gained']} gained")  # fmt: skip
    for change in found["changes"][:20]:
        sides = [("—" if s is None else f"{s['subject']}: {s['value']}") for s in (change["before"], change["after"])]
        out.print(
            f"  {change['kind']:<8} {change['predicate']}  {sides[0]} → {sides[1]}  [{change['words'] or 'erased'}]"
        )
    if len(found["changes"]) > 20:
        out.print(f"  … and {len(found['changes']) - 20} more: --json or --page shows them")
    for point in found["grid"]:
        if point["only_before"] or point["only_after"]:
            out.print(f"  {point['at']}: {amount(point['same'], 'belief')} same, {point['only_before']} only before,"
                      f" {point['only_after']} only after")  # fmt: skip
    differing = [a for a in found["answers"] if not a["same"]]
    out.print(f"answers: {len(differing)} of {len(found['answers'])} differ")
    tombstones = found["tombstones"]
    readable = amount(len(tombstones["readable"]), "memory", "memories")
    out.print(f"forgotten: {amount(tombstones['checked'], 'tombstone')}, {readable} readable")
    out.print(f"unbound: {amount(len(found['unbound']), 'verdict')} of callers on memories that are not there")
    for one in found["unbound"]:
        out.print(f"  {one['namespace']}  {one['kind']}  {one['memory_id']}")
    if page_to is not None:
        out.print(f"written to {page_to}")
