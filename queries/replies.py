"""An answer as callers get it: the lines of its context, its body, and how it came about where that is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from taishi.ingest.envelope import Position
from taishi.ingest.instants import BEGINNING, FOREVER, render

from .answerability import Signals
from .channels import Found
from .diversity import Cluster, clusters
from .fence import Fence
from .folding import Ranked
from .packet import Line, Packet
from .pointing import Pointed
from .understand import Question


def lines_of(chosen: list[Ranked], items: list[dict[str, Any]]) -> list[Line]:
    """One line a memory; of more than anyone reads, one for those that say much the same."""
    lines = [
        Line(
            text=item["text"] or "",
            status=entry.status,
            holds=entry.holds,
            valid_from=BEGINNING if entry.verdict is None else entry.verdict.valid_from,
            valid_to=FOREVER if entry.verdict is None else entry.verdict.valid_to,
            said_at=None if entry.event is None else entry.event.said_at,
            marks=tuple(e["position"] for e in item["evidence"]),
        )
        for entry, item in zip(chosen, items, strict=True)
    ]
    return [_standing_for(lines, cluster) for cluster in clusters([line.text for line in lines])]


def _standing_for(lines: Sequence[Line], cluster: Cluster) -> Line:
    first = lines[cluster.first]
    if not cluster.others:
        return first
    marks = [mark for n in (cluster.first, *cluster.others) for mark in lines[n].marks[:1]]
    return replace(first, text=f"{first.text} (+{len(cluster.others)})", marks=tuple(marks))


def reply_of(
    verdict: str, items: list[dict[str, Any]], packet: Packet, as_of: Mapping[str, Any], degraded: list[str]
) -> dict[str, Any]:
    return {
        "answerability": verdict,
        "items": items,
        "context": {"text": packet.text, "tokens": packet.tokens, "truncated": packet.truncated},
        "as_of": as_of,
        "degraded": degraded,
    }


def account_of(
    question: Question, found: Found, fenced: Fence, strength: float, signals: Signals
) -> dict[str, Any]:
    span = question.span
    return {
        "intent": question.intent,
        "why": question.why,
        "subject": question.subject,
        "predicates": sorted(question.asks),
        "time": None if span is None else {"from": render(span[0]), "to": render(span[1])},
        "names": list(fenced.names),
        "words": {"/".join(words): round(found.lexical.weight[g], 3) for g, words in found.lexical.words.items()},
        "candidates": {"lexical": len(found.lexical.matches), "dense": len(found.dense), "slots": len(found.slots)},
        "strength": round(strength, 4),
        "signals": {
            name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(signals).items()
        },
    }


def with_pointed(reply: dict[str, Any], pointed: Pointed, partition: int) -> dict[str, Any]:
    """The reply that says what was taken for what."""
    told = {
        "words": pointed.words,
        "stands_for": pointed.name,
        "position": str(Position(partition, pointed.event)),
    }
    for item in reply["items"]:
        item["why"]["pointing"] = told
    if "explain" in reply:
        reply["explain"]["pointing"] = told
    return reply
