"""Forgetting: order, receipts and tokens; and the smaller commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from taishi.commands.erasure import LARGEST_TOMBSTONE, sign_receipt
from taishi.ingest.envelope import NewEvent, Position
from taishi.ingest.errors import NotCaughtUp
from taishi.ingest.ids import new_id
from taishi.ingest.ledger import LedgerEntry
from taishi.ingest.log import Batch
from tests.support.write_side import WriteSide, write_side


@pytest.fixture
def side() -> Iterator[WriteSide]:
    with write_side() as side:
        yield side


def remember(side: WriteSide, value: str, subject: str = "user", namespace: str = "n") -> dict[str, Any]:
    body = {"namespace": namespace, "subject": subject, "predicate": "likes", "value": value}
    return side.post("/v1/memories", body)


def say(side: WriteSide, *contents: str, **more: Any) -> list[str]:
    events = [{"namespace": "n", "content": content, **more} for content in contents]
    return [one["event_id"] for one in side.post("/v1/events", {"events": events})["accepted"]]


def delete(side: WriteSide, memory_id: str, status: int = 200, **query: str) -> dict[str, Any]:
    reply = side.http.delete(f"/v1/memories/{memory_id}", params={"namespace": "n", **query})
    assert reply.status_code == status, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_a_claim_is_forgotten_with_its_equals_and_a_signed_receipt(side: WriteSide) -> None:
    first, again, other = remember(side, "tea"), remember(side, "Tea."), remember(side, "rain")
    receipt = delete(side, first["memory_id"], reason="asked to")["receipt"]
    event = side.log.events[-1]
    first_facts = side.log.events[0].facts["claim"]
    assert (event.type, event.body) == ("claim.forgotten", {"reason": "asked to"})
    assert event.facts == {
        "kind": "claim",
        "claims": [[first["memory_id"], 1], [again["memory_id"], 2]],
        "events": [[first["event_id"], 1], [again["event_id"], 2]],
        "keys": [1, 2],
        "seen": 3,
        "upto": 3,
        "values": [[first_facts["slot"], first_facts["value"], False]],
    }
    assert side.keys.destroyed == {1, 2}
    assert receipt["what"] == {"kind": "claim", "namespace": "n", "id": first["memory_id"]}
    assert receipt["counts"] == {"claims": 2, "events": 0, "keys_destroyed": 2}
    assert (receipt["position"], receipt["digest"]) == ("p0:4", event.digest.hex())
    assert list(side.ledger.entries()) == [LedgerEntry.of(event)]
    assert receipt["read_models"] == "dropped" and receipt["when"].endswith("Z")
    assert receipt["signature"] == sign_receipt(receipt, side.keys.secret("ledger"))
    assert receipt["signature"] != sign_receipt({**receipt, "position": "p0:3"}, side.keys.secret("ledger"))
    delete(side, first["memory_id"], 410)
    delete(side, again["memory_id"].upper(), 410)
    delete(side, other["memory_id"])


def test_a_message_is_forgotten_by_its_event_id(side: WriteSide) -> None:
    (said,) = say(side, "the safe is behind the clock")
    delete(side, said.upper())
    assert side.log.events[-1].facts["events"] == [[said, 1]] and side.keys.destroyed == {1}
    delete(side, said, 410)
    again = {"namespace": "n", "content": "the safe is behind the clock", "event_id": said}
    side.post("/v1/events", {"events": [again]}, 410)


def test_what_is_not_here_cannot_be_forgotten(side: WriteSide) -> None:
    foreign = remember(side, "tea", namespace="m")
    for unknown in (foreign["memory_id"], foreign["event_id"], "0" * 32, "nothing", "a/b"):
        delete(side, unknown, 404)
    assert side.http.delete(f"/v1/memories/{foreign['memory_id']}").status_code == 422
    delete(side, foreign["memory_id"], 422, namespace="")
    delete(side, foreign["memory_id"], 422, colour="red")
    assert len(side.log.events) == 1


def test_the_reply_does_not_claim_more_than_happened(side: WriteSide) -> None:
    first = remember(side, "tea")

    def behind(position: Position, *, seconds: float) -> str:
        raise NotCaughtUp("behind")

    side.directory.erased = behind  # type: ignore[method-assign]
    assert delete(side, first["memory_id"])["receipt"]["read_models"] == "pending"
    assert side.keys.destroyed == {1}


def test_a_subject_goes_after_a_dry_run_and_what_came_later_stays(side: WriteSide) -> None:
    remember(side, "tea", subject="Ada")
    remember(side, "rain", subject="Bob")
    scope = {"namespace": "n", "subject": "Ada"}
    dry = side.post("/v1/forget", scope, 200)
    assert dry["would_forget"] == {"claims": 1, "events": 0} and len(side.log.events) == 2
    remember(side, "snow", subject="Ada")
    receipt = side.post("/v1/forget", {**scope, "confirm": dry["confirm"]}, 200)["receipt"]
    event = side.log.events[-1]
    assert (event.type, event.facts["kind"], event.facts["keys"]) == ("scope.forgotten", "subject", [1])
    assert receipt["what"] == {"kind": "subject", "namespace": "n", "subject": "Ada"}
    assert "Ada" not in str(event.facts)


@pytest.mark.parametrize(
    ("scope", "gone"),
    [
        ({"session": "s"}, {1}),
        ({"from": "2020-01-01T00:00:00Z", "to": "2021-01-01T00:00:00Z"}, {2}),
        ({"to": "2021-01-01T00:00:00Z"}, {2}),
        ({"all": True}, {1, 2, 3, 4}),
    ],
)
def test_scopes(side: WriteSide, scope: dict[str, Any], gone: set[int]) -> None:
    say(side, "one", session="s")
    say(side, "two", occurred_at="2020-06-01T00:00:00Z")
    say(side, "three")
    remember(side, "tea")
    body = {"namespace": "n", **scope}
    token = side.post("/v1/forget", body, 200)["confirm"]
    side.post("/v1/forget", {**body, "confirm": token}, 200)
    assert side.keys.destroyed == gone


def test_a_token_belongs_to_its_request(side: WriteSide) -> None:
    remember(side, "tea", subject="Ada")
    token = side.post("/v1/forget", {"namespace": "n", "subject": "Ada"}, 200)["confirm"]
    upto, expires, mac = token.split(".")
    for body in (
        {"namespace": "m", "subject": "Ada", "confirm": token},
        {"namespace": "n", "subject": "Bob", "confirm": token},
        {"namespace": "n", "session": "Ada", "confirm": token},
        {"namespace": "n", "all": True, "confirm": token},
        {"namespace": "n", "subject": "Ada", "confirm": f"{int(upto) + 1}.{expires}.{mac}"},
        {"namespace": "n", "subject": "Ada", "confirm": f"{upto}.{int(expires) + 1}.{mac}"},
        {"namespace": "n", "subject": "Ada", "confirm": "yes"},
        {"namespace": "n", "subject": "Ada", "confirm": "²." + token},
    ):
        assert side.post("/v1/forget", body, 422)["field"] == "confirm"
    assert len(side.log.events) == 1


def test_a_token_expires(side: WriteSide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taishi.commands.forget.TOKEN_LIFE", -1)
    remember(side, "tea", subject="Ada")
    body = {"namespace": "n", "subject": "Ada"}
    token = side.post("/v1/forget", body, 200)["confirm"]
    assert "expired" in side.post("/v1/forget", {**body, "confirm": token}, 422)["detail"]


@pytest.mark.parametrize(
    ("scope", "field"),
    [({"subject": "Nobody"}, "subject"), ({"session": "s"}, "session"), ({"to": "2020-01-01"}, "from")],
)
def test_where_nothing_matches_nothing_is_written(side: WriteSide, scope: dict[str, Any], field: str) -> None:
    remember(side, "tea", subject="Ada")
    body = {"namespace": "n", **scope}
    dry = side.post("/v1/forget", body, 200)
    assert not any(dry["would_forget"].values()) and "unread" not in dry
    problem = side.post("/v1/forget", {**body, "confirm": dry["confirm"]}, 404)
    assert problem["field"] == field and "nothing here matches" in problem["detail"]
    assert len(side.log.events) == 1


def test_words_that_wait_to_be_read_may_be_about_a_subject_that_is_not_known_yet(side: WriteSide) -> None:
    say(side, "He is out.")
    side.directory.unread = lambda *_, **__: 1  # type: ignore[method-assign]
    body = {"namespace": "n", "subject": "Ada"}
    dry = side.post("/v1/forget", body, 200)
    assert dry["unread"] == 1
    assert side.post("/v1/forget", {**body, "confirm": dry["confirm"]}, 200)["receipt"]["unread"] == 1


@pytest.mark.parametrize(
    ("scope", "field"),
    [
        ({}, "subject"),
        ({"subject": "a", "session": "b"}, "subject"),
        ({"all": True, "from": "2020-01-01"}, "subject"),
        ({"from": "2021-01-01", "to": "2020-01-01"}, "to"),
        ({"from": "once"}, "from"),
        ({"since": "2020-01-01"}, "since"),
        ({"all": "yes"}, "all"),
    ],
)
def test_a_scope_that_is_not_one_is_refused(side: WriteSide, scope: dict[str, Any], field: str) -> None:
    assert side.post("/v1/forget", {"namespace": "n", **scope}, 422)["field"] == field


def test_a_large_scope_is_forgotten_by_several_tombstones(side: WriteSide) -> None:
    many = LARGEST_TOMBSTONE + 5
    say(side, *(f"line {n}" for n in range(many)))
    remember(side, "tea")
    body = {"namespace": "n", "all": True}
    token = side.post("/v1/forget", body, 200)["confirm"]
    receipt = side.post("/v1/forget", {**body, "confirm": token}, 200)["receipt"]
    tombstones = [event for event in side.log.events if event.type == "scope.forgotten"]
    assert [len(event.facts["events"]) for event in tombstones] == [LARGEST_TOMBSTONE, 6]
    assert [len(event.facts["claims"]) for event in tombstones] == [0, 1]
    assert len({event.correlation_id for event in tombstones}) == 1
    assert receipt["counts"] == {"claims": 1, "events": many, "keys_destroyed": many + 1}


def test_settings(side: WriteSide) -> None:
    reply = side.http.put("/v1/namespaces/a%2Fb", json={"timezone": "Asia/Tokyo"})
    assert (reply.status_code, reply.json()) == (202, {"position": "p0:1"})
    (event,) = side.log.events
    assert (event.type, event.namespace, event.body) == ("namespace.configured", "a/b", {"timezone": "Asia/Tokyo"})
    zones = [{"timezone": zone} for zone in ("Mars/Base", "../etc/passwd", "", "localtime", "Factory")]
    for bad in ({}, *zones, {"colour": "red"}):
        assert side.http.put("/v1/namespaces/n", json=bad).status_code == 422
    assert side.http.put("/v1/namespaces/a%0Ab", json={"timezone": "UTC"}).status_code in (404, 422)
    assert side.http.put("/v1/namespaces/a%07b", json={"timezone": "UTC"}).status_code == 422
    for bad in (["x"], "云雀", [3], ["云"]):
        assert side.http.put("/v1/namespaces/n", json={"dictionary": bad}).status_code == 422
    assert len(side.log.events) == 1
    side.http.put("/v1/namespaces/n", json={"dictionary": ["雲雀引擎", "云雀引擎", "天青瓷坊"]}).raise_for_status()
    assert side.log.events[-1].body == {"dictionary": ["云雀引擎", "天青瓷坊"]}


def test_the_settings_of_a_namespace_go_with_it(side: WriteSide) -> None:
    for namespace in ("n", "m"):
        side.http.put(f"/v1/namespaces/{namespace}", json={"dictionary": ["云雀引擎"]}).raise_for_status()
    body = {"namespace": "n", "all": True}
    dry = side.post("/v1/forget", body, 200)
    assert dry["would_forget"] == {"claims": 0, "events": 0, "settings": 1}
    receipt = side.post("/v1/forget", {**body, "confirm": dry["confirm"]}, 200)["receipt"]
    assert receipt["counts"]["settings"] == 1 and side.keys.destroyed == {1}
    assert prove(side, receipt)["proved"]


def test_confirming(side: WriteSide) -> None:
    first = remember(side, "tea")["memory_id"]
    assert side.post(f"/v1/memories/{first}/confirm", {"namespace": "n"}) == {"position": "p0:2"}
    assert (side.log.events[-1].type, side.log.events[-1].facts) == ("claim.confirmed", {"claim": first})
    side.post(f"/v1/memories/{first}/confirm", {"namespace": "m"}, 404)


def test_resolving(side: WriteSide) -> None:
    first = remember(side, "tea")["memory_id"]
    slot = side.log.events[0].facts["claim"]["slot"]
    side.post(f"/v1/conflicts/{slot}/resolve", {"namespace": "n", "winner": first, "reason": "asked"})
    event = side.log.events[-1]
    assert event.facts == {"slot": slot, "winner": first, "coexist": False, "claims": [first]}
    assert event.body == {"reason": "asked"}
    side.post(f"/v1/conflicts/{slot}/resolve", {"namespace": "n", "coexist": True})
    for bad in ({}, {"winner": first, "coexist": True}, {"winner": "0" * 32}):
        assert side.post(f"/v1/conflicts/{slot}/resolve", {"namespace": "n", **bad}, 422)["field"] == "winner"
    side.post(f"/v1/conflicts/{slot}/resolve", {"namespace": "m", "coexist": True}, 404)


def test_feedback(side: WriteSide) -> None:
    shown = "01a22939-e91f-7000-94e7-75aa63496de8.0"
    given = {"namespace": "n", "exposure_id": shown, "helpful": True, "note": "spot on"}
    side.post("/v1/feedback", {**given, "exposure_id": "nope"}, 422)
    problem = side.post("/v1/feedback", given, 404)
    assert problem["field"] == "exposure_id" and "recall returned" in problem["detail"]
    facts = {"exposure": shown.partition(".")[0], "items": ["x"], "kinds": ["claim"], "seqs": [], "reader": {}}
    told = NewEvent(event_id=new_id(), type="memory.recalled", namespace="n", body={}, facts=facts, schema_version=2)
    side.log.append(Batch(events=[told]))
    assert side.post("/v1/feedback", {**given, "namespace": "m"}, 404)["field"] == "exposure_id"
    assert "1 items" in side.post("/v1/feedback", {**given, "exposure_id": shown[:-1] + "1"}, 404)["detail"]
    assert len(side.log.events) == 1
    side.post("/v1/feedback", {**given, "exposure_id": shown.partition(".")[0]})
    side.post("/v1/feedback", given)
    event = side.log.events[-1]
    assert (event.type, event.facts) == ("feedback.given", {"exposure": shown, "helpful": True})
    assert event.body == {"note": "spot on"}


def prove(side: WriteSide, receipt: dict[str, Any], status: int = 200) -> dict[str, Any]:
    return side.post("/v1/forget/verify", {"receipt": receipt}, status)


def test_a_receipt_is_proved(side: WriteSide) -> None:
    first = remember(side, "tea")
    remember(side, "rain")
    receipt = delete(side, first["memory_id"])["receipt"]
    proof = prove(side, receipt)
    assert proof["proved"] and set(proof["checks"].values()) == {"ok"}
    assert (proof["tombstones"], proof["keys"]) == (1, 1)


@pytest.mark.parametrize("name", ["position", "digest", "counts", "signature", "tombstones"])
def test_an_altered_receipt_is_not(side: WriteSide, name: str) -> None:
    receipt = delete(side, remember(side, "tea")["memory_id"])["receipt"]
    proof = prove(side, {**receipt, name: "p0:1"})
    assert not proof["proved"] and proof["checks"]["signature"].startswith("wrong")
    assert proof["checks"]["keys"] == "not looked at"


def test_what_is_not_so_is_not_proved(side: WriteSide) -> None:
    first, second = remember(side, "tea"), remember(side, "rain")
    receipt = delete(side, first["memory_id"])["receipt"]
    secret = side.keys.secret("ledger")
    elsewhere = {**receipt, "tombstones": ["p0:2"]}
    proof = prove(side, {**elsewhere, "signature": sign_receipt(elsewhere, secret)})
    assert "no tombstone" in proof["checks"]["tombstones"]
    side.keys.raise_up()
    assert prove(side, receipt)["checks"]["keys"] == "1 are still there"
    side.ledger.path.unlink()
    assert "not in it" in prove(side, receipt)["checks"]["ledger"]
    side.directory.remains = lambda *_: 3  # type: ignore[method-assign, assignment]
    assert prove(side, receipt)["checks"]["read_models"] == "3 rows are still there"
    assert second


@pytest.mark.parametrize("odd", [2**64, 10**30, "é", [[]] * 3, {"a": [{"b": 1e300}]}])
@pytest.mark.parametrize("name", ["when", "counts", "signature"])
def test_odd_values_in_a_receipt_are_an_alteration(side: WriteSide, name: str, odd: Any) -> None:
    receipt = delete(side, remember(side, "tea")["memory_id"])["receipt"]
    found = prove(side, {**receipt, name: odd})
    assert not found["proved"] and found["checks"]["signature"].startswith("wrong")


def test_keys_count_as_destroyed_whoever_was_first(side: WriteSide, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keeper reads tombstones as they come, and may destroy the keys before the command does."""
    monkeypatch.setattr(side.keys, "destroy", lambda keys, *, at: 0)
    assert delete(side, remember(side, "tea")["memory_id"])["receipt"]["counts"]["keys_destroyed"] == 1


def test_what_is_no_receipt(side: WriteSide) -> None:
    prove(side, {}, 422)
    prove(side, {"what": {"namespace": 5}}, 422)
    side.post("/v1/forget/verify", {}, 422)


def test_progress_comes_in_lines(side: WriteSide) -> None:
    many = LARGEST_TOMBSTONE + 5
    say(side, *(f"line {n}" for n in range(many)))
    body = {"namespace": "n", "all": True}
    token = side.post("/v1/forget", body, 200)["confirm"]
    reply = side.http.post(
        "/v1/forget", json={**body, "confirm": token}, headers={"accept": "application/x-ndjson"}
    )
    told = [orjson.loads(line) for line in reply.text.splitlines()]
    assert told[:-1] == [{"done": LARGEST_TOMBSTONE, "of": many}, {"done": many, "of": many}]
    assert prove(side, told[-1]["receipt"])["proved"]
    wrong = side.http.post("/v1/forget", json={**body, "confirm": "no"}, headers={"accept": "application/x-ndjson"})
    assert orjson.loads(wrong.text)["status"] == 422
