"""Money is exact, put aside before it is spent, and never passes a cap, however many spend at once."""

import multiprocessing
import os
import random
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.ingest.budget import UNIT, Caps, OverBudget, Prices, Reservation, Spent, decimal, pico
from taishi.ingest.errors import ConfigurationError, Postponed
from taishi.ingest.instants import DAY, SECOND
from taishi.ingest.sqlalchemy_budget import ABANDONED, LEASE, SqlAlchemyBudget

NOON = 1_772_625_600 * SECOND  # 2026-03-04T12:00Z
TODAY = "2026-03-04"


class Ledger(SqlAlchemyBudget):
    def __init__(self, path: Path, *, daily: int | None = 100, per_namespace: int | None = None) -> None:
        self.now = NOON
        super().__init__(path, Caps(daily=daily, per_namespace=per_namespace), clock=lambda: self.now)

    def take(self, most: int | None, namespace: str = "n") -> Reservation:
        return self.reserve(namespace=namespace, model="m", most=most)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "sub" / "ledger.db", per_namespace=60)
    yield ledger
    ledger.close()


def test_a_price_is_exact() -> None:
    prices = Prices.per_million(Decimal("0.15"), Decimal("0.000001"))
    assert prices.of(1, 0) == 150_000
    assert prices.of(0, 1_000_000) == pico(Decimal("0.000001"))
    assert decimal(prices.of(1_000_000, 0)) == "0.15"
    assert (decimal(0), decimal(UNIT), decimal(10 * UNIT), decimal(1)) == ("0", "1", "10", "0.000000000001")


@pytest.mark.parametrize("amount", ["-1", "NaN", "Infinity", "0.0000000000001"])
def test_what_is_no_amount_is_refused(amount: str) -> None:
    with pytest.raises(ConfigurationError):
        pico(Decimal(amount))


def test_a_price_too_fine_to_be_exact_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        Prices.per_million(Decimal("0.0000001"), Decimal(1))


def test_what_is_put_aside_counts_until_it_is_settled(ledger: Ledger) -> None:
    first = ledger.take(60)
    with pytest.raises(OverBudget):
        ledger.take(41, "other")
    assert ledger.settle(first, Spent(outcome="ok", milliseconds=5, cost=10, tokens_in=3, tokens_out=4)) == 10
    ledger.take(60, "other")
    assert (ledger.spent(day=TODAY), ledger.spent(day=TODAY, namespace="n")) == (70, 10)


def test_a_namespace_has_its_own_cap(ledger: Ledger) -> None:
    ledger.take(60)
    with pytest.raises(OverBudget) as raised:
        ledger.take(1)
    assert raised.value.details["cap"] == "namespace"
    assert isinstance(raised.value, Postponed)
    ledger.take(40, "other")


def test_the_cap_itself_may_be_spent_and_no_more(ledger: Ledger) -> None:
    ledger.take(60)
    ledger.take(40, "other")
    with pytest.raises(OverBudget) as raised:
        ledger.take(1, "third")
    assert raised.value.details["cap"] == "daily"


def test_what_has_no_price_is_not_bought(ledger: Ledger) -> None:
    with pytest.raises(OverBudget) as raised:
        ledger.take(None)
    assert raised.value.details["cap"] == "price"
    ledger.take(0)
    assert [(r.cap, r.times) for r in ledger.refusals(since=date(2026, 3, 4))] == [("price", 1)]


def test_unknown_cost_is_the_whole_price(ledger: Ledger) -> None:
    assert ledger.settle(ledger.take(60), Spent(outcome="model.slow", milliseconds=1)) == 60
    assert ledger.spent(day=TODAY) == 60


def test_a_new_day_has_a_new_cap(ledger: Ledger) -> None:
    late = ledger.take(60)
    ledger.now += DAY
    ledger.take(60)
    ledger.settle(late, Spent(outcome="ok", milliseconds=1, cost=5))
    assert (ledger.spent(day=TODAY), ledger.spent(day="2026-03-05")) == (5, 60)
    assert len(ledger.calls(since=date(2026, 3, 5))) == 1


def _die(path: Path) -> None:
    Ledger(path).take(60)
    os._exit(9)


def test_a_dead_process_is_charged_in_full(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    dying = multiprocessing.get_context("spawn").Process(target=_die, args=(path,))
    dying.start()
    dying.join(60)
    assert dying.exitcode == 9
    ledger = Ledger(path)
    with pytest.raises(OverBudget):
        ledger.take(41)
    ledger.now += LEASE + 1
    ledger.take(40)
    calls = ledger.calls(since=date(2026, 3, 4))
    assert [(call.outcome, call.amount) for call in calls] == [(ABANDONED, 60), (None, 40)]
    ledger.close()


@settings(max_examples=30, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 50), st.floats(0, 1), st.booleans()), min_size=1, max_size=40
    ),
    daily=st.integers(0, 200),
    per_namespace=st.integers(0, 120),
)
def test_any_order_of_reserving_and_settling_keeps_within_the_caps(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int, float, bool]],
    daily: int,
    per_namespace: int,
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.db"
    ledger = Ledger(path, daily=daily, per_namespace=per_namespace)
    held: list[Reservation] = []
    mine: dict[str, int] = {"a": 0, "b": 0}
    for namespace, most, share, settles in steps:
        fits = sum(mine.values()) + most <= daily and mine[namespace] + most <= per_namespace
        try:
            reservation = ledger.take(most, namespace)
        except OverBudget:
            assert not fits
            continue
        assert fits
        if settles:
            mine[namespace] += ledger.settle(
                reservation, Spent(outcome="ok", milliseconds=0, cost=int(most * share))
            )
        else:
            mine[namespace] += most
            held.append(reservation)
    assert ledger.spent(day=TODAY) == sum(mine.values()) <= daily
    ledger.close()


def _spend(path: Path, seed: int, tries: int) -> None:
    """Calls of which some are never settled, some cost less and some all that they may."""
    chance = random.Random(seed)
    ledger = Ledger(path, daily=5_000, per_namespace=1_500)
    for _ in range(tries):
        most = chance.randrange(1, 120)
        try:
            reservation = ledger.take(most, f"n{chance.randrange(5)}")
        except OverBudget:
            continue
        if chance.random() < 0.9:
            cost = None if chance.random() < 0.3 else chance.randrange(most + 1)
            ledger.settle(reservation, Spent(outcome="ok", milliseconds=0, cost=cost))
    ledger.close()


def test_eight_processes_together_never_pass_a_cap(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = Ledger(path, daily=5_000, per_namespace=1_500)
    context = multiprocessing.get_context("spawn")
    spending = [context.Process(target=_spend, args=(path, seed, 100)) for seed in range(8)]
    for process in spending:
        process.start()
    most_seen = 0
    while any(process.is_alive() for process in spending):
        spent = ledger.spent(day=TODAY)
        most_seen = max(most_seen, spent)
        assert spent <= 5_000
        for n in range(5):
            assert ledger.spent(day=TODAY, namespace=f"n{n}") <= 1_500
    assert all(process.exitcode == 0 for process in spending)
    assert 4_800 < ledger.spent(day=TODAY) <= 5_000
    assert sum(refusal.times for refusal in ledger.refusals(since=date(2026, 3, 4))) > 0
    ledger.close()
