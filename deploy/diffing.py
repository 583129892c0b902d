"""The difference between two generations, over all partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from taishi.ingest.instants import render
from taishi.ingest.partitions import partition_of
from taishi.queries.answer_changes import AnswerChange, Question, ask, sample
from taishi.queries.differences import Change, Differences, GridPoint, Said, grid
from taishi.queries.reading import ReadModels

from .gate import compare, opened_pairs
from .generations import Generation, Generations, models_folder, now
from .settings import Settings
from .verifying import Digest, digests

KINDS: Final = ("same", "lost", "gained", "changed")
POINTS: Final = 12
"""Instants of the time grid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a switch from `before` to `after` would change."""

    before: Generation
    after: Generation
    extractors: tuple[str, str]
    found: Differences
    grid: Sequence[GridPoint]
    answers: Sequence[AnswerChange]
    digests: tuple[Sequence[Digest], Sequence[Digest]]

    def to_json(self) -> dict[str, Any]:
        found = self.found
        return {
            "before": {
                "generation": self.before.number, "extractor": self.extractors[0], "read": _places(found.before_seq),
            },
            "after": {
                "generation": self.after.number, "extractor": self.extractors[1], "read": _places(found.after_seq),
                "unread": found.unread, "failed": found.failed,
            },
            "claims": {kind: found.total(kind) for kind in KINDS},
            "share": round(found.share, 4),
            "by": [
                {"namespace": ns, "predicate": predicate, **{k: counted[k] for k in KINDS}}
                for (ns, predicate), counted in sorted(found.counts.items())
            ],
            "changes": [change_json(c) for c in found.changes],
            "grid": [{**asdict(p), "at": render(p.at)} for p in self.grid],
            "answers": [{**asdict(a), "same": a.same} for a in self.answers],
            "tombstones": {"checked": found.tombstones, "readable": found.readable},
            "unbound": [asdict(u) for u in found.unbound],
            "digests": [[d.to_json() for d in side] for side in self.digests],
        }  # fmt: skip


def _places(read: Mapping[int, int]) -> list[str]:
    return [f"p{partition}:{seq}" for partition, seq in sorted(read.items())]


def change_json(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind, "namespace": change.namespace, "predicate": change.predicate,
        "position": None if change.event is None else f"p{change.partition}:{change.event}", "words": change.words,
        "before": _said_json(change.before), "after": _said_json(change.after),
    }  # fmt: skip


def _said_json(said: Said | None) -> dict[str, Any] | None:
    if said is None:
        return None
    return {**said._asdict(), "valid_from": render(said.valid_from), "valid_to": render(said.valid_to)}


def report(
    settings: Settings,
    before: Generation,
    after: Generation,
    *,
    most: int,
    questions: Sequence[Question] | None,
    asked: int,
) -> Report:
    """`questions` None: up to `asked` are made from the claims."""
    from .processes import analyzer

    found = compare(settings, before, after, most=most)
    sides = [
        ReadModels(
            models_folder(settings.home), partitions=settings.partitions,
            partition_of=lambda namespace: partition_of(namespace, settings.partitions), pinned=generation.name,
        )
        for generation in (before, after)
    ]  # fmt: skip
    if questions is None:
        questions = sample(sides[0], found.changes, most=asked)
    answers = ask(questions, *sides, analyzer=lambda: analyzer(settings.dictionary), now=now())
    register = Generations(settings.home).read()
    return Report(
        before=before,
        after=after,
        extractors=(
            register.extraction_of(before).extractor or settings.extractor,
            register.extraction_of(after).extractor or settings.extractor,
        ),
        found=found,
        grid=_grid(settings, before, after),
        answers=answers,
        digests=(digests(settings, before), digests(settings, after)),
    )


def _grid(settings: Settings, before: Generation, after: Generation) -> list[GridPoint]:
    """From the first to the last words, evenly."""
    pairs = opened_pairs(settings, before, after)
    try:
        spans = [span for pair in pairs if (span := pair.span()) is not None]
        if not spans:
            return []
        first, last = min(s[0] for s in spans), max(s[1] for s in spans)
        instants = sorted({first + (last - first) * (i + 1) // POINTS for i in range(POINTS)})
        return [grid([pair.at(instant) for pair in pairs]) for instant in instants]
    finally:
        for pair in pairs:
            pair.close()
