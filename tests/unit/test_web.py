"""What both HTTP APIs share, tried on the write side: whatever bytes come in, a clear 4xx and nothing written."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taishi.ingest.access import ApiKey, refuse_open_bind
from taishi.ingest.errors import ConfigurationError
from taishi.ingest.web import MAX_BODY
from tests.support.write_side import WriteSide, write_side

JSON = {"content-type": "application/json"}
EVENT = '{"events":[{"namespace":"n","content":"x"%s}]}'
ROUTES = [
    ("POST", "/v1/events"),
    ("POST", "/v1/import"),
    ("POST", "/v1/memories"),
    ("POST", "/v1/memories/" + "0" * 32 + "/correct"),
    ("POST", "/v1/memories/" + "0" * 32 + "/confirm"),
    ("POST", "/v1/forget"),
    ("POST", "/v1/feedback"),
    ("POST", "/v1/conflicts/" + "0" * 32 + "/resolve"),
    ("PUT", "/v1/namespaces/n"),
]


@pytest.fixture(scope="module")
def side() -> Iterator[WriteSide]:
    with write_side() as side:
        yield side


def refused(side: WriteSide, method: str, path: str, raw: bytes, headers: Any = JSON) -> dict[str, Any]:
    before = len(side.log.events)
    reply = side.http.request(method, path, content=raw, headers=headers)
    assert 400 <= reply.status_code < 500, (raw[:200], reply.text)
    assert reply.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = reply.json()
    assert problem["status"] == reply.status_code and problem["detail"]
    assert len(side.log.events) == before
    return problem


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "raw",
    [
        b"", b" ", b"null", b"[]", b'"x"', b"7", b"{", b"{}}", b"nul", b"\x00", b"\xff\xfe{}", b"\xef\xbb\xbf{}",
        b'{"namespace":NaN}', b'{"namespace":"\\ud800"}', b'{"namespace":"\xc3\x28"}', b"[" * 100_000,
        b'{"a":' * 50_000, b'{"namespace":' + b"9" * 5_000 + b"}", b'{"\\ud800":1}',
        b'{"namespace":"n","namespace":"n"}',
    ],
    ids=lambda raw: repr(raw[:24]),
)  # fmt: skip
def test_what_is_no_good_json_is_refused_everywhere(side: WriteSide, method: str, path: str, raw: bytes) -> None:
    refused(side, method, path, raw)


@pytest.mark.parametrize(
    "more",
    [
        ',"content":"y"', ',"c\\u006fntent":"y"', ',"metadata":{"a":1,"a":2}', ',"metadata":{"a":[{"b":1,"b":1}]}',
        ',"metadata":{"a":NaN}', ',"metadata":{"a":-Infinity}', ',"metadata":{"a":1e999}',
        ',"metadata":{"a":1e18446744}',
        ',"metadata":{"a":123456789012345678901234567890}', ',"metadata":{"a":"\\udfff"}',
        ',"metadata":' + '{"a":' * 60 + "1" + "}" * 60, ',"metadata":{"a":' + "[" * 90 + "]" * 90 + "}",
        ',"session":"\\u0000"', ',"session":""', ',"actor":{}, "actor":null',
    ],
)  # fmt: skip
def test_values_that_readers_disagree_on_are_refused(side: WriteSide, more: str) -> None:
    refused(side, "POST", "/v1/events", (EVENT % more).encode())


def test_strings_that_look_like_keys_are_strings(side: WriteSide) -> None:
    said = '"content": {"a":1,"a":2}, \\" : "'
    reply = side.http.post(
        "/v1/events", json={"events": [{"namespace": "n", "content": said, "metadata": {'":"': ":"}}]}
    )
    assert reply.status_code == 202
    assert side.log.events[-1].body == {"text": said, "metadata": {'":"': ":"}}


known_names = st.sampled_from(
    ["namespace", "events", "content", "actor", "metadata", "occurred_at", "recorded_at", "event_id", "text", "subject",
     "predicate", "value", "qualifiers", "valid_from", "valid_to", "was", "all", "from", "confirm", "importance"]
)  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["n", "wrong", "2026-01-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | known_names, inner, max_size=4),
    max_leaves=12,
)
bodies = st.dictionaries(known_names, json_values, max_size=8)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(route=st.sampled_from(ROUTES), body=bodies)
def test_no_json_makes_the_server_fail(side: WriteSide, route: tuple[str, str], body: Any) -> None:
    raw = json.dumps(body).encode("utf-8", "surrogatepass")
    before = len(side.log.events)
    reply = side.http.request(*route, content=raw, headers=JSON)
    assert reply.status_code < 500, (body, reply.text)
    assert (reply.status_code == 202) == (len(side.log.events) > before)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    events=st.lists(
        st.fixed_dictionaries(
            {"namespace": st.text(), "content": st.text()},
            optional={
                "occurred_at": st.text() | st.datetimes().map(str), "metadata": json_values, "session": st.text(),
                "event_id": st.uuids().map(str) | st.text(), "actor": json_values,
            },
        ),
        min_size=1, max_size=2,
    )
)  # fmt: skip
def test_no_event_makes_the_server_fail(side: WriteSide, events: Any) -> None:
    raw = json.dumps({"events": events}).encode("utf-8", "surrogatepass")
    before = len(side.log.events)
    reply = side.http.post("/v1/events", content=raw, headers=JSON)
    assert reply.status_code < 500, (events, reply.text)
    new = [one for one in reply.json().get("accepted", ()) if not one["duplicate"]]
    assert len(side.log.events) - before == len(new)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(route=st.sampled_from(ROUTES), raw=st.binary(max_size=200))
def test_no_bytes_make_the_server_fail(side: WriteSide, route: tuple[str, str], raw: bytes) -> None:
    refused(side, *route, raw)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(memory=st.text(min_size=1), namespace=st.text())
def test_no_id_makes_the_server_fail(side: WriteSide, memory: str, namespace: str) -> None:
    from urllib.parse import quote

    where = quote(memory.encode("utf-8", "surrogatepass"), safe="")
    asked = quote(namespace.encode("utf-8", "surrogatepass"), safe="")
    reply = side.http.delete(f"/v1/memories/{where}?namespace={asked}")
    assert 400 <= reply.status_code < 500


def test_wrong_content(side: WriteSide) -> None:
    good = (EVENT % "").encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        assert refused(side, "POST", "/v1/events", good, {"content-type": kind})["status"] == 415
    assert refused(side, "POST", "/v1/events", good, {**JSON, "content-encoding": "gzip"})["status"] == 415
    assert refused(side, "POST", "/v1/events", good, {"origin": "https://elsewhere.example"})["status"] == 415
    for fine in ({}, {"content-type": "application/json; charset=utf-8"}, {"content-type": "application/ld+json"}):
        assert side.http.post("/v1/events", content=good, headers=fine).status_code == 202


def test_a_body_has_a_limit_whether_its_length_is_declared_or_not(side: WriteSide) -> None:
    text = "a" * 99_000
    fits = json.dumps({"events": [{"namespace": "n", "content": text}] * 10}).encode()
    assert len(fits) < MAX_BODY and side.http.post("/v1/events", content=fits, headers=JSON).status_code == 202
    large = b" " * (MAX_BODY + 1)
    assert refused(side, "POST", "/v1/events", large)["status"] == 413
    before = len(side.log.events)
    reply = side.http.post("/v1/events", content=iter([b" " * 700_000] * 2), headers=JSON)
    assert reply.status_code == 413 and len(side.log.events) == before


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_what_stands_beside_a_body_is_refused_and_not_passed_over(side: WriteSide, method: str, path: str) -> None:
    problem = refused(side, method, path + "?namespace=other", (EVENT % "").encode())
    assert problem["status"] == 422 and problem["field"] == "namespace" and "body" in problem["detail"]


def test_a_path_with_a_slash_too_many_is_no_route_and_leads_nowhere(side: WriteSide) -> None:
    assert refused(side, "POST", "/v1/events/", b"{}")["status"] == 404


def test_unknown_routes_and_methods_are_problems_too(side: WriteSide) -> None:
    assert refused(side, "POST", "/v1/nothing", b"{}")["status"] == 404
    assert refused(side, "GET", "/v1/events", b"")["status"] == 405
    assert side.http.get("/v1/events").headers["allow"] == "POST"


def test_the_contract_is_served(side: WriteSide) -> None:
    document = side.http.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for method, path in ROUTES:
        plain = path.replace("/v1/namespaces/n", "/v1/namespaces/{namespace}")
        plain = plain.replace("memories/" + "0" * 32, "memories/{memory_id}").replace("0" * 32, "{slot}")
        body = document["paths"][plain][method.lower()]["requestBody"]["content"]["application/json"]["schema"]
        assert body["$ref"].removeprefix("#/components/schemas/") in document["components"]["schemas"]
    event = document["components"]["schemas"]["EventBody"]
    assert set(event["required"]) == {"namespace", "content"} and event["additionalProperties"] is False
    assert "confirm" in document["components"]["schemas"]["Forget"]["properties"]
    assert "from" in document["components"]["schemas"]["Forget"]["properties"]


def test_health_and_metrics(side: WriteSide) -> None:
    assert side.http.get("/healthz").json() == {"status": "ok"}
    assert side.http.get("/readyz").json() == {"ready": True, "missing": {}}
    side.http.post("/v1/events", content=(EVENT % "").encode(), headers=JSON)
    metrics = side.http.get("/metrics").text
    assert 'taishi_http_requests_total{route="POST /v1/events",status="202",worker="1"}' in metrics
    assert "taishi_commit_waiting_events 0.0" in metrics


def test_keys_open_what_they_are_for() -> None:
    publisher, commander, admin = ("p" * 20, "c" * 20, "a" * 20)
    keys = [
        ApiKey.of(name="publisher", key=publisher, rights=["publish"], namespaces=["n", "team-*"]),
        ApiKey.of(name="commander", key=commander, rights=["command", "query"], namespaces=["n"]),
        ApiKey.of(name="foreign", key="длинный ключ доступа", rights=["publish"]),
        ApiKey.of(name="admin", key=admin, rights=["admin"], namespaces=["*"]),
    ]
    with write_side(api_keys=keys) as side:

        def tell(key: str, namespace: str = "n", header: str = "authorization") -> int:
            value = f"Bearer {key}" if header == "authorization" else key
            body = {"events": [{"namespace": namespace, "content": "x"}]}
            return side.http.post("/v1/events", json=body, headers={header: value.encode()}).status_code

        assert tell(publisher) == tell(admin) == tell(publisher, "team-1") == tell(publisher, header="x-api-key") == 202
        assert tell(admin, "anything") == tell("длинный ключ доступа") == 202
        assert tell(publisher, "N") == tell(publisher, "team") == tell(commander) == 403
        assert tell("x" * 20) == tell("") == tell("ключ") == 401
        assert side.http.post("/v1/events", json={}).status_code == 401
        assert side.http.post("/v1/events", json={}).headers["www-authenticate"] == "Bearer"
        head = {"x-api-key": commander}
        assert side.http.put("/v1/namespaces/n", json={"timezone": "UTC"}, headers=head).status_code == 403
        assert side.http.post("/v1/forget", json={"namespace": "n", "all": True}, headers=head).status_code == 200
        assert side.http.post("/v1/forget", json={"namespace": "m", "all": True}, headers=head).status_code == 403
        assert side.http.delete("/v1/memories/" + "0" * 32, params={"namespace": "m"}, headers=head).status_code == 403
        assert side.http.get("/healthz").status_code == 200


def test_no_open_door_to_the_world() -> None:
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        refuse_open_bind(host, [])
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org", ""):
        with pytest.raises(ConfigurationError):
            refuse_open_bind(host, [])
        refuse_open_bind(host, [ApiKey.of(name="k", key="k" * 16, rights=["query"])])
    with pytest.raises(ConfigurationError):
        ApiKey.of(name="k", key="short", rights=["query"])
    with pytest.raises(ConfigurationError):
        ApiKey.of(name="k", key="k" * 16, rights=["fly"])


def test_a_client_that_hangs_up_is_no_failure(side: WriteSide, caplog: pytest.LogCaptureFixture) -> None:
    scope = {
        "type": "http", "method": "POST", "path": "/v1/events", "raw_path": b"/v1/events", "query_string": b"",
        "headers": [(b"content-type", b"application/json")], "http_version": "1.1", "scheme": "http",
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(side.http.app(scope, receive, send))  # type: ignore[arg-type]
    assert not sent and not caplog.records


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("DELETE", "/v1/memories/nothing?namespace=n", None, "id"),
        ("POST", "/v1/memories/nothing/correct", {"namespace": "n", "value": "x", "was": "wrong"}, "id"),
        ("POST", "/v1/memories/nothing/confirm", {"namespace": "n"}, "id"),
        ("POST", "/v1/conflicts/nothing/resolve", {"namespace": "n", "coexist": True}, "slot"),
    ],
)
def test_an_id_that_can_be_none_is_refused_by_name(
    side: WriteSide, method: str, path: str, body: Any, field: str
) -> None:
    reply = side.http.request(method, path, json=body)
    assert (reply.status_code, reply.json()["field"]) == (404, field)


@pytest.mark.parametrize("undecodable", ["%ff", "%ED%A0%80", "a%FE", "%c0%af"])
def test_a_path_that_is_no_text_names_nothing(side: WriteSide, undecodable: str) -> None:
    """The server reads them all as one and the same name."""
    before = len(side.log.events)
    reply = side.http.put(f"/v1/namespaces/{undecodable}", json={"fading": "off"})
    assert (reply.status_code, reply.json()["field"]) == (422, "namespace")
    reply = side.http.delete(f"/v1/memories/{undecodable}?namespace=n")
    assert (reply.status_code, reply.json()["field"]) == (422, "memory_id")
    assert len(side.log.events) == before


def test_a_body_that_never_ends_is_given_up(side: WriteSide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taishi.ingest.web.BODY_SECONDS", 0.05)
    scope = {
        "type": "http", "method": "POST", "path": "/v1/events", "raw_path": b"/v1/events", "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"content-length", b"50")], "root_path": "",
        "scheme": "http", "server": ("x", 80), "client": ("y", 1), "http_version": "1.1",
    }  # fmt: skip
    sent: list[dict[str, Any]] = []
    parts = [{"type": "http.request", "body": b'{"events":', "more_body": True}]

    async def receive() -> dict[str, Any]:
        if parts:
            return parts.pop()
        await asyncio.sleep(30)
        raise AssertionError("it waited for what does not come")

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(side.http.app(scope, receive, send))
    assert sent[0]["status"] == 408 and json.loads(sent[1]["body"])["type"].endswith("too-slow")
    assert (b"connection", b"close") in sent[0]["headers"]


def test_names_that_exclude_each_other_are_taken_in_turn(side: WriteSide, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that come together: each looks before it writes, and none writes between another's look and write."""
    looked = side.directory.names

    def slowly(namespace: str, name: str) -> tuple[str, ...]:
        found = looked(namespace, name)
        time.sleep(0.02)
        return found

    monkeypatch.setattr(side.directory, "names", slowly)

    def alias(number: int) -> int:
        body = {"namespace": "turns", "name": "Bob", "of": f"Robert {number}"}
        return side.http.post("/v1/entities/alias", json=body).status_code

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(alias, range(6))) == [202, 409, 409, 409, 409, 409]
