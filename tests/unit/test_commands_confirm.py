"""What callers may do about fading: confirm a memory, one that has faded too; set it up for a namespace."""

from collections.abc import Iterator

import pytest

from taishi.commands.lifecycle import Due, lifecycle_event
from taishi.ingest.log import Batch
from tests.support.write_side import WriteSide, write_side


@pytest.fixture
def side() -> Iterator[WriteSide]:
    with write_side() as side:
        yield side


def remembered(side: WriteSide) -> str:
    body = {"namespace": "n", "subject": "user", "predicate": "likes", "value": "radishes"}
    return str(side.post("/v1/memories", body)["memory_id"])


def test_a_confirmation_is_one_event(side: WriteSide) -> None:
    memory_id = remembered(side)
    reply = side.post(f"/v1/memories/{memory_id}/confirm", {"namespace": "n"})
    (event,) = side.last()
    assert (event.type, dict(event.facts)) == ("claim.confirmed", {"claim": memory_id})
    assert reply == {"position": str(event.position)}


def test_what_has_faded_comes_back_with_it_once(side: WriteSide) -> None:
    memory_id = remembered(side)
    claims, since = [(memory_id, side.log.events[0].position.seq)], side.log.events[0].recorded_at
    due = Due(
        namespace="n", kind="claim.archived", reason="faded", claims=claims, events=[], since=since, activation=0.1,
        predicate="likes",
    )  # fmt: skip
    side.log.append(Batch(events=[lifecycle_event(due)]))
    reply = side.post(f"/v1/memories/{memory_id}/confirm", {"namespace": "n"})
    confirmed, revived = side.last(2)
    assert (confirmed.type, revived.type) == ("claim.confirmed", "claim.revived")
    assert revived.facts["claims"] == [[memory_id, 1]]
    assert revived.facts["reason"] == "confirmed"
    assert reply == {"position": str(revived.position)}
    side.post(f"/v1/memories/{memory_id}/confirm", {"namespace": "n"})
    assert [event.type for event in side.last(2)] == ["claim.revived", "claim.confirmed"]


def test_a_namespace_sets_its_capacity_or_that_nothing_fades(side: WriteSide) -> None:
    reply = side.http.put("/v1/namespaces/n", json={"capacity": 500, "fading": "off"})
    assert reply.status_code == 202, reply.text
    (event,) = side.last()
    assert (event.type, event.body) == ("namespace.configured", {"capacity": 500, "fading": "off"})
    for wrong in ({"capacity": 0}, {"capacity": "many"}, {"fading": "slow"}):
        assert side.http.put("/v1/namespaces/n", json=wrong).status_code == 422
