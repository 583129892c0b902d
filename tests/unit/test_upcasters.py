"""Old events are read as if written today; newer ones are not guessed at."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from taishi.ingest.entries import open_entry, parse_entry
from taishi.ingest.envelope import Position
from taishi.ingest.errors import UnknownEventVersion
from taishi.ingest.upcasters import UPCASTERS, Shape, Upcaster, Upcasters
from tests.support.golden import SEEN, fields, goldens

GOLDENS = dict(goldens())


@pytest.mark.parametrize("name", GOLDENS)
def test_a_golden_event_is_read_for_good(name: str) -> None:
    golden = GOLDENS[name]
    entry = parse_entry(2, 9, fields(golden))
    key = None if golden["key"] is None else bytes.fromhex(golden["key"])
    event = open_entry(entry, key, erased=False)
    assert {field: getattr(event, field) for field in SEEN} == {field: golden["event"][field] for field in SEEN}
    assert [event.actor.id, event.actor.role] == golden["event"]["actor"]
    assert list(event.evidence) == golden["event"]["evidence"]
    assert event.position == Position(2, 9)
    assert event.appended_at == int(golden["stored"]["t"])
    assert event.recorded_at == int(golden["stored"].get("r", golden["stored"]["t"]))
    assert event.digest.hex() == golden["stored"]["d"]
    assert open_entry(entry, None, erased=True) == replace(event, body=None)


def test_every_version_that_was_ever_written_has_a_golden_event() -> None:
    stored = {(m[1], int(m[2])) for name in GOLDENS if (m := re.match(r"(.+)\.v(\d+)", name))}
    for name, version in stored:
        assert version <= UPCASTERS.newest(name)
    types = {name for name, _ in stored}
    assert stored >= {(name, version) for name in types for version in range(1, UPCASTERS.newest(name) + 1)}


def shape(version: int, body: dict[str, Any] | None = None) -> Shape:
    return Shape(type="lamp.lit", version=version, facts={"n": 1}, body=body)


def step(word: str) -> Upcaster:
    def upcast(old: Shape) -> Shape:
        body = None if old.body is None else {**old.body, word: True}
        return replace(old, version=old.version + 1, body=body, facts={**old.facts, word: old.version})

    return upcast


LAMPS = Upcasters({("lamp.lit", 2): step("second"), ("lamp.lit", 1): step("first")})


def test_steps_follow_one_another() -> None:
    assert LAMPS.newest("lamp.lit") == 3 and LAMPS.newest("lamp.out") == 1
    assert LAMPS.upcast(shape(1, {})) == Shape(
        type="lamp.lit", version=3, facts={"n": 1, "first": 1, "second": 2}, body={"first": True, "second": True}
    )
    assert LAMPS.upcast(shape(2, {})).body == {"second": True}
    assert LAMPS.upcast(shape(3, {"x": 1})) == shape(3, {"x": 1})


def test_an_erased_event_is_upcast_without_its_body() -> None:
    assert LAMPS.upcast(shape(1)).body is None
    assert LAMPS.upcast(shape(1)).facts["second"] == 2


@pytest.mark.parametrize("version", [0, 4, 99])
def test_an_unknown_version_holds_the_reader(version: int) -> None:
    with pytest.raises(UnknownEventVersion, match=r"lamp\.lit"):
        LAMPS.upcast(shape(version, {}))


def test_a_gap_in_the_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="version 1"):
        Upcasters({("lamp.lit", 2): step("second")})


def test_a_step_that_does_not_step_is_refused() -> None:
    with pytest.raises(ValueError, match="next version"):
        Upcasters({("lamp.lit", 1): lambda old: old}).upcast(shape(1, {}))


def test_a_recall_of_the_first_version_is_read_as_one_of_today() -> None:
    old = {"exposure": "x", "items": ["a", "b"], "claims": ["b"], "events": ["a"], "told": {"n": 1}}
    new = {
        "exposure": "x", "items": ["a", "b"], "kinds": ["event", "claim"], "seqs": [], "reader": {}, "told": {"n": 1},
    }  # fmt: skip
    for body in ({}, None):
        shape = UPCASTERS.upcast(Shape(type="memory.recalled", version=1, facts=old, body=body))
        assert shape == Shape(type="memory.recalled", version=2, facts=new, body=body)
    bare = UPCASTERS.upcast(Shape(type="memory.recalled", version=1, facts={"exposure": "x", "items": ["c"]}, body={}))
    assert (bare.facts["kinds"], bare.facts["seqs"]) == (["claim"], [])
