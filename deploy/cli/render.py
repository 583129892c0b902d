"""Memories as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size

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


def item_lines(item: Mapping[str, Any], *, why: bool = False) -> Iterator[str]:
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
    if item.get("slot"):
        yield f"   slot {item['slot']}"
    if why and item.get("why"):
        yield "   why: " + flat(item["why"])


def flat(value: Any) -> str:
    """A nested reply on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {flat(one)}" for name, one in value.items() if one not in (None, {}, []))
    if isinstance(value, list):
        return "; ".join(map(flat, value))
    return str(value)


def print_items(items: Sequence[Mapping[str, Any]], *, why: bool = False) -> None:
    if not items:
        out.print("nothing")
    for number, item in enumerate(items, 1):
        first, *rest = item_lines(item, why=why)
        out.print(f"{number}. {first}")
        for line in rest:
            out.print(line)


def rectangles(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What was believed: true from when to when, known from when to when."""
    table = [("predicate", "value", "true", "known", "status", "id")]
    for row in rows:
        true, known = (span(row[f"{axis}_from"], row[f"{axis}_to"]) for axis in ("valid", "known"))
        value = row["value"] or "(forgotten)"
        said = f"not {value}" if row.get("polarity") == "negative" else value
        table.append((row["predicate"] or "", said, true, known, row["status"], row["id"]))
    yield from aligned(table)


def aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of as many cells each, one under the other; a line is as long as it needs to be."""
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        yield "  ".join(set_cell_size(cell, width) for cell, width in zip(cells, widths, strict=True)).rstrip()
