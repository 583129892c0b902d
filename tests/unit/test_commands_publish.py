"""Publishing: what is accepted, what is refused and where the refusal points, and that refusals write nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from taishi.ingest.errors import NotCaughtUp, Unavailable
from taishi.ingest.instants import from_datetime, parse
from tests.support.write_side import SECRET, WriteSide, write_side


@pytest.fixture
def side() -> Iterator[WriteSide]:
    with write_side() as side:
        yield side


def event(**more: Any) -> dict[str, Any]:
    return {"namespace": "n", "content": "the kettle is on", **more}


def test_an_event_is_stored_as_it_was_said(side: WriteSide) -> None:
    said = event(
        session="s1", actor={"id": "a7", "role": "assistant", "name": "Ines"}, type="tool.called",
        occurred_at="2026-02-03T04:05:06+08:00", metadata={"room": ["kitchen", 3]},
    )  # fmt: skip
    reply = side.post("/v1/events", {"events": [said]})
    (stored,) = side.log.events
    assert reply == {"accepted": [{"event_id": stored.event_id, "position": "p0:1", "duplicate": False}]}
    assert stored.body == {"text": "the kettle is on", "speaker": "Ines", "metadata": {"room": ["kitchen", 3]}}
    assert (stored.session, stored.type, stored.origin) == ("s1", "tool.called", "assistant")
    assert (stored.actor.id, stored.actor.role) == ("a7", "assistant")
    assert (stored.occurred_at, stored.occurred_offset) == (from_datetime(parse("2026-02-02T20:05:06Z")), 480)
    assert stored.facts == {}


@pytest.mark.parametrize(
    ("role", "origin"),
    [("user", "user_direct"), ("assistant", "assistant"), ("tool", "tool"), ("system", "system")],
)
def test_origin_follows_from_the_role_unless_it_is_given(side: WriteSide, role: str, origin: str) -> None:
    side.post("/v1/events", {"events": [event(actor={"role": role}), event(actor={"role": role}, origin="external")]})
    assert [e.origin for e in side.log.events] == [origin, "external"]
    assert {e.session_kind for e in side.log.events} == {"chat"}


def test_an_honest_retry_is_a_duplicate_and_another_body_a_conflict(side: WriteSide) -> None:
    known = "0198C0DE-7a11-7000-8000-00000000002A"
    first = side.post("/v1/events", {"events": [event(event_id=known)]})["accepted"][0]
    again = side.post("/v1/events", {"events": [event(event_id=known.lower())]})["accepted"][0]
    assert first["event_id"] == known.lower()
    assert again == {**first, "duplicate": True}
    side.post("/v1/events", {"events": [event(event_id=known, content="something else")]}, 409)
    assert len(side.log.events) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "events"),
        ({"events": []}, "events"),
        ({"events": {}}, "events"),
        ({"events": [{"namespace": "n"}]}, "events.0.content"),
        ({"events": [{"content": "x"}]}, "events.0.namespace"),
        ({"events": [event(), event(namespace="m")]}, "events.1.namespace"),
        ({"events": [event(), event(namespace="N")]}, "events.1.namespace"),
        ({"events": [event(namespace="")]}, "events.0.namespace"),
        ({"events": [event(namespace=" ")]}, "events.0.namespace"),
        ({"events": [event(namespace="a\nb")]}, "events.0.namespace"),
        ({"events": [event(namespace="n" * 201)]}, "events.0.namespace"),
        ({"events": [event(namespace=7)]}, "events.0.namespace"),
        ({"events": [event(content=" \n\t")]}, "events.0.content"),
        ({"events": [event(content="a" * 100_001)]}, "events.0.content"),
        ({"events": [event(colour="red")]}, "events.0.colour"),
        ({"events": [event(recorded_at="2020-01-01T00:00:00Z")]}, "events.0.recorded_at"),
        ({"events": [event(type="claim.asserted")]}, "events.0.type"),
        ({"events": [event(origin="martian")]}, "events.0.origin"),
        ({"events": [event(actor={"role": "robot"})]}, "events.0.actor.role"),
        ({"events": [event(actor={"role": "user", "age": 3})]}, "events.0.actor.age"),
        ({"events": [event(event_id="not-a-uuid")]}, "events.0.event_id"),
        ({"events": [event(sensitive="yes")]}, "events.0.sensitive"),
        ({"events": [event(), event(occurred_at="last tuesday")]}, "events.1.occurred_at"),
        ({"events": [event(occurred_at="0001-01-01T00:00:00+14:00")]}, "events.0.occurred_at"),
        ({"events": [event(occurred_at=1700000000)]}, "events.0.occurred_at"),
        ({"events": [event(metadata=[])]}, "events.0.metadata"),
        ({"events": [event(metadata={"a": 2**63})]}, "events.0.metadata"),
        ({"events": [event(metadata={"a": "b" * 40_000})]}, "events.0.metadata"),
        ({"events": [event(event_id="0198c0de-7a11-7000-8000-00000000002a")] * 2}, "events.1.event_id"),
    ],
)
def test_a_refusal_names_the_field_and_writes_nothing(side: WriteSide, body: Any, field: str) -> None:
    reply = side.http.post("/v1/events", json=body)
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert problem["field"] == field
    assert problem["status"] == 422 and problem["title"] and problem["detail"] and problem["type"].startswith("urn:")
    assert not side.log.events


@pytest.mark.parametrize("name", ["u1", "U1", "u_1", "u%", "ｕ１", "u1 ", "用户/一", "🦊"])
def test_a_namespace_is_taken_verbatim(side: WriteSide, name: str) -> None:
    side.post("/v1/events", {"events": [event(namespace=name)]})
    assert side.log.events[0].namespace == name


def test_secrets_are_taken_out_at_the_door_unless_the_event_is_sensitive(side: WriteSide) -> None:
    words = {"content": f"my password is {SECRET}", "metadata": {"notes": [{"p": SECRET}]}}
    reply = side.post("/v1/events", {"events": [event(**words), event(**words, sensitive=True)]})
    assert reply["accepted"][0]["redacted"] == ["password"] and "redacted" not in reply["accepted"][1]
    kept, plain = side.log.events
    assert kept.body == {"text": "my password is [secret]", "metadata": {"notes": [{"p": "[secret]"}]}}
    assert plain.body is not None and plain.body["text"] == words["content"]


def test_a_naive_time_is_read_in_the_namespaces_zone(side: WriteSide) -> None:
    side.http.put("/v1/namespaces/n", json={"timezone": "Asia/Shanghai"}).raise_for_status()
    side.post("/v1/events", {"events": [event(occurred_at="2026-02-03T08:00:00")]})
    assert side.log.events[-1].occurred_at == from_datetime(parse("2026-02-03T00:00:00Z"))
    assert side.log.events[-1].occurred_offset == 480
    side.directory.behind = NotCaughtUp("behind")
    side.post("/v1/events", {"events": [event(occurred_at="2026-02-03T08:00:00")]}, 503)
    side.post("/v1/events", {"events": [event(occurred_at="2026-02-03T08:00:00Z")]})


def test_history_keeps_its_recorded_times(side: WriteSide) -> None:
    early, late = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00+00:00"
    side.post("/v1/import", {"events": [event(recorded_at=early), event(recorded_at=early), event(recorded_at=late)]})
    assert [e.recorded_at for e in side.log.events] == [from_datetime(parse(t)) for t in (early, early, late)]
    problem = side.post("/v1/import", {"events": [event(recorded_at=early)]}, 409)
    assert problem["earliest"] == "2021-01-01T00:00:00Z"
    side.post("/v1/import", {"events": [event(recorded_at=early)], "record_now": True})
    newest = side.log.events[-1]
    assert newest.recorded_at == newest.appended_at
    assert newest.occurred_at == from_datetime(parse(early)), "what is recorded now was still said then"


@pytest.mark.parametrize(
    ("events", "field"),
    [
        ([event()], "events.0.recorded_at"),
        ([event(recorded_at="2999-01-01T00:00:00Z")], "events.0.recorded_at"),
        (
            [event(recorded_at="2021-01-01T00:00:00Z"), event(recorded_at="2020-01-01T00:00:00Z")],
            "events.1.recorded_at",
        ),
        ([event(recorded_at="soon")], "events.0.recorded_at"),
    ],
)
def test_history_that_cannot_be_is_refused(side: WriteSide, events: Any, field: str) -> None:
    assert side.post("/v1/import", {"events": events}, 422)["field"] == field
    assert not side.log.events


def test_a_log_that_is_down_acknowledges_nothing(side: WriteSide) -> None:
    side.log.down = Unavailable("the server does not answer", retry_after=3)
    reply = side.http.post("/v1/events", json={"events": [event()]})
    assert reply.status_code == 503 and reply.headers["retry-after"] == "3"
    assert reply.json()["retry_after"] == 3
    side.log.down = None
    side.post("/v1/events", {"events": [event()]})
    assert len(side.log.events) == 1


def test_an_unexpected_failure_says_nothing_of_itself(side: WriteSide, caplog: pytest.LogCaptureFixture) -> None:
    side.log.down = RuntimeError("holds the words of a message")
    reply = side.http.post("/v1/events", json={"events": [event()]})
    assert reply.status_code == 500 and reply.headers["content-type"] == "application/problem+json"
    assert "words of a message" not in reply.text + caplog.text
    assert "RuntimeError" in caplog.text
