"""Beliefs against a brute-force oracle, and the worked examples of the design by hand."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.ingest.instants import DAY, FOREVER
from taishi.projections.beliefs import NEWS, Change, Rectangle, Statement, admit
from taishi.projections.slot_history import Removal, Resolution, SlotHistory, remove, replay, resolve

_path = Path(__file__).parents[1] / "oracles" / "slot.py"
_spec = importlib.util.spec_from_file_location("slot_oracle", _path)
assert _spec and _spec.loader
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


CELL = NEWS // oracle.YEAR


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
        start_inferred=more.get("start_inferred", False),
        succeeds=more.get("succeeds", False),
    )


def stretched(claim: Statement) -> Statement:
    """The oracle's cells as instants, so wide that `oracle.YEAR` of them are what the fold calls news."""
    return claim._replace(start=claim.start * CELL, end=claim.end if claim.end == FOREVER else claim.end * CELL)


def held(history: SlotHistory, *, valid: int, known: int | None = None) -> set[tuple[int, int]]:
    """(claim, accord) at a point."""
    here = [r for r in history.open if r.start <= valid < r.end]
    now = {(r.claim, r.accord) for r in here if known is None or r.known <= known}
    if known is None:
        return now
    then = (r for r in history.closed if r.start <= valid < r.end and r.known <= known < r.until)
    return now | {(r.claim, r.accord) for r in then}


def believed(history: SlotHistory, *, valid: int, known: int | None = None) -> set[int]:
    return {claim for claim, _ in held(history, valid=valid, known=known)}


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
                start_inferred=draw(st.booleans()),
                succeeds=draw(st.sampled_from([False, False, False, True])),
            )
        )
    removals = []
    for n in range(draw(st.integers(0, 3))):
        target = draw(st.sampled_from(claims))
        removals.append(Removal(frozenset({target.claim}), "forgotten", draw(st.integers(target.known, 7)), 100 + n))
    winners = st.sampled_from([None, *(c.claim for c in claims)])
    count = draw(st.sampled_from([0, 0, 1, 2, 3]))
    resolutions = [Resolution(draw(winners), draw(st.integers(1, 7)), 50 + n) for n in range(count)]
    return claims, removals, resolutions


@st.composite
def quarrels(draw):
    """Like `operations`, with many claims that contend."""
    claims, removals, resolutions = draw(operations())
    even = [
        c._replace(known=draw(st.sampled_from([2, 2, 3])), start=draw(st.sampled_from([3, 3, 5])), strength=40)
        for c in claims
    ]
    even = [c if c.end > c.start else c._replace(end=13) for c in even]
    return even, [r for r in removals if r.known > 3], resolutions


def as_oracle(claims, removals, resolutions):
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
                "start_unsaid": c.start_inferred,
                "heir": c.succeeds,
            }
            for c in claims
        ],
        [{"claims": set(r.claims), "known": r.known} for r in removals],
        [{"resolves": r.seq, "winner": r.winner, "known": r.known} for r in resolutions],
    )


@settings(max_examples=2000, deadline=None)
@given(st.one_of(operations(), quarrels()))
def test_every_point_equals_the_oracle(case):
    claims, *others = case
    history = replay([stretched(c) for c in claims], *others)
    plain = as_oracle(*case)
    for known in range(9):
        for valid in range(oracle.HORIZON + 1):
            want = oracle.believed(*plain, valid=valid, known=known)
            assert held(history, valid=valid * CELL, known=known) == want, (valid, known)
    assert all(c.known < c.until for c in history.closed)
    for valid in range(oracle.HORIZON + 1):
        assert believed(history, valid=valid * CELL) == believed(history, valid=valid * CELL, known=99)


@settings(max_examples=500, deadline=None)
@given(st.one_of(operations(), quarrels()), st.randoms(use_true_random=False))
def test_the_set_decides_not_the_order_of_arrival(case, rng):
    shuffled = [list(part) for part in case]
    for part in shuffled:
        rng.shuffle(part)
    assert replay(*shuffled) == replay(*case)


@settings(max_examples=500, deadline=None)
@given(st.one_of(operations(), quarrels()))
def test_one_by_one_equals_replay(case):
    """What a live fold does (cut only what overlaps) gives the open rectangles of a replay."""
    claims, removals, resolutions = case
    steps = sorted([*claims, *removals, *resolutions], key=lambda step: step.order)
    open_: set[Rectangle] = set()
    folded: dict[int, Statement] = {}
    settled: list[Resolution] = []
    for step in steps:
        if isinstance(step, Removal):
            for claim in step.claims:
                folded.pop(claim, None)
            survivors = sorted([*folded.values(), *settled], key=lambda one: one.order)
            change: Change = remove(step, sorted(open_), survivors)
        elif isinstance(step, Resolution):
            settled.append(step)
            change = resolve(step, sorted(open_), folded)
        else:
            folded[step.claim] = step
            change = admit(step, [r for r in sorted(open_) if r.start < step.end and r.end > step.start], folded)
        assert set(change.shut) <= open_
        open_ = (open_ - set(change.shut)) | set(change.opened)
    assert open_ == set(replay(claims, removals, resolutions).open)


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


def test_a_beginning_nobody_stated_yields_to_news_of_a_change_and_not_to_history():
    home = statement(1, "Utrecht", 5000 * DAY, known=1, start_inferred=True)
    for days, correction, now in ((60, False, 2), (365, False, 2), (700, False, 1), (700, True, 2)):
        moved = statement(2, "Delft", (5000 - days) * DAY, known=2, correction=correction)
        assert believed(replay([home, moved], []), valid=6000 * DAY) == {now}, days
    stated = home._replace(start_inferred=False)
    moved = statement(2, "Delft", 4940 * DAY, known=2)
    assert believed(replay([stated, moved], []), valid=6000 * DAY) == {1}


def test_what_a_winner_takes_is_one_with_what_it_held() -> None:
    """Else an end that is stated later would end only a part of it."""
    loser, winner = statement(1, "A", 10, known=1), statement(2, "C", 5, known=1)
    ending = statement(3, "C", 5, 10, known=2)
    history = replay([loser, winner, ending], [], [Resolution(2, 1, 50)])
    assert believed(history, valid=7) == {2}
    assert believed(history, valid=12) == set()


def test_what_only_succeeds_holds_where_it_takes_anothers_place():
    office = statement(2, "Beijing", 20, succeeds=True)
    assert believed(replay([office], []), valid=30) == set()
    history = replay([statement(1, "Hangzhou", 10, 25), office], [])
    assert [believed(history, valid=v) for v in (15, 22, 30)] == [{1}, {2}, set()]


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


def test_a_winner_takes_the_contested_time_and_no_more():
    both = [
        statement(1, "1111", 10, known=10), statement(2, "2222", 10, known=10), statement(3, "3333", 40, known=40),
    ]  # fmt: skip
    history = replay(both, [], [Resolution(1, 50, 50)])
    assert believed(history, valid=20) == {1}
    assert believed(history, valid=20, known=49) == {1, 2}
    assert believed(history, valid=45) == {3}
    assert [(k.old, k.new, k.rule) for k in history.links if k.rule == "resolved"] == [(2, 1, "resolved")]


def test_a_winner_that_was_superseded_takes_back_its_place():
    history = replay([statement(1, "Bonn", 10), statement(2, "Graz", 20)], [], [Resolution(1, 50, 50)])
    assert believed(history, valid=60) == {1}
    assert believed(history, valid=60, known=49) == {2}


def test_a_later_statement_still_takes_from_the_winner():
    claims = [
        statement(1, "1111", 10, known=10), statement(2, "2222", 10, known=10), statement(3, "2222", 60, known=60),
    ]  # fmt: skip
    assert believed(replay(claims, [], [Resolution(1, 50, 50)]), valid=70) == {3}


def test_what_coexists_does_so_from_when_it_was_said():
    both = [statement(1, "1111", 10, known=10), statement(2, "2222", 10, known=10)]
    history = replay(both, [], [Resolution(None, 50, 50)])
    assert held(history, valid=20) == {(1, 50), (2, 50)}
    assert held(history, valid=20, known=49) == {(1, 0), (2, 0)}


def test_without_its_winner_nothing_is_settled():
    both = [statement(1, "1111", 10, known=10), statement(2, "2222", 10, known=10), statement(3, "3333", 5, known=5)]
    gone = Removal(frozenset({1}), "forgotten", 60, 60)
    history = replay(both, [gone], [Resolution(1, 50, 50)])
    assert believed(history, valid=20, known=55) == {1}
    assert believed(history, valid=20) == {2}
