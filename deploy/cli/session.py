"""What all commands share: the options they have in common, the connection, the two ways to print, one way to fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from taishi.ingest.errors import TaishiError, Unavailable

from ..client import CallFailed, Client
from ..settings import Settings, load_settings

Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", metavar="NAME", help="Whose memory; else the setting of that name.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")]
When = Annotated[str | None, typer.Option(metavar="TIME", help="ISO 8601; without an offset in the namespace's zone.")]

out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def fail(message: str) -> NoReturn:
    err.print(f"taishi: {message}")
    raise typer.Exit(1)


@contextmanager
def failing_clearly(*, as_json: bool = False) -> Iterator[None]:
    """Turns what a call, a setting or a file may raise into a message and exit code 1; with --json into JSON
    as well."""
    try:
        yield
    except CallFailed as e:
        if as_json:
            print_json(e.problem)
        fail(str(e))
    except TaishiError as e:
        if as_json:
            print_json({"title": e.slug.replace("-", " ").capitalize(), "detail": e.message})
        hint = ": `taishi doctor` shows what is running" if isinstance(e, Unavailable) else ""
        fail(f"{e.message}{hint}")
    except BrokenPipeError:
        raise
    except OSError as e:
        said = f"{e.filename}: {e.strerror}" if e.filename else str(e)
        if as_json:
            print_json({"title": "File", "detail": said})
        fail(said)


class Session:
    """An open connection and the namespace to speak of."""

    def __init__(self, *, settings: Settings, client: Client, namespace: str) -> None:
        self.settings = settings
        self.client = client
        self.namespace = namespace


@contextmanager
def session(namespace: str | None = None, *, as_json: bool = False) -> Iterator[Session]:
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        with Client(settings) as client:
            named = settings.namespace if namespace is None else namespace
            yield Session(settings=settings, client=client, namespace=named)


def progress_bar(*columns: ProgressColumn, hidden: bool = False) -> Progress:
    """What long work shows on a terminal's standard error while it lasts: how much of how much, and the time left, or
    what `columns` say."""
    usual = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*(columns or usual), console=err, transient=True, disable=hidden or not err.is_terminal)


def print_json(reply: Any) -> None:
    sys.stdout.write(orjson.dumps(reply, option=orjson.OPT_INDENT_2).decode() + "\n")


def show(reply: dict[str, Any], as_json: bool, render: Callable[[dict[str, Any]], None]) -> None:
    if as_json:
        print_json(reply)
    else:
        render(reply)


def words_of(text: str) -> str:
    """The argument itself, or standard input where it is `-`: words that are not to stand in a shell's history."""
    return sys.stdin.read().strip() if text == "-" else text


def pairs_of(given: list[str] | None, option: str) -> dict[str, str] | None:
    """`name=value` arguments."""
    if not given:
        return None
    pairs = [one.partition("=") for one in given]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise typer.BadParameter("give name=value", param_hint=option)
    return {name: value for name, _, value in pairs}
