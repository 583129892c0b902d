"""Memories as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from .session import out


def moment(text: str | None) -> str:
    """A day where the time of day says nothing, else minutes."""
    if text is None:
        return ""
    day, _, clock = text.partition("T")
    return day if clock.startswith("00:00:00") else f"{day} {clock[:5]}"


def span(start: str | None, end: str | None) -> str:
    """A half-open interval; an open end is left blank."""
    return f"{moment(start)} → {moment(end)}".strip()


def item_lines(item: Mapping[str, Any]) -> Iterator[str]:
    yield str(item.get("text") or f"({item.get('status')})")
    facts = [str(item["status"])] if item.get("status") else []
    if item.get("valid_from") or item.get("valid_to"):
        facts.append("true " + span(item.get("valid_from"), item.get("valid_to")))
    if item.get("known_from"):
        facts.append("known " + span(item.get("known_from"), item.get("known_to")))
    yield "   " + " · ".join(facts)
    for piece in item.get("evidence") or ():
        said = piece.get("quote") or piece.get("text")
        if said and said != item.get("text"):
            yield f"   said: {said}"
    yield f"   id {item.get('id')}"
    why = item.get("why")
    if isinstance(why, Mapping):
        yield "   why: " + ", ".join(f"{name} {value}" for name, value in why.items() if value is not None)


def print_items(items: Sequence[Mapping[str, Any]]) -> None:
    if not items:
        out.print("nothing")
    for number, item in enumerate(items, 1):
        first, *rest = item_lines(item)
        out.print(f"{number}. {first}")
        for line in rest:
            out.print(line)


def rectangles(rows: Sequence[Mapping[str, Any]]) -> Table:
    """What was believed: true from when to when, known from when to when."""
    table = Table("predicate", "value", "true", "known", "status", "id", box=None, pad_edge=False)
    for row in rows:
        true, known = (span(row[f"{axis}_from"], row[f"{axis}_to"]) for axis in ("valid", "known"))
        value = row["value"] or "(forgotten)"
        said = f"not {value}" if row.get("polarity") == "negative" else value
        table.add_row(row["predicate"] or "", said, true, known, row["status"], row["id"])
    return table
