"""`import`: history from JSON lines, in order, in batches of one namespace.

A line is an event as `POST /v1/import` takes it, or a line of a conversation: `id`, `namespace`, `session`, `speaker`,
`text`, `time`; one without words is passed over. An event without an `event_id` gets one that follows from its
namespace and `id` (else from the file's name and the line's number), so that an import that was broken off is started
again and goes on where it was: what is in the log already comes back as a duplicate.

What `taishi export` wrote is known by its first line and is replayed as a whole (see `portability`).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Annotated, Any, Final, cast

import orjson
import typer

from taishi.ingest.ids import derived_id

from ..amounts import amount
from ..backup.export_file import is_export
from ..client import CallFailed, Side
from .posting import posted
from .session import AsJson, Namespace, fail, out, print_json, progress_bar, session

BATCH_EVENTS: Final = 200
BATCH_BYTES: Final = 500_000
_PASSPHRASE = "The passphrase of an encrypted export; else it is asked for."
_CONVERSATION: Final = frozenset({"id", "namespace", "session", "seq", "speaker", "text", "time"})


def import_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", exists=True, dir_okay=False, help="JSON lines, .gz.")],
    namespace: Namespace = None,
    passphrase_file: Annotated[Path | None, typer.Option(metavar="FILE", exists=True, help=_PASSPHRASE)] = None,
    as_json: AsJson = False,
) -> None:
    """Brings in history, or what `taishi export` wrote. Can be broken off and started again."""
    with session(namespace, as_json=as_json) as here:
        told = {"imported": 0, "duplicates": 0}
        for path in filter(is_export, files):
            from .portability import import_export

            some = import_export(
                here.client, path, namespace=namespace, passphrase_file=passphrase_file, as_json=as_json
            )
            told = {name: told[name] + count for name, count in some.items()}
        files, silent = [path for path in files if not is_export(path)], 0
        total = sum(_count_lines(path) for path in files)
        with progress_bar() as progress:
            task = progress.add_task("importing", total=total)
            sender = Sender(here.client.write, lambda count: progress.advance(task, count))
            for line in chain.from_iterable(map(read_lines, files)):
                if line.is_silent:
                    silent += 1
                    progress.advance(task)
                else:
                    sender.add(line.place, as_event(line, namespace=namespace, default=here.settings.namespace))
            sender.finish()
        told = {"imported": told["imported"] + sender.imported, "duplicates": told["duplicates"] + sender.duplicates}
        if as_json:
            print_json({**told, "silent": silent})
            return
        out.print(f"imported {amount(told['imported'], 'event')} ({told['duplicates']:,} were there already)")
        if silent:
            out.print(f"{amount(silent, 'line')} without words left out")


@dataclass(frozen=True, slots=True)
class Line:
    """A JSON object, and the file and line it stands in."""

    path: Path
    number: int
    row: Mapping[str, Any]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.number}"

    @property
    def is_conversation(self) -> bool:
        return {"text", "id"} <= self.row.keys() <= _CONVERSATION

    @property
    def is_silent(self) -> bool:
        """Of a conversation, but without words: a picture, a call."""
        return self.is_conversation and not str(self.row["text"] or "").strip()


@dataclass(slots=True)
class _Batch:
    route: str
    events: list[dict[str, Any]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    size: int = 0


class Sender:
    """Gathers events into batches of one namespace, each namespace in its own order, and posts them."""

    def __init__(self, side: Side, done: Callable[[int], None]) -> None:
        self.imported = 0
        self.duplicates = 0
        self._side = side
        self._done = done
        self._batches: dict[str, _Batch] = {}

    def add(self, place: str, event: dict[str, Any]) -> None:
        """Raises CallFailed that names file and line."""
        # Events with a recorded time of their own are history; the others are recorded now.
        route = "/v1/import" if "recorded_at" in event else "/v1/events"
        namespace = event["namespace"]
        size = len(orjson.dumps(event))
        batch = self._batches.get(namespace)
        if batch is not None and (batch.route != route or batch.size + size > BATCH_BYTES):
            self._send(namespace)
        batch = self._batches.setdefault(namespace, _Batch(route))
        batch.events.append(event)
        batch.places.append(place)
        batch.size += size
        if len(batch.events) >= BATCH_EVENTS:
            self._send(namespace)

    def finish(self) -> None:
        for namespace in list(self._batches):
            self._send(namespace)

    def _send(self, namespace: str) -> None:
        batch = self._batches.pop(namespace)
        try:
            accepted = posted(self._side, batch.route, {"events": batch.events})
        except CallFailed as e:
            raise CallFailed({**e.problem, "detail": f"{_blamed(e, batch)}: {e}", "field": None}) from None
        self.duplicates += sum(1 for one in accepted if one["duplicate"])
        self.imported += sum(1 for one in accepted if not one["duplicate"])
        self._done(len(batch.events))


def _blamed(error: CallFailed, batch: _Batch) -> str:
    """The line that a refusal speaks of, else the lines of the batch."""
    parts = str(error.problem.get("field")).split(".")
    if len(parts) > 1 and parts[0] == "events" and parts[1].isdigit() and int(parts[1]) < len(batch.places):
        return batch.places[int(parts[1])]
    return f"{batch.places[0]} to {batch.places[-1]}"


def read_lines(path: Path) -> Iterator[Line]:
    with _open(path) as lines:
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            try:
                row = orjson.loads(text)
            except orjson.JSONDecodeError:
                row = None
            if not isinstance(row, dict):
                fail(f"{path}:{number} is not a JSON object")
            yield Line(path, number, row)


def as_event(line: Line, *, namespace: str | None, default: str) -> dict[str, Any]:
    """The event as the write side takes it. `namespace` is for all lines, `default` for those that name none."""
    row = line.row
    event = _from_conversation(row) if line.is_conversation else dict(row)
    event["namespace"] = namespace or event.get("namespace") or default
    own = event.pop("id", None)
    if "event_id" not in event:
        name = f"{line.path.name}:{line.number}" if own is None else str(own)
        event["event_id"] = derived_id("import", str(event["namespace"]), name)
    return event


def _from_conversation(row: Mapping[str, Any]) -> dict[str, Any]:
    event = {"id": row["id"], "content": row["text"], "namespace": row.get("namespace"), "session": row.get("session")}
    if row.get("speaker"):
        event["actor"] = _actor(str(row["speaker"]))
    event["occurred_at"] = row.get("time")
    return {k: v for k, v in event.items() if v is not None}


def _actor(speaker: str) -> dict[str, str]:
    role = speaker.lower()
    return {"role": role} if role in ("user", "assistant", "tool", "system") else {"name": speaker}


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _count_lines(path: Path) -> int:
    with _open(path) as lines:
        return sum(1 for line in lines if line.strip())
