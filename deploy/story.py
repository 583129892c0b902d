"""The story `taishi up` tells: the same question at two times of the world and two times of knowing.

Two messages are brought in as history; Taishi reads them by itself, and four questions are asked of what it made of
them. Nothing is prepared: every answer comes from the running parts, over HTTP, as for any other caller.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import orjson
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from .client import CallFailed, Client
from .settings import Settings

_SECONDS: Final = 30.0
_QUESTION: Final = "Where does the user work?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was asked (`true` and `known` name the two times as a person says them) and what came back."""

    true: str
    known: str
    value: str
    words: tuple[str, ...]


def tell_story(settings: Settings, *, as_json: bool = False) -> None:
    """Raises SystemExit(1) where the story cannot be told to its end."""
    console = Console(highlight=False, markup=False, width=100)
    now = datetime.now(UTC)
    year = now.year if now > datetime(now.year, 8, 2, tzinfo=UTC) else now.year - 1
    namespace = f"story-{now:%Y%m%d-%H%M%S}"
    said = [
        (f"{year}-03-01T09:00:00Z", "1 March", "I work in Hangzhou."),
        (f"{year}-08-01T09:00:00Z", "1 August", "I actually moved to Beijing in May."),
    ]
    if not as_json:
        console.print(f"\nA story, in the namespace {namespace}. Somebody says, in {year}:")
        for _, day, text in said:
            console.print(f"   {day:<9} “{text}”")
    try:
        with Client(settings) as client:
            answers = _ask(client, namespace, year, _say(client, namespace, [(at, text) for at, _, text in said]))
    except CallFailed as e:
        console.print(f"the story broke off: {e}")
        raise SystemExit(1) from None
    if as_json:
        told = {"event": "story", "namespace": namespace, "answers": [asdict(answer) for answer in answers]}
        console.out(orjson.dumps(told).decode())
    else:
        _show(console, answers)
        _what_next(console, settings, namespace)


def _say(client: Client, namespace: str, said: list[tuple[str, str]]) -> str:
    """Records the messages and waits until they are read. The position of the last one."""
    events = [
        {"namespace": namespace, "session": "chat", "content": text, "recorded_at": at, "occurred_at": at}
        for at, text in said
    ]
    accepted = client.write.call("POST", "/v1/import", {"events": events})["accepted"]
    _settle(client, namespace)
    return str(accepted[-1]["position"])


def _ask(client: Client, namespace: str, year: int, position: str) -> list[Answer]:
    april, june = f"{year}-04-15T00:00:00Z", f"{year}-06-15T00:00:00Z"
    answers = []
    for true, valid_at, known, known_at in (
        ("April", april, "now", None),
        ("June", june, "June", june),
        ("June", june, "now", None),
        ("now", None, "now", None),
    ):
        body = {
            "namespace": namespace,
            "query": _QUESTION,
            "valid_at": valid_at,
            "known_at": known_at,
            "kinds": ["claim"],
            "limit": 1,
            "min_position": position,
        }
        items = client.read.call("POST", "/v1/recall", body)["items"]
        value = str(items[0]["value"]) if items else "nothing"
        words = tuple(str(piece.get("quote", "")) for item in items for piece in item["evidence"])
        answers.append(Answer(true=true, known=known, value=value, words=words))
    return answers


def _show(console: Console, answers: list[Answer]) -> None:
    console.print(f"Asked now: {_QUESTION}\n")
    table = Table("true in", "as known in", "answer", "from the words", box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for answer in answers:
        quotes = " / ".join(f"“{word}”" for word in answer.words)
        table.add_row(answer.true, answer.known, answer.value, quotes)
    console.print(Padding(table, (0, 0, 0, 3)))
    console.print("\nNothing was overwritten: what was believed in June can still be asked for, and so can why.")


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
    elsewhere = ("default", str(settings.home / "taishi.toml"))
    named = [name for name in ("home", "write_addr", "read_addr") if settings.source_of(name) not in elsewhere]
    exported = " ".join(f"TAISHI_{name.upper()}={getattr(settings, name)}" for name in named)
    program = Path(sys.prefix) / "bin" / "taishi"
    taishi = program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program
    lines = [
        "",
        "Now you, in another terminal:",
        *([f"   export {exported}"] if exported else []),
        f"   {taishi} timeline -n {namespace}",
        f"""   {taishi} tell "I'm allergic to peanuts, and I love hiking\"""",
        f"""   {taishi} recall "What am I allergic to?\"""",
        f"   {taishi} --help",
        f"   write side {settings.write_base}/openapi.json, read side {settings.read_base}/openapi.json",
        "",
        f"Ctrl-C stops everything; what was recorded stays in {settings.home}.",
    ]
    for line in lines:
        console.print(line, soft_wrap=True)
