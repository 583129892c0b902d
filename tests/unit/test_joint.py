"""Slots that are read as one: near copies of an object, names of one entity; over read models folded from events."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taishi.queries.listing import ListRequest, list_memories
from taishi.queries.memories import Found, life, memory
from taishi.queries.point import Point
from taishi.queries.validity import Judging, judge
from tests.support.history import History, claim_id
from tests.support.read_side import NOW, ReadSide, at

JAN, MAR, MAY, AUG = (at(f"2026-{month}-01T00:00:00Z") for month in ("01", "03", "05", "08"))
POINT = Point(valid_at=NOW, known_at=NOW)


def listed(side: ReadSide, **asked) -> list[dict]:
    request = ListRequest(namespace="ns", **asked)
    return list_memories(side.model, side.model.namespace("ns"), request, NOW)["items"]


def alias(h: History, name: str, of: str, **more):
    return h.add("entity.aliased", body={"name": name, "of": of}, **more)


# near copies


def test_near_copies_are_listed_once_with_the_evidence_of_all(tmp_path):
    h = History()
    said = [h.say(t) for t in ("I love oat milk lattes", "an oat-milk latte is what I like", "I like oat milk tea")]
    first = h.claim("user", "likes", "oat milk lattes", said=said[0])
    second = h.claim("user", "likes", "oat-milk latte", said=said[1])
    third = h.claim("user", "likes", "oat milk tea", said=said[2])
    side = ReadSide(tmp_path, h.events)
    items = listed(side)
    assert [i["id"] for i in items] == [claim_id(third), claim_id(first)]
    assert [e["event_id"] for e in items[1]["evidence"]] == [said[0].event_id, said[1].event_id]
    found = Found(side.model, side.model.namespace("ns"), claim_id(second), POINT)
    assert memory(side.model, found)["id"] == claim_id(first)
    assert len(life(side.model, found, POINT)["statements"]) == 2
    answer = side.ask("what lattes do I like?")
    assert next(i["id"] for i in answer["items"] if i["kind"] == "claim") == claim_id(first)
    assert claim_id(second) not in [i["id"] for i in answer["items"]]


def test_a_denial_of_a_near_copy_ends_it(tmp_path):
    h = History()
    likes = h.claim("user", "likes", "燕麦拿铁", valid_from=JAN)
    denied = h.claim("user", "likes", "燕麦的拿铁", negated=True, valid_from=MAY)
    side = ReadSide(tmp_path, h.events)
    items = listed(side, statuses=frozenset({"current", "superseded"}))
    assert [(i["id"], i["status"]) for i in items] == [(claim_id(denied), "current"), (claim_id(likes), "superseded")]
    assert [i["id"] for i in listed(side, valid_at=MAR)] == [claim_id(likes)]
    found = Found(side.model, side.model.namespace("ns"), claim_id(likes), POINT)
    assert [(k["rule"], k["new"]["id"]) for k in life(side.model, found, POINT)["chain"]] == [
        ("began_later", claim_id(denied))
    ]


def test_verdicts_of_the_audit_join_and_part(tmp_path):
    h = History()
    a = h.claim("user", "likes", "rowing on the lake")
    b = h.claim("user", "likes", "lake rowing")
    c = h.claim("user", "likes", "lakes rowing")
    side = ReadSide(tmp_path, h.events)
    assert {i["id"] for i in listed(side)} == {claim_id(a), claim_id(b)}
    side.file.apply([h.add("dedup.judged", facts={"verdict": "merge", "claims": [claim_id(b), claim_id(a)]})])
    assert {i["id"] for i in listed(side)} == {claim_id(a)}
    side.file.apply([h.add("dedup.judged", facts={"verdict": "keep", "claims": [claim_id(a), claim_id(b)]})])
    assert {i["id"] for i in listed(side)} == {claim_id(a), claim_id(b)}
    side.file.apply([h.add("dedup.judged", facts={"verdict": "keep", "claims": [claim_id(c), claim_id(b)]})])
    assert {i["id"] for i in listed(side)} == {claim_id(a), claim_id(b), claim_id(c)}


def test_a_forgotten_copy_leaves_the_other_and_no_words(tmp_path):
    h = History()
    first = h.claim("user", "likes", "quivervane lattes")
    second = h.claim("user", "likes", "quivervane-latte")
    side = ReadSide(tmp_path, h.events)
    side.file.apply([h.forget(first)])
    assert [i["id"] for i in listed(side)] == [claim_id(second)]
    side.file.apply([h.forget(second)])
    side.file.scrub()
    assert all(b"quivervan" not in p.read_bytes() for p in Path(tmp_path).rglob("claims-*"))


VALUES = ["oat milk lattes", "oat-milk latte", "Oat Milk Lattes", "oat tea", "oat teas"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(VALUES), st.booleans()), min_size=1, max_size=7), st.randoms())
def test_the_order_of_reading_does_not_matter_to_what_is_shown(tmp_path_factory, said, rng: random.Random):
    shown = []
    for attempt in range(2):
        h = History()
        words = [h.say(f"words {n}") for n in range(len(said))]
        order = list(range(len(said)))
        if attempt:
            rng.shuffle(order)
        for n in order:
            value, negated = said[n]
            h.claim("user", "likes", value, said=words[n], negated=negated)
        side = ReadSide(tmp_path_factory.mktemp("joint"), h.events)
        claims = side.model.claims(range(1, len(h.events) + 1))
        verdicts = judge(side.model, claims, POINT)
        judging = Judging(side.model, POINT)
        assert {s: v for seq, row in claims.items() for s, v in judging.verdicts({seq: row}).items()} == verdicts
        ids = {row.seq: row.claim_id for row in side.model.claims(verdicts).values()}
        shown.append({(ids[s], v.status, ids.get(v.into)) for s, v in verdicts.items()})
    assert shown[0] == shown[1]


# entities


@pytest.fixture
def two_names() -> tuple[History, list]:
    h = History()
    early = h.claim("李明", "lives_in", "Lund", valid_from=JAN, recorded_at=JAN)
    late = h.claim("小李", "lives_in", "Graz", valid_from=MAR, recorded_at=MAR)
    return h, [early, late]


def test_a_current_value_over_two_names_is_the_later_belief(tmp_path, two_names):
    h, (early, late) = two_names
    side = ReadSide(tmp_path, h.events)
    assert {i["value"] for i in side.ask("李明住在哪里？")["items"] if i["kind"] == "claim"} == {"Lund"}
    side.file.apply([alias(h, "小李", "李明", recorded_at=MAY)])
    for question in ("李明住在哪里？", "小李住在哪里？"):
        items = [i for i in side.ask(question)["items"] if i["kind"] == "claim"]
        assert [(i["value"], i["status"]) for i in items] == [("Graz", "current")], question
    for subject in ("李明", "小李"):
        assert [i["id"] for i in listed(side, subject=subject)] == [claim_id(late)]
        then = listed(side, subject=subject, valid_at=at("2026-02-01T00:00:00Z"))
        assert [i["id"] for i in then] == [claim_id(early)]


def test_what_was_known_before_the_alias_stays_as_it_was(tmp_path, two_names):
    h, (early, late) = two_names
    alias(h, "小李", "李明", recorded_at=MAY)
    side = ReadSide(tmp_path, h.events)
    before = listed(side, subject="李明", known_at=MAY - 1)
    assert [(i["id"], i["status"]) for i in before] == [(claim_id(early), "current")]
    assert [i["id"] for i in listed(side, subject="小李", known_at=MAY - 1)] == [claim_id(late)]


def test_a_split_parts_them_from_then_on(tmp_path, two_names):
    h, (early, _) = two_names
    alias(h, "小李", "李明", recorded_at=MAY)
    h.add("entity.split", body={"name": "小李"}, recorded_at=AUG)
    side = ReadSide(tmp_path, h.events)
    assert [i["id"] for i in listed(side, subject="李明")] == [claim_id(early)]
    assert listed(side, subject="李明", known_at=AUG - 1)[0]["value"] == "Graz"


def test_persons_of_one_name_stay_apart(tmp_path):
    h = History()
    h.claim("财务的张伟", "lives_in", "Lund")
    h.claim("研发的张伟", "lives_in", "Graz")
    h.claim("伟哥", "lives_in", "Bonn")
    alias(h, "伟哥", "研发的张伟")
    side = ReadSide(tmp_path, h.events)
    assert [i["value"] for i in listed(side, subject="财务的张伟")] == ["Lund"]
    assert [i["value"] for i in listed(side, subject="研发的张伟")] == ["Bonn"]


def test_the_user_may_have_a_name(tmp_path):
    h = History()
    h.claim("user", "works_at", "the boatyard", valid_from=JAN)
    alias(h, "Robin", "user")
    side = ReadSide(tmp_path, h.events)
    items = side.ask("Where does Robin work?")["items"]
    assert [i["value"] for i in items if i["kind"] == "claim"] == ["the boatyard"]


def test_chains_of_names_are_one_and_forgetting_the_words_parts_them(tmp_path):
    h = History()
    h.claim("老李", "lives_in", "Bonn", recorded_at=JAN)
    h.claim("李工", "lives_in", "Graz", recorded_at=MAR)
    said = alias(h, "李工", "李明", recorded_at=MAR)
    alias(h, "老李", "李工", recorded_at=MAY)
    side = ReadSide(tmp_path, h.events)
    assert [i["value"] for i in listed(side, subject="李明")] == ["Graz"]
    side.file.apply([h.forget(said, kind="event")])
    rebuilt = ReadSide(tmp_path / "again", h.after_erasure())
    assert listed(side, subject="李明") == []
    assert side.file.digest() == rebuilt.file.digest()
