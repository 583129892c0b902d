"""Ranked memories, and their folding: what says the same is shown once, with the evidence of all.

A raw event is folded into a claim that was read from its words. Where its words answer so much better than the claim's
quote, it stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from . import answerability
from .candidates import Lexical
from .rows import ClaimRow, EventRow
from .understand import Question
from .validity import Status, Verdict

FOLD_AT: Final = 0.75
"""The claim's score over the event's, below which the event stands for itself."""
SPARE: Final = 5
"""Memories folded beyond the wanted ones, into which further copies may still fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One memory in the answer. Exactly one of `claim` and `event` is set. `sources` are positions of the raw events
    it rests on or that were folded into it. `met` says how much of each piece of the question it speaks of, `explained`
    are words of the question that ask for its predicate or subject. What is `barred` never supports an answer; what is
    `of_another` says of someone else what is asked of one.
    `superseded_by` is the id of the event that tells a newer value (`newness`)."""

    doc: int
    score: float
    parts: Mapping[str, float]
    status: Status
    met: Mapping[int, float]
    dense: float
    explained: tuple[str, ...] = ()
    slot: bool = False
    external: bool = False
    barred: bool = False
    of_another: bool = False
    claim: ClaimRow | None = None
    verdict: Verdict | None = None
    event: EventRow | None = None
    sources: tuple[int, ...] = ()
    superseded_by: str | None = None

    @property
    def holds(self) -> bool:
        return self.status in ("current", "contested")

    def evidence(self, lexical: Lexical, question: Question, *, vectors: bool) -> answerability.Evidence:
        """`vectors` tells whether that channel answered."""
        if not lexical.weight and (self.slot or self.explained):  # nothing but words that ask ("who am I")
            missing = 1.0 if self.barred else 0.0
            return answerability.Evidence(
                covered=1.0, missing=missing, dense=self.dense, slot=self.slot, external=self.external
            )
        covered, missing = answerability.coverage(
            lexical.weight,
            lexical.words,
            self.met,
            explained=self.explained,
            frame=question.frame,
            telling=question.telling,
        )
        return answerability.Evidence(
            covered=covered,
            missing=1.0 if self.barred else missing,
            dense=self.dense if vectors else answerability.NO_VECTORS,
            slot=self.slot,
            external=self.external,
        )


@dataclass(frozen=True, slots=True)
class Omission:
    """Why something that was looked at is not in the answer: a claim's status (it does not hold), `unknown_then`,
    `fence`, `kinds`, `filters`, `claims_do_not_hold`, `folded`, `rank`, `faint`, `no_evidence`. `score` where it got as
    far as that."""

    reason: str
    score: float | None = None


def folded(entries: Sequence[Ranked], limit: int) -> list[Ranked]:
    """The first `limit` of ranked memories, without the raw events behind returned claims and without second copies of
    the same words: what is folded leaves its evidence."""
    kept: list[Ranked] = []
    of_source: dict[int, int] = {}
    of_words: dict[str, int] = {}
    for entry in entries:
        if len(kept) >= limit + SPARE:
            break
        if entry.event is not None:
            at = of_source.get(entry.event.seq)
            if at is not None and kept[at].claim is not None:
                kept[at] = _with_words(kept[at], entry)
                continue
            words = f"{entry.event.speaker}: {(entry.event.text or '').strip()}"
            if words in of_words:
                twin = of_words[words]
                kept[twin] = with_sources(kept[twin], entry.sources)
                continue
            of_words[words] = len(kept)
        else:
            at = next((of_source[s] for s in entry.sources if s in of_source), None)
            if at is not None and kept[at].event is not None:
                if entry.score >= FOLD_AT * kept[at].score:
                    kept[at] = with_sources(_lifted(entry, kept[at]), kept[at].sources)
                    for source in entry.sources:
                        of_source.setdefault(source, at)
                    continue
                if not entry.slot:
                    continue
            elif at is not None and not entry.slot:
                continue
        for source in entry.sources:
            of_source.setdefault(source, len(kept))
        kept.append(entry)
    return kept[: limit]


def omissions(entries: Sequence[Ranked], kept: Sequence[Ranked]) -> dict[int, Omission]:
    """Ranked memories that are not among those kept, and why: their evidence is, or they rank lower."""
    shown = {entry.doc for entry in kept}
    told = {seq for entry in kept for seq in entry.sources}
    return {
        entry.doc: Omission("folded" if told.intersection(entry.sources) else "rank", entry.score)
        for entry in entries
        if entry.doc not in shown
    }


def best_first(entries: Iterable[Ranked]) -> list[Ranked]:
    """By score; equal ones in the order claim before event, newer before older."""
    return sorted(entries, key=lambda r: (-r.score, r.claim is None, -r.doc))


def with_sources(entry: Ranked, more: Iterable[int]) -> Ranked:
    return replace(entry, sources=tuple(dict.fromkeys([*entry.sources, *more])))


def _with_words(claim: Ranked, event: Ranked) -> Ranked:
    """The claim, speaking of what the event speaks of from whose words it was drawn."""
    return replace(
        claim,
        met={group: max(claim.met.get(group, 0.0), event.met.get(group, 0.0)) for group in {*claim.met, *event.met}},
        dense=max(claim.dense, event.dense),
        explained=(*claim.explained, *event.explained),
    )


def _lifted(claim: Ranked, event: Ranked) -> Ranked:
    """The claim in the place of the event whose words it was drawn from, and which it shows as evidence."""
    return replace(
        _with_words(claim, event),
        score=event.score,
        parts={**claim.parts, "source": event.score - claim.score},
    )
