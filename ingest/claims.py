"""Claims: what an extractor or a caller says to be true, before and after it is bound to a slot.

`Claim` is the content (personal, encrypted). `ClaimFacts` is what the beliefs are folded from; it holds only keyed
fingerprints, ids and intervals, stays in the event's header and outlives the erasure of the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal

Modality = Literal["fact", "preference", "plan", "happening"]
Grain = Literal["instant", "minute", "hour", "day", "week", "month", "season", "year", "decade"]
TimeSource = Literal["stated", "inferred", "event"]

ORIGIN_STRENGTH: Final[Mapping[str, int]] = {
    "user_direct": 40, "import": 40, "user_quoted": 30, "tool": 20, "assistant": 20, "system": 20,
    "external": 10, "subagent": 0, "cron": 0, "heartbeat": 0,
}
"""Whose words outweigh whose in one slot (DESIGN §4). Equal numbers are ordered by time alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A span of one raw event's text that states the claim: `text == source[start:end]` (characters)."""

    event_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One reading of some words.

    `subject` is `user` for the one who speaks (or the speaker's name in a chat of several), else a name as it stands.
    `valid_from`/`valid_to` are instants, [from, to); None is unbounded. `to_inferred` is True where nobody stated the
    end. `occurs_from`/`occurs_to` say when a happening happened or a plan is for. `negated` is the polarity.
    `temporary` marks words such as "for now", `corrects` words such as "actually". One that only `succeeds`
    holds where it takes another claim's place (who moves, and worked in the old city, works in the new one), and
    nowhere else. `rule` names what read it.
    """

    subject: str
    predicate: str
    value: str
    quote: Quote | None = None
    negated: bool = False
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    modality: Modality = "fact"
    valid_from: int | None = None
    valid_to: int | None = None
    to_inferred: bool = True
    from_source: TimeSource = "event"
    grain: Grain = "instant"
    occurs_from: int | None = None
    occurs_to: int | None = None
    temporary: bool = False
    corrects: bool = False
    succeeds: bool = False
    transfer: bool = False
    importance: float = 0.5
    confidence: float = 1.0
    said_by: str | None = None
    rule: str = ""

    def to_body(self) -> dict[str, Any]:
        """JSON-ready content, defaults left out. `from_body` is its inverse."""
        body: dict[str, Any] = {"subject": self.subject, "predicate": self.predicate, "value": self.value}
        for name in _OPTIONAL:
            given = getattr(self, name)
            if given != _DEFAULTS[name]:
                body[name] = dict(given) if name == "qualifiers" else given
        if self.quote is not None:
            q = self.quote
            body["quote"] = [q.event_id, q.start, q.end, q.text]
        return body

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Claim:
        given = {name: body[name] for name in ("subject", "predicate", "value", *_OPTIONAL) if name in body}
        quote = body.get("quote")
        if quote is None:
            return cls(**given)
        event_id, start, end, text = quote
        return cls(**given, quote=Quote(event_id=event_id, start=start, end=end, text=text))


_OPTIONAL: Final = tuple(f.name for f in fields(Claim) if f.name not in {"subject", "predicate", "value", "quote"})
_DEFAULTS: Final = {name: getattr(Claim(subject="", predicate="", value=""), name) for name in _OPTIONAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFacts:
    """The skeleton of a claim. `slot` and `value` are 16-byte keyed fingerprints in hex.

    `negates` is True only in a single-valued slot: the claim says that `value` does not hold. In a many-valued slot
    the object is part of `slot` and `value` is the fingerprint of the polarity.
    `known_from` is the latest recorded_at of the evidence it needs; None (a claim stated by intent): its own event's
    recorded_at. `valid_from` None (stated by intent, without a beginning): likewise its own event's recorded_at, which
    the log sets after the header is written. `strength` as in `ORIGIN_STRENGTH`.
    `targets`/`was` carry a correction's verdict on other claims (a claim and its equals): `wrong` (never true) or
    `true_until` (this claim's valid_from). `subject` is a fingerprint as well, by which forgetting a subject reaches
    claims that are read later; claims of older releases have none.
    """

    claim_id: str
    slot: str
    value: str
    negates: bool
    valid_from: int | None
    valid_to: int
    to_inferred: bool
    known_from: int | None
    strength: int
    correction: bool = False
    from_inferred: bool = False
    succeeds: bool = False
    targets: tuple[str, ...] = ()
    was: Literal["wrong", "true_until"] | None = None
    subject: str | None = None

    def to_header(self) -> dict[str, Any]:
        """JSON-ready, without what is None or False."""
        return {k: v for k, v in asdict(self).items() if v is not None and v is not False and v != ()}

    @classmethod
    def from_header(cls, facts: Mapping[str, Any]) -> ClaimFacts:
        given = {f.name: facts[f.name] for f in fields(cls) if f.name in facts}
        given["targets"] = tuple(given.get("targets", ()))
        return cls(**{"negates": False, "to_inferred": False, "known_from": None, "valid_from": None, **given})
