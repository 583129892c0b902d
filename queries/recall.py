"""Recall: a question, answered from the read models of one namespace at one point of two times.

Understanding, candidates, fusion, fence, folding, answerability and the context packet are modules of their own; here
they are put in order. One request reads one consistent state, and says which position it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from taishi.ingest.envelope import Position
from taishi.ingest.errors import TaishiError
from taishi.ingest.ids import new_id
from taishi.ingest.instants import render
from taishi.ingest.normal import normal_value
from taishi.ingest.registry import default_registry
from taishi.projections.analysis import Analyzer, QueryTerms
from taishi.projections.embedding import Vectors

from . import answerability
from .asker import asker_of
from .attribute import untold
from .channels import DenseChannel, Found, gather
from .corpus import Corpora
from .dictionaries import Dictionaries
from .diversity import diverse, pool_of
from .exposures import Exposures
from .fence import Fence, fence
from .folding import Omission, Ranked
from .horizon import Horizons
from .items import Sources, claim_item, event_item
from .packet import Packet, pack
from .passages import parts_of
from .point import Point
from .pointing import Pointed, pointing, resolved
from .ranking import rank
from .reading import ReadModel, ReadModels
from .reckoning import Reckoning
from .recounting import recounted, sessions_of, spread
from .replies import account_of, lines_of, reply_of, with_pointed
from .request import RecallRequest
from .reranking import NAME as RERANKER
from .reranking import Reranking
from .rows import NamespaceRow
from .signals import signals_of
from .splitting import interleaved, questions_in, sides_in
from .times import as_set_up, zone_of
from .understand import Question, in_first_person, understand
from .vector_lag import NAME as BEHIND
from .vector_lag import VectorLag

FAINT: Final = -0.1
"""Lift below which what has not one word of the question is left out: farther from it than most of what is there."""
BESIDE_A_STATE: Final = 0.12
"""Of the best score: the same, where the question asks for a predicate and so for one thing."""
JUDGED: Final = 5
"""Ranked memories on which the verdict rests."""


@dataclass(frozen=True, slots=True)
class _Looked:
    """What one question found: all that was `ranked`, what was `left` out and why, and what is worth showing."""

    question: Question
    fenced: Fence
    found: Found
    ranked: list[Ranked]
    left: Mapping[int, Omission]
    verdict: answerability.Answerability
    strength: float
    signals: answerability.Signals
    chosen: list[Ranked]


class Recall:
    """Answers recall requests. Safe to call from several threads."""

    def __init__(
        self,
        models: ReadModels,
        *,
        analyzer: Callable[[], Analyzer],
        now: Callable[[], int],
        dense: DenseChannel | None = None,
        exposures: Exposures | None = None,
        reranking: Reranking | None = None,
        lag: VectorLag | None = None,
        ablated: Collection[str] = (),
    ) -> None:
        """`analyzer` gives the text analysis that the indexes were built with. `now` is an instant's clock. `ablated`
        names channels (`fusion.CHANNELS`) to do without, so that it can be measured what each is worth."""
        self._models = models
        self._analyzer = analyzer
        self._now = now
        self._dense = None if "dense" in ablated else dense
        self._exposures = exposures
        self._reranking = reranking
        self._lag = lag
        self._ablated = ablated
        self._corpora = Corpora()
        self._horizons = Horizons()
        self._dictionaries = Dictionaries()

    def answer(self, request: RecallRequest) -> dict[str, Any]:
        """The reply's body, JSON-ready. Raises Unavailable where there is no read model yet."""
        general = self._analyzer()
        model = self._models.of(request.namespace)
        now = model.now(self._now())
        request = request.as_asked_then(now)
        pointed = self._pointed(model, request, now, general)
        if pointed is not None:
            request = replace(request, query=pointed.asked(request.query))
        terms = general.query(request.query)
        degraded: list[str] = []
        vector = self._vector(request.query, terms, degraded)
        with model.view():
            known = request.known(now)
            namespace = as_set_up(model, model.namespace(request.namespace), known)
            if namespace is not None:
                asker = asker_of(model, namespace.ns, request.query, request.asker, known)
                request = replace(request, asker=asker)
                own = self._dictionaries.analyzer(model, namespace.ns, general)
                terms = terms if own is general else own.query(request.query)
            reply = self._answer(model, namespace, request, now, terms, vector, degraded)
        return reply if pointed is None else with_pointed(reply, pointed, model.partition)

    def _pointed(self, model: ReadModel, request: RecallRequest, now: int, analyzer: Analyzer) -> Pointed | None:
        """What the question's pointing words stand for, where it is asked in a session."""
        asked = None if request.session is None else pointing(request.query, analyzer)
        if asked is None or request.session is None:
            return None
        known_at = now if request.known_at is None else request.known_at
        with model.view():
            namespace = model.namespace(request.namespace)
            if namespace is None:
                return None
            return resolved(model, namespace.ns, request.session, asked, known_at=known_at, upto=request.position)

    def _vector(self, query: str, terms: QueryTerms, degraded: list[str]) -> Vectors | None:
        if self._dense is None or not (terms or terms.stops):
            return None
        try:
            return self._dense.embed(in_first_person(query))
        except TaishiError:
            degraded.append("vectors")
            return None

    def _parts(self, query: str) -> Sequence[Vectors]:
        """Of a dialogue; none where the embedder has just gone down: the whole answers."""
        texts = parts_of(query)
        if self._dense is None or not texts:
            return ()
        try:
            return self._dense.embed_parts(texts)
        except TaishiError:
            return ()

    def _answer(
        self,
        model: ReadModel,
        namespace: NamespaceRow | None,
        request: RecallRequest,
        now: int,
        terms: QueryTerms,
        vector: Vectors | None,
        degraded: list[str],
    ) -> dict[str, Any]:
        question = self._understood(request, namespace, request.query, now)
        point = request.point(question, now)
        read = model.checkpoint() if request.position is None else request.position
        as_of = {
            "position": str(Position(model.partition, read)),
            "valid_at": render(point.valid_at),
            "known_at": render(point.known_at),
        }
        if namespace is None or not (terms or terms.stops):
            return reply_of("no_evidence", [], Packet("", 0, False), as_of, degraded)
        analyzer = self._dictionaries.analyzer(model, namespace.ns, self._analyzer())
        looked = []
        asked = questions_in(request.query)
        topic = None if asked else recounted(request.query)
        if not asked and topic is None and (sides := sides_in(question.text)):
            asked = (request.query, *sides)
        for part in asked if topic is None else (topic,):
            heard = self._vector(part, own := analyzer.query(part), degraded)
            understood = self._understood(request, namespace, part, now)
            if topic is not None:
                understood = understood.as_recounting()
            looked.append(self._look(model, namespace, request, part, understood, own, heard, now, degraded))
        if not looked:
            looked.append(self._look(model, namespace, request, request.query, question, terms, vector, now, degraded))
        main = looked[0]
        question, fenced, found, strength = main.question, main.fenced, main.found, main.strength
        verdict = answerability.joined([one.verdict for one in looked])
        ranked = interleaved([one.ranked for one in looked]) if len(looked) > 1 else main.ranked
        left = {doc: why for one in looked for doc, why in one.left.items()}
        chosen = (interleaved([one.chosen for one in looked]) if len(looked) > 1 else main.chosen)[: request.limit]
        if self._lag is not None and not degraded and self._lag.behind(model.partition, model.checkpoint()):
            degraded.append(BEHIND)
        exposure = new_id()
        items = self._items(model, chosen, point, exposure)
        if self._exposures is not None:
            reckoning = Reckoning(
                question=question, fence=fenced, found=found, point=point, verdict=verdict, strength=strength,
                ranked=ranked, shown=chosen, left=left, limit=request.limit, kinds=sorted(request.wanted.kinds),
                filtered=request.wanted.metadata is not None, degraded=degraded,
            )  # fmt: skip
            positions = [entry.doc // 2 if entry.claim is None else entry.claim.seq for entry in chosen]
            self._exposures.shown(
                request.namespace, request.session, exposure, items, positions=positions, reader=request.reader,
                told=reckoning.facts(),
            )  # fmt: skip
        words = tuple(word for one in looked for group in one.found.lexical.words.values() for word in group)
        packet = pack(lines_of(chosen, items), budget=request.token_budget, words=words)
        reply = {**reply_of(verdict, items, packet, as_of, degraded), "exposure_id": exposure}
        if fenced.ambiguous:
            reply["ambiguous"] = {name: list(those) for name, those in fenced.ambiguous}
        if request.explain:
            reply["explain"] = account_of(question, found, fenced, strength, main.signals)
        return reply

    def _understood(
        self, request: RecallRequest, namespace: NamespaceRow | None, query: str, now: int
    ) -> Question:
        """"Where did I live", of a given moment, asks where at that moment, and not where before it; so with all that
        is one thing at a time."""

        def read(*, pointed: bool) -> Question:
            return understand(
                query,
                now=now if request.asked_at is None else request.asked_at,
                zone=zone_of(namespace),
                asker=None if request.asker is None else normal_value(request.asker),
                valid_at_given=pointed,
            )

        question = read(pointed=request.valid_at is not None)
        if request.asked_at is None or question.intent != "past":
            return question
        known = default_registry()
        of_that_moment = any(known.predicate(name).cardinality == "single" for name in question.asks)
        return read(pointed=True) if of_that_moment else question

    def _look(
        self,
        model: ReadModel,
        namespace: NamespaceRow,
        request: RecallRequest,
        query: str,
        question: Question,
        terms: QueryTerms,
        vector: Vectors | None,
        now: int,
        degraded: list[str],
    ) -> _Looked:
        """One question's memories and verdict."""
        point = request.point(question, now)
        fenced = fence(
            model, namespace.ns, question.fence_words,
            point=point, own=question.subject, kin=question.asking.kin, called=question.called,
        )  # fmt: skip
        if request.asker is not None and question.first_person and not fenced:
            fenced = Fence((question.subject,))
        found = gather(
            model,
            namespace.ns,
            terms=terms,
            question=question,
            names=fenced.names,
            vector=vector,
            parts=() if vector is None else self._parts(query),
            dense=self._dense,
            corpora=self._corpora,
            horizon=self._horizons.of(model, namespace.ns, point),
        ).without(self._ablated)
        degraded += [name for name in found.degraded if name not in degraded]
        ranked, lapsed, left = rank(
            model,
            found,
            question=question,
            fence=fenced,
            point=point,
            now=min(now, point.known_at),
            wanted=request.wanted,
            limit=max(
                pool_of(request.limit) if question.intent == "list" or question.recounts else request.limit,
                JUDGED,
                0 if self._reranking is None else self._reranking.most,
            ),
            ablated=self._ablated,
        )
        ranked = self._reranked(query, ranked, degraded)
        best = diverse(ranked, max(request.limit, JUDGED)) if question.intent == "list" else ranked
        if question.recounts and "spread" not in self._ablated:
            best = spread(ranked, sessions_of(model, ranked), max(request.limit, JUDGED))
        about_user = question.first_person or not fenced
        heard = vector is not None and not found.degraded
        evidence = [r.evidence(found.lexical, question, vectors=heard) for r in best[:JUDGED]]
        signals = signals_of(best[:JUDGED], question, found, fenced, heard=heard)
        verdict, strength = answerability.judge(
            evidence,
            signals,
            about_user=about_user,
            first_person=question.first_person,
            lapsed=lapsed,
            state=question.asks_state,
            asked=question.intent != "open" and not question.advice,
            untold=_is_untold(question, ranked, fenced),
        )
        chosen = [] if verdict == "no_evidence" else _worth_showing(best, question)
        return _Looked(question, fenced, found, ranked, left, verdict, strength, signals, chosen)

    def _reranked(self, query: str, ranked: list[Ranked], degraded: list[str]) -> list[Ranked]:
        if self._reranking is None:
            return ranked
        better = self._reranking.reordered(query, ranked)
        if better is None:
            degraded.append(RERANKER)
            return ranked
        return better

    def _items(
        self, model: ReadModel, chosen: list[Ranked], point: Point, exposure: str
    ) -> list[dict[str, Any]]:
        claims = [r.claim for r in chosen if r.claim is not None]
        more = {r.claim.seq: r.sources for r in chosen if r.claim is not None}
        sources = Sources(model, claims, more=more, point=point)
        copies = model.events({seq for r in chosen if r.event is not None and len(r.sources) > 1 for seq in r.sources})
        items = []
        for number, entry in enumerate(chosen):
            if entry.claim is not None and entry.verdict is not None:
                item = claim_item(entry.claim, entry.verdict, sources, past=point.known)
                why: dict[str, Any] = {"rule": entry.claim.rule, "chain": sources.chain(entry.claim.seq)}
            elif entry.event is not None:
                twins = [copies[seq] for seq in entry.sources if seq in copies]
                item = event_item(entry.event, model.partition, status=entry.status, more=twins)
                why = {}
            if entry.superseded_by is not None:
                why["superseded_by"] = entry.superseded_by
            item["score"] = round(entry.score, 4)
            item["exposure_id"] = f"{exposure}.{number}"
            item["why"] = {"scores": {name: round(value, 4) for name, value in entry.parts.items()}, **why}
            items.append(item)
        return items


def _is_untold(question: Question, ranked: Sequence[Ranked], fenced: Fence) -> bool:
    """Of one of whom nothing is known by name, only what speaks of him can tell anything."""
    if not fenced.unknown:
        return untold(question, ranked, named=fenced.names)
    telling = [one for one in ranked if not one.barred]
    return not telling or untold(question, telling, named=(*fenced.names, *fenced.unknown))


def _worth_showing(ranked: list[Ranked], question: Question) -> list[Ranked]:
    """Without what nothing speaks for: no word of the question, no slot, no nearness in meaning, no turn beside it."""
    least = BESIDE_A_STATE * ranked[0].score if ranked and question.asks else None
    return [
        r
        for r in ranked
        if r.met or r.slot or "around" in r.parts or (r.dense >= FAINT if least is None else r.score >= least)
    ]
