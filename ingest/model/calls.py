"""Calls that are paid for: budget, breaker, retries with backoff, and what they took in the end.

Every call is reserved before it is made and settled however it ends. A call that brought no reply is tried again within
the time there is; then the window waits (Postponed). What a reply costs is reckoned from the provider's count of
tokens; where that is missing, or a reply may have been made that never came, the whole reservation counts.
"""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from ..budget import Budget, Reservation, Spent, decimal
from ..errors import AnswerRefused, Postponed
from .breaker import Breaker
from .chat import Chat, Message, Outage, Reply
from .repair import Unreadable

_FRAMING: Final = 512
"""Tokens that a provider may add to what it is sent."""
_KEPT: Final = 64
T = TypeVar("T")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often one call is tried, and the seconds before the second try, which double up to `longest`."""

    tries: int = 3
    first: float = 0.5
    longest: float = 8.0


@dataclass(slots=True, kw_only=True)
class Bill:
    """What a window's calls took. `cost` in pico-units."""

    model: str
    prompt: str
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0
    milliseconds: int = 0
    kept: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """JSON-ready; `cost` is exact decimal text in units of currency."""
        return {
            "model": self.model, "prompt": self.prompt, "calls": self.calls, "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out, "cost": decimal(self.cost), "ms": self.milliseconds,
        }


class Caller:
    """Answers of a window that must wait half read are kept in memory, so that no call is paid twice."""

    def __init__(
        self,
        chat: Chat,
        budget: Budget,
        *,
        patience: Patience | None = None,
        breaker: Breaker | None = None,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._chat = chat
        self._budget = budget
        self._patience = patience or Patience()
        self._breaker = breaker or Breaker()
        self._sleep = sleep
        self._chance = chance
        self._answers: OrderedDict[str, Any] = OrderedDict()

    def bill(self, prompt: str) -> Bill:
        return Bill(model=self._chat.provider.model, prompt=prompt)

    def ask(
        self,
        namespace: str,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        read: Callable[[str], T],
        *,
        bill: Bill,
        deadline: float,
    ) -> T:
        """What `read` makes of the answer; it raises Unreadable. `deadline` in monotonic seconds.

        Raises Postponed, AnswerRefused with the bill so far.
        """
        request = self._chat.request(messages, schema)
        name = hashlib.sha256(namespace.encode() + b"\x00" + request).hexdigest()
        bill.kept.append(name)
        if name in self._answers:
            return self._answers[name]  # type: ignore[no-any-return]
        failures = 0
        while True:
            try:
                answer = self._once(namespace, request, read, bill, deadline)
            except Outage as outage:
                failures += 1
                pause = self._pause(failures, outage)
                hopeless = failures >= self._patience.tries or not outage.again
                if hopeless or time.monotonic() + pause > deadline or self._breaker.open_for:
                    raise Postponed(f"the model cannot be had ({outage.code})", code=outage.code) from None
                self._sleep(pause)
            else:
                self._answers[name] = answer
                while len(self._answers) > _KEPT:
                    self._answers.popitem(last=False)
                return answer

    def done(self, bill: Bill) -> None:
        """The window's answers were used, or were found useless: they are not needed again."""
        for name in bill.kept:
            self._answers.pop(name, None)

    def _once(
        self, namespace: str, request: bytes, read: Callable[[str], T], bill: Bill, deadline: float
    ) -> T:
        if wait := self._breaker.open_for:
            raise Postponed(f"the model was down and is left alone for {wait:.0f} s", code="outage.breaker")
        seconds = min(self._chat.provider.seconds, deadline - time.monotonic())
        if seconds <= 0:
            raise Postponed("the window's time is over: the rest of it is read next time", code="outage.no_time")
        prices = self._chat.provider.prices
        most = None if prices is None else prices.of(len(request) + _FRAMING, self._chat.provider.most_out)
        reservation = self._budget.reserve(namespace=namespace, model=self._chat.provider.model, most=most)
        began = time.monotonic()
        try:
            reply = self._chat.ask(request, seconds=seconds)
            answer = self._read(reply, read)
        except Outage as outage:
            self._settle(reservation, bill, began, outage.code, cost=None if outage.billed else 0)
            self._breaker.failed(retry_after=outage.retry_after)
            raise
        except AnswerRefused as refused:
            self._breaker.succeeded()
            tokens = None if refused.usage is None else (refused.usage["tokens_in"], refused.usage["tokens_out"])
            free = 0 if refused.code == "model.refused" else None
            self._settle(reservation, bill, began, refused.code, cost=free, tokens=tokens)
            raise AnswerRefused(refused.code, answer=refused.answer, usage=bill.facts()) from None
        except BaseException:
            self._settle(reservation, bill, began, "interrupted", cost=None)
            raise
        self._breaker.succeeded()
        self._settle(reservation, bill, began, "ok", cost=None, tokens=reply.tokens)
        return answer

    @staticmethod
    def _read(reply: Reply, read: Callable[[str], T]) -> T:
        try:
            return read(reply.text)
        except Unreadable as e:
            tokens = reply.tokens
            usage = None if tokens is None else {"tokens_in": tokens[0], "tokens_out": tokens[1]}
            raise AnswerRefused(f"model.{e.code}", answer=reply.raw, usage=usage) from None

    def _settle(
        self,
        reservation: Reservation,
        bill: Bill,
        began: float,
        outcome: str,
        *,
        cost: int | None,
        tokens: tuple[int, int] | None = None,
    ) -> None:
        """`cost` None: by the tokens, all that was put aside where these are not known."""
        prices = self._chat.provider.prices
        if cost is None and tokens is not None and prices is not None:
            cost = prices.of(*tokens)
        counted = tokens or (0, 0)
        milliseconds = round((time.monotonic() - began) * 1_000)
        spent = Spent(
            outcome=outcome, milliseconds=milliseconds, cost=cost, tokens_in=counted[0], tokens_out=counted[1]
        )
        bill.cost += self._budget.settle(reservation, spent)
        if cost is not None and cost > reservation.most:
            logger.error("a call cost more than it could: %s counts more tokens than it was sent", bill.model)
        bill.calls += 1
        bill.tokens_in += counted[0]
        bill.tokens_out += counted[1]
        bill.milliseconds += milliseconds

    def _pause(self, failures: int, outage: Outage) -> float:
        """Full jitter over a doubling pause; no shorter than the provider asks for."""
        widest = min(self._patience.first * 2 ** (failures - 1), self._patience.longest)
        return float(max(outage.retry_after, widest * (0.5 + 0.5 * self._chance())))
