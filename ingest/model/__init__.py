"""The model extractor: a chat model reads, and what it says is taken only as far as the words bear it out.

How it hangs together: admission and the pre-look (is it worth a call) → `pieces` (what one call reads) → `prompt` →
`calls` (budget, breaker, retries) → `chat` (HTTP) → `repair` (the JSON in the answer) → `answer` (its shape, each event
answered for) → `reading` (quotes, values, names and times checked against the words). What is none of this leaves the
window as it was: to wait (Postponed) or visibly failed with the answer kept (AnswerRefused).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from .. import admission, prelook, provenance
from ..claims import Claim
from ..errors import AnswerRefused
from ..extractor import Decision, Extraction, Utterance, Window
from ..registry import Registry, default_registry
from .answer import SCHEMA, Read, taken
from .calls import Bill, Caller
from .pieces import Piece, calls_of
from .prompt import messages, name_of, version
from .reading import MISQUOTED, Surroundings, claim_of
from .repair import read_object

__all__ = ["ModelExtractor"]

MOST_CALLS: Final = 16
"""Of one window; what lies beyond stays recallable as it was said."""
PARTLY_READ: Final = "partly_read"


class ModelExtractor:
    """`seconds` is the time one window may take. `least` signals of the pre-look make it worth a call, 0: all are.

    Not safe to share between threads.
    """

    name: Final = "model"
    version: Final = "1"

    def __init__(
        self,
        caller: Caller,
        *,
        registry: Registry | None = None,
        mode: provenance.Mode = "enforce",
        least: int = 1,
        seconds: float = 120.0,
        most_calls: int = MOST_CALLS,
    ) -> None:
        self._caller = caller
        self._registry = default_registry() if registry is None else registry
        self._mode: provenance.Mode = mode
        self._least = least
        self._seconds = seconds
        self._most_calls = most_calls

    def extract(self, window: Window) -> Extraction:
        """One call where the window's words fit into one. An utterance without a claim has a decision that says why.

        Raises Postponed, AnswerRefused.
        """
        reasons: dict[str, str] = {}
        wanted: list[Utterance] = []
        earlier: list[Utterance] = list(window.context)
        for utterance in window.utterances:
            refused = self._refusal(utterance, earlier)
            if refused is None:
                wanted.append(utterance)
            else:
                reasons[utterance.event_id] = refused
            earlier.append(utterance)
        if not self._worth_a_call(window, wanted):
            reasons |= {u.event_id: prelook.PRELOOK for u in wanted}
            return Extraction(claims=[], decisions=_decisions(reasons))
        return self._read(window, wanted, reasons)

    def _refusal(self, utterance: Utterance, earlier: Sequence[Utterance]) -> str | None:
        verdict = provenance.gate(utterance.origin, utterance.session_kind, utterance.text, mode=self._mode)
        refused = verdict.reason or admission.refusal(utterance.text)
        if refused is None and admission.is_echo(utterance, earlier):
            return admission.ECHO
        return refused

    def _worth_a_call(self, window: Window, wanted: Sequence[Utterance]) -> bool:
        earlier = list(window.context)
        for utterance in wanted:
            if prelook.worth(utterance, earlier, least=self._least):
                return True
            earlier.append(utterance)
        return False

    def _read(self, window: Window, wanted: Sequence[Utterance], reasons: dict[str, str]) -> Extraction:
        bill = self._caller.bill(version())
        deadline = time.monotonic() + self._seconds
        around = Surroundings.of([*window.context, *window.utterances], registry=self._registry, mode=self._mode)
        calls = calls_of(wanted)
        found: list[Claim | tuple[str, str]] = []
        texts: list[str] = []
        for pieces in calls[: self._most_calls]:
            for piece, read in zip(pieces, self._ask(window, pieces, texts, bill, deadline), strict=True):
                made = (claim_of(said, piece, around) for said in read.claims)
                found += [(piece.utterance.event_id, m) if isinstance(m, str) else m for m in made]
        self._caller.done(bill)
        unread = {piece.utterance.event_id for pieces in calls[self._most_calls :] for piece in pieces}
        refused = [item for item in found if isinstance(item, tuple)]
        claims = [item for item in found if not isinstance(item, tuple)]
        if refused and not claims and all(reason == MISQUOTED for _, reason in refused):
            raise AnswerRefused("model.misquoted", answer="\n".join(texts).encode(), usage=bill.facts())
        with_claims = {claim.quote.event_id for claim in claims if claim.quote is not None}
        for utterance in wanted:
            if utterance.event_id not in with_claims:
                reasons[utterance.event_id] = admission.NOTHING_READ
        reasons |= dict(refused) | dict.fromkeys(unread, PARTLY_READ)
        return Extraction(claims=self._distinct(claims), decisions=_decisions(reasons), usage=bill.facts())

    def _ask(
        self, window: Window, pieces: Sequence[Piece], texts: list[str], bill: Bill, deadline: float
    ) -> list[Read]:
        """One answer for each piece, in order. What the model wrote is added to `texts`."""
        asked = [name_of(place) for place in range(len(pieces))]

        def read(text: str) -> list[Read]:
            texts.append(text)
            return taken(read_object(text), asked=asked)

        try:
            return self._caller.ask(
                window.namespace, messages(pieces, self._beside(pieces, window)), SCHEMA, read,
                bill=bill, deadline=deadline,
            )
        except AnswerRefused:
            self._caller.done(bill)
            raise

    def _beside(self, pieces: Sequence[Piece], window: Window) -> list[Utterance]:
        """What a call's words are understood by: all that was said before its last ones and is not asked about."""
        asked = {piece.utterance.event_id for piece in pieces}
        everything = [*window.context, *window.utterances]
        last = next(i for i, u in enumerate(everything) if u.event_id == pieces[-1].utterance.event_id)
        return [u for u in everything[:last] if u.event_id not in asked and self._may_be_read(u)]

    def _may_be_read(self, utterance: Utterance) -> bool:
        verdict = provenance.gate(utterance.origin, utterance.session_kind, utterance.text, mode=self._mode)
        return verdict.reason is None

    def _distinct(self, claims: Sequence[Claim]) -> list[Claim]:
        """Each statement once, however many pieces hold it, and no denial beside the truth that takes its place."""
        seen: dict[tuple[object, ...], Claim] = {}
        told = {_slot(claim) for claim in claims if not claim.negated}
        for claim in claims:
            single = self._registry.predicate(claim.predicate).single(claim.qualifiers)
            if not (claim.negated and single and _slot(claim) in told):
                event = None if claim.quote is None else claim.quote.event_id
                seen.setdefault((event, *_slot(claim), claim.value, claim.negated), claim)
        return list(seen.values())


def _slot(claim: Claim) -> tuple[object, ...]:
    return claim.subject, claim.predicate, tuple(sorted(claim.qualifiers.items()))


def _decisions(reasons: dict[str, str]) -> list[Decision]:
    return [Decision(event_id=event_id, reason=reason) for event_id, reason in reasons.items()]
