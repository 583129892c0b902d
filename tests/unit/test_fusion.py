"""Fusion's proportions: what may outweigh what."""

from __future__ import annotations

from taishi.ingest.instants import DAY
from taishi.queries.fence import Side
from taishi.queries.fusion import SUMMANDS, Signals, dense_lift, parts


def total(**given) -> float:
    return sum(parts(Signals(**given)).values())


def test_small_signals_order_near_equals_and_never_outweigh_words():
    everything = total(lexical=0.5, claim=True, importance=1.0, subject=True)
    assert everything > total(lexical=0.5)
    assert total(lexical=0.75, age=10_000 * DAY, importance=0.0) > everything - 0.01


def test_newer_comes_before_older_and_old_age_costs_little():
    ages = [total(lexical=0.4, age=days * DAY) for days in (0, 30, 365, 3650)]
    assert ages == sorted(ages, reverse=True)
    assert ages[0] - ages[-1] < 0.05


def test_outside_the_fence_sinks_below_inside():
    assert total(lexical=0.6, side=Side.INSIDE) > total(lexical=0.9, side=Side.OUTSIDE)


def test_what_no_longer_holds_ranks_below_what_does():
    assert total(lexical=0.5, claim=True) > total(lexical=0.6, claim=True, holds=False)


def test_dense_scores_are_lifts_over_the_background():
    assert -0.3 < dense_lift(0.2, mean=0.3, deviation=0.1) < dense_lift(0.3, mean=0.3, deviation=0.1) == 0.0
    assert dense_lift(0.5, mean=0.3, deviation=0.1) == 0.5
    assert dense_lift(0.99, mean=0.3, deviation=0.0) == 1.0


def test_every_summand_is_a_channel_that_can_be_left_out():
    signals = Signals(
        lexical=0.5, dense=0.5, slot=True, subject=True, side=Side.INSIDE, newness=1.0, importance=0.9, claim=True,
        holds=False, in_span=True, assistant=True, activation=0.4, verdicts=-1, kind=0.03, around=0.2,
        session=-0.1, asks_back=True, by_named=True, standing=0,
    )  # fmt: skip
    assert sorted(parts(signals)) == sorted(SUMMANDS)
    for channel in SUMMANDS:
        assert set(parts(signals, ablated={channel})) == set(SUMMANDS) - {channel}
