"""From what the channels found to ranked memories: judged at the asked point, fenced, scored, folded.

A claim that does not hold at the point stays out of a question about the state of things; it is marked and ranks lower
where the question is about what was. A raw event stands behind its claims: it is folded into one that is returned, left
out (or marked) where none of its claims holds, and never hidden where it has none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from taishi.ingest.instants import DAY
from taishi.projections.schema import document_of_claim, document_of_event

from .channels import Found
from .fence import Fence
from .folding import Omission, Ranked, best_first, folded, omissions, with_sources
from .following import SUMMAND as THREAD
from .following import followed
from .ordering import in_order
from .point import Point
from .reading import ReadModel
from .rows import ClaimRow, EventRow
from .scoring import Scoring, overlap
from .support import Support
from .surroundings import surroundings
from .understand import Question
from .validity import GONE, Judging, Verdict
from .wanted import Wanted
from .weighed import as_used, as_weighed

CONSIDERED: Final = 40
"""Documents whose rows are read, besides three for each item that is wanted: the best by words and meaning. The asked
slots come on top."""

FRESH: Final = 30 * DAY
"""What was told since then has not faded, whether or not it was said again."""


def rank(
    model: ReadModel,
    found: Found,
    *,
    question: Question,
    fence: Fence,
    point: Point,
    now: int,
    wanted: Wanted,
    limit: int,
    ablated: Collection[str] = (),
) -> tuple[list[Ranked], bool, Mapping[int, Omission]]:
    """At most `limit`, best first; equal scores in the order claim before event, newer before older. And whether the
    asked state is known to be over, with nothing in its place; and what was looked at and left out, by document.
    Channels in `ablated` add nothing to a score."""
    ranking = _Ranking(model, found, question, fence, point, now, wanted, limit, ablated)
    return ranking.ranked(), ranking.lapsed, ranking.left


class _Ranking:
    def __init__(
        self,
        model: ReadModel,
        found: Found,
        question: Question,
        fence: Fence,
        point: Point,
        now: int,
        wanted: Wanted,
        limit: int,
        ablated: Collection[str],
    ) -> None:
        self._model = model
        self._found = found
        self._question = question
        self._point = point
        self._now = now
        self._wanted = wanted
        self._limit = limit
        self._ablated = ablated
        self._support = Support(question, fence)
        self._scoring = Scoring(found, question=question, fence=fence, support=self._support, now=now, ablated=ablated)
        self.lapsed = False
        self.left: dict[int, Omission] = {}

    def ranked(self) -> list[Ranked]:
        scoring = self._scoring
        scoring.sources = self._sources_of(scoring.matches.keys() | scoring.dense.keys() | self._found.slots)
        docs = self._considered()
        claims = self._model.claims(doc // 2 for doc in docs if doc % 2)
        events = {
            seq: event
            for seq, event in self._model.events(doc // 2 for doc in docs if not doc % 2).items()
            if self._point.read(seq) and self._point.knows(event.recorded_at) and event.erased_at is None
        }
        behind: dict[int, list[int]] = {}
        for row in self._model.evidence_from(events):
            behind.setdefault(row.event, []).append(row.claim)
        missing = {seq for seqs in behind.values() for seq in seqs if seq not in claims}
        judged = {**claims, **self._model.claims(missing)}
        judging = Judging(self._model, self._point)
        verdicts = judging.verdicts(judged)
        scoring.still = self._support.still_telling(judged, verdicts, judging.held)
        self._add_holders(claims, judged, verdicts, judging)
        led = {v.into for v in verdicts.values() if v.into is not None and v.into not in judged}
        if led:
            judged = {**judged, **self._model.claims(led)}
        self.lapsed = self._support.lapsed(judged, verdicts)
        scoring.newness = self._by_age(claims, events)
        claims, judged = (dict(as_weighed(self._model, rows, self._point)) for rows in (claims, judged))
        found = [*self._claims(claims, judged, verdicts), *self._events(events, behind, judged, verdicts)]
        entries = best_first(found)
        facts = self._question.intent != "open" and not (scoring.advice or self._question.recounts)
        if facts and not self._question.asks_state and THREAD not in self._ablated:
            entries = followed(entries, self._question.text)
        kept = folded(entries, self._limit)
        kept = in_order(kept, self._question, advice=scoring.advice, ablated=self._ablated)
        self.left |= omissions(entries, kept)
        return kept

    def _by_age(self, claims: Mapping[int, ClaimRow], events: Mapping[int, EventRow]) -> dict[int, float]:
        """How new each found document is among them all, by the time it was said, for questions about the present
        state of something."""
        state = self._question.intent == "current" and self._question.asks and not self._scoring.advice
        if self._question.intent != "when" and not state:
            return {}
        told = {document_of_event(seq): event.said_at for seq, event in events.items()}
        told |= {document_of_claim(seq): claim.known_from for seq, claim in claims.items()}
        times = sorted(set(told.values()))
        last = max(len(times) - 1, 1)
        place = {time: n / last for n, time in enumerate(times)}
        return {doc: place[time] for doc, time in told.items()}

    def _add_holders(
        self,
        claims: dict[int, ClaimRow],
        judged: dict[int, ClaimRow],
        verdicts: dict[int, Verdict],
        judging: Judging,
    ) -> None:
        """What holds in the slot of a found claim that no longer does: many old versions must not crowd it out."""
        near: dict[int, float] = {}
        for seq, claim in claims.items():
            if seq in verdicts and not verdicts[seq].holds:
                for holder in judging.holders(claim.slot):
                    if holder not in claims:
                        lift = self._scoring.dense.get(document_of_claim(seq), 0.0)
                        near[holder] = max(near.get(holder, 0.0), lift)
        if not near:
            return
        added = self._model.claims(near)
        claims.update(added)
        judged.update(added)
        verdicts.update(judging.verdicts(added))
        documents = {document_of_claim(seq): lift for seq, lift in near.items()}
        self._scoring.sources |= self._sources_of(documents)
        self._scoring.matches.update(self._found.lexical.score(self._model, documents))
        for doc, lift in documents.items():
            self._scoring.dense.setdefault(doc, lift)

    def _considered(self) -> list[int]:
        """The most relevant documents, and the asked slots."""
        found = self._found
        score = self._scoring.relevance()
        relevance: dict[int, float] = {}
        for doc, value in score.items():
            for seq in self._scoring.said_in(doc):
                if self._point.read(seq):
                    relevance[seq] = max(value, relevance.get(seq, value))
        self._scoring.around = surroundings(self._model, relevance, self._point)
        for seq in self._scoring.around.around:
            score.setdefault(document_of_event(seq), 0.0)
        around = self._scoring.around.around or self._scoring.around.session
        total = {doc: value + sum(self._scoring.beside(doc)) for doc, value in score.items()} if around else score
        first = sorted(total, key=lambda doc: (-total[doc], -doc))[: CONSIDERED + 3 * self._limit]
        return list(dict.fromkeys([*first, *found.slots, *found.standing]))

    def _sources_of(self, docs: Iterable[int]) -> dict[int, list[int]]:
        """Raw events behind claims, by the claim's position."""
        sources: dict[int, list[int]] = {}
        for row in self._model.evidence_of({doc // 2 for doc in docs if doc % 2}):
            sources.setdefault(row.claim, []).append(row.event)
        return sources

    # claims

    def _claims(
        self, claims: Mapping[int, ClaimRow], judged: Mapping[int, ClaimRow], verdicts: Mapping[int, Verdict]
    ) -> Iterable[Ranked]:
        shown: list[tuple[ClaimRow, ClaimRow, Verdict]] = []
        for seq, said in claims.items():
            verdict = verdicts.get(seq)
            if verdict is None or verdict.status in GONE or not self._may_show(seq, verdict):
                self.left[document_of_claim(seq)] = Omission("unknown_then" if verdict is None else verdict.status)
                continue
            claim = said if verdict.into is None else judged[verdict.into]
            if said.subject_key is not None and said.predicate is not None and claim.subject is not None:
                shown.append((said, claim, verdict))
        sources = self._scoring.sources
        told = self._model.told(event for said, _, _ in shown for event in sources.get(said.seq, ()))
        uses = as_used(
            self._model, {claim.seq for _, claim, _ in shown}, self._point, before=self._now - FRESH
        )
        best: dict[int, Ranked] = {}
        for said, claim, verdict in shown:
            doc = document_of_claim(said.seq)
            rests_on = sources.get(said.seq, [])
            words = [told[event] for event in rests_on if event in told]
            entry = self._scoring.of_claim(doc, said, claim, verdict, tuple(rests_on), words, uses[claim.seq])
            if entry is None:
                self.left[doc] = Omission("fence")
                continue
            known = best.get(claim.seq)
            if known is None or entry.score > known.score:
                best[claim.seq] = entry if known is None else with_sources(entry, known.sources)
            else:
                best[claim.seq] = with_sources(known, entry.sources)
        if self._wanted.metadata is not None:
            kept = self._model.events({s for entry in best.values() for s in entry.sources})
            fitting = {
                seq: entry
                for seq, entry in best.items()
                if any(s in kept and self._wanted.fits(kept[s]) for s in entry.sources)
            }
            self.left |= {entry.doc: Omission("filters") for seq, entry in best.items() if seq not in fitting}
            best = fitting
        if "claim" in self._wanted.kinds:
            return best.values()
        self.left |= {entry.doc: Omission("kinds") for entry in best.values()}
        return ()

    def _may_show(self, claim: int, verdict: Verdict) -> bool:
        if verdict.holds or self._question.shows_past or claim in self._scoring.still:
            return True
        period = self._question.period
        if period is not None and overlap((verdict.valid_from, verdict.valid_to), period):
            return True
        return verdict.status == "planned" and self._question.intent == "plan"

    # raw events

    def _events(
        self,
        events: Mapping[int, EventRow],
        behind: Mapping[int, Sequence[int]],
        judged: Mapping[int, ClaimRow],
        verdicts: Mapping[int, Verdict],
    ) -> Iterable[Ranked]:
        if "event" not in self._wanted.kinds:
            self.left |= dict.fromkeys(map(document_of_event, events), Omission("kinds"))
            return
        for seq, event in events.items():
            doc = document_of_event(seq)
            if event.text is None or not self._wanted.fits(event):
                self.left[doc] = Omission("filters")
                continue
            known = [c for c in behind.get(seq, ()) if c in verdicts]
            status = self._support.status_of_event(event, known, judged, verdicts, self._scoring.still)
            if status is None:
                self.left[doc] = Omission("claims_do_not_hold")
                continue
            entry = self._scoring.of_event(event, status, [judged[c] for c in known])
            if entry is not None:
                yield entry
            else:
                self.left[doc] = Omission("fence")
