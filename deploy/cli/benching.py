"""`bench recall`: how good recall is on labelled conversations, measured from outside."""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final

import orjson
import typer
from rich.console import Console

from taishi.queries.fusion import CHANNELS

from .session import AsJson, failing_clearly, out, print_json, progress_bar

if TYPE_CHECKING:
    from ..bench.driver import Watch
    from ..bench.report import SetResult

bench: Final = typer.Typer(
    help="Measures, each on a Taishi of its own that is gone afterwards.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@bench.callback()
def _bench() -> None:
    """Keeps `recall` a command of its own name, though it is the only one."""


@bench.command("recall")
def bench_recall(
    folder: Annotated[Path, typer.Argument(metavar="DATA_DIR", exists=True, file_okay=False, help="Sets, or one.")],
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help="Only this one; may be given again.")
    ] = None,
    ablate: Annotated[
        list[str] | None,
        typer.Option(metavar="CHANNEL", help=f"Recall without it; may be given again: {', '.join(CHANNELS)}."),
    ] = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Keep the run, by ids.")] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Changes from a saved run.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit-questions", metavar="N", min=1, help="So many of each set, spread over it.")
    ] = None,
    home: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the data there, and ask it again if it is there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Feeds each set through the write side, asks its questions of recall, and tells what came, with 95% intervals."""
    from ..bench import report

    if unknown := [name for name in ablate or [] if name not in CHANNELS]:
        raise typer.BadParameter(f"no channel is {unknown[0]!r}", param_hint="--ablate")
    with failing_clearly(as_json=as_json), _stopping_cleanly():
        saved = {} if compare is None else report.read_saved(compare)
        results = [_played(one, ablate or [], limit, home) for one in _sets(folder, sets or [])]
    if save is not None:
        save.write_bytes(orjson.dumps(report.document(results, ablated=ablate or [], with_questions=True)))
    if as_json:
        printed = report.document(results, ablated=ablate or [], with_questions=False)
        for result in results:
            if result.name in saved:
                changes = report.compared(saved[result.name], result.outcomes)
                printed["sets"][result.name]["changes"] = {name: asdict(one) for name, one in changes.items()}
        print_json(printed)
        return
    wide = Console(highlight=False, markup=False, width=max(out.width, report.WIDTH))
    for table in report.tables(results, saved):
        wide.print(table)


def _sets(folder: Path, names: list[str]) -> list[Path]:
    from ..bench.dataset import find_sets

    return find_sets(folder, names)


def _played(folder: Path, ablated: list[str], limit: int | None, home: Path | None) -> SetResult:
    from ..bench.dataset import load
    from ..bench.driver import Driver
    from ..bench.report import SetResult
    from ..bench.stack import running

    dataset = load(folder, limit=limit)
    begun = time.monotonic()
    with _home(home, dataset.name) as here, _watching(dataset.name) as watch, running(here, ablated=ablated) as stack:
        played = Driver(stack, dataset, home=here, keep=home is not None, watch=watch).play()
    return SetResult(dataset.name, played.outcomes, played.degraded, played.failures, time.monotonic() - begun)


@contextmanager
def _home(given: Path | None, name: str) -> Iterator[Path]:
    """A folder for one set."""
    if given is not None:
        yield given.absolute() / name
        return
    with tempfile.TemporaryDirectory(prefix="taishi-bench-") as folder:
        yield Path(folder)


@contextmanager
def _watching(name: str) -> Iterator[Watch]:
    with progress_bar() as progress:
        task = progress.add_task(f"{name}: starting", total=None)

        def watch(stage: str, done: int, total: int) -> None:
            progress.update(task, description=f"{name}: {stage}", completed=done, total=total or None)

        yield watch


@contextmanager
def _stopping_cleanly() -> Iterator[None]:
    """A SIGTERM ends the command as Ctrl-C does, so that what it started is stopped."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
