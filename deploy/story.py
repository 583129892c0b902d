"""The story `taishi up` tells: the same question at two times of the world and two times of knowing.

Two messages are brought in as history; Taishi reads them by itself, and four questions are asked of what it made of
them. Nothing is prepared: every answer comes from the running parts, over HTTP, as for any other caller.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from .client import CallFailed, Client
from .settings import Settings

_SECONDS: Final = 30.0
_QUESTION: Final = "Where does the user work?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`true` and `known` name the two times as a person says them; None as an instant: now."""

    true: str
    known: str
    valid_at: str | None
    known_at: str | None


def tell_story(settings: Settings) -> None:
    """Raises SystemExit(1) where the story cannot be told to its end."""
    console = Console(highlight=False, markup=False, width=100)
    now = datetime.now(UTC)
    year = now.year if now > datetime(now.year, 8, 2, tzinfo=UTC) else now.year - 1
    namespace = f"story-{now:%Y%m%d-%H%M%S}"
    with Client(settings) as client:
        try:
            _tell(console, client, namespace, year)
        except CallFailed as e:
            console.print(f"the story broke off: {e}")
            raise SystemExit(1) from None
        _what_next(console, settings, namespace)


def _tell(console: Console, client: Client, namespace: str, year: int) -> None:
    said = [
        (f"{year}-03-01T09:00:00Z", "1 March", "I work in Hangzhou."),
        (f"{year}-08-01T09:00:00Z", "1 August", "I actually moved to Beijing in May."),
    ]
    console.print(f"\nA story, in the namespace {namespace}. Somebody says, in {year}:")
    events = [
        {"namespace": namespace, "session": "chat", "content": text, "recorded_at": at, "occurred_at": at}
        for at, _, text in said
    ]
    for _, day, text in said:
        console.print(f"   {day:<9} “{text}”")
    accepted = client.write.call("POST", "/v1/import", {"events": events})["accepted"]
    _settle(client, namespace)
    console.print(f"Asked now: {_QUESTION}\n")
    questions = [
        Question(true="April", known="now", valid_at=f"{year}-04-15T00:00:00Z", known_at=None),
        Question(true="June", known="June", valid_at=f"{year}-06-15T00:00:00Z", known_at=f"{year}-06-15T00:00:00Z"),
        Question(true="June", known="now", valid_at=f"{year}-06-15T00:00:00Z", known_at=None),
        Question(true="now", known="now", valid_at=None, known_at=None),
    ]
    table = Table("true in", "as known in", "answer", "from the words", box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for question in questions:
        body = {
            "namespace": namespace,
            "query": _QUESTION,
            "valid_at": question.valid_at,
            "known_at": question.known_at,
            "kinds": ["claim"],
            "limit": 1,
            "min_position": accepted[-1]["position"],
        }
        items = client.read.call("POST", "/v1/recall", body)["items"]
        table.add_row(question.true, question.known, *_answer(items))
    console.print(Padding(table, (0, 0, 0, 3)))
    console.print("\nNothing was overwritten: what was believed in June can still be asked for, and so can why.")


def _answer(items: list[dict[str, Any]]) -> tuple[str, str]:
    if not items:
        return "nothing", ""
    words = [piece.get("quote") or piece.get("text") for piece in items[0]["evidence"]]
    return str(items[0]["value"]), " / ".join(f"“{quote}”" for quote in words if quote)


def _settle(client: Client, namespace: str) -> None:
    """Waits until all that was said is read and extracted."""
    end = time.monotonic() + _SECONDS
    while True:
        status = client.read.call("GET", "/v1/status", query={"namespace": namespace})
        if not status["lag"] and not status["pending_extractions"]:
            return
        if time.monotonic() > end:
            raise CallFailed({"detail": f"the messages were not read within {_SECONDS:g} s"})
        time.sleep(0.05)


def _what_next(console: Console, settings: Settings, namespace: str) -> None:
    other = "" if settings.source_of("home") == "default" else f"TAISHI_HOME={settings.home} "
    command = f"{other}.venv/bin/taishi"
    console.print(
        f"""
Now you, in another terminal:
   {command} timeline -n {namespace}
   {command} tell "I'm allergic to peanuts, and I love hiking"
   {command} recall "What must I not eat?"
   {command} --help
   write side {settings.write_base}/openapi.json, read side {settings.read_base}/openapi.json

Ctrl-C stops everything; what was recorded stays in {settings.home}."""
    )
