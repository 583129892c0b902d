"""The read side over HTTP: routes, parameters, problems, health; against read models folded from events."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
from starlette.testclient import TestClient

from taishi.ingest.access import ApiKey
from taishi.ingest.envelope import Actor, Event, Position
from taishi.ingest.errors import Unavailable
from taishi.ingest.log import NamespaceHead
from taishi.queries.http import create_app
from taishi.queries.status import VectorsAt, namespace_status, whole_status
from tests.support.history import History, claim_id
from tests.support.history_log import HistoryLog
from tests.support.read_side import NOW, ReadSide, analyzer, at

JAN, MAY = at("2026-01-01T00:00:00Z"), at("2026-05-01T00:00:00Z")


class Log:
    """What the read side asks of the log, over a list of events."""

    partitions = 1

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.appended: list[Any] = []

    def partition_of(self, namespace: str) -> int:
        return 0

    def head(self, partition: int) -> int:
        return len(self.events)

    def namespace_head(self, namespace: str) -> NamespaceHead:
        mine = [e for e in self.events if e.namespace == namespace]
        raw = [e.position.seq for e in mine if e.type == "message.recorded"]
        seq = mine[-1].position.seq if mine else 0
        return NamespaceHead(position=Position(0, seq), raw_seq=max(raw, default=0), recorded_at=0)

    def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
        return self.events[after : after + limit]

    def fetch(self, position: Position) -> Event:
        return self.events[position.seq - 1]

    def append_many(self, batches: Any) -> list[Any]:
        self.appended += [event for batch in batches for event in batch.events]
        return [None for _ in batches]


class Api:
    """A read API over a history, of which only the first `folded` events are in the read model."""

    def __init__(self, folder: Path, history: History, *, folded: int | None = None, **more: Any) -> None:
        self.history = history
        self.side = ReadSide(folder, history.events[:folded])
        self.log = Log(history.events)
        self.app = create_app(
            models=self.side.models, log=self.log, analyzer=analyzer, vectors=VectorsAt(None), clock=lambda: NOW,
            **{"record_exposures": False, **more},
        )  # fmt: skip

    def __enter__(self) -> TestClient:
        self.client = TestClient(self.app, raise_server_exceptions=False)
        return self.client.__enter__()

    def __exit__(self, *exc: object) -> None:
        self.client.__exit__(*exc)


def history() -> History:
    h = History()
    said = h.say("我住在绍兴。", session="s1")
    h.claim("user", "lives_in", "绍兴", said=said, valid_from=JAN, rule="zh.lives")
    h.extracted(said)
    h.claim("user", "lives_in", "宁波", valid_from=MAY)
    h.claim("user", "likes", "梅干菜")
    h.claim("mill", "version", "3.1")
    h.say("磨坊的水车该修了。", namespace="other")
    return h


@pytest.fixture(scope="module")
def api(tmp_path_factory) -> Iterator[TestClient]:
    with Api(tmp_path_factory.mktemp("api"), history()) as client:
        yield client


def get(client: TestClient, path: str, **params: Any):
    return client.get(path, params={"namespace": "ns", **params})


def test_a_question_with_nul_in_it_is_a_question(api: TestClient) -> None:
    assert ask(api, query="a\x00b lives where?").status_code == 200


def forged(cursor: str, name: str, value: int) -> str:
    state = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    return base64.urlsafe_b64encode(orjson.dumps({**state, name: value})).decode()


def ask(client: TestClient, **body: Any):
    return client.post("/v1/recall", json={"namespace": "ns", "query": "我住在哪", **body})


# recall


def test_recall_has_every_field_of_the_contract(api):
    reply = ask(api).json()
    assert set(reply) == {"answerability", "items", "context", "as_of", "degraded", "exposure_id"}
    (item,) = reply["items"]
    assert item["value"] == "宁波"
    assert {
        "kind", "id", "text", "subject", "predicate", "value", "status", "score", "valid_from", "valid_to",
        "occurs_from", "known_from", "known_to", "evidence", "exposure_id", "why",
    } <= set(item)  # fmt: skip
    noon = "2026-12-01T12:00:00Z"
    assert reply["as_of"] == {"position": "p0:7", "valid_at": noon, "known_at": noon}
    assert set(reply["context"]) == {"text", "tokens", "truncated"}
    assert "宁波" in reply["context"]["text"]


def test_times_choose_what_holds(api):
    assert [i["value"] for i in ask(api, valid_at="2026-02-01T00:00:00Z").json()["items"]] == ["绍兴"]
    early = ask(api, as_of_position="p0:2").json()
    assert [i["value"] for i in early["items"]] == ["绍兴"] and early["as_of"]["position"] == "p0:2"
    assert ask(api, as_of_position="p0:0").json()["as_of"]["position"] == "p0:0"
    assert ask(api, valid_at="2025-02-01T00:00:00+08:00").json()["items"] == []


def test_explain_tells_what_was_understood(api):
    told = ask(api, explain=True).json()["explain"]
    assert told["intent"] == "current"
    assert told["predicates"] == ["lives_in"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"valid_at": "whenever"}, "valid_at"),
        ({"known_at": "2026-13-01"}, "known_at"),
        ({"limit": -1}, "limit"),
        ({"limit": 0}, "limit"),
        ({"limit": 100_000}, "limit"),
        ({"limit": "5"}, "limit"),
        ({"token_budget": 0}, "token_budget"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": None}, "query"),
        ({"namespace": ""}, "namespace"),
        ({"namespace": "a\x00b"}, "namespace"),
        ({"colour": "red"}, "colour"),
        ({"kinds": ["dream"]}, "kinds.0"),
        ({"kinds": []}, "kinds"),
        ({"min_position": "17"}, "min_position"),
        ({"min_position": "p3:1"}, "min_position"),
        ({"as_of_position": "p9:1"}, "as_of_position"),
        ({"filters": {"a": [1]}}, None),
    ],
)
def test_bad_questions_are_refused_by_name(api, body, field):
    reply = ask(api, **body)
    assert reply.status_code in (400, 422)
    assert reply.headers["content-type"] == "application/problem+json"
    if field is not None:
        assert reply.json()["field"] == field


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"null", b"\xff", b'{"namespace":"ns","namespace":"x","query":"q"}'])
def test_bodies_that_are_no_question(api, raw):
    assert api.post("/v1/recall", content=raw, headers={"content-type": "application/json"}).status_code in (400, 422)


def test_any_text_is_a_question(api):
    for query in ("a" * 19_000, "'; DROP TABLE claims;--", '"" OR NEAR(', "𒀀𒁀", "\u202e\u0000x", "🏴‍☠️", "%_*?[]{}|\\"):
        assert ask(api, query=query).status_code == 200, query


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201])
def test_names_are_those_that_can_be_written(api, name):
    """The log keeps who was shown what: a name that no write takes would make it an export that no import takes."""
    for field in ("session", "actor", "namespace"):
        reply = ask(api, **{field: name})
        assert reply.status_code == 422 and reply.json()["field"].startswith(field)
    assert ask(api, actor={"id": name}).json()["field"].startswith("actor")


def test_a_question_is_as_long_as_it_is_written_out(api):
    assert ask(api, query="\ufdfa" * 1_000).status_code == 200
    problem = ask(api, query="\ufdfa" * 2_000)
    assert (problem.status_code, problem.json()["field"]) == (422, "query") and "written out" in problem.text


def test_what_was_never_shown_is_refused_by_name(api):
    assert get(api, "/v1/exposures/nope").json()["field"] == "exposure_id"
    problem = api.get("/v1/exposures/nope", params={"namespace": "nobody"})
    assert (problem.status_code, problem.json()["field"]) == (404, "namespace")
    for path in ("/v1/memories/%ff", "/v1/memories/%ff/history", "/v1/exposures/%ff"):
        assert get(api, path).status_code == 422


def test_a_position_that_was_not_read_is_waited_for_and_then_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("taishi.queries.routes.CATCH_UP_SECONDS", 0.1)
    api = Api(tmp_path, history(), folded=3)
    with api as client:
        reply = ask(client, min_position="p0:4")
        assert reply.status_code == 503
        assert reply.headers["retry-after"]
        assert reply.json()["type"].endswith("not-caught-up")
        api.side.file.apply(api.history.events[3:])
        reply = ask(client, min_position="p0:7")
        assert reply.json()["items"][0]["value"] == "宁波"


def test_a_position_that_the_log_has_not_reached_is_refused_and_its_end_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("taishi.queries.routes.CATCH_UP_SECONDS", 0.1)
    api = Api(tmp_path, history(), folded=3)
    with api as client:
        for field in ("as_of_position", "min_position"):
            reply = ask(client, **{field: "p0:99"})
            assert (reply.status_code, reply.json()["field"]) == (422, field)
            assert "p0:7" in reply.json()["detail"]
        waits = ask(client, as_of_position="p0:4")
        assert (waits.status_code, waits.json()["field"]) == (503, "as_of_position")
        api.side.file.apply(api.history.events[3:])
        assert ask(client, as_of_position="p0:3").json()["items"][0]["value"] == "绍兴"


def test_what_is_contested_names_the_slot_that_settles_it(tmp_path):
    h = History()
    for port in ("4100", "4200"):
        h.claim("gateway", "config.port", port, valid_from=JAN, recorded_at=MAY)
    h.claim("gateway", "owns", "two ports")
    slot = h.events[0].facts["claim"]["slot"]
    with Api(tmp_path, h) as client:
        listed = get(client, "/v1/memories").json()["items"]
        assert [(one["status"], one.get("slot")) for one in listed] == [
            ("current", None), ("contested", slot), ("contested", slot),
        ]  # fmt: skip
        asked = ask(client, query="Which port does the gateway use?").json()["items"]
        assert {one["slot"] for one in asked if one["status"] == "contested"} == {slot}
        assert get(client, f"/v1/memories/{listed[1]['id']}").json()["slot"] == slot
        rectangles = get(client, "/v1/timeline", predicate="config.port").json()["items"]
        assert {one["slot"] for one in rectangles} == {slot}


def test_what_was_shown_is_told_to_the_log_with_ids_alone(tmp_path):
    api = Api(tmp_path, history(), record_exposures=True)
    with api as client:
        (item,) = ask(client).json()["items"]
        until = time.monotonic() + 5
        while not api.log.appended and time.monotonic() < until:
            time.sleep(0.02)
    (event,) = api.log.appended
    assert event.type == "memory.recalled"
    assert event.body == {}
    assert f"{event.facts['exposure']}.0" == item["exposure_id"]
    assert (event.facts["items"], event.facts["kinds"]) == ([item["id"]], ["claim"])


# lists


def test_a_list_is_of_what_holds_newest_first(api):
    items = get(api, "/v1/memories").json()["items"]
    assert [i["value"] for i in items] == ["3.1", "梅干菜", "宁波"]
    assert [i["value"] for i in get(api, "/v1/memories", subject="User").json()["items"]] == ["梅干菜", "宁波"]
    assert [i["value"] for i in get(api, "/v1/memories", predicate="version").json()["items"]] == ["3.1"]
    assert [i["value"] for i in get(api, "/v1/memories", status="superseded").json()["items"]] == ["绍兴"]
    both = get(api, "/v1/memories", status="current, superseded", subject="user", predicate="lives_in").json()["items"]
    assert [i["status"] for i in both] == ["current", "superseded"]


def test_what_says_the_same_is_listed_once(tmp_path):
    h = History()
    for words in ("Sencha", "sencha", "SENCHA."):
        h.claim("user", "likes", words)
    with Api(tmp_path, h) as client:
        (item,) = get(client, "/v1/memories").json()["items"]
        assert len(item["evidence"]) == 3


def test_pages_of_a_list_are_of_one_moment_and_one_question(tmp_path):
    h = History()
    for n in range(7):
        h.claim("user", "likes", f"tea {n}")
    api = Api(tmp_path, h)
    with api as client:
        seen: list[str] = []
        page = get(client, "/v1/memories", limit="3").json()
        api.side.file.apply([h.claim("user", "likes", "tea 99")])
        while True:
            seen += [i["value"] for i in page["items"]]
            if page["next_cursor"] is None:
                break
            page = get(client, "/v1/memories", limit="3", cursor=page["next_cursor"]).json()
        assert seen == [f"tea {n}" for n in range(6, -1, -1)]
        first = get(client, "/v1/memories", limit="3").json()["next_cursor"]
        assert get(client, "/v1/memories", limit="3", cursor=first, subject="user").status_code == 422
        assert get(client, "/v1/memories", cursor="nonsense").status_code == 422
        for name in ("before", "valid", "known"):
            assert get(client, "/v1/memories", limit="3", cursor=forged(first, name, 1 << 63)).status_code == 422
        assert get(client, "/v1/memories", cursor="").status_code == 422


@pytest.mark.parametrize(
    "params",
    [
        {"status": "alive"}, {"status": ","}, {"limit": "-1"}, {"limit": "x"}, {"limit": "０"}, {"valid_at": "soon"},
        {"known_at": ""}, {"colour": "red"}, {"namespace": ""},
    ],
)  # fmt: skip
def test_bad_lists_are_refused(api, params):
    assert get(api, "/v1/memories", **params).status_code == 422


# one memory


def test_one_claim_its_life_and_where_it_came_from(api):
    old = claim_id(history().events[1])
    shown = get(api, f"/v1/memories/{old}").json()
    assert (shown["value"], shown["status"]) == ("绍兴", "superseded")
    assert get(api, f"/v1/memories/{old}", valid_at="2026-02-01T00:00:00Z").json()["status"] == "current"
    life = get(api, f"/v1/memories/{old}/history").json()
    assert [step["rule"] for step in life["chain"]] == ["began_later"]
    assert life["chain"][0]["new"]["value"] == "宁波"
    assert len(life["beliefs"]) == 2
    told = get(api, f"/v1/memories/{old}/explain").json()
    assert told["words"][0]["quote"] == "我住在绍兴。"
    assert told["window"]["outcome"] == "extraction.completed"
    assert (told["extractor"], told["rule"]) == ("rules@1", "zh.lives")


def test_a_raw_event_has_an_id_too(api):
    said = str(UUID(int=1))
    assert get(api, f"/v1/memories/{said}").json()["text"] == "我住在绍兴。"
    assert get(api, f"/v1/memories/{said}/history").json()["claims"][0]["status"] == "superseded"
    assert get(api, f"/v1/memories/{said}/explain").json()["window"]["id"] == "w"


def test_ids_of_other_namespaces_and_unknown_ones_are_not_found(api):
    for memory_id in (str(UUID(int=7)), "nothing", "0" * 32):
        reply = get(api, f"/v1/memories/{memory_id}")
        assert reply.status_code == 404, memory_id
        assert reply.headers["content-type"] == "application/problem+json"
    assert api.get(f"/v1/memories/{UUID(int=7)}", params={"namespace": "other"}).status_code == 200
    assert api.get(f"/v1/memories/{UUID(int=7)}").status_code == 422


def test_a_merged_id_leads_to_the_survivor(tmp_path):
    h = History()
    first = h.claim("user", "likes", "Sencha")
    second = h.claim("user", "likes", "sencha.")
    with Api(tmp_path, h) as client:
        assert get(client, f"/v1/memories/{claim_id(second)}").json()["id"] == claim_id(first)
        life = get(client, f"/v1/memories/{claim_id(second)}/history").json()
        assert len(life["statements"]) == 2


def test_a_forgotten_memory_shows_no_word(tmp_path):
    h = History()
    said = h.say("我的保险单号是 5521。")
    claim = h.claim("user", "note", "保险单号 5521", said=said)
    h.forget(claim, said)
    h.events = h.after_erasure()
    with Api(tmp_path, h) as client:
        for path in (f"/v1/memories/{claim_id(claim)}", f"/v1/memories/{said.event_id}"):
            for more in ("", "/history", "/explain"):
                reply = get(client, path + more)
                assert reply.status_code == 200, path + more
                assert "5521" not in reply.text
            assert get(client, path).json()["status"] == "forgotten"
        events = get(client, "/v1/audit/events").json()["events"]
        assert [e["erased"] for e in events] == [True, True, False]
        assert "5521" not in str(events)


def test_what_callers_think_of_a_memory_is_shown_with_it(tmp_path):
    h = History()
    first, second = h.claim("user", "likes", "Sencha"), h.claim("user", "likes", "sencha.")
    h.recalled("e", first)
    h.feedback("e.0", False)
    h.confirm(first)
    last = h.confirm(second)
    with Api(tmp_path, h) as client:
        for path in (f"/v1/memories/{claim_id(second)}", f"/v1/memories/{claim_id(first)}/history"):
            shown = get(client, path).json()
            assert (shown["confirmations"], shown["helpful"], shown["unhelpful"]) == (2, 0, 1), path
            assert at(shown["confirmed_at"]) == last.recorded_at


def test_explain_tells_who_read_a_memory(tmp_path):
    h = History()
    said = h.say("I like sencha", session="s1", actor=Actor("lin"))
    first = h.claim("user", "likes", "sencha", said=said)
    h.extracted(said)
    second = h.claim("user", "likes", "Sencha.")
    reader = {"key": "desk", "actor": "ada"}
    ids = [said.event_id, claim_id(second)]
    facts = {"exposure": "x", "items": ids, "kinds": ["event", "claim"], "seqs": [], "reader": reader}
    h.add("memory.recalled", facts=facts, session="s7")
    h.recalled("y", first)
    h.feedback("x.1", True)
    with Api(tmp_path, h) as client:
        told = get(client, f"/v1/memories/{claim_id(first)}/explain").json()
        assert [(r["exposure_id"], r["rank"], r["reader"], r["session"]) for r in told["reads"]] == [
            ("y.0", 1, {}, None), ("x.1", 2, reader, "s7")
        ]  # fmt: skip
        assert [r["helpful"] for r in told["reads"]] == [None, True]
        assert [(r["event_id"], r["window"]["outcome"]) for r in told["readings"]] == [
            (said.event_id, "extraction.completed")
        ]
        assert [s["type"] for s in told["statements"]] == ["claim.extracted", "claim.asserted"]
        assert all(s["schema_version"] == 1 and s["origin"] for s in told["statements"])
        (read,) = get(client, f"/v1/memories/{said.event_id}/explain").json()["reads"]
        assert (read["exposure_id"], read["position"]) == ("x.0", "p0:5")


def test_who_took_a_memory_back_is_told_with_the_reason_and_what_came_instead(tmp_path):
    h = History()
    first, second = h.claim("user", "likes", "figs"), h.claim("user", "likes", "dates")
    h.claim("user", "likes", "plums", type_="claim.corrected", correction=True, targets=(claim_id(first),), was="wrong")
    corrected = h.events[-1] = replace(h.events[-1], body={**h.events[-1].body, "reason": "misheard"})
    h.add("claim.retracted", facts={"targets": [claim_id(second)], "was": "wrong"}, actor=Actor("ada"))
    with Api(tmp_path, h) as client:
        told = [get(client, f"/v1/memories/{claim_id(c)}/explain").json() for c in (first, second, corrected)]
        by = told[0]["fate"]["removed_by"]
        assert (by["position"], by["type"], by["reason"]) == ("p0:3", corrected.type, "misheard")
        assert (by["memory"]["id"], by["memory"]["value"]) == (claim_id(corrected), "plums")
        by = told[1]["fate"]["removed_by"]
        assert (by["position"], by["type"], by["reason"]) == ("p0:4", "claim.retracted", None)
        assert (by["memory"], by["actor"]["id"]) == (None, "ada")
        assert told[2]["fate"]["removed_by"] is None
        assert told[2]["statements"][0]["reason"] == "misheard"


def test_a_settled_conflict_is_told_in_the_life_of_its_claims(tmp_path):
    h = History()
    a, b = (h.claim("gateway", "config.port", p, valid_from=JAN, recorded_at=JAN) for p in ("4100", "4200"))
    settled = h.resolve(a, b, winner=b, recorded_at=MAY)
    with Api(tmp_path, h) as client:
        life = get(client, f"/v1/memories/{claim_id(a)}/history").json()
        assert [(s["winner"], s["coexist"], s["position"]) for s in life["settled"]] == [
            (claim_id(b), False, str(settled.position))
        ]
        assert life["chain"][-1]["rule"] == "resolved"
        fate = get(client, f"/v1/memories/{claim_id(a)}/explain").json()["fate"]
        assert fate["status"] == "superseded"
        assert [(step["by"], step["rule"]) for step in fate["superseded"]] == [(claim_id(b), "resolved")]


def test_every_decision_is_told_however_late_the_window_was_closed(tmp_path):
    h = History()
    words = [h.say(text) for text in ("hello", "if I lived in Lund", "no answer came")]
    for n in range(700):
        h.say(f"filler {n}")
    h.extracted(words[0], words[1], decisions={words[0].event_id: "small_talk", words[1].event_id: "hypothetical"})
    h.extracted(words[2], failed=True)
    with Api(tmp_path, h) as client:
        told = [get(client, f"/v1/memories/{w.event_id}/explain").json() for w in words]
        unread = get(client, f"/v1/memories/{h.events[5].event_id}/explain").json()
    assert [t["decision"] for t in told] == ["small_talk", "hypothetical", "timeout"]
    assert [t["window"]["outcome"] for t in told] == ["extraction.completed"] * 2 + ["extraction.failed"]
    assert told[0]["window"]["events"] == [words[0].event_id, words[1].event_id]
    assert (told[0]["extractor"], told[0]["provenance"]["origin"]) == ("rules@1", "user_direct")
    assert (unread["extraction"], unread["decision"], unread["window"]) == ("pending", None, None)


# timeline, audit, status


def test_the_timeline_shows_every_rectangle(api):
    rows = get(api, "/v1/timeline", subject="user", predicate="lives_in").json()["items"]
    assert [(r["value"], r["valid_from"][:10], r["valid_to"] and r["valid_to"][:10]) for r in rows] == [
        ("绍兴", "2026-01-01", None), ("绍兴", "2026-01-01", "2026-05-01"), ("宁波", "2026-05-01", None)
    ]  # fmt: skip
    assert rows[0]["known_to"] == rows[1]["known_from"]


def test_the_timeline_has_the_status_of_the_asked_point_as_recall_has(api):
    def shown(**point: str) -> set[tuple[str, str]]:
        rows = get(api, "/v1/timeline", subject="user", predicate="lives_in", **point).json()["items"]
        return {(r["value"], r["status"]) for r in rows}

    assert shown() == {("绍兴", "superseded"), ("宁波", "current")}
    assert shown(valid_at="2026-03-01T00:00:00Z") == {("绍兴", "current"), ("宁波", "planned")}
    asked = {"namespace": "ns", "query": "我住在哪里？", "valid_at": "2026-03-01T00:00:00Z"}
    recalled = api.post("/v1/recall", json=asked).json()["items"]
    assert {(i["value"], i["status"]) for i in recalled if i["value"]} == {("绍兴", "current")}
    first = get(api, "/v1/timeline", subject="user", predicate="lives_in").json()["items"][0]
    early = get(api, "/v1/timeline", predicate="lives_in", known_at=first["known_from"]).json()["items"]
    assert [(r["value"], r["status"], r["known_to"]) for r in early] == [("绍兴", "current", None)]


def test_the_audit_lists_events_with_filters_and_pages(api):
    types = [e["type"] for e in get(api, "/v1/audit/events").json()["events"]]
    assert types == ["message.recorded", "claim.extracted", "extraction.completed", *["claim.asserted"] * 3]
    page = get(api, "/v1/audit/events", limit="2").json()
    more = get(api, "/v1/audit/events", limit="2", cursor=page["next_cursor"]).json()
    before = get(api, "/v1/audit/events", limit="2", cursor=forged(page["next_cursor"], "after", -1))
    assert before.status_code == 200 and before.json()["events"] == page["events"]
    assert [e["position"] for e in page["events"] + more["events"]] == ["p0:1", "p0:2", "p0:3", "p0:4"]
    some = get(api, "/v1/audit/events", type="claim.asserted", **{"from": "1970-01-01T00:00:05Z"}).json()["events"]
    assert [e["position"] for e in some] == ["p0:5", "p0:6"]
    events = get(api, "/v1/audit/events").json()["events"]
    for name in ("session", "origin"):
        for value in {e[name] for e in events} - {None}:
            found = get(api, "/v1/audit/events", **{name: value}).json()["events"]
            assert [e["position"] for e in found] == [e["position"] for e in events if e[name] == value]
    assert get(api, "/v1/audit/events", session="none such").json()["events"] == []
    assert get(api, "/v1/audit/events", origin="hearsay").json()["field"] == "origin"
    backwards = get(api, "/v1/audit/events", **{"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"})
    assert (backwards.status_code, backwards.json()["field"]) == (422, "from")


def test_status_counts_what_was_not_read_yet(tmp_path):
    h = History()
    h.say("一句话。")
    h.say("又一句话。")
    h.say("第三句话。")
    api = Api(tmp_path, h, folded=1)
    with api as client:
        status = get(client, "/v1/status").json()
        assert (status["lag"], status["pending_extractions"], status["generation"]) == (2, 3, "g1")
        assert status["positions"]["read"] == "p0:1"
        h.extracted(*h.events[:3])
        api.side.file.apply(h.events[1:])
        status = get(client, "/v1/status").json()
        assert (status["lag"], status["pending_extractions"], status["dead_letters"]) == (0, 0, 0)
        assert client.get("/v1/status").json()["lag"] == 0


def test_health_readiness_and_metrics(api):
    assert api.get("/healthz").status_code == 200
    until = time.monotonic() + 5
    while api.get("/readyz").status_code != 200 and time.monotonic() < until:
        time.sleep(0.05)
    assert api.get("/readyz").json() == {"ready": True, "missing": {}}
    assert "taishi_http_requests" in api.get("/metrics").text
    paths = api.get("/openapi.json").json()["paths"]
    assert {"/v1/recall", "/v1/memories", "/v1/timeline", "/v1/audit/events", "/v1/status"} <= set(paths)


def test_no_read_model_yet_is_503_and_not_ready(tmp_path):
    api = Api(tmp_path, History())
    (tmp_path / "models" / "current").unlink()
    with api as client:
        reply = ask(client)
        assert reply.status_code == 503
        assert reply.headers["retry-after"]
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200


def test_keys_reach_their_own_namespaces_alone(tmp_path):
    key = ApiKey.of(name="k", key="k" * 20, rights=["query"], namespaces=["ns"])
    with Api(tmp_path, history(), api_keys=[key]) as client:
        assert ask(client).status_code == 401
        client.headers["x-api-key"] = "k" * 20
        assert ask(client).status_code == 200
        assert ask(client, namespace="other").status_code == 403
        assert client.get("/v1/memories", params={"namespace": "other"}).status_code == 403
        assert client.get("/v1/status").status_code == 403


def test_a_new_generation_is_read_from_the_next_request_on(tmp_path):
    api = Api(tmp_path, history())
    with api as client:
        assert ask(client).json()["items"]
        ReadSide(tmp_path / "next", [])
        (tmp_path / "next" / "models" / "g1").rename(tmp_path / "models" / "g2")
        (tmp_path / "models" / "current").write_text("g2\n")
        assert ask(client).json()["items"] == []
        assert get(client, "/v1/status").json()["generation"] == "g2"


def test_a_read_model_that_knows_more_than_the_log_holds_is_behind_by_all_of_it(tmp_path: Path) -> None:
    h = History()
    for number in range(4):
        h.say(f"line {number}")
    side = ReadSide(tmp_path, h.events)
    log = HistoryLog(h)
    assert namespace_status(side.models, log, VectorsAt(None), "ns")["lag"] == 0
    del h.events[2:]
    assert namespace_status(side.models, log, VectorsAt(None), "ns")["lag"] == 2
    assert whole_status(side.models, log, VectorsAt(None))["lag"] == 2


def test_a_log_that_cannot_be_read_on_is_told_and_does_not_keep_the_status_back(tmp_path: Path) -> None:
    class Full(HistoryLog):
        def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
            raise Unavailable("the disk is full")

    h = History()
    h.say("line 0")
    side = ReadSide(tmp_path, h.events)
    h.say("line 1")
    told = namespace_status(side.models, Full(h), VectorsAt(None), "ns")
    held = {"position": "p0:2", "reason": "unavailable", "detail": "the disk is full"}
    assert (told["lag"], told["held"]) == (1, held)
    assert whole_status(side.models, Full(h), VectorsAt(None))["held"] == [held]


# who asks


def named(*speakers: str, role: str = "user") -> History:
    """Each speaker says by id where he lives; the first also where somebody lives who says nothing."""
    h = History()
    for number, who in enumerate(speakers):
        said = h.say(f"I live in Place{number}", actor=Actor(id=who, role=role))
        h.claim(who, "lives_in", f"Place{number}", said=said, said_by=who)
    said = h.say("Ruth lives in Elsewhere", actor=Actor(id=speakers[0], role=role))
    h.claim("Ruth", "lives_in", "Elsewhere", said=said, said_by=speakers[0])
    return h


@pytest.mark.parametrize("query", ["Where do I live?", "Where does the user live?"])
def test_the_only_one_who_speaks_of_himself_is_the_one_who_asks(tmp_path: Path, query: str) -> None:
    with Api(tmp_path, named("ned-7")) as client:
        reply = ask(client, query=query).json()
        assert (reply["answerability"], reply["items"][0]["value"]) == ("supported", "Place0")
        assert ask(client, query=query, actor="Ruth").json()["items"][0]["value"] == "Elsewhere"
        assert ask(client, query=query, namespace="empty").json()["answerability"] == "no_evidence"


def test_of_several_who_speak_nobody_is_taken_for_the_one_who_asks(tmp_path: Path) -> None:
    with Api(tmp_path, named("ned-7", "ada-2")) as client:
        assert ask(client, query="Where do I live?").json()["answerability"] != "supported"
        assert ask(client, query="Where do I live?", actor="ada-2").json()["items"][0]["value"] == "Place1"


def test_an_assistant_with_a_name_is_not_the_one_who_asks(tmp_path: Path) -> None:
    with Api(tmp_path, named("bot-1", role="assistant")) as client:
        assert ask(client, query="Where do I live?").json()["answerability"] != "supported"


def test_an_agent_of_which_nothing_is_known_asks_of_the_user_unless_it_says_i(tmp_path: Path) -> None:
    with Api(tmp_path, named("ned-7")) as client:
        assert ask(client, query="Where does the user live?", actor="desk").json()["items"][0]["value"] == "Place0"
        assert ask(client, query="Where do I live?", actor="desk").json()["answerability"] == "no_evidence"
