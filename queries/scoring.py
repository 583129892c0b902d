"""What one found memory scores: the signals of a claim, and of a raw event, for one question.

`parts` weighs them (`fusion`); which memories are looked at, and in what order they come out, is for `ranking`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from taishi.ingest.registry import default_registry
from taishi.projections.activation import Use, activation, practice
from taishi.projections.rendering import USER
from taishi.projections.schema import document_of_event

from .answerability import unsaid
from .asking import RELATIVE
from .attribute import relatives_of
from .candidates import LexicalMatch
from .channels import Found
from .fence import Fence, Side, names_it, normal_name, side_of_kin
from .folding import Ranked
from .fusion import CLAIM, DENIES, LEXICAL, Signals, dense_weight, lexical_level, parts
from .rows import ClaimRow, EventRow
from .support import Support
from .surroundings import Surroundings
from .understand import Question
from .validity import Status, Verdict
from .years import asked_years

_STANDING: Final = frozenset({"current", "contested", "planned"})
_STANDING_OPEN: Final = _STANDING | {"ended"}
"""Statuses that rank as they are. Where nothing is asked of the present, what is over may come to mind as well."""
ADVISED: Final = frozenset({"current", "plan", "list"})
"""Intents of questions that may ask for advice: about what was, facts are asked for. Dev halves: passages, too, and
madial zh R@5 is .631 instead of .646."""


class Scoring:
    """Of one question's memories. `sources`, `around`, `newness` and `still` are what the read models tell of those
    that are looked at: set before any is scored."""

    def __init__(
        self,
        found: Found,
        *,
        question: Question,
        fence: Fence,
        support: Support,
        now: int,
        ablated: Collection[str],
    ) -> None:
        self._found = found
        self._question = question
        self._fence = fence
        self._support = support
        self._now = now
        self._ablated = ablated
        self._years = asked_years(question.text)
        self._kin = relatives_of(question)
        self._standing = _STANDING_OPEN if question.recounts or question.intent in ("open", "when") else _STANDING
        self._yes_or_no = question.intent == "current" and question.polar
        self._best = max((match.score for match in found.lexical.matches.values()), default=0.0)
        self.advice = question.advice and not fence and question.intent in ADVISED
        self.matches = dict(found.lexical.matches)
        """Words met, by document."""
        self.dense = dict(found.dense)
        """Lift above the background, by document."""
        self.sources: dict[int, list[int]] = {}
        """Raw events behind claims, by the claim's position."""
        self.around = Surroundings()
        self.newness: Mapping[int, float] = {}
        """How new a document is among all that were found, from 0 to 1, where that counts."""
        self.still: frozenset[int] = frozenset()
        """Claims that are over and tell what is asked all the same."""

    def relevance(self) -> dict[int, float]:
        """By words and meaning alone, by document."""
        score = {doc: LEXICAL * self._level(match.score) for doc, match in self.matches.items()}
        weight = dense_weight(advice=self.advice, dialogue=self._question.dialogue)
        for doc, lift in self.dense.items():
            score[doc] = score.get(doc, 0.0) + weight * lift
        return score

    def said_in(self, doc: int) -> Sequence[int]:
        """Positions of the raw events that a document is, or rests on."""
        return self.sources.get(doc // 2, ()) if doc % 2 else (doc // 2,)

    def beside(self, doc: int) -> tuple[float, float]:
        """What the turns beside it add, and its session: of the words it was said in, the best."""
        found = self.around
        if not (found.around or found.session):
            return 0.0, 0.0
        said = self.said_in(doc)
        around = max((found.around.get(seq, 0.0) for seq in said), default=0.0)
        session = max((found.session.get(seq, 0.0) for seq in said), default=0.0)
        return around, session

    def of_claim(
        self,
        doc: int,
        said: ClaimRow,
        claim: ClaimRow,
        verdict: Verdict,
        sources: tuple[int, ...],
        told: Sequence[tuple[str, int]],
        use: Use,
    ) -> Ranked | None:
        """None: outside the fence. `said` was found, `claim` is what it stands for now; `sources` are the positions of
        the words that it rests on, `told` origin and time of those that are still there."""
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
        about = bool(question.asks) and not self.advice and self._support.asked_about(claim)
        slot = about and asked
        standing = self._found.standing.index(doc) if doc in self._found.standing else None
        names = predicate == RELATIVE and self._support.asks_of_relative
        lift = self._lift_of_claim(doc, sources)
        span = question.span
        occurs = (claim.occurs_from, claim.occurs_to) if claim.occurs_from is not None else None
        match = self._match_of_claim(doc, sources)
        origins = [origin for origin, _ in told]
        said_at = max((at for _, at in told), default=claim.known_from)
        around, session = self.beside(doc)
        explained = self._support.explained(claim, lift=lift)
        met = {} if match is None else match.met
        importance = 0.5 if claim.importance is None else claim.importance
        kind = default_registry().predicate(predicate)
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
                newness=self.newness.get(doc, 0.0),
                importance=importance if slot else 0.5,
                activation=activation(use, kind, importance=importance, own=subject == USER, now=self._now),
                practice=practice(use),
                verdicts=use.helpful - use.unhelpful,
                claim=True,
                kind=(CLAIM if slot else 0.0) + (DENIES if claim.negated and self._yes_or_no else 0.0),
                holds=verdict.status in self._standing or said.seq in self.still,
                in_span=span is not None and overlap(occurs or (claim.known_from, claim.known_from + 1), span),
                around=around,
                session=0.0 if slot or standing is not None or question.recounts else session,
                advice=self.advice,
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
        own = self.dense.get(doc, 0.0)
        if not (self.advice or self._question.intent == "open"):
            return own
        return max((self.dense[said] for said in map(document_of_event, sources) if said in self.dense), default=own)

    def _match_of_claim(self, doc: int, sources: Sequence[int]) -> LexicalMatch | None:
        """Words met: what a dialogue calls up is judged by all that was said, in this as well."""
        own = self.matches.get(doc)
        if not self._question.dialogue:
            return own
        said = [self.matches[source] for source in map(document_of_event, sources) if source in self.matches]
        return max(said, key=lambda match: match.score, default=own)

    def of_event(self, event: EventRow, status: Status, claims: Sequence[ClaimRow]) -> Ranked | None:
        """None: outside the fence. `claims` are those drawn from its words."""
        question = self._question
        doc = document_of_event(event.seq)
        subjects = {c.subject_key for c in claims if c.subject_key is not None}
        speaker = "" if event.speaker is None else normal_name(event.speaker)
        side = self._fence.side_of_event(speaker=speaker, subjects=subjects, text=event.text or "")
        turn = event.seq in self.around.turns
        if side is Side.OUTSIDE:
            if not turn:
                return None
            side = Side.NEUTRAL
        kin = side_of_kin(self._kin, event.text or "")
        around, session = self.beside(doc)
        match = self.matches.get(doc)
        met = {} if match is None else match.met
        lift = self.dense.get(doc, 0.0)
        explained = self._support.explained_by_event(event, claims, lift=lift)
        span = question.span
        summands = parts(
            Signals(
                lexical=0.0 if match is None else self._level(match.score),
                answers=unsaid(self._found.lexical.weight, self._found.lexical.words, met, explained),
                dense=lift,
                subject=(speaker or USER) == question.subject and bool(question.asks) and not self.advice,
                side=kin or (side if self._fence else None),
                age=max(self._now - event.said_at, 0),
                newness=self.newness.get(doc, 0.0),
                holds=status in self._standing or not self.still.isdisjoint(c.seq for c in claims),
                years=None if self._years is None else self._years.told_by(event.text or ""),
                in_span=span is not None and overlap((event.said_at, event.said_at + 1), span),
                title=self._years is not None and self._years.is_title(event.text or ""),
                assistant=event.role == "assistant",
                around=around,
                session=0.0 if question.recounts else session,
                asks_back=turn and (event.text or "").rstrip().endswith(("?", "？")),
                by_named=turn and bool(speaker) and self._names(speaker),
                advice=self.advice,
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

    def _level(self, score: float) -> float:
        return lexical_level(score, best=self._best, statement=self._question.intent == "open")

    def _names(self, speaker: str) -> bool:
        return speaker in self._fence.names or names_it(self._question.fence_words, speaker)


def overlap(a: tuple[int, int | None], b: tuple[int, int]) -> bool:
    """Whether two spans of instants have one in common; None: no end. An instant is a span, too."""
    return a[0] < b[1] and b[0] < (b[1] if a[1] is None else max(a[1], a[0] + 1))
