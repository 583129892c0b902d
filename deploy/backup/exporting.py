"""Exporting a namespace from the log of this home, while it is written to: up to its head as it was at the start."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from taishi.ingest.envelope import Event, Position
from taishi.ingest.errors import NotFound
from taishi.ingest.log import EventLog

from ..event_log import opened_log
from ..generations import Generations
from ..settings import Settings
from .export_file import written
from .export_lines import Checked, ExportIndex, header_line
from .log_server import reached_server
from .marker import refuse_unfinished

_READ: Final = 1_000


def export(
    settings: Settings, namespace: str, target: Path, *, passphrase: str | None, tell: Callable[[str, int, int], None]
) -> dict[str, int]:
    """How many events went along, how many were left out. Raises NotFound where the namespace has none."""
    refuse_unfinished(settings.home)
    with reached_server(settings) as reached, opened_log(reached) as (log, _):
        return _exported(log, namespace, target, passphrase, _live_extraction(settings), tell)


def _live_extraction(settings: Settings) -> int:
    try:
        return Generations(settings.home).read().live.extraction
    except NotFound:
        return 1


def _exported(
    log: EventLog,
    namespace: str,
    target: Path,
    passphrase: str | None,
    extraction: int,
    tell: Callable[[str, int, int], None],
) -> dict[str, int]:
    head = log.namespace_head(namespace).position
    if not head.seq:
        raise NotFound(f"nothing was ever written to the namespace {namespace}")
    index = ExportIndex(extraction)
    for event in _events(log, namespace, head, lambda seq: tell("reading", seq, 2 * head.seq)):
        index.see(event)

    def body_at(seq: int) -> Mapping[str, Any] | None:
        return log.fetch(Position(head.partition, seq)).body

    checked, left_out, now = Checked(), 0, time.time_ns() // 1_000
    with written(target, passphrase) as write:

        def put(line: Mapping[str, Any]) -> None:
            content = orjson.dumps(line) + b"\n"
            checked.event(content)
            write(content)

        header = header_line(namespace=namespace, exported_at=now, position=head)
        checked.header(header)
        write(header)
        for event in _events(log, namespace, head, lambda seq: tell("writing", head.seq + seq, 2 * head.seq)):
            line = index.line(event, body_at)
            if line is None:
                left_out += 1
            else:
                put(line)
        for line in index.last_lines(namespace=namespace, exported_at=now):
            put(line)
        write(checked.end_line())
    return {"events": checked.events, "left_out": left_out}


def _events(log: EventLog, namespace: str, head: Position, tell: Callable[[int], None]) -> Iterator[Event]:
    after = 0
    while after < head.seq:
        batch = log.read(head.partition, after=after, limit=min(_READ, head.seq - after))
        yield from (event for event in batch if event.namespace == namespace)
        after = batch[-1].position.seq
        tell(after)
