"""From what the channels found to ranked memories: judged at the asked point, fenced, scored, folded.

A claim that does not hold at the point stays out of a question about the state of things; it is marked and ranks lower
where the question is about what was. A raw event stands behind its claims: it is folded into one that is returned, left
out (or marked) where none of its claims holds, and never hidden where it has none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from taishi.ingest.instants import DAY
from taishi.ingest.registry import default_registry
from taishi.projections.activation import Use, activation, practice
from taishi.projections.rendering import USER
from taishi.projections.schema import document_of_claim, document_of_event

from .answerability import unsaid
from .asking import RELATIVE
from .attribute import SUMMAND as ATTRIBUTE
from .attribute import relatives_of, told_first
from .candidates import LexicalMatch
from .channels import Found
from .fence import Fence, Side, names_it, normal_name, side_of_kin
from .folding import Omission, Ranked, folded, omissions, with_sources
from .following import SUMMAND as THREAD
from .following import followed
from .former import denials_last, former_first, holding_first
from .fusion import CLAIM, DENIES, LEXICAL, Signals, dense_weight, lexical_level, parts
from .newness import asks_newest, newest_first
from .reading import ReadModel
from .rows import ClaimRow, EventRow
from .support import Support
from .surroundings import Surroundings, surroundings
from .understand import Question
from .validity import GONE, Judging, Point, Status, Verdict
from .wanted import Wanted
from .weighed import as_weighed
from .years import asked_years

_STANDING: Final = frozenset({"current", "contested", "planned"})
_STANDING_OPEN: Final = _STANDING | {"ended"}
"""Statuses that rank as they are. Where nothing is asked of the present, what is over may come to mind as well."""
CONSIDERED: Final = 40
"""Documents whose rows are read, besides three for each item that is wanted: the best by words and meaning. The asked
slots come on top."""

ADVISED: Final = frozenset({"current", "plan", "list"})
"""Intents of questions that may ask for advice: about what was, facts are asked for. Dev halves: passages, too, and
madial zh R@5 is .631 instead of .646."""
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


def names_give_way(entries: Sequence[Ranked]) -> list[Ranked]:
    """Who a relative is stands behind what is asked of him, where that is known: the sentence that named him may tell
    what has long changed."""
    first = next((n for n, e in enumerate(entries) if e.slot and e.holds and _names(e) is False), 0)
    ahead = entries[:first]
    names = [replace(e, score=min(e.score, entries[first].score)) for e in ahead if _names(e)]
    others = [e for e in ahead if not _names(e)]
    return [*others, *entries[first : first + 1], *names, *entries[first + 1 :]]


def _names(entry: Ranked) -> bool | None:
    """Whether it is a claim of who a relative is; None for words."""
    return None if entry.claim is None else entry.claim.predicate == RELATIVE


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
        self._fence = fence
        self._point = point
        self._now = now
        self._wanted = wanted
        self._limit = limit
        self._ablated = ablated
        self._matches = dict(found.lexical.matches)
        self._dense = dict(found.dense)
        self._newness: Mapping[int, float] = {}
        self._sources: dict[int, list[int]] = {}
        self._around = Surroundings()
        self._support = Support(question, fence)
        self._still: frozenset[int] = frozenset()
        self.lapsed = False
        self.left: dict[int, Omission] = {}
        self._years = asked_years(question.text)
        self._kin = relatives_of(question)
        self._advice = question.advice and not fence and question.intent in ADVISED
        self._polar = question.polar
        self._standing = _STANDING_OPEN if question.recounts or question.intent in ("open", "when") else _STANDING
        self._best = max((match.score for match in self._matches.values()), default=0.0)

    def ranked(self) -> list[Ranked]:
        self._sources = self._sources_of(self._matches.keys() | self._dense.keys() | self._found.slots)
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
        self._still = self._support.still_telling(judged, verdicts, judging.held)
        self._add_holders(claims, judged, verdicts, judging)
        led = {v.into for v in verdicts.values() if v.into is not None and v.into not in judged}
        if led:
            judged = {**judged, **self._model.claims(led)}
        self.lapsed = self._support.lapsed(judged, verdicts)
        self._newness = self._by_age(claims, events)
        claims, judged = (dict(as_weighed(self._model, rows, self._point)) for rows in (claims, judged))
        entries = [*self._claims(claims, judged, verdicts), *self._events(events, behind, judged, verdicts)]
        entries.sort(key=lambda r: (-r.score, r.claim is None, -r.doc))
        facts = self._question.intent != "open" and not (self._advice or self._question.recounts)
        if facts and not self._question.asks_state and THREAD not in self._ablated:
            entries = followed(entries, self._question.text)
        kept = folded(entries, self._limit)
        if ATTRIBUTE not in self._ablated:
            kept = told_first(kept, self._question)
        if self._question.asking.kin:
            kept = names_give_way(kept)
        if self._question.intent == "history":
            kept = former_first(kept, self._question)
        elif self._question.intent == "when":
            kept = holding_first(kept, self._question)
        elif self._question.intent in ("current", "list"):
            kept = denials_last(kept, self._question)
        if not self._advice and asks_newest(self._question):
            kept = newest_first(kept, question=self._question.text)
        self.left |= omissions(entries, kept)
        return kept

    def _by_age(self, claims: Mapping[int, ClaimRow], events: Mapping[int, EventRow]) -> dict[int, float]:
        """How new each found document is among them all, by the time it was said, for questions about the present
        state of something."""
        state = self._question.intent == "current" and self._question.asks and not self._advice
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
                        lift = self._dense.get(document_of_claim(seq), 0.0)
                        near[holder] = max(near.get(holder, 0.0), lift)
        if not near:
            return
        added = self._model.claims(near)
        claims.update(added)
        judged.update(added)
        verdicts.update(judging.verdicts(added))
        documents = {document_of_claim(seq): lift for seq, lift in near.items()}
        self._sources |= self._sources_of(documents)
        self._matches.update(self._found.lexical.score(self._model, documents))
        for doc, lift in documents.items():
            self._dense.setdefault(doc, lift)

    def _considered(self) -> list[int]:
        """The most relevant documents, and the asked slots."""
        found = self._found
        score = {doc: LEXICAL * self._level(match.score) for doc, match in found.lexical.matches.items()}
        weight = dense_weight(advice=self._advice, dialogue=self._question.dialogue)
        for doc, lift in found.dense.items():
            score[doc] = score.get(doc, 0.0) + weight * lift
        relevance: dict[int, float] = {}
        for doc, value in score.items():
            for seq in self._said_in(doc):
                if self._point.read(seq):
                    relevance[seq] = max(value, relevance.get(seq, value))
        self._around = surroundings(self._model, relevance, self._point)
        for seq in self._around.around:
            score.setdefault(document_of_event(seq), 0.0)
        around = self._around.around or self._around.session
        total = {doc: value + sum(self._beside(doc)) for doc, value in score.items()} if around else score
        first = sorted(total, key=lambda doc: (-total[doc], -doc))[: CONSIDERED + 3 * self._limit]
        return list(dict.fromkeys([*first, *found.slots, *found.standing]))

    def _sources_of(self, docs: Iterable[int]) -> dict[int, list[int]]:
        """Raw events behind claims, by the claim's position."""
        sources: dict[int, list[int]] = {}
        for row in self._model.evidence_of({doc // 2 for doc in docs if doc % 2}):
            sources.setdefault(row.claim, []).append(row.event)
        return sources

    def _level(self, score: float) -> float:
        return lexical_level(score, best=self._best, statement=self._question.intent == "open")

    def _names(self, speaker: str) -> bool:
        return speaker in self._fence.names or names_it(self._question.fence_words, speaker)

    def _said_in(self, doc: int) -> Sequence[int]:
        return self._sources.get(doc // 2, ()) if doc % 2 else (doc // 2,)

    def _beside(self, doc: int) -> tuple[float, float]:
        """What the turns beside it add, and its session: of the words it was said in, the best."""
        found = self._around
        if not (found.around or found.session):
            return 0.0, 0.0
        said = self._said_in(doc)
        around = max((found.around.get(seq, 0.0) for seq in said), default=0.0)
        session = max((found.session.get(seq, 0.0) for seq in said), default=0.0)
        return around, session

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
        sources = self._sources
        told = self._model.told(event for said, _, _ in shown for event in sources.get(said.seq, ()))
        uses = self._model.uses({claim.seq for _, claim, _ in shown}, before=self._now - FRESH)
        best: dict[int, Ranked] = {}
        for said, claim, verdict in shown:
            doc = document_of_claim(said.seq)
            rests_on = sources.get(said.seq, [])
            words = [told[event] for event in rests_on if event in told]
            entry = self._claim(doc, said, claim, verdict, tuple(rests_on), words, uses[claim.seq])
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
        if verdict.holds or self._question.shows_past or claim in self._still:
            return True
        period = self._question.period
        if period is not None and _overlap((verdict.valid_from, verdict.valid_to), period):
            return True
        return verdict.status == "planned" and self._question.intent == "plan"

    def _claim(
        self,
        doc: int,
        said: ClaimRow,
        claim: ClaimRow,
        verdict: Verdict,
        sources: tuple[int, ...],
        told: Sequence[tuple[str, int]],
        use: Use,
    ) -> Ranked | None:
        """`told`: origin and time of the words that it rests on, where they are still there."""
        question = self._question
        subject = claim.subject_key or ""
        own = self._support.owns(subject)
        side = Side.INSIDE
        if self._fence:
            side = self._fence.side_of_claim(subject=subject, own=own, text=f"{claim.text or ''} {claim.value or ''}")
            if side is Side.OUTSIDE:
                return None
        predicate = claim.predicate or ""
        asked = bool(question.asks_for(predicate))
        anothers = asked and self._support.is_anothers(claim)
        about = bool(question.asks) and not self._advice and self._support.asked_about(claim)
        slot = about and asked
        standing = self._found.standing.index(doc) if doc in self._found.standing else None
        names = predicate == RELATIVE and self._support.asks_of_relative
        lift = self._lift_of_claim(doc, sources)
        span = question.span
        occurs = (claim.occurs_from, claim.occurs_to) if claim.occurs_from is not None else None
        match = self._match_of_claim(doc, sources)
        origins = [origin for origin, _ in told]
        said_at = max((at for _, at in told), default=claim.known_from)
        around, session = self._beside(doc)
        explained = self._support.explained(claim, lift=lift)
        met = {} if match is None else match.met
        importance = 0.5 if claim.importance is None else claim.importance
        kind = default_registry().predicate(predicate)
        denies = self._polar and question.intent == "current"
        summands = parts(
            Signals(
                lexical=0.0 if match is None else self._level(match.score),
                answers=unsaid(self._found.lexical.weight, self._found.lexical.words, met, explained) if slot else 0.0,
                dense=lift,
                slot=slot and not names,
                second=predicate in question.asking.second,
                subject=about,
                side=Side.OUTSIDE if anothers else side if self._fence else None,
                age=max(self._now - min(said_at, claim.known_from), 0),
                newness=self._newness.get(doc, 0.0),
                importance=importance if slot else 0.5,
                activation=activation(use, kind, importance=importance, own=subject == USER, now=self._now),
                practice=practice(use),
                verdicts=use.helpful - use.unhelpful,
                claim=True,
                kind=(CLAIM if slot else 0.0) + (DENIES if claim.negated and denies else 0.0),
                holds=verdict.status in self._standing or said.seq in self._still,
                in_span=span is not None and _overlap(occurs or (claim.known_from, claim.known_from + 1), span),
                around=around,
                session=0.0 if slot or standing is not None or question.recounts else session,
                advice=self._advice,
                standing=standing,
                dialogue=question.dialogue,
            ),
            ablated=self._ablated,
        )
        return Ranked(
            doc=doc,
            score=sum(summands.values()),
            parts=summands,
            status=verdict.status,
            met=met,
            dense=lift,
            explained=explained,
            slot=slot,
            external=bool(origins) and all(origin == "external" for origin in origins),
            barred=self._support.bars_claim(claim, origins),
            of_another=self._support.is_of_another([claim]),
            claim=claim,
            verdict=verdict,
            sources=sources,
        )

    def _lift_of_claim(self, doc: int, sources: Sequence[int]) -> float:
        """Nearness in meaning. What bears on advice, or comes to mind where nothing is asked, is judged by all that was
        said: cut to a claim, its sort of thing is nearer to the question than its reasons. Dev halves, with the claim's
        own lift and so: prefeval R@5 .757 and .767 (advice), madial en .678 and .691, zh unchanged (statements)."""
        own = self._dense.get(doc, 0.0)
        if not (self._advice or self._question.intent == "open"):
            return own
        return max((self._dense[said] for said in map(document_of_event, sources) if said in self._dense), default=own)

    def _match_of_claim(self, doc: int, sources: Sequence[int]) -> LexicalMatch | None:
        """Words met: what a dialogue calls up is judged by all that was said, in this as well."""
        own = self._matches.get(doc)
        if not self._question.dialogue:
            return own
        said = [self._matches[source] for source in map(document_of_event, sources) if source in self._matches]
        return max(said, key=lambda match: match.score, default=own)

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
            status = self._support.status_of_event(event, known, judged, verdicts, self._still)
            if status is None:
                self.left[doc] = Omission("claims_do_not_hold")
                continue
            entry = self._event(event, status, [judged[c] for c in known])
            if entry is not None:
                yield entry
            else:
                self.left[doc] = Omission("fence")

    def _event(self, event: EventRow, status: Status, claims: Sequence[ClaimRow]) -> Ranked | None:
        question = self._question
        doc = document_of_event(event.seq)
        subjects = {c.subject_key for c in claims if c.subject_key is not None}
        speaker = "" if event.speaker is None else normal_name(event.speaker)
        side = self._fence.side_of_event(speaker=speaker, subjects=subjects, text=event.text or "")
        turn = event.seq in self._around.turns
        if side is Side.OUTSIDE:
            if not turn:
                return None
            side = Side.NEUTRAL
        kin = side_of_kin(self._kin, event.text or "")
        around, session = self._beside(doc)
        match = self._matches.get(doc)
        met = {} if match is None else match.met
        lift = self._dense.get(doc, 0.0)
        explained = self._support.explained_by_event(event, claims, lift=lift)
        span = question.span
        summands = parts(
            Signals(
                lexical=0.0 if match is None else self._level(match.score),
                answers=unsaid(self._found.lexical.weight, self._found.lexical.words, met, explained),
                dense=lift,
                subject=(speaker or USER) == question.subject and bool(question.asks) and not self._advice,
                side=kin or (side if self._fence else None),
                age=max(self._now - event.said_at, 0),
                newness=self._newness.get(doc, 0.0),
                holds=status in self._standing or not self._still.isdisjoint(c.seq for c in claims),
                years=None if self._years is None else self._years.told_by(event.text or ""),
                in_span=span is not None and _overlap((event.said_at, event.said_at + 1), span),
                title=self._years is not None and self._years.is_title(event.text or ""),
                assistant=event.role == "assistant",
                around=around,
                session=0.0 if question.recounts else session,
                asks_back=turn and (event.text or "").rstrip().endswith(("?", "？")),
                by_named=turn and bool(speaker) and self._names(speaker),
                advice=self._advice,
                dialogue=question.dialogue,
            ),
            ablated=self._ablated,
        )
        return Ranked(
            doc=doc,
            score=sum(summands.values()),
            parts=summands,
            status=status,
            met=met,
            dense=lift,
            explained=(*explained, speaker) if speaker in self._fence.names else explained,
            external=event.origin == "external",
            barred=self._support.bars_event(event, claims),
            of_another=self._support.is_of_another(claims),
            event=event,
            sources=(event.seq,),
        )


def _overlap(a: tuple[int, int | None], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < (b[1] if a[1] is None else max(a[1], a[0] + 1))
