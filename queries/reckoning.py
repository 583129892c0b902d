"""How an answer came about, in numbers and ids alone: what an exposure keeps of it, and how that is told later.

An exposure stands in the log's clear headers, so that nothing of it may be words: not the question's, not a memory's,
not a name's. Memories are named by their documents (positions), channels and reasons by fixed names. What is told of
them later is read anew from the read model, so that what was forgotten since is told without a word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from taishi.ingest.envelope import Position
from taishi.ingest.errors import NotFound, TaishiError
from taishi.ingest.instants import render
from taishi.ingest.log import EventLog
from taishi.projections.rendering import spoken

from .channels import Found
from .fence import Fence
from .folding import Omission, Ranked
from .fusion import DENSE, LEXICAL
from .point import Point
from .reading import ReadModel
from .understand import Question

LEFT: Final = 20
"""Memories left out that an exposure names, those that came nearest; it counts the others."""
_RULE: Final = re.compile(r"[a-z_]*")
"""The name of a rule, without the words that it met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """Of one answer. `ranked` is what could have been shown, best first, and `shown` how many of it were."""

    question: Question
    fence: Fence
    found: Found
    point: Point
    verdict: str
    strength: float
    ranked: Sequence[Ranked]
    shown: Sequence[Ranked]
    left: Mapping[int, Omission]
    limit: int
    kinds: Sequence[str]
    filtered: bool
    degraded: Sequence[str]

    def facts(self) -> dict[str, Any]:
        """JSON-ready, about a kilobyte. Scores in thousandths."""
        channels = sorted({name for entry in self.shown for name in entry.parts})
        ranks = _ranks(self.found)
        left = self._left_out(ranks)
        return {
            "intent": self.question.intent,
            "rule": _rule(self.question.why),
            "verdict": self.verdict,
            "strength": _thousandths(self.strength),
            "at": [self.point.valid_at, self.point.known_at, self.point.position],
            "limit": self.limit,
            "kinds": list(self.kinds),
            "filters": self.filtered,
            "fence": [len(self.fence.names), len(self.fence.ambiguous)],
            "degraded": list(self.degraded),
            "found": [len(self.found.lexical.matches), len(self.found.dense), len(self.found.slots)],
            "weights": {"lexical": LEXICAL, "dense": DENSE},
            "channels": channels,
            "shown": [
                [
                    entry.doc,
                    _thousandths(entry.score),
                    [_thousandths(entry.parts.get(name, 0.0)) for name in channels],
                    [ranks[name].get(entry.doc, 0) for name in ("lexical", "dense")],
                ]
                for entry in self.shown
            ],
            "left": [[doc, o.reason, None if o.score is None else _thousandths(o.score)] for doc, o in left[:LEFT]],
            "left_total": len(left),
        }

    def _left_out(self, ranks: Mapping[str, Mapping[int, int]]) -> list[tuple[int, Omission]]:
        """What was looked at and not shown, the best ranked first, then what the channels found best."""
        there = {entry.doc for entry in self.shown}
        left = {doc: omission for doc, omission in self.left.items() if doc not in there}
        for entry in self.ranked:
            if entry.doc not in there:
                reason = "no_evidence" if self.verdict == "no_evidence" else "rank"
                if reason == "rank" and len(self.shown) < self.limit:
                    reason = "faint"
                left[entry.doc] = Omission(reason, entry.score)
        last = 1 << 30
        return sorted(
            left.items(),
            key=lambda row: (
                -(-1.0 if row[1].score is None else row[1].score),
                min(ranks[name].get(row[0], last) for name in ranks),
                -row[0],
            ),
        )


def _rule(why: str) -> str:
    matched = _RULE.match(why)
    return matched[0] if matched else ""


def _thousandths(number: float) -> int:
    return round(1_000 * number)


def _ranks(found: Found) -> dict[str, dict[int, int]]:
    """Each document's place in the channels that rank, from 1."""
    lexical = sorted(found.lexical.matches, key=lambda doc: (-found.lexical.matches[doc].score, -doc))
    dense = sorted(found.dense, key=lambda doc: (-found.dense[doc], -doc))
    return {name: {doc: n for n, doc in enumerate(docs, 1)} for name, docs in (("lexical", lexical), ("dense", dense))}


# telling it later


def told(model: ReadModel, ns: int, exposure_id: str, log: EventLog) -> dict[str, Any]:
    """The account of a recall. `exposure_id` is an item's or the whole answer's. Raises NotFound where the namespace
    has no such recall among its latest, or it was not read yet."""
    exposure = exposure_id.partition(".")[0]
    row = model.one("SELECT seq, at, items FROM exposures WHERE exposure = ? AND ns = ?", exposure, ns)
    if row is None:
        raise NotFound(
            "none of this namespace's last recalls goes by that exposure id: it is too old, not read yet, or another's",
            field="exposure_id",
        )
    seq, at, _ = row
    position = Position(model.partition, seq)
    try:
        event = log.fetch(position)
    except TaishiError as e:
        raise NotFound(f"the log does not give the recall at {position}", field="exposure_id") from e
    account: Mapping[str, Any] = event.facts.get("told") or {}
    verdicts = model.rows(_FEEDBACK, ns, exposure)
    base = {
        "exposure_id": exposure,
        "position": str(position),
        "at": render(at),
        "session": event.session,
        "feedback": [{"item": None if n < 0 else n, "helpful": bool(helpful)} for n, helpful in verdicts],
    }
    if not account:
        return {**base, "items": [{"id": one} for one in event.facts.get("items", ())], "left_out": []}
    documents = _documents(model, ns, [row[0] for row in (*account["shown"], *account["left"])])
    channels, weights = account["channels"], account["weights"]
    valid_at, known_at, upto = account["at"]
    found = dict(zip(("lexical", "dense", "slots"), account["found"], strict=True))
    return {
        **base,
        "answerability": account["verdict"],
        "strength": account["strength"] / 1_000,
        "intent": account["intent"],
        "rule": account["rule"],
        "as_of": {
            "valid_at": render(valid_at),
            "known_at": render(known_at),
            "position": None if upto is None else str(Position(model.partition, upto)),
        },
        "limit": account["limit"],
        "filters": {
            "kinds": account["kinds"],
            "metadata": account["filters"],
            "fence_names": account["fence"][0],
            "ambiguous_names": account["fence"][1],
        },
        "degraded": account["degraded"],
        "candidates": found,
        "weights": weights,
        "items": [
            {
                **documents.get(doc, _GONE),
                "score": score / 1_000,
                "scores": {name: part / 1_000 for name, part in zip(channels, parts, strict=True) if part},
                "ranks": {name: rank for name, rank in zip(("lexical", "dense"), ranks, strict=True) if rank},
            }
            for doc, score, parts, ranks in account["shown"]
        ],
        "left_out": [
            {**documents.get(doc, _GONE), "reason": reason, "score": None if score is None else score / 1_000}
            for doc, reason, score in account["left"]
        ],
        "left_out_total": account["left_total"],
    }


_FEEDBACK: Final = "SELECT item, helpful FROM feedback WHERE ns = ? AND exposure = ? ORDER BY item"
_GONE: Final[Mapping[str, Any]] = {"kind": None, "id": None, "text": None}


def _documents(model: ReadModel, ns: int, docs: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Memories as they are now: without words where those are gone."""
    claims = model.claims(doc // 2 for doc in docs if doc % 2)
    events = model.events(doc // 2 for doc in docs if not doc % 2)
    found: dict[int, dict[str, Any]] = {}
    for doc in docs:
        claim, event = (claims.get(doc // 2), None) if doc % 2 else (None, events.get(doc // 2))
        if claim is not None:
            found[doc] = {"kind": "claim", "id": claim.claim_id, "text": claim.text}
        elif event is not None:
            text = None if event.text is None else spoken(event.text, event.speaker)
            found[doc] = {"kind": "event", "id": event.event_id, "text": text}
    return found
