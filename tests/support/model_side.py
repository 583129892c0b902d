"""A model extractor against the stand-in, with a purse that is never empty unless a test says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from taishi.ingest.budget import OverBudget, Prices, Reservation, Spent
from taishi.ingest.extractor import Utterance, Window
from taishi.ingest.model import ModelExtractor
from taishi.ingest.model.breaker import Breaker
from taishi.ingest.model.calls import Caller, Patience
from taishi.ingest.model.chat import Chat
from taishi.ingest.model.provider import Provider, provider
from tests.support.chat_server import ChatServer

SHANGHAI = timezone(timedelta(hours=8))
WEDNESDAY = datetime(2026, 3, 4, 9, 30, tzinfo=SHANGHAI)
PRICES = Prices.per_million(Decimal("0.5"), Decimal(2))


@dataclass
class Purse:
    """Implements `budget.Budget` in memory."""

    left: int | None = None
    settled: list[Spent] = field(default_factory=list)
    reserved: list[int] = field(default_factory=list)

    def reserve(self, *, namespace: str, model: str, most: int | None) -> Reservation:
        if most is None or (self.left is not None and most > self.left):
            raise OverBudget("no")
        self.reserved.append(most)
        return Reservation(call_id=len(self.reserved), most=most)

    def settle(self, reservation: Reservation, spent: Spent) -> int:
        self.settled.append(spent)
        return reservation.most if spent.cost is None else spent.cost


def provider_of(server: ChatServer, **given: Any) -> Provider:
    return provider(**{
        "model": "m", "base_url": server.base_url, "api_key": "k", "seconds": 1.0, "prices": PRICES, **given,
    })


def caller_of(server: ChatServer, purse: Purse | None = None, **given: Any) -> Caller:
    return Caller(
        Chat(provider_of(server, **given)),
        purse or Purse(),
        patience=Patience(tries=3, first=0.01, longest=0.02),
        breaker=Breaker(after=6, first=0.2, longest=0.4),
    )


def utterance(text: str, event_id: str = "a", **given: Any) -> Utterance:
    return Utterance(**{"event_id": event_id, "text": text, "said_at": WEDNESDAY, **given})


def window(*said: str | Utterance, context: Sequence[Utterance] = (), namespace: str = "n") -> Window:
    named = [
        utterance(one, event_id=f"event-{i}") if isinstance(one, str) else one for i, one in enumerate(said, 1)
    ]
    return Window(namespace=namespace, session="s", utterances=named, context=context, zone=SHANGHAI)


def extractor_of(server: ChatServer, purse: Purse | None = None, **given: Any) -> ModelExtractor:
    own = {name: given.pop(name) for name in ("least", "seconds_a_window", "most_calls", "mode") if name in given}
    if "seconds_a_window" in own:
        own["seconds"] = own.pop("seconds_a_window")
    return ModelExtractor(caller_of(server, purse, **given), **{"least": 0, **own})
