"""The extraction job: windows in, claim events out.

For each window: its events are read by position, erased ones are passed over, the gate turns away what may not become
a claim, the extractor reads the rest, every quote is checked against its source, claims are bound to slots, and all
that came of it is appended as one batch with `extraction.completed`, which also guards it: read twice, the first wins.
A window that cannot be read leaves a visible `extraction.failed` and holds up no other. One that must wait, because a
model is down or a budget is spent, leaves nothing at all: it stays open, and the keeper hands it out again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from .admission import ECHO
from .answers import Answers
from .claims import ORIGIN_STRENGTH, Claim
from .crashpoints import reach
from .derived import carried_event, claim_event, completed_event, completed_id, failed_event
from .echoes import repeats, shown_words
from .envelope import Event, NewEvent, Position
from .errors import AnswerRefused, EvidenceErased, LogDamaged, Postponed, TaishiError, Unavailable
from .extractor import Extractor, Window
from .jobs import Task
from .log import Appended, Batch, EventLog
from .provenance import Mode, gate
from .registry import Registry
from .slots import Fingerprints, bind
from .timelimit import TimeLimitExceeded, time_limit
from .utterances import speaker_of, utterance, zone_named
from .window_reader import LoadedWindow, WindowReader

Gate = Callable[[Event], str | None]
"""Why an event may not become a claim (a reason code), None where it may."""
@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A claim that another generation read: where it stands, and the tombstone that took it (position and recorded time
    in the partition), if one did."""

    position: Position
    forgotten: tuple[int, int] | None = None


EarlierOf = Callable[[Position], Sequence[Earlier]]
"""The claims that another generation read from a raw event. May wait a moment. Raises Unavailable."""



def gate_of(mode: Mode) -> Gate:
    """The provenance gate, on events."""

    def refusal(event: Event) -> str | None:
        return gate(event.origin, event.session_kind, (event.body or {}).get("text", ""), mode=mode).reason

    return refusal


ENFORCED: Final = gate_of("enforce")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one attempt at a window: claims and decisions, or an `error` code.

    `answer` is what a failed model said, as `answers` keeps it; `context` are the words it knew beside the sources.
    """

    task: Task
    sources: Sequence[Event]
    context: Sequence[Event] = ()
    claims: Sequence[NewEvent] = ()
    decisions: Mapping[str, str]
    error: str | None = None
    usage: Mapping[str, Any] | None = None
    answer: Mapping[str, Any] | None = None


class Extraction:
    """`seconds` is the time that one window may take, `at_once` how many are read before any of them is appended.

    Without `answers`, answers of models that could not be used are not kept. With `earlier`, the claims that another
    generation had read from words that are erased since are carried over.
    """

    def __init__(
        self,
        log: EventLog,
        extractor: Extractor,
        registry: Registry,
        fingerprints: Fingerprints,
        *,
        gate: Gate = ENFORCED,
        generation: int = 1,
        seconds: float = 10.0,
        at_once: int = 100,
        answers: Answers | None = None,
        earlier: EarlierOf | None = None,
    ) -> None:
        self._log = log
        self._reader = WindowReader(log)
        self._extractor = extractor
        self._registry = registry
        self._fingerprints = fingerprints
        self._gate = gate
        self._generation = generation
        self._seconds = seconds
        self._at_once = at_once
        self._answers = answers
        self._earlier = earlier

    def run(self, tasks: Sequence[Task]) -> None:
        """Leaves a closing or a failure event of each window in the log, none where it must wait.

        Raises Unavailable, LogDamaged, KeyMissing.
        """
        for start in range(0, len(tasks), self._at_once):
            chunk = tasks[start : start + self._at_once]
            attempts = [self._attempt(window) for window in self._reader.load(chunk)]
            reach("extracted")
            self._append([outcome for outcome in attempts if outcome is not None])

    def _attempt(self, window: LoadedWindow) -> Outcome | None:
        """None: the window waits."""
        carried = self._carried(window.task, window.sources)
        try:
            with time_limit(self._seconds):
                return self._extract(window, carried)
        except Postponed as e:
            logger.warning("window %s waits: %s", window.task.window_id, e.message)
            return None
        except AnswerRefused as e:
            logger.error("window %s failed: %s", window.task.window_id, e.code)
            return self._refused(window, e)
        except Exception as e:
            error = _error_code(e)
            logger.error("window %s failed: %s at %s", window.task.window_id, error, _place(e))
            return Outcome(task=window.task, sources=window.sources, decisions={}, error=error)

    def _refused(self, window: LoadedWindow, refusal: AnswerRefused) -> Outcome:
        known = [e for e in (*window.context, *window.sources) if e.body is not None]
        return Outcome(
            task=window.task,
            sources=window.sources,
            context=window.context,
            decisions={},
            error=refusal.code,
            usage=refusal.usage,
            answer=None if self._answers is None else self._answers.keep(refusal.answer, known),
        )

    def _extract(self, window: LoadedWindow, carried: Mapping[str, NewEvent]) -> Outcome:
        task, sources, context = window.task, window.sources, window.context
        zone = zone_named(task.zone)
        refused = {e.event_id: reason for e in sources if (reason := self._refusal(e)) is not None}
        shown = shown_words(window.recalled)
        refused |= {
            e.event_id: ECHO
            for e in sources
            if e.event_id not in refused and repeats((e.body or {})["text"], e.origin, shown)
        }
        readable = {e.event_id: e for e in sources if e.event_id not in refused}
        if not readable:
            return Outcome(task=task, sources=sources, claims=list(carried.values()), decisions=refused)
        reading = self._extractor.extract(
            Window(
                namespace=sources[0].namespace,
                session=sources[0].session,
                utterances=[utterance(e, zone) for e in readable.values()],
                context=[utterance(e, zone) for e in context if self._refusal(e) is None],
                zone=zone,
            )
        )
        decisions = {d.event_id: d.reason for d in reversed(reading.decisions) if d.event_id in readable}
        claims = dict(carried)
        for claim in reading.claims:
            source = _quoted(claim, readable)
            if source is None:
                decisions[_blamed(claim, readable)] = "quote_not_in_source"
            else:
                bound = self._bind(task, claim, source)
                claims.setdefault(bound.event_id, bound)
        return Outcome(
            task=task, sources=sources, claims=list(claims.values()), decisions={**refused, **decisions},
            usage=reading.usage,
        )

    def _carried(self, task: Task, sources: Sequence[Event]) -> dict[str, NewEvent]:
        """By event id. Of what was forgotten itself, its facts alone."""
        found: dict[str, NewEvent] = {}
        if self._earlier is None:
            return found
        for source in (source for source in sources if source.erased):
            for claim in self._earlier(source.position):
                recorded = self._log.fetch(claim.position)
                if claim.forgotten is not None or recorded.body is not None:
                    copy = carried_event(
                        recorded, window_id=task.window_id, generation=self._generation, forgotten=claim.forgotten
                    )
                    found[copy.event_id] = copy
        return found

    def _refusal(self, event: Event) -> str | None:
        if event.body is None:
            return "erased"
        if not event.body.get("text"):
            return "no_text"
        return self._gate(event)

    def _bind(self, task: Task, claim: Claim, source: Event) -> NewEvent:
        speaker = speaker_of(source)
        if claim.said_by is None and speaker != "user":
            claim = replace(claim, said_by=speaker)
        facts = bind(
            claim,
            namespace=source.namespace,
            evidence=[source.event_id],
            known_from=source.recorded_at,
            strength=ORIGIN_STRENGTH[source.origin],
            registry=self._registry,
            fingerprints=self._fingerprints,
        )
        return claim_event(
            claim, facts, source=source, window_id=task.window_id, evidence=[source.event_id],
            generation=self._generation,
        )

    def _append(self, outcomes: Sequence[Outcome]) -> None:
        while outcomes:
            results = self._log.append_many([self._batch(outcome) for outcome in outcomes])
            again = [_after(outcome, result) for outcome, result in zip(outcomes, results, strict=True)]
            outcomes = [outcome for outcome in again if outcome is not None]

    def _batch(self, outcome: Outcome) -> Batch:
        first, task = outcome.sources[0], outcome.task
        ids = [e.event_id for e in outcome.sources]
        guard = completed_id(first.namespace, task.window_id, self._generation)
        if outcome.error is not None:
            failed = failed_event(
                namespace=first.namespace, session=first.session, window_id=task.window_id, event_ids=ids,
                attempt=task.attempt, error=outcome.error, generation=self._generation, usage=outcome.usage,
                answer=outcome.answer, evidence=_rests_on(outcome),
            )
            return Batch(events=[failed], guard=guard)
        completed = completed_event(
            namespace=first.namespace, session=first.session, window_id=task.window_id, event_ids=ids,
            claims=len(outcome.claims), decisions=outcome.decisions,
            extractor=f"{self._extractor.name}@{self._extractor.version}", generation=self._generation,
            usage=outcome.usage,
        )
        return Batch(events=[*outcome.claims, completed], guard=guard)


def _after(outcome: Outcome, result: Appended | Exception) -> Outcome | None:
    """What is still to be appended once the log has answered."""
    match result:
        case Appended():
            return None
        case Unavailable() | LogDamaged():
            raise result
        case EvidenceErased() if outcome.error is not None:
            return replace(outcome, answer=None)
        case EvidenceErased():
            kept = [c for i, c in enumerate(outcome.claims) if i not in result.refused]
            lost = {e: "erased" for i in result.refused for e in outcome.claims[i].evidence}
            return replace(outcome, claims=kept, decisions={**outcome.decisions, **lost})
        case _ if outcome.error is None:
            return replace(outcome, claims=(), error=_error_code(result))
        case _:
            logger.error("window %s: its failure is on the log already", outcome.task.window_id)
            return None


def _rests_on(outcome: Outcome) -> list[str]:
    """The words that a kept answer may repeat."""
    if outcome.answer is None:
        return []
    return [e.event_id for e in (*outcome.context, *outcome.sources) if e.body is not None]


def _quoted(claim: Claim, readable: Mapping[str, Event]) -> Event | None:
    """The event whose text holds the claim's quote where the claim says it does."""
    quote = claim.quote
    source = None if quote is None else readable.get(quote.event_id)
    if quote is None or source is None or source.body is None:
        return None
    text: str = source.body["text"]
    inside = 0 <= quote.start < quote.end <= len(text) and text[quote.start : quote.end] == quote.text
    return source if inside else None


def _blamed(claim: Claim, readable: Mapping[str, Event]) -> str:
    """The event that a refused claim is noted at: the one it names, else the window's first."""
    named = None if claim.quote is None else claim.quote.event_id
    return named if named is not None and named in readable else next(iter(readable))


def _error_code(e: Exception) -> str:
    if isinstance(e, TimeLimitExceeded):
        return "timeout"
    return e.slug if isinstance(e, TaishiError) else type(e).__name__


def _place(e: Exception) -> str:
    """File and line where it was raised: a message could hold words, a place cannot."""
    trace = e.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
