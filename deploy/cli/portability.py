"""`export`: a namespace into a file; and the import of such a file, which `import` hands over."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from taishi.ingest.errors import BackupDamaged, InvalidInput

from ..amounts import amount
from ..backup.export_file import is_sealed, lines_of
from ..backup.export_lines import Checked
from ..backup.exporting import export as exported
from ..client import Client
from ..settings import load_settings
from .posting import posted
from .session import AsJson, Namespace, failing_clearly, out, print_json, progress_bar

BATCH_EVENTS: Final = 500
BATCH_BYTES: Final = 500_000
_ENCRYPT = "Encrypt it under a passphrase, which is asked for."
_FROM_FILE = "Take the passphrase from this file instead."


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False, help="Is replaced if it is there.")],
    namespace: Namespace = None,
    encrypt: Annotated[bool, typer.Option("--encrypt", help=_ENCRYPT)] = False,
    passphrase_file: Annotated[Path | None, typer.Option(metavar="FILE", exists=True, help=_FROM_FILE)] = None,
    as_json: AsJson = False,
) -> None:
    """All of a namespace as JSON lines: words, claims, evidence, chains, both times. No word that was forgotten."""
    with failing_clearly(as_json=as_json):
        settings = load_settings()
        passphrase = _passphrase(passphrase_file, ask=encrypt, confirm=True)
        with progress_bar(hidden=as_json) as progress:
            task = progress.add_task("", total=None)
            told = exported(
                settings,
                settings.namespace if namespace is None else namespace,
                file,
                passphrase=passphrase,
                tell=lambda what, done, total: progress.update(task, description=what, completed=done, total=total),
            )
    if as_json:
        print_json({**told, "file": str(file), "encrypted": passphrase is not None})
    else:
        out.print(f"exported {amount(told['events'], 'event')} to {file}")


def import_export(
    client: Client, file: Path, *, namespace: str | None, passphrase_file: Path | None, as_json: bool
) -> dict[str, int]:
    """Replays an export into its namespace, or another one. Can be broken off and started again.

    Raises BackupDamaged where the file is not whole, CallFailed.
    """
    passphrase = _passphrase(passphrase_file, ask=is_sealed(file), confirm=False)
    total = _verified(file, passphrase)
    lines = lines_of(file, passphrase)
    header = Checked().header(next(lines))
    into = str(header["namespace"]) if namespace is None else namespace
    told = {"imported": 0, "duplicates": 0}
    with progress_bar(hidden=as_json) as progress:
        task = progress.add_task(f"importing {into}", total=total)
        for batch in _batches(lines):
            accepted = posted(client.write, "/v1/import/log", {"namespace": into, "events": batch})
            told["duplicates"] += sum(1 for one in accepted if one["duplicate"])
            told["imported"] += sum(1 for one in accepted if not one["duplicate"])
            progress.advance(task, len(batch))
    return told


def _verified(file: Path, passphrase: str | None) -> int:
    """How many events there are, before any of them is sent. Raises BackupDamaged where the file was cut short."""
    checked, ended = Checked(), False
    for number, line in enumerate(lines_of(file, passphrase)):
        if number == 0:
            checked.header(line)
        elif not (ended := checked.is_end(line)):
            checked.event(line)
    if not ended:
        raise BackupDamaged(f"{file} was cut short: its last line is missing")
    return checked.events


def _batches(lines: Iterator[bytes]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for line in lines:
        if line.startswith(b'{"end":'):
            break
        if batch and (len(batch) >= BATCH_EVENTS or size + len(line) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(orjson.loads(line))
        size += len(line)
    if batch:
        yield batch


def _passphrase(file: Path | None, *, ask: bool, confirm: bool) -> str | None:
    """Raises InvalidInput where it is to be asked for and there is no terminal to ask on, or where it is empty."""
    if file is not None:
        given = file.read_text("utf-8").rstrip("\r\n")
        if not given:
            raise InvalidInput(f"the passphrase is empty: {file} begins with a blank line or holds nothing")
        return given
    if not ask:
        return None
    if not sys.stdin.isatty():
        raise InvalidInput("there is no terminal to ask for the passphrase on: give it with --passphrase-file FILE")
    return str(typer.prompt("passphrase", hide_input=True, confirmation_prompt=confirm, err=True))
