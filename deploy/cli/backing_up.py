"""`backup` and `restore`: a copy of everything, while it runs; and everything from a copy, less what was forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..amounts import amount
from ..settings import load_settings
from .session import AsJson, failing_clearly, out, print_json, progress_bar

Keys = Annotated[
    Path | None,
    typer.Option("--keys", metavar="DIR", help="Where copies of the key store lie; else DIR-keys, beside the backup."),
]
_HOME = "The empty folder to restore into; else TAISHI_HOME."
_LEDGER = "The newest ledger of what was forgotten: keys/ledger.jsonl of the home that was lost."
_THROUGH = "Only up to this part of the backup."
_WITHOUT = "What was forgotten after the backup may come back: there is no newer ledger."


def backup(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder; what it holds already is added to.")],
    keys: Keys = None,
    keep_keys: Annotated[int | None, typer.Option(min=1, max=100, help="Copies of the key store that stay.")] = None,
    as_json: AsJson = False,
) -> None:
    """Copies log, keys and read models while everything runs. Again into the same folder: what came since."""
    from ..backup.making import make_backup

    with failing_clearly(as_json=as_json):
        settings = load_settings()
        with _progress(as_json) as tell:
            made = make_backup(settings, folder.absolute(), keys_folder=keys, keep_keys=keep_keys, tell=tell)
        if as_json:
            print_json(asdict(made))
            return
        out.print(f"part {made.part}: {amount(made.entries, 'new entry', 'new entries')}; key store copy {made.keys}")
        if not made.models:
            out.print("read models were not copied (they have not caught up): restoring will build them from the log")


def restore(
    folder: Annotated[Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="What backup wrote.")],
    keys: Keys = None,
    ledger: Annotated[Path | None, typer.Option(metavar="FILE", help=_LEDGER)] = None,
    home: Annotated[Path | None, typer.Option(metavar="FOLDER", help=_HOME)] = None,
    through: Annotated[int | None, typer.Option(min=1, metavar="PART", help=_THROUGH)] = None,
    without_newer_ledger: Annotated[bool, typer.Option("--without-newer-ledger", help=_WITHOUT)] = False,
    as_json: AsJson = False,
) -> None:
    """Restores into an empty place. What was forgotten stays forgotten. One that was cut short is started again."""
    from ..backup.restore import restore as restored_from

    with failing_clearly(as_json=as_json):
        settings = load_settings(home=home)
        with _progress(as_json) as tell:
            found = restored_from(
                settings, folder.absolute(), keys_folder=keys, ledger=ledger, through=through,
                without_newer_ledger=without_newer_ledger, tell=tell,
            )  # fmt: skip
        if as_json:
            print_json(asdict(found))
            return
        out.print(
            f"restored {amount(found.entries, 'entry', 'entries')} up to part {found.part} into {settings.home}"
            + (f" ({found.resumed:,} of them there already)" if found.resumed else "")
        )
        out.print(
            f"{amount(found.tombstones, 'tombstone')} said again, {amount(found.keys_destroyed, 'key')} destroyed;"
            " read models "
            + ("from the backup" if found.models else "will be built from the log at the start")
        )


@contextmanager
def _progress(as_json: bool) -> Iterator[Callable[[str, int, int], None]]:
    with progress_bar(hidden=as_json) as progress:
        task = progress.add_task("", total=None)

        def tell(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total)

        yield tell
