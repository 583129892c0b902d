"""`maintain`: what fading would do and why, or does now. Works on this home folder itself."""

from __future__ import annotations

import time
from typing import Annotated, Any, Final

import typer

from taishi.commands.lifecycle import Due, Maintained, maintain
from taishi.ingest.instants import from_datetime, parse, render

from ..aging import aging, run_maintenance
from ..amounts import amount
from ..settings import load_settings
from .session import AsJson, failing_clearly, out, print_json, progress_bar

SHOWN: Final = 1_000
"""Memories that are told one by one, at most."""
_WHY: Final = {
    "ttl": "a state that passes, and nobody spoke of it since",
    "faded": "not said, read or confirmed since",
    "capacity": "the namespace is full, and this is worth least",
    "evidence": "said again at",
}


def maintain_memories(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would happen, and why.")] = False,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="With --dry-run: as if it were that time (ISO 8601).")
    ] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Of one alone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lets memories fade that are due: states that pass expire, what is not used is archived, what was said again
    comes back. Cron does it by itself (setting schedule.maintain)."""
    if at is not None and not dry_run:
        raise typer.BadParameter("only a dry run can be at another time", param_hint="--at")
    told: list[Due] = []
    with failing_clearly(as_json=as_json), progress_bar(hidden=as_json) as progress:
        task = progress.add_task("namespaces", total=None)

        def tell(due: Due) -> None:
            if len(told) < SHOWN:
                told.append(due)

        def done(number: int, of: int) -> None:
            progress.update(task, completed=number, total=of)

        settings = load_settings()
        chosen = None if namespace is None else [namespace]
        if dry_run:
            now = time.time_ns() // 1_000 if at is None else from_datetime(parse(at, field="at"))
            with aging(settings) as due:
                result = maintain(None, due, now=now, namespaces=chosen, told=tell, done=done)
        else:
            result = run_maintenance(settings, namespaces=chosen, told=tell, done=done)
    if as_json:
        print_json({**_summary(result), "dry_run": dry_run, "items": [_item(one) for one in told]})
        return
    for one in told:
        item = _item(one)
        out.print(f"{item['memory']}  {item['namespace']}  {item['change']}  {item['predicate'] or ''}  {item['why']}")
    total = sum(result.counts.values())
    if total > len(told):
        out.print(f"… and {total - len(told)} more")
    counts = ", ".join(f"{number} {name}" for name, number in sorted(result.counts.items())) or "nothing is due"
    out.print(f"{'would be: ' if dry_run else ''}{counts}; {amount(result.namespaces, 'namespace')} looked at")


def _summary(result: Maintained) -> dict[str, Any]:
    return {
        "counts": result.counts,
        "events": result.said,
        "namespaces": result.namespaces,
        "left": list(result.left),
    }


def _item(due: Due) -> dict[str, Any]:
    why = _WHY[due.reason]
    return {
        "memory": due.claims[0][0],
        "claims": [claim_id for claim_id, _ in due.claims],
        "namespace": due.namespace,
        "change": due.kind.removeprefix("claim."),
        "reason": due.reason,
        "why": f"{why} {render(due.since)}" if due.reason in ("faded", "evidence") else why,
        "since": render(due.since),
        "activation": round(due.activation, 4),
        "predicate": due.predicate,
    }
