"""Money: what a call may cost at most is put aside before it is made, and what it did cost is settled after.

Amounts are exact: whole pico-units (10⁻¹²) of the currency that prices are given in, so that one token at a price per
million with six decimals is a whole number. A call that cannot be priced, or that would pass a cap if it cost all it
may, is not made. Adapter: `sqlalchemy_budget`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Protocol

from .errors import ConfigurationError, Postponed

UNIT: Final = 10**12
"""Pico-units in one unit of currency."""
_PER_MILLION: Final = 10**6


class OverBudget(Postponed):
    """The call would pass a cap, or has no price. `details["cap"]` says which."""

    slug = "over-budget"


def pico(amount: Decimal) -> int:
    """Raises ConfigurationError on an amount finer than a pico-unit, negative or not finite."""
    scaled = amount * UNIT if amount.is_finite() else Decimal("NaN")
    if not scaled.is_finite() or scaled < 0 or scaled != scaled.to_integral_value():
        raise ConfigurationError("an amount of money is a decimal number, not negative, of at most twelve decimals")
    return int(scaled)


def decimal(amount: int) -> str:
    """An amount in pico-units as exact decimal text in units of currency."""
    text = f"{amount // UNIT}.{amount % UNIT:012d}".rstrip("0")
    return text.rstrip(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Pico-units a token."""

    tokens_in: int
    tokens_out: int

    @classmethod
    def per_million(cls, tokens_in: Decimal, tokens_out: Decimal) -> Prices:
        """Raises ConfigurationError where a price has more than six decimals."""
        both = [pico(price) for price in (tokens_in, tokens_out)]
        if any(price % _PER_MILLION for price in both):
            raise ConfigurationError("a price per million tokens has at most six decimals")
        return cls(tokens_in=both[0] // _PER_MILLION, tokens_out=both[1] // _PER_MILLION)

    def of(self, tokens_in: int, tokens_out: int) -> int:
        return tokens_in * self.tokens_in + tokens_out * self.tokens_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Pico-units a day (UTC), of all namespaces together and of each. None: no such cap."""

    daily: int | None
    per_namespace: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a call may cost at most is put aside. `most` in pico-units."""

    call_id: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """How a call ended. `cost` None: not known, the whole reservation counts. `outcome`: `ok` or an error's code."""

    outcome: str
    milliseconds: int
    cost: int | None = None
    tokens_in: int = 0
    tokens_out: int = 0


class Budget(Protocol):
    """Safe to use from several threads and processes at once."""

    def reserve(self, *, namespace: str, model: str, most: int | None) -> Reservation:
        """Raises OverBudget where `most` is None (no price is known) or would pass a cap; Unavailable."""
        ...

    def settle(self, reservation: Reservation, spent: Spent) -> int:
        """What the call cost in pico-units. A reservation that nobody settles counts in full for ever."""
        ...


Clock = Callable[[], int]
"""The present instant."""
