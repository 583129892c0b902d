"""Giving up a parked event: what is checked, what enters the log, and that saying it twice changes nothing."""

from collections.abc import Iterator

import pytest

from taishi.ingest.envelope import Position
from tests.support.write_side import WriteSide, write_side


@pytest.fixture
def side() -> Iterator[WriteSide]:
    with write_side() as side:
        yield side


@pytest.mark.parametrize("position", ["p0:18446744073709551616", "p" + "9" * 30 + ":1", "p0:" + "9" * 30])
def test_a_position_beyond_every_log_is_refused(side: WriteSide, position: str) -> None:
    reply = side.http.post("/v1/dead-letters/skip", json={"namespace": "n", "position": position, "reason": "r"})
    assert reply.status_code == 422 and reply.json()["field"] == "position"


def test_what_is_parked_is_given_up_with_its_reason_in_the_log(side: WriteSide) -> None:
    placed = side.post("/v1/events", {"events": [{"namespace": "n", "content": "hello"}]})["accepted"][0]
    body = {"namespace": "n", "position": placed["position"], "reason": "made by a broken plugin"}
    side.post("/v1/dead-letters/skip", body, status=404)
    side.directory.parked.add(Position.parse(placed["position"]))
    first = side.post("/v1/dead-letters/skip", body)
    assert side.post("/v1/dead-letters/skip", body) == first
    event = side.log.fetch(Position.parse(first["position"]))
    assert (event.type, event.facts["seq"]) == ("event.skipped", Position.parse(placed["position"]).seq)
    assert event.body == {"reason": "made by a broken plugin"}


@pytest.mark.parametrize(
    ("wrong", "status"), [({"position": "seventeen"}, 422), ({"reason": None}, 422), ({"position": "p9:1"}, 404)]
)
def test_a_request_that_is_wrong_is_refused(side: WriteSide, wrong: dict[str, object], status: int) -> None:
    body = {"namespace": "n", "position": "p0:1", "reason": "why"} | wrong
    side.post("/v1/dead-letters/skip", body, status=status)
