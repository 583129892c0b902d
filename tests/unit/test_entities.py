"""Who is who: commands, the fold of what was said, and forgetting it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taishi.ingest.instants import FOREVER
from taishi.projections.closure import Closures
from taishi.projections.entities import Identity, names
from taishi.projections.lookup import Lookup
from tests.support.history import History
from tests.support.read_side import ReadSide
from tests.support.write_side import WriteSide, write_side


@pytest.fixture
def side() -> Iterator[WriteSide]:
    with write_side() as opened:
        yield opened


def now(said) -> set[frozenset[str]]:
    groups: dict[int, set[str]] = {}
    for row in names(said):
        if row.known_to == FOREVER:
            groups.setdefault(row.entity, set()).add(row.key)
    return {frozenset(group) for group in groups.values()}


def test_an_alias_is_an_event_whose_names_stand_in_its_body(side: WriteSide) -> None:
    reply = side.post("/v1/entities/alias", {"namespace": "n", "name": "Bob", "of": "Robert Lee"})
    (event,) = side.log.events
    assert reply == {"position": "p0:1", "names": ["Robert Lee", "Bob"]}
    assert (event.type, dict(event.facts), event.body) == ("entity.aliased", {}, {"name": "Bob", "of": "Robert Lee"})


def test_a_name_of_another_is_merged_and_not_aliased(side: WriteSide) -> None:
    side.post("/v1/entities/alias", {"namespace": "n", "name": "老李", "of": "李明"})
    side.post("/v1/entities/alias", {"namespace": "n", "name": "李工", "of": "李伟"})
    problem = side.post("/v1/entities/alias", {"namespace": "n", "name": "老李", "of": "李伟"}, 409)
    assert problem["field"] == "name"
    elsewhere = side.post("/v1/entities/alias", {"namespace": "m", "name": "老李", "of": "李伟"})
    assert elsewhere["names"] == ["李伟", "老李"]
    merged = side.post("/v1/entities/merge", {"namespace": "n", "name": "李明", "into": "李伟"})
    assert sorted(merged["names"]) == ["李伟", "李工", "李明", "老李"]
    assert side.post("/v1/entities/split", {"namespace": "n", "name": "李工"})["names"] == ["李工"]
    side.post("/v1/entities/split", {"namespace": "n", "name": "李工"}, 404)
    side.post("/v1/entities/split", {"namespace": "other", "name": "李明"}, 404)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("alias", {"name": "Bob", "of": "ＢＯＢ"}, "of"),
        ("alias", {"name": "李明", "of": "李明。"}, "of"),
        ("merge", {"name": "萬", "into": "万"}, "into"),
        ("alias", {"name": "!!", "of": "Bob"}, "of"),
        ("alias", {"name": "Bob"}, "of"),
        ("alias", {"name": "", "of": "Bob"}, "name"),
        ("split", {"name": "Bob", "of": "Robert"}, "of"),
        ("merge", {"name": "Bob", "into": "B\u0000"}, "into"),
    ],
)
def test_what_names_nobody_is_refused(side: WriteSide, path: str, body: dict[str, str], field: str) -> None:
    problem = side.post(f"/v1/entities/{path}", {"namespace": "n", **body}, 422)
    assert problem["field"] == field
    assert side.log.events == []


def test_names_are_known_from_when_it_was_said_and_until_it_was_taken_back():
    said = [
        Identity(1, "aliased", 10, "小李", "李明"),
        Identity(2, "aliased", 20, "Li Ming", "李明"),
        Identity(3, "split", 30, "小李", None),
    ]
    rows = {(r.key, r.main, r.known_from, r.known_to) for r in names(said)}
    assert rows == {
        ("李明", True, 10, FOREVER), ("小李", False, 10, 30), ("li ming", False, 20, FOREVER)
    }  # fmt: skip
    assert now([*said, Identity(4, "split", 40, "Li Ming", None)]) == set()


def test_a_main_name_that_goes_hands_over_to_the_oldest_other():
    said = [
        Identity(1, "aliased", 10, "小李", "李明"),
        Identity(2, "aliased", 20, "李工", "小李"),
        Identity(3, "split", 30, "李明", None),
    ]
    assert [r.key for r in names(said) if r.main and r.known_to == FOREVER] == ["小李"]
    assert now(said) == {frozenset({"小李", "李工"})}


SAID = st.lists(
    st.tuples(st.sampled_from(["aliased", "merged", "split"]), st.sampled_from("ABCDEF"), st.sampled_from("ABCDEF")),
    max_size=14,
)


@given(SAID, st.randoms(use_true_random=False))
def test_groups_equal_a_plain_partition(said, rng):
    """Against sets alone: joining unites two groups, splitting takes one out."""
    groups = [{c} for c in "abcdef"]
    events = []
    for n, (kind, one, other) in enumerate(said, 1):
        events.append(Identity(n, kind, n, one, None if kind == "split" else other))
        mine = next(g for g in groups if one.lower() in g)
        if kind == "split":
            mine.discard(one.lower())
            groups.append({one.lower()})
        else:
            theirs = next(g for g in groups if other.lower() in g)
            if theirs is not mine:
                groups.remove(mine)
                theirs |= mine
    assert now(events) == {frozenset(g) for g in groups if len(g) > 1}
    rows = names(events)
    rng.shuffle(events)
    assert names(events) == rows
    for at in range(len(said) + 2):
        keys = [r.key for r in rows if r.known_from <= at < r.known_to]
        assert len(keys) == len(set(keys)), "a name is one entity's at a time"


def test_forgetting_someone_takes_every_name_and_what_said_so(tmp_path):
    h = History()
    first, second = h.claim("李明", "lives_in", "Lund"), h.claim("小李", "likes", "figs")
    other = h.claim("王芳", "likes", "plums")
    told = h.add("entity.aliased", body={"name": "小李", "of": "李明"})
    beside = h.add("entity.aliased", body={"name": "芳姐", "of": "王芳"})
    heard = h.say("小李 called")
    side = ReadSide(tmp_path, h.events)
    lookup = Lookup(lambda: tmp_path / "models" / "g1")
    ns = h.events[0].position.seq
    assert lookup.names(0, ns, "小李") == ["李明", "小李"]
    closures = Closures(lookup, 0, ns)
    taken = closures.of_subject("李明", upto=2**62)
    assert {seq for _, seq in taken.claims} == {first.position.seq, second.position.seq}
    assert (told.event_id, told.position.seq, told.key_id) in taken.identities
    assert beside.event_id not in {e[0] for e in taken.identities}
    assert [seq for _, seq, _ in taken.raw_events] == [heard.position.seq]
    whole = closures.of_namespace(upto=2**62)
    assert {e[0] for e in whole.identities} == {told.event_id, beside.event_id}
    assert other.event_id in {e[0] for e in whole.claim_events}
    early = closures.of_range(0, told.recorded_at + 1, upto=2**62)
    assert told.event_id in {e[0] for e in early.identities}
    assert beside.event_id not in {e[0] for e in early.identities}
    gone = h.add(
        "scope.forgotten",
        facts={
            "kind": "subject", "claims": [list(c) for c in taken.claims], "keys": [],
            "events": [[e[0], e[1]] for e in (*taken.raw_events, *taken.claim_events, *taken.identities)],
        },
    )  # fmt: skip
    side.file.apply([gone])
    side.file.scrub()
    assert lookup.names(0, ns, "小李") == []
    everything = b"".join(p.read_bytes() for p in tmp_path.rglob("claims-*"))
    assert "小李".encode() not in everything and "芳姐".encode() in everything
