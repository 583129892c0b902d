"""`dead-letters`: windows of words whose extraction failed, and trying them again.

Reads and changes the keeper's own file in this home folder; the running keeper sees the change at its next step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer

from taishi.ingest.instants import render
from taishi.ingest.outbox import KeptWindow, Outbox

from ..settings import load_settings
from .session import AsJson, fail, failing_clearly, out, print_json

dead_letters: Final = typer.Typer(help="Words whose extraction failed.", add_completion=False, rich_markup_mode=None)
OfOne = Annotated[str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Of one alone.")]


@dead_letters.callback(invoke_without_command=True)
def _dead_letters(context: typer.Context, as_json: AsJson = False) -> None:
    """Words whose extraction failed: lists them, or tries them again."""
    if context.invoked_subcommand is None:
        list_failed(namespace=None, as_json=as_json)


@dead_letters.command("list")
def list_failed(namespace: OfOne = None, as_json: AsJson = False) -> None:
    """Windows that failed: those that wait for an operator, and those that are tried again by themselves."""
    with failing_clearly(as_json=as_json), _outbox() as outbox:
        failed = [] if outbox is None else outbox.failed(namespace=namespace)
        retrying = [] if outbox is None else outbox.retrying(namespace=namespace)
    items = [_shown(w, "failed") for w in failed] + [_shown(w, "retrying") for w in retrying]
    if as_json:
        print_json({"items": items})
    elif not items:
        out.print("nothing failed")
    for item in [] if as_json else items:
        again = f", again at {item['retry_at']}" if item["retry_at"] else ""
        out.print(f"{item['id']}  {item['namespace']}  {item['error']}  {item['attempts']} attempts{again}")


@dead_letters.command("retry")
def retry(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="As `dead-letters list` shows them.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    namespace: OfOne = None,
    as_json: AsJson = False,
) -> None:
    """Tries failed windows again, at once: those named, or all."""
    if bool(ids) == every:
        raise typer.BadParameter("name windows, or say --all", param_hint="ID")
    with failing_clearly(as_json=as_json), _outbox() as outbox:
        chosen = None if every else ids
        count = 0 if outbox is None else outbox.retry(namespace=namespace, window_ids=chosen)
    if ids and count < len(set(ids)):
        fail(f"{len(set(ids)) - count} of these windows have not failed; {count} will be tried again")
    if as_json:
        print_json({"retried": count})
    else:
        out.print(f"{count} will be tried again")


@contextmanager
def _outbox() -> Iterator[Outbox | None]:
    """The keeper's file, None where there is none yet."""
    path = load_settings().home / "keeper" / "keeper.db"
    if not path.exists():
        yield None
        return
    outbox = Outbox(path)
    try:
        yield outbox
    finally:
        outbox.dispose()


def _shown(window: KeptWindow, state: str) -> dict[str, Any]:
    return {
        "id": window.window_id,
        "namespace": window.namespace,
        "state": state,
        "error": window.error,
        "attempts": window.attempts,
        "retry_at": render(window.retry_at) if window.retry_at else None,
        "positions": [f"p{window.partition}:{seq}" for seq in window.seqs],
    }
