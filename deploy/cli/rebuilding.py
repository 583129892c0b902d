"""`rebuild`: read models anew from the log, beside the live ones, with its progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Final, Literal

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from taishi.ingest.outbox import Outbox
from taishi.projections.lookup import Lookup

from ..embedding_anew import EmbeddingAnew
from ..extraction import installed
from ..generations import UNFINISHED, Generation, Generations, generation_folder, outbox_path
from ..rebuilding import GIVEN_UP, give_up, start_rebuild
from ..settings import Settings, load_settings
from .generations import described
from .session import AsJson, fail, failing_clearly, out, print_json, progress_bar

_LOOK_SECONDS: Final = 0.2
Only = Literal["claims", "search", "vectors"]
"""Claims and the search over them lie in one file and are folded in one pass; vectors outlive every generation."""


def rebuild(
    extractor: Annotated[
        str | None, typer.Option(metavar="NAME[@VERSION]", help="Read all words anew with this extractor.")
    ] = None,
    only: Annotated[
        Only | None,
        typer.Option(help="vectors: embed everything anew in the background; else: all but vectors, as ever."),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for it.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Give up the rebuild that is going on.")] = False,
    as_json: AsJson = False,
) -> None:
    """Builds read models anew from the log while the live ones go on answering. `activate` switches to them."""
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        generations = Generations(settings.home)
        if only == "vectors":
            if extractor is not None or stop:
                raise typer.BadParameter("it goes with nothing else", param_hint="--only vectors")
            EmbeddingAnew(settings.home).ask()
            _vectors(as_json=as_json)
            return
        if stop:
            _told(give_up(generations), generations, as_json=as_json)
            return
        fresh = start_rebuild(generations, extractor=None if extractor is None else installed(settings, extractor))
        if not detach:
            fresh = _watch(settings, generations, fresh, hidden=as_json)
        _told(fresh, generations, as_json=as_json)
        if fresh.state == "failed":
            fail(f"g{fresh.number} failed: {fresh.error}")


def _vectors(*, as_json: bool) -> None:
    if as_json:
        print_json({"vectors": "embedding anew"})
    else:
        out.print("everything is embedded anew, what is there serves until then: `taishi status --all` tells how far")


def _told(generation: Generation | None, generations: Generations, *, as_json: bool) -> None:
    if as_json:
        print_json({"generation": None if generation is None else described(generation, generations.read())})
    elif generation is None:
        out.print("nothing is being built")
    elif generation.state == "ready":
        out.print(f"{generation.name} is ready: `taishi diff`, then `taishi activate {generation.name}`")
    elif generation.state != "failed":
        out.print(f"{generation.name} is {generation.state}")
    elif generation.error == GIVEN_UP:
        out.print(f"{generation.name} is given up")


def _watch(settings: Settings, generations: Generations, fresh: Generation, *, hidden: bool) -> Generation:
    """Until it is ready or has failed. Interrupting it ends the watching, not the rebuild."""
    with progress_bar(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        TextColumn("{task.fields[rate]}"), TimeRemainingColumn(), hidden=hidden,
    ) as bar:  # fmt: skip
        task = bar.add_task(f"g{fresh.number}", total=1, rate="")
        for state in _states(generations, fresh.number):
            _show(bar, task, settings, generations, state)
    return generations.read().generation(fresh.number)


def _states(generations: Generations, number: int) -> Iterator[Generation]:
    while (state := generations.read().generation(number)).state in UNFINISHED:
        yield state
        time.sleep(_LOOK_SECONDS)


def _show(bar: Progress, task: TaskID, settings: Settings, generations: Generations, state: Generation) -> None:
    done, total = progress(settings, generations, state)
    speed = bar.tasks[task].speed
    bar.update(
        task, completed=done, total=max(total, 1), description=f"g{state.number} {state.state}",
        rate=f"{speed:,.0f}/s" if speed else "",
    )  # fmt: skip


def progress(settings: Settings, generations: Generations, state: Generation) -> tuple[int, int]:
    """(done, of so many): windows that wait, while words are read anew; then events folded, of those that the live
    generation has folded."""
    if state.state == "extracting":
        return _read_anew(settings, state)
    own = Lookup(lambda: generation_folder(settings.home, state))
    live = Lookup(lambda: generation_folder(settings.home, generations.read().live))
    partitions = range(settings.partitions)
    return sum(own.checkpoint(p) for p in partitions), sum(live.checkpoint(p) for p in partitions)


def _read_anew(settings: Settings, state: Generation) -> tuple[int, int]:
    """In events of the log: those that the keeper has read and no window waits for."""
    path = outbox_path(settings.home, state.extraction)
    total = sum(state.targets.values())
    if not path.exists():
        return 0, total
    outbox = Outbox(path, generation=state.extraction)
    try:
        places = [(outbox.oldest(int(p)), outbox.checkpoint(int(p)).seq, target) for p, target in state.targets.items()]
    finally:
        outbox.dispose()
    return sum(min(read if oldest is None else oldest - 1, target) for oldest, read, target in places), total
