"""`up`: everything, in this terminal, until Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..settings import load_settings
from .session import AsJson, failing_clearly


def up(
    home: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where all data lives.")] = None,
    write_addr: Annotated[str | None, typer.Option(metavar="HOST:PORT")] = None,
    read_addr: Annotated[str | None, typer.Option(metavar="HOST:PORT")] = None,
    story: Annotated[bool, typer.Option("--story/--no-story", help="Tell a story when all is up.")] = True,
    once: Annotated[bool, typer.Option("--once", help="Stop after the story.")] = False,
    as_json: AsJson = False,
) -> None:
    """Starts everything and stays up."""
    from ..launch import launch

    with failing_clearly(as_json=as_json):
        settings = load_settings(home=home, write_addr=write_addr, read_addr=read_addr)
        code = launch(settings, story=story, once=once, as_json=as_json)
    raise typer.Exit(code)
