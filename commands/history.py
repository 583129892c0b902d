"""A namespace's own history as it is brought from an export: every kind of event, with the times it was recorded.

References are by event id, which an import keeps: a claim is named by the event that states it. Fingerprints, claim
ids, positions and keys are the importing deployment's own and are made anew. Instants within `body` and `claim` are
whole microseconds since 1970 UTC (253402300800000000: an end that has not come; -62135596800000000: no beginning).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, Field, JsonValue

from taishi.ingest.claims import Grain, Modality, TimeSource
from taishi.ingest.envelope import CLAIM_TYPES, FORGETTING_TYPES, RAW_TYPES
from taishi.ingest.instants import BEGINNING, FOREVER
from taishi.ingest.names import MAX_NAME, Name, Namespace
from taishi.ingest.web import Contract

from .contract import MAX_TEXT, Metadata, OriginName, Reason, RoleName, SessionKindName, Time
from .publish import EventId

MAX_LINES: Final = 1_000
HistoryType = Literal[
    "message.recorded", "tool.called", "tool.returned", "operation.recorded", "document.recorded",
    "claim.extracted", "claim.asserted", "claim.corrected", "extraction.completed", "window.skipped",
    "claim.confirmed", "claim.retracted", "conflict.resolved", "dedup.judged", "feedback.given", "memory.recalled",
    "claim.expired", "claim.archived", "claim.revived", "claim.forgotten", "scope.forgotten",
    "entity.aliased", "entity.merged", "entity.split", "namespace.configured",
]  # fmt: skip
HISTORY_TYPES: Final = frozenset(get_args(HistoryType))
assert RAW_TYPES | CLAIM_TYPES | FORGETTING_TYPES < HISTORY_TYPES

Instant = Annotated[int, Field(ge=BEGINNING, le=FOREVER)]
Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Ids = Annotated[list[EventId], Field(max_length=2_000)]
Words = Annotated[str, Field(max_length=MAX_TEXT)]


class WordsBody(Contract):
    """What a raw event holds."""

    text: Words = ""
    metadata: Metadata | None = None
    speaker: Name | None = None


class ClaimBody(Contract):
    """What a claim holds; `quote` is event id, start, end (characters), words."""

    subject: Annotated[str, Field(max_length=MAX_NAME)]
    predicate: Annotated[str, Field(max_length=MAX_NAME)]
    value: Words
    quote: tuple[EventId, int, int, Words] | None = None
    negated: bool = False
    qualifiers: dict[str, str] = Field(default_factory=dict)
    modality: Modality = "fact"
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    to_inferred: bool = True
    from_source: TimeSource = "event"
    grain: Grain = "instant"
    occurs_from: Instant | None = None
    occurs_to: Instant | None = None
    temporary: bool = False
    corrects: bool = False
    succeeds: bool = False
    transfer: bool = False
    importance: Annotated[float, Field(ge=0, le=1)] = 0.5
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    said_by: Words | None = None
    rule: Annotated[str, Field(max_length=MAX_NAME)] = ""
    reason: Reason | None = None


class ClaimSkeleton(Contract):
    """What of a claim outlives its words. `slot`, `value` and `negates` are of the exporting deployment; where the
    words are erased, `slot_like` and `value_like` are living claims of the same slot, and of the same value in it."""

    slot: Fingerprint
    value: Fingerprint
    negates: bool = False
    valid_from: Instant | None = None
    valid_to: Instant
    to_inferred: bool = False
    from_inferred: bool = False
    known_from: Instant | None = None
    strength: Annotated[int, Field(ge=0, le=100)]
    correction: bool = False
    succeeds: bool = False
    targets: Ids = Field(default_factory=list)
    was: Literal["wrong", "true_until"] | None = None
    slot_like: ClaimBody | None = None
    value_like: ClaimBody | None = None


class HistoryActor(Contract):
    id: Name | None = None
    role: RoleName = "user"


class HistoryEvent(Contract):
    """`body` null: its words were forgotten. `read` says of a raw event that what was read of it comes along, `carried`
    of a claim that the words it rests on were forgotten before it was stated. `facts` are the type's own."""

    event_id: EventId
    type: HistoryType
    recorded_at: Time
    session: Name | None = None
    actor: HistoryActor = HistoryActor()
    origin: OriginName = "user_direct"
    session_kind: SessionKindName = "chat"
    occurred_at: Time | None = None
    correlation_id: EventId | None = None
    causation_id: EventId | None = None
    evidence: Ids = Field(default_factory=list)
    read: bool = False
    carried: bool = False
    claim: ClaimSkeleton | None = None
    facts: dict[str, JsonValue] = Field(default_factory=dict)
    body: dict[str, Any] | None = None


class History(Contract):
    """Events of one namespace, in the order they were recorded."""

    namespace: Namespace
    events: Annotated[list[HistoryEvent], Field(min_length=1, max_length=MAX_LINES)]


class ReplayedEvent(BaseModel):
    event_id: str
    position: str
    duplicate: bool


class Replayed(BaseModel):
    accepted: list[ReplayedEvent]


class Facts(Contract):
    """What `facts` may hold, by type; none where it says nothing else."""

    def claims_named(self) -> Sequence[str]:
        """Events that state the claims it speaks of."""
        return ()

    def events_named(self) -> Sequence[str]:
        """Events whose places it tells."""
        return ()


class Confirmed(Facts):
    claim: EventId

    def claims_named(self) -> Sequence[str]:
        return [self.claim]


class Retracted(Facts):
    targets: Ids
    was: Literal["wrong", "retracted"] | None = None

    def claims_named(self) -> Sequence[str]:
        return self.targets


class Resolved(Facts):
    """`slot` is named by a claim in it."""

    slot: EventId
    winner: EventId | None = None
    coexist: bool = False
    claims: Ids

    def claims_named(self) -> Sequence[str]:
        return [self.slot, *self.claims, *([self.winner] if self.winner else [])]


class Judged(Facts):
    claims: Annotated[list[EventId], Field(min_length=2, max_length=2)]
    verdict: Literal["merge", "keep"]

    def claims_named(self) -> Sequence[str]:
        return self.claims


class Rated(Facts):
    exposure: Annotated[str, Field(max_length=64)]
    helpful: bool


class Shown(Contract):
    """A memory that was shown: the event that it is, or that states it."""

    event: EventId
    kind: Literal["claim", "event"]


class Recalled(Facts):
    exposure: Annotated[str, Field(max_length=64)]
    shown: Annotated[list[Shown], Field(max_length=2_000)]
    reader: dict[str, JsonValue] = Field(default_factory=dict)
    told: dict[str, JsonValue] | None = None

    def claims_named(self) -> Sequence[str]:
        return [one.event for one in self.shown if one.kind == "claim"]


class Faded(Facts):
    claims: Ids
    events: Ids
    reason: Annotated[str, Field(max_length=MAX_NAME)]
    since: Instant

    def claims_named(self) -> Sequence[str]:
        return self.claims

    def events_named(self) -> Sequence[str]:
        return self.events


class Forgotten(Facts):
    kind: Annotated[str, Field(max_length=20)]
    claims: Ids
    events: Ids

    def claims_named(self) -> Sequence[str]:
        return self.claims

    def events_named(self) -> Sequence[str]:
        return self.events


class Closed(Facts):
    window: Annotated[str, Field(max_length=64)]
    events: Ids
    claims: int = 0
    decisions: dict[EventId, Annotated[str, Field(max_length=MAX_NAME)]] = Field(default_factory=dict)
    extractor: Annotated[str, Field(max_length=MAX_NAME)] | None = None
    usage: dict[str, JsonValue] | None = None


class Remark(Contract):
    """What callers said beside: a `reason` for a command, a `note` with feedback."""

    reason: Reason | None = None
    note: Reason | None = None


class Aliased(Contract):
    name: Name
    of: Name


class Merged(Contract):
    name: Name
    into: Name


class Parted(Contract):
    name: Name


FACTS: Final[dict[str, type[Facts]]] = {
    "claim.confirmed": Confirmed, "claim.retracted": Retracted, "conflict.resolved": Resolved,
    "dedup.judged": Judged, "feedback.given": Rated, "memory.recalled": Recalled,
    "claim.expired": Faded, "claim.archived": Faded, "claim.revived": Faded,
    "claim.forgotten": Forgotten, "scope.forgotten": Forgotten,
    "extraction.completed": Closed, "window.skipped": Closed,
}  # fmt: skip
BODIES: Final[dict[str, type[Contract]]] = {
    **dict.fromkeys(RAW_TYPES, WordsBody), **dict.fromkeys(CLAIM_TYPES, ClaimBody),
    "entity.aliased": Aliased, "entity.merged": Merged, "entity.split": Parted,
}  # fmt: skip
"""Types whose bodies are more than a remark."""
