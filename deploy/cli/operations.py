"""`ops`: what model calls took, by day, namespace and model; and what may be told twice in other words.

Reads the ledger and the read models of this home folder themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import typer

from taishi.ingest.spending import spending, total

from ..dedup_audit import grey_zone, run_audit
from ..extraction import ledger_path, open_ledger
from ..settings import load_settings
from .render import aligned
from .session import AsJson, failing_clearly, out, print_json, progress_bar

ops: Final = typer.Typer(
    no_args_is_help=True, add_completion=False, help="What running it takes.", rich_markup_mode=None
)
_COLUMNS: Final = ("day", "namespace", "model", "calls", "failed", "refused", "in", "out", "cost", "p50", "p95", "p99")



@ops.callback()
def _ops() -> None:
    """What running it takes."""


@ops.command("duplicates")
def duplicates(
    ask: Annotated[bool, typer.Option("--ask", help="Have the chat model judge them; verdicts are kept.")] = False,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Of one alone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Memories that may say the same in other words, on which no verdict is given."""
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        pairs = list(grey_zone(settings, namespace=namespace))
        if ask:
            with progress_bar(hidden=as_json) as bar:
                task = bar.add_task("judging", total=len(pairs))
                audited = run_audit(settings, namespace=namespace, done=lambda count: bar.advance(task, count))
            told = {"same": audited.same, "apart": audited.apart, "refused": audited.refused, "waits": audited.waits}
            if as_json:
                print_json(told)
            else:
                waits = f"; the rest waits: {audited.waits}" if audited.waits else ""
                out.print(f"{audited.same} same, {audited.apart} apart, {audited.refused} without an answer{waits}")
            return
    if as_json:
        print_json({"pairs": [pair._asdict() for pair in pairs]})
    elif not pairs:
        out.print("none")
    for pair in [] if as_json else pairs:
        out.print(f"{pair.namespace}  {pair.subject} {pair.predicate}: {pair.values[0]} | {pair.values[1]}")


@ops.command("report")
def report(
    days: Annotated[int, typer.Option(min=1, max=3660, help="How many days back, today included (UTC).")] = 7,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Of one alone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Model calls, tokens, cost, latency (ms) and failures. Costs are in the currency that the prices are set in."""
    since = datetime.now(UTC).date() - timedelta(days=days - 1)
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        rows: list[dict[str, Any]] = []
        whole = total([], [])
        if ledger_path(settings.home).exists():
            ledger = open_ledger(settings)
            calls = ledger.calls(since=since, namespace=namespace)
            refusals = ledger.refusals(since=since, namespace=namespace)
            ledger.close()
            rows = [
                {"day": day, "namespace": name, "model": model, **row.to_json()}
                for (day, name, model), row in spending(calls, refusals).items()
            ]
            whole = total(calls, refusals)
    if as_json:
        print_json({"since": since.isoformat(), "rows": rows, "total": whole.to_json()})
    elif not rows:
        out.print(f"no model calls since {since}")
    else:
        everything = [*rows, {"day": "total", "namespace": "", "model": "", **whole.to_json()}]
        for line in aligned([_COLUMNS, *map(_cells, everything)]):
            out.print(line)


def _cells(row: Mapping[str, Any]) -> list[str]:
    counted = [_reasons(row["failures"]), _reasons(row["refused"]), row["tokens_in"], row["tokens_out"], row["cost"]]
    latency = ["" if ms is None else ms for ms in row["latency_ms"].values()]
    return [str(cell) for cell in (row["day"], row["namespace"], row["model"], row["calls"], *counted, *latency)]


def _reasons(counted: Mapping[str, int]) -> str:
    """`3 (2 model.truncated, 1 outage.http_429)`"""
    if not counted:
        return "0"
    parts = ", ".join(f"{n} {code}" for code, n in sorted(counted.items(), key=lambda item: (-item[1], item[0])))
    return f"{sum(counted.values())} ({parts})"
