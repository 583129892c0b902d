"""Things parted with in other words than they were told of: against an oracle, and the kinds of it by hand."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taishi.queries.listing import ListRequest, list_memories
from taishi.queries.memories import Found, life
from taishi.queries.point import Point
from taishi.queries.validity import Judging, judge
from tests.support.history import History, claim_id
from tests.support.read_side import NOW, ReadSide, at

_path = Path(__file__).parents[1] / "oracles" / "having.py"
_spec = importlib.util.spec_from_file_location("having_oracle", _path)
assert _spec and _spec.loader
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

JAN, MAR, MAY, AUG = (at(f"2026-{month}-01T00:00:00Z") for month in ("01", "03", "05", "08"))
POINT = Point(valid_at=NOW, known_at=NOW)


def had(side: ReadSide, point: Point = POINT) -> set[str]:
    """Values of what is judged to be had, each claim judged with all others and by itself alike."""
    claims = side.model.claims(range(1, side.model.checkpoint() + 1))
    verdicts = judge(side.model, claims, point)
    judging = Judging(side.model, point)
    assert {s: v for seq, row in claims.items() for s, v in judging.verdicts({seq: row}).items()} == verdicts
    return {claims[s].value or "" for s, v in verdicts.items() if v.holds and v.into is None and not claims[s].negated}


SAID = st.one_of(
    st.tuples(st.just(True), st.sampled_from(sorted(oracle.NAMES))),
    st.tuples(st.just(False), st.sampled_from(oracle.PARTINGS)),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SAID, min_size=1, max_size=7), st.randoms(use_true_random=False))
def test_what_is_had_equals_the_oracle_now_and_as_known_then(tmp_path_factory, said, rng: random.Random):
    h = History()
    words = [h.say(f"words {n}") for n in range(len(said))]
    order = list(range(len(said)))
    rng.shuffle(order)
    for n in order:
        has, value = said[n]
        h.claim("user", "owns", value, said=words[n], negated=not has, valid_from=words[n].recorded_at)
    side = ReadSide(tmp_path_factory.mktemp("parting"), h.events)
    for upto in range(1, len(said) + 1):
        then = words[upto - 1].recorded_at
        point = Point(valid_at=then, known_at=then, past_knowledge=True)
        assert had(side, point) == oracle.still_had(said[:upto]), upto
    assert had(side) == oracle.still_had(said)


@pytest.fixture
def sold() -> tuple[History, list]:
    h = History()
    car = h.claim("user", "owns", "red Skoda Octavia", valid_from=JAN, recorded_at=JAN, qualifiers={"kind": "car"})
    gone = h.claim("user", "owns", "Skoda", negated=True, valid_from=MAY, recorded_at=MAY)
    return h, [car, gone]


def test_what_is_sold_is_listed_as_superseded_and_was_had_before(tmp_path, sold):
    h, (car, gone) = sold
    side = ReadSide(tmp_path, h.events)

    def listed(**asked) -> list[tuple[str, str]]:
        request = ListRequest(namespace="ns", **asked)
        items = list_memories(side.model, side.model.namespace("ns"), request, NOW)["items"]
        return [(i["id"], i["status"]) for i in items]

    assert listed() == [(claim_id(gone), "current")]
    assert listed(valid_at=MAR) == [(claim_id(car), "current")]
    assert listed(known_at=MAR) == [(claim_id(car), "current")]
    assert (claim_id(car), "superseded") in listed(statuses=frozenset({"current", "superseded"}))
    found = Found(side.model, side.model.namespace("ns"), claim_id(car), POINT)
    chain = life(side.model, found, POINT)["chain"]
    assert [(k["rule"], k["new"]["id"]) for k in chain] == [("began_later", claim_id(gone))]


def test_the_parting_forgotten_the_thing_is_had_again(tmp_path, sold):
    h, (_, gone) = sold
    side = ReadSide(tmp_path, h.events)
    assert had(side) == set()
    side.file.apply([h.forget(gone)])
    assert had(side) == {"red Skoda Octavia"}


def test_what_was_had_by_then_is_meant_and_not_what_came_after(tmp_path, sold):
    h, _ = sold
    h.claim("user", "owns", "Skoda Fabia", valid_from=AUG, recorded_at=AUG)
    side = ReadSide(tmp_path, h.events)
    assert had(side) == {"Skoda Fabia"}
    h.claim("user", "owns", "the Skoda", negated=True, valid_from=NOW - 9, recorded_at=NOW - 9)
    side.file.apply(h.events[-1:])
    assert had(side) == set()


@pytest.mark.parametrize(
    ("predicate", "value", "qualifiers", "denied", "words", "gone"),
    [
        ("owns", "dog", {"name": "Biscuit"}, "owns", "dog", True),
        ("owns", "dog", {"name": "Biscuit"}, "owns", "Biscuit", True),
        ("owns", "Seat Ibiza", {"kind": "car"}, "owns", "car", True),
        ("uses", "electric Kia", {}, "owns", "Kia", True),
        ("uses", "mechanical keyboard", {}, "uses", "keyboard", True),
        ("attribute.car", "Skoda Octavia", {}, "owns", "car", True),
        ("uses", "Docker Compose", {}, "uses", "Docker", False),
        ("uses", "Strava app", {}, "uses", "app", False),
        ("owns", "sewing machine", {}, "owns", "sewing", False),
        ("owns", "house with a piano", {}, "owns", "piano", False),
        ("owns", "upright piano", {}, "uses", "piano", False),
        ("likes", "upright pianos", {}, "owns", "piano", False),
    ],
)
def test_by_which_names_a_thing_goes(tmp_path, predicate, value, qualifiers, denied, words, gone):
    h = History()
    h.claim("user", predicate, value, qualifiers=qualifiers, valid_from=JAN, recorded_at=JAN)
    h.claim("user", denied, words, negated=True, valid_from=MAY, recorded_at=MAY)
    side = ReadSide(tmp_path, h.events)
    assert had(side) == (set() if gone else {value})


def test_of_two_that_go_by_the_name_neither_is_taken_and_of_another_one_s_none(tmp_path):
    h = History()
    for name in ("Miso", "Tofu"):
        h.claim("user", "owns", "cat", qualifiers={"name": name}, valid_from=JAN, recorded_at=JAN)
    h.claim("Ines", "owns", "old kiln", valid_from=JAN, recorded_at=JAN)
    for value in ("cat", "kiln"):
        h.claim("user", "owns", value, negated=True, valid_from=MAY, recorded_at=MAY)
    side = ReadSide(tmp_path, h.events)
    claims = side.model.claims(range(1, 6))
    held = [s for s, v in judge(side.model, claims, POINT).items() if v.holds and not claims[s].negated]
    assert held == [1, 2, 3]
