"""`dead-letters`: words whose extraction failed and events that could not be folded; trying them again, giving up.

Reads the keeper's file and the read models in this home folder and marks in them what is to be tried again; the
running processes see the mark at their next step. What is given up goes into the log, through the write side.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer

from taishi.ingest.answers import Answers
from taishi.ingest.derived import failed_id
from taishi.ingest.instants import render
from taishi.ingest.outbox import KeptWindow, Outbox
from taishi.projections.dead_letters import DeadLetter, ask_again
from taishi.projections.dead_letters import dead_letters as dead_letters_of

from ..amounts import amount
from ..event_log import opened_log
from ..generations import live_extraction, live_folder, outbox_path
from ..settings import load_settings
from .session import AsJson, Namespace, fail, failing_clearly, out, print_json, session, show

dead_letters: Final = typer.Typer(help="What could not be read or folded.", add_completion=False, rich_markup_mode=None)
OfOne = Annotated[str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Of one alone.")]


@dead_letters.callback(invoke_without_command=True)
def _dead_letters(context: typer.Context, as_json: AsJson = False) -> None:
    """Words whose extraction failed and events that could not be folded: lists them, or tries them again."""
    if context.invoked_subcommand is None:
        list_failed(namespace=None, as_json=as_json)


@dead_letters.command("list")
def list_failed(namespace: OfOne = None, as_json: AsJson = False) -> None:
    """Windows that failed (those tried again by themselves too), and events that could not be folded."""
    with failing_clearly(as_json=as_json), _outbox() as outbox:
        failed = [] if outbox is None else outbox.failed(namespace=namespace)
        retrying = [] if outbox is None else outbox.retrying(namespace=namespace)
        items = [_shown(w, "failed") for w in failed] + [_shown(w, "retrying") for w in retrying]
        items += [_event_shown(letter) for letter in _letters(namespace)]
    if as_json:
        print_json({"items": items})
    elif not items:
        out.print("nothing failed")
    for item in [] if as_json else items:
        again = f", again at {item['retry_at']}" if item["retry_at"] else ""
        out.print(
            f"{item['id']}  {item['kind']}  {item['namespace']}  {item['state']}  {item['error']}"
            f"  {amount(item['attempts'], 'attempt')}{again}"
        )


@dead_letters.command("retry")
def retry(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="As `dead-letters list` shows them.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    namespace: OfOne = None,
    as_json: AsJson = False,
) -> None:
    """Tries failed windows and parked events again, at once: those named, or all."""
    if bool(ids) == every:
        raise typer.BadParameter("name windows or positions, or say --all", param_hint="ID")
    with failing_clearly(as_json=as_json), _outbox() as outbox:
        letters = [one for one in _letters(namespace) if every or _name(one) in (ids or ())]
        count = ask_again(live_folder(load_settings().home), letters) if letters else 0
        windows = None if every else sorted(set(ids or ()) - {_name(one) for one in letters})
        if outbox is not None and windows != []:
            count += outbox.retry(namespace=namespace, window_ids=windows)
    if ids and count < len(set(ids)):
        fail(f"{len(set(ids)) - count} of these have not failed; {count} will be tried again")
    if as_json:
        print_json({"retried": count})
    else:
        out.print(f"{count} will be tried again")


@dead_letters.command("skip")
def skip(
    position: Annotated[str, typer.Argument(metavar="POSITION", help="Such as p0:17.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the log.")],
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Gives up an event that cannot be folded: read models and rebuilds do without it from now on."""
    with session(namespace, as_json=as_json) as opened:
        body = {"namespace": opened.namespace, "position": position, "reason": reason}
        reply = opened.client.write.call("POST", "/v1/dead-letters/skip", body)
    show(reply, as_json, lambda r: out.print(f"given up; the log says so at {r['position']}"))


@dead_letters.command("answer")
def answer(
    window: Annotated[str, typer.Argument(metavar="ID", help="A window, as `dead-letters list` shows it.")],
    as_json: AsJson = False,
) -> None:
    """What the model answered that could not be used, of a window's attempts the last one that kept one."""
    with failing_clearly(as_json=as_json), _outbox() as outbox:
        failed = [] if outbox is None else [*outbox.failed(), *outbox.retrying()]
        found = next((w for w in failed if w.window_id == window), None)
        told = None if found is None else _kept_answer(found)
    if told is None:
        fail(
            "no window of this id has failed: `taishi dead-letters` lists those that have"
            if found is None
            else "no answer is kept, or its words were forgotten"
        )
    if as_json:
        print_json({"id": window, "answer": told})
    else:
        out.print(told)


def _kept_answer(window: KeptWindow) -> str | None:
    settings = load_settings()
    generation = live_extraction(settings.home)
    with opened_log(settings) as (log, keys):
        attempts = [failed_id(window.namespace, window.window_id, generation, n) for n in range(window.attempts)]
        for place in reversed(log.locate(window.namespace, attempts)):
            told = None if place is None else Answers(keys).opened(log.fetch(place).body)
            if told is not None:
                return told
        return None


def _letters(namespace: str | None) -> list[DeadLetter]:
    settings = load_settings()
    found = dead_letters_of(live_folder(settings.home), settings.partitions, namespace=namespace)
    return [letter for letter in found if letter.state != "skipped"]


def _name(letter: DeadLetter) -> str:
    return f"p{letter.partition}:{letter.seq}"


def _event_shown(letter: DeadLetter) -> dict[str, Any]:
    return {
        "id": _name(letter),
        "kind": letter.type,
        "namespace": letter.namespace,
        "state": letter.state,
        "error": letter.error,
        "attempts": letter.attempts,
        "retry_at": None,
        "positions": [_name(letter)],
    }


@contextmanager
def _outbox() -> Iterator[Outbox | None]:
    """The keeper's file, None where there is none yet. Raises NotFound where nothing was ever started in this home."""
    home = load_settings().home
    path = outbox_path(home, live_extraction(home))
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
        "kind": "window",
        "namespace": window.namespace,
        "state": state,
        "error": window.error,
        "attempts": window.attempts,
        "retry_at": render(window.retry_at) if window.retry_at else None,
        "positions": [f"p{window.partition}:{seq}" for seq in window.seqs],
    }
