"""`audit`: the event history of a namespace, and whether the log is what it was."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from taishi.ingest.anchors import anchor, anchored
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.errors import InvalidInput
from taishi.ingest.signatures import Signer, Verifier
from taishi.ingest.verification import Remembered, Verdict

from ..amounts import amount
from ..auditing import verify
from ..backup.log_server import reached_server
from ..event_log import opened_log
from ..generations import FIRST
from ..settings import Settings, load_settings
from .render import moment
from .session import AsJson, Namespace, failing_clearly, out, print_json, progress_bar, session

audit: Final = typer.Typer(add_completion=False, help="What was recorded, and proof of it.", rich_markup_mode=None)
_PAGE: Final = 200
Output = Annotated[Path | None, typer.Option("--export", metavar="FILE", help="Write it there.")]


@audit.callback(invoke_without_command=True)
def events(
    context: typer.Context,
    namespace: Namespace = None,
    event_type: Annotated[str | None, typer.Option("--type", metavar="TYPE")] = None,
    actor: Annotated[str | None, typer.Option(metavar="ID")] = None,
    session_id: Annotated[str | None, typer.Option("--session", metavar="ID")] = None,
    origin: Annotated[str | None, typer.Option(metavar="ORIGIN", help="user_direct, tool, external, …")] = None,
    since: Annotated[str | None, typer.Option("--from", metavar="TIME", help="Recorded at or after.")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Recorded before.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Events of a page.")] = 50,
    cursor: Annotated[str | None, typer.Option(metavar="CURSOR", help="Where the last page ended.")] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write all to a file, one JSON object a line.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Shows the event history of a namespace, oldest first. Erased words are shown as erased."""
    if context.invoked_subcommand is not None:
        return
    with session(namespace, as_json=as_json) as here:
        query = {
            "namespace": here.namespace, "type": event_type, "actor": actor, "session": session_id, "origin": origin,
            "from": since, "to": until, "limit": min(limit, _PAGE), "cursor": cursor,
        }  # fmt: skip

        def pages() -> Iterator[dict[str, Any]]:
            asked = query if export is None else {**query, "limit": _PAGE}
            while True:
                page = here.client.read.call("GET", "/v1/audit/events", query=asked)
                yield page
                if page["next_cursor"] is None:
                    return
                asked = {**asked, "cursor": page["next_cursor"]}

        if export is None:
            reply = _filled(pages(), limit)
            print_json(reply) if as_json else _page(reply)
            return
        count = _write_lines(export, pages())
    if as_json:
        print_json({"exported": count, "file": str(export)})
    else:
        out.print(f"{amount(count, 'event')} in {export}")


def _filled(pages: Iterator[dict[str, Any]], limit: int) -> dict[str, Any]:
    """One page of `limit` events, where there are so many: a page of the API may be short though more follows."""
    found: list[dict[str, Any]] = []
    for page in pages:
        found += page["events"]
        if len(found) >= limit or page["next_cursor"] is None:
            return {"events": found, "next_cursor": page["next_cursor"]}
    return {"events": found, "next_cursor": None}


def _page(reply: dict[str, Any]) -> None:
    for event in reply["events"]:
        who = event["actor"]["id"] or event["actor"]["role"]
        said = "(erased)" if event["erased"] else _said(event)
        anew = (event["generation"] or FIRST) > FIRST
        read = f"{event['type']} (extraction {event['generation']})" if anew else event["type"]
        out.print(f"{event['position']}  {moment(event['recorded_at'])}  {read}  {who}  {said}".rstrip())
    if not reply["events"]:
        out.print("nothing")
    if reply["next_cursor"]:
        out.print(f"more: --cursor {reply['next_cursor']}")


def _said(event: dict[str, Any]) -> str:
    body = event["body"] or {}
    claim = " ".join(str(body[name]) for name in ("subject", "predicate", "value") if body.get(name))
    return str(body.get("text") or claim)


def _write_lines(path: Path, pages: Iterator[dict[str, Any]]) -> int:
    fresh = path.with_name(path.name + ".tmp")
    count = 0
    with fresh.open("wb") as file:
        for page in pages:
            for event in page["events"]:
                file.write(orjson.dumps(event) + b"\n")
                count += 1
    fresh.replace(path)
    return count


@audit.command("verify")
def verify_log(
    anchors: Annotated[
        list[Path] | None, typer.Option("--anchor", metavar="FILE", help="Chain heads that were exported before.")
    ] = None,
    public_key: Annotated[
        str | None, typer.Option(metavar="HEX", help="The key that the anchors are signed with; default: this home's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Walks segments and log, and names what was altered, dropped or reordered. Exit code 1 if anything was."""
    with failing_clearly(as_json=as_json), _log() as (settings, log, signer):
        verifier: Verifier = signer if public_key is None else _verifier(public_key)
        known = [
            one for path in anchors or () for one in anchored(path.read_bytes(), name=str(path), verifier=verifier)
        ]
        begun = time.monotonic()
        verdicts = _walk(settings, log, known)
        seconds = time.monotonic() - begun
    flaws = [flaw for verdict in verdicts for flaw in verdict.flaws]
    entries = sum(verdict.entries for verdict in verdicts)
    if as_json:
        rate = round(entries / seconds) if seconds else None
        print_json({
            "sound": not flaws,
            "first": flaws[0].to_json() if flaws else None,
            "entries": entries,
            "seconds": round(seconds, 3),
            "entries_per_second": rate,
            "partitions": [verdict.to_json() for verdict in verdicts],
        })  # fmt: skip
    else:
        for verdict in verdicts:
            out.print(
                f"p{verdict.partition}: {amount(verdict.entries, 'entry', 'entries')} ({verdict.sealed:,} sealed),"
                f" compared with {amount(verdict.compared, 'checkpoint')}, chain {(verdict.chain or 'broken')[:16]}"
            )
        for flaw in flaws:
            out.print(f"!! {flaw.position}: {flaw.where}: {flaw.what}")
        found = f"{amount(len(flaws), 'flaw')}, the first at {flaws[0].position}" if flaws else "the log is what it was"
        out.print(found)
    if flaws:
        raise typer.Exit(1)


@audit.command("heads")
def heads(export: Output = None, as_json: AsJson = False) -> None:
    """Verifies the log and signs where its chains stand: keep the file elsewhere, and verify with --anchor."""
    with failing_clearly(as_json=as_json), _log() as (settings, log, signer):
        document = anchor(_walk(settings, log, ()), at=time.time_ns() // 1_000, signer=signer)
        if export is not None:
            export.write_bytes(document)
    content = orjson.loads(document)
    if as_json or export is None:
        print_json(content)
    else:
        out.print(f"{amount(len(content['partitions']), 'chain head')} in {export}; public key {content['public_key']}")


def _walk(settings: Settings, log: ArchivedLog, known: list[Remembered] | tuple[Remembered, ...]) -> list[Verdict]:
    with progress_bar() as bar:
        total = sum(log.stream.head(partition) for partition in range(log.partitions))
        task = bar.add_task("verifying", total=total)
        return verify(settings, log, anchors=known, progress=lambda count: bar.advance(task, count))


def _verifier(public_key: str) -> Verifier:
    try:
        return Verifier(bytes.fromhex(public_key))
    except ValueError:
        raise InvalidInput("a public key is 64 hexadecimal digits", field="public_key") from None


@contextmanager
def _log() -> Iterator[tuple[Settings, ArchivedLog, Signer]]:
    with reached_server(load_settings()) as settings, opened_log(settings) as (log, keys):
        yield settings, log, Signer.of(keys)
