"""`archive`: sealing what is old into segment files, and listing them. Works on this home folder itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.instants import render
from taishi.ingest.segments import SegmentDamaged, SegmentName

from ..amounts import amount
from ..archiving import sealing
from ..backup.log_server import reached_server
from ..event_log import opened_log
from ..settings import load_settings
from .render import aligned
from .session import AsJson, failing_clearly, out, print_json, progress_bar

archive: Final = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Old entries of the log, in segment files.", rich_markup_mode=None
)


@archive.callback()
def _archive() -> None:
    """Old entries of the log, in segment files."""


@archive.command("seal")
def seal(
    keep: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Entries of each partition that stay in the server.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Seals all but the newest entries of each partition into segment files, and takes them out of the server."""
    with failing_clearly(as_json=as_json), opened_log(settings := load_settings()) as (log, keys):
        keeping = settings.archive_keep if keep is None else keep
        before = [log.stream.bytes_held(partition) for partition in range(log.partitions)]
        total = sum(
            max(0, log.head(partition) - keeping - log.archive.last(partition)) for partition in range(log.partitions)
        )
        with progress_bar() as bar:
            task = bar.add_task("sealing", total=total)
            run = sealing(settings, log, keys, keep=keep, progress=lambda done: bar.advance(task, done.sealed))
            outcomes = run.run()
        rows: list[dict[str, Any]] = [
            {
                "partition": f"p{outcome.partition}",
                "sealed": outcome.sealed,
                "segments": [str(manifest.name) for manifest in outcome.segments],
                "trimmed": outcome.trimmed,
                "stream_bytes": {"before": was, "after": log.stream.bytes_held(outcome.partition)},
            }
            for outcome, was in zip(outcomes, before, strict=True)
        ]
    if as_json:
        print_json({"partitions": rows})
    for row in [] if as_json else rows:
        held = row["stream_bytes"]
        out.print(
            f"{row['partition']}: {row['sealed']:,} sealed in {amount(len(row['segments']), 'segment')},"
            f" {row['trimmed']:,} taken out of the server ({held['before']:,} → {held['after']:,} bytes)"
        )


@archive.command("list")
def list_segments(as_json: AsJson = False) -> None:
    """The segments, oldest first. One that was lost or altered is told as such, with exit code 1; what is in them is
    looked through by `taishi audit verify`."""
    with (
        failing_clearly(as_json=as_json),
        reached_server(load_settings()) as settings,
        opened_log(settings) as (log, _),
    ):
        rows = [row for partition in range(settings.partitions) for row in _shown_of(log, partition)]
    if as_json:
        print_json({"folder": str(settings.archive_folder), "segments": rows})
    elif not rows:
        out.print(f"nothing is sealed in {settings.archive_folder}")
    else:
        cells = ("segment", "entries", "bytes", "from", "to", "damage")
        for line in aligned([(*cells[:-1], ""), *([str(row.get(cell, "")) for cell in cells] for row in rows)]):
            out.print(line)
    if any("damage" in row for row in rows):
        raise typer.Exit(1)


def _shown_of(log: ArchivedLog, partition: int) -> Iterator[dict[str, Any]]:
    """The segments, and in their place what neither they nor the server hold of the entries that there were."""
    reached = 0
    for name in log.archive.segments(partition):
        if name.first > reached + 1:
            yield _lost(partition, reached + 1, name.first - 1)
        yield _shown(log.archive, name)
        reached = max(reached, name.last)
    tail = log.stream.first(partition)
    begins = log.head(partition) + 1 if tail is None else tail
    if begins > reached + 1:
        yield _lost(partition, reached + 1, begins - 1)


def _lost(partition: int, first: int, last: int) -> dict[str, Any]:
    name = SegmentName(partition=partition, first=first, last=last)
    return {"segment": str(name), "damage": "a segment with these entries was lost"}


def _shown(archive: Archive, name: SegmentName) -> dict[str, Any]:
    try:
        manifest = archive.segment(name).manifest
    except SegmentDamaged as e:
        return {"segment": str(name), "damage": e.message}
    return {
        "segment": str(name),
        "entries": manifest.last - manifest.first + 1,
        "bytes": manifest.file_bytes,
        "from": render(manifest.appended_from),
        "to": render(manifest.appended_to),
        "chain_after": manifest.chain_after,
        "sha256": manifest.sha256,
    }
