"""Beliefs against a brute-force oracle, and the worked examples of the design by hand."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.ingest.instants import FOREVER
from taishi.projections.beliefs import Change, Rectangle, Removal, SlotHistory, Statement, admit, remove, replay

_path = Path(__file__).parents[1] / "oracles" / "slot.py"
_spec = importlib.util.spec_from_file_location("slot_oracle", _path)
assert _spec and _spec.loader
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


def statement(
    claim: int, value: str, start: int, end: int | None = None, *, known: int | None = None, **more
) -> Statement:
    return Statement(
        claim=claim,
        value=value,
        negates=more.get("negates", False),
        start=start,
        end=FOREVER if end is None else end,
        end_inferred=end is None and more.get("end_inferred", True),
        known=claim if known is None else known,
        strength=more.get("strength", 40),
        correction=more.get("correction", False),
        source=more.get("source", claim),
    )


def believed(history: SlotHistory, *, valid: int, known: int | None = None) -> set[int]:
    now = {r.claim for r in history.open if r.start <= valid < r.end and (known is None or r.known <= known)}
    if known is None:
        return now
    return now | {r.claim for r in history.closed if r.start <= valid < r.end and r.known <= known < r.until}


@st.composite
def operations(draw):
    count = draw(st.integers(1, 8))
    claims = []
    for n in range(1, count + 1):
        start = draw(st.integers(0, 10))
        end = draw(st.one_of(st.none(), st.integers(start + 1, 13)))
        claims.append(
            statement(
                n,
                draw(st.sampled_from("ABC")),
                start,
                end,
                known=draw(st.integers(1, 6)),
                negates=draw(st.sampled_from([False, False, False, True])),
                strength=draw(st.sampled_from([10, 40, 40, 40])),
                correction=draw(st.sampled_from([False, False, False, True])),
                source=draw(st.integers(1, count)),
                end_inferred=draw(st.sampled_from([True, True, True, False])),
            )
        )
    removals = []
    for n in range(draw(st.integers(0, 3))):
        target = draw(st.sampled_from(claims))
        removals.append(Removal(frozenset({target.claim}), "forgotten", draw(st.integers(target.known, 7)), 100 + n))
    return claims, removals


def as_oracle(claims, removals):
    return (
        [
            {
                "claim": c.claim,
                "value": c.value,
                "negates": c.negates,
                "start": c.start,
                "end": min(c.end, oracle.END),
                "open": c.end_inferred,
                "known": c.known,
                "strength": c.strength,
                "correction": c.correction,
                "source": c.source,
            }
            for c in claims
        ],
        [{"claims": set(r.claims), "known": r.known} for r in removals],
    )


@settings(max_examples=1500, deadline=None)
@given(operations())
def test_every_point_equals_the_oracle(case):
    claims, removals = case
    history = replay(claims, removals)
    plain = as_oracle(claims, removals)
    for known in range(9):
        for valid in range(oracle.HORIZON + 1):
            want = oracle.believed(*plain, valid=valid, known=known)
            assert believed(history, valid=valid, known=known) == want, (valid, known)
    assert all(c.known < c.until for c in history.closed)
    for valid in range(oracle.HORIZON + 1):
        assert believed(history, valid=valid) == believed(history, valid=valid, known=99)


@settings(max_examples=500, deadline=None)
@given(operations(), st.randoms(use_true_random=False))
def test_the_set_decides_not_the_order_of_arrival(case, rng):
    claims, removals = case
    shuffled, again = list(claims), list(removals)
    rng.shuffle(shuffled)
    rng.shuffle(again)
    assert replay(shuffled, again) == replay(claims, removals)


@settings(max_examples=500, deadline=None)
@given(operations())
def test_one_by_one_equals_replay(case):
    """What a live fold does (cut only what overlaps) gives the open rectangles of a replay."""
    claims, removals = case
    steps = sorted([*claims, *removals], key=lambda step: step.order)
    open_: set[Rectangle] = set()
    folded: dict[int, Statement] = {}
    for step in steps:
        if isinstance(step, Removal):
            for claim in step.claims:
                folded.pop(claim, None)
            change: Change = remove(step, sorted(open_), list(folded.values()))
        else:
            folded[step.claim] = step
            change = admit(step, [r for r in sorted(open_) if r.start < step.end and r.end > step.start], folded)
        assert set(change.shut) <= open_
        open_ = (open_ - set(change.shut)) | set(change.opened)
    assert open_ == set(replay(claims, removals).open)


def test_the_move_told_late():
    march, may, august = 3, 5, 8
    history = replay([statement(1, "Hangzhou", march, known=march), statement(2, "Beijing", may, known=august)], [])
    assert believed(history, valid=4) == {1}
    assert believed(history, valid=6, known=6) == {1}
    assert believed(history, valid=6) == {2}
    assert believed(history, valid=9) == {2}
    assert [(k.old, k.new, k.rule) for k in history.links] == [(1, 2, "began_later")]


def test_an_end_nobody_stated_yields_to_what_begins_later():
    history = replay([statement(1, "Beijing", 2020), statement(2, "Hangzhou", 2015)], [])
    assert believed(history, valid=2026) == {1}
    assert believed(history, valid=2016) == {2}


def test_a_stay_with_both_ends_hands_back():
    history = replay([statement(1, "dark", 10), statement(2, "light", 20, 30)], [])
    assert [believed(history, valid=v) for v in (15, 25, 35)] == [{1}, {2}, {1}]


def test_external_words_never_take_from_the_users_own():
    history = replay([statement(1, "blue", 10), statement(2, "red", 20, strength=10)], [])
    assert believed(history, valid=30) == {1}
    history = replay([statement(1, "red", 10, strength=10), statement(2, "blue", 20)], [])
    assert believed(history, valid=30) == {2}


def test_forgetting_gives_back_what_was_displaced_from_then_on():
    history = replay(
        [statement(1, "Bonn", 10), statement(2, "Graz", 20)], [Removal(frozenset({2}), "forgotten", 50, 50)]
    )
    assert believed(history, valid=30) == {1}
    assert believed(history, valid=30, known=40) == {2}
    assert [(k.old, k.new, k.rule) for k in history.links][-1] == (2, None, "forgotten")


def test_found_wrong_stays_wrong_when_its_correction_is_forgotten():
    claims = [statement(1, "03-12", 10), statement(2, "12-03", 10, known=20, correction=True)]
    wrong = Removal(frozenset({1}), "wrong", 20, 2, successor=2)
    assert believed(replay(claims, [wrong]), valid=30) == {2}
    forgotten = Removal(frozenset({2}), "forgotten", 40, 40)
    assert believed(replay(claims, [wrong, forgotten]), valid=30) == set()


def test_equal_times_are_contested_unless_one_event_says_both():
    both = [statement(1, "1111", 10, known=10), statement(2, "2222", 10, known=10)]
    assert believed(replay(both, []), valid=20) == {1, 2}
    one_event = [both[0]._replace(source=7), both[1]._replace(source=7)]
    assert believed(replay(one_event, []), valid=20) == {2}


def test_an_ending_ends_its_own_value_alone():
    ended = [statement(1, "Acme", 10), statement(2, "Acme", 20, negates=True)]
    assert believed(replay(ended, []), valid=15) == {1}
    assert believed(replay(ended, []), valid=25) == {2}
    other = [statement(1, "Acme", 10), statement(2, "Initech", 20, negates=True)]
    assert believed(replay(other, []), valid=25) == {1}


def test_a_repeated_claim_that_names_its_end_ends_there():
    history = replay([statement(1, "Berlin", 10), statement(2, "Berlin", 20, 30)], [])
    assert [believed(history, valid=v) for v in (15, 25, 35)] == [{1}, {1}, set()]
