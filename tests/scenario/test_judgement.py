"""What callers judge, end to end on one running Taishi: names, conflicts, feedback, echoes, decisions, near copies."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from taishi.ingest.rules import RulesExtractor
from tests.scenario.cases.runner import Server
from tests.support.running import RunningTaishi


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    taishi = RunningTaishi(tmp_path_factory.mktemp("judgement"), "--no-story", embedder="off")
    try:
        opened = Server.at(write=taishi.wait_until_up().write, read=taishi.read)
        yield opened
        opened.close()
    finally:
        taishi.stop()


def post(server: Server, path: str, status: int = 202, **body: Any) -> dict[str, Any]:
    reply = server.write.post(path, json=body)
    assert reply.status_code == status, reply.text
    return reply.json()


def get(server: Server, path: str, namespace: str, **params: str) -> dict[str, Any]:
    server.settle(namespace)
    reply = server.read.get(path, params={"namespace": namespace, **params})
    assert reply.status_code == 200, reply.text
    return reply.json()


def stated(server: Server, namespace: str, subject: str, predicate: str, value: str, **more: Any) -> str:
    body = {"namespace": namespace, "subject": subject, "predicate": predicate, "value": value, **more}
    return str(post(server, "/v1/memories", **body)["memory_id"])


def recall(server: Server, namespace: str, query: str) -> list[dict[str, Any]]:
    server.settle(namespace)
    reply = server.read.post("/v1/recall", json={"namespace": namespace, "query": query})
    assert reply.status_code == 200, reply.text
    return list(reply.json()["items"])


def test_two_names_become_one_person_and_two_again(server: Server) -> None:
    stated(server, "names", "Robert Lee", "lives_in", "Lund", valid_from="2026-01-01T00:00:00Z")
    stated(server, "names", "Bob", "lives_in", "Graz", valid_from="2026-05-01T00:00:00Z")
    question = "Where does Robert Lee live?"
    assert [i["value"] for i in recall(server, "names", question)] == ["Lund"]
    post(server, "/v1/entities/alias", namespace="names", name="Bob", of="Robert Lee")
    assert [i["value"] for i in recall(server, "names", question)] == ["Graz"]
    listed = get(server, "/v1/memories", "names", subject="bob")["items"]
    assert [i["value"] for i in listed] == ["Graz"]
    (who,) = get(server, "/v1/entities", "names")["items"]
    assert (who["name"], [n["name"] for n in who["names"]]) == ("Robert Lee", ["Bob", "Robert Lee"])
    assert get(server, "/v1/entities", "names", name="BOB")["items"] == [who]
    assert get(server, "/v1/entities", "names", name="Ann")["items"] == []
    post(server, "/v1/entities/split", namespace="names", name="Bob")
    assert [i["value"] for i in recall(server, "names", question)] == ["Lund"]
    (who,) = get(server, "/v1/entities", "names")["items"]
    assert (who["names"], {n["name"] for n in who["history"]}) == ([], {"Bob", "Robert Lee"})
    audit = get(server, "/v1/audit/events", "names", type="entity.aliased")["events"]
    assert len(audit) == 1


def test_a_person_forgotten_by_one_name_is_forgotten_by_all(server: Server) -> None:
    stated(server, "gone", "Quillon Ashe", "lives_in", "Lund")
    stated(server, "gone", "Quill", "likes", "figs")
    post(server, "/v1/entities/alias", namespace="gone", name="Quill", of="Quillon Ashe")
    server.settle("gone")
    dry = post(server, "/v1/forget", 200, namespace="gone", subject="Quill")
    assert dry["would_forget"]["claims"] == 2
    post(server, "/v1/forget", 200, namespace="gone", subject="Quill", confirm=dry["confirm"])
    assert get(server, "/v1/entities", "gone")["items"] == []
    assert get(server, "/v1/memories", "gone")["items"] == []
    events = get(server, "/v1/audit/events", "gone", type="entity.aliased")["events"]
    assert [e["erased"] for e in events] == [True]


def conflict(server: Server, namespace: str) -> list[str]:
    at = {"valid_from": "2026-01-01T00:00:00Z", "recorded_at": "2026-01-02T00:00:00Z"}
    return [stated(server, namespace, "gateway", "config.port", port, **at) for port in ("4100", "4200")]


def statuses(server: Server, namespace: str, ids: list[str], **params: str) -> list[str]:
    return [get(server, f"/v1/memories/{i}", namespace, **params)["status"] for i in ids]


def test_a_conflict_is_settled_for_one_or_for_both(server: Server) -> None:
    for namespace, settled, after in (
        ("winner", 1, ["superseded", "current"]),
        ("both", None, ["current", "current"]),
    ):
        ids = conflict(server, namespace)
        assert statuses(server, namespace, ids) == ["contested", "contested"]
        choice = {"coexist": True} if settled is None else {"winner": ids[settled]}
        post(server, f"/v1/conflicts/{ids[0]}/resolve", namespace=namespace, reason="looked it up", **choice)
        assert statuses(server, namespace, ids) == after
        assert statuses(server, namespace, ids, known_at="2026-03-01T00:00:00Z") == ["contested", "contested"]
        life = get(server, f"/v1/memories/{ids[0]}/history", namespace)
        assert [s["coexist"] for s in life["settled"]] == [settled is None]
        assert len(recall(server, namespace, "Which port does the gateway use?")) == (1 if settled == 1 else 2)


def test_what_was_confirmed_or_helped_is_counted_with_the_memory(server: Server) -> None:
    figs = stated(server, "counts", "user", "likes", "figs")
    post(server, f"/v1/memories/{figs}/confirm", namespace="counts")
    (item, *_) = recall(server, "counts", "What do I like?")
    for helpful in (True, True):
        post(server, "/v1/feedback", namespace="counts", exposure_id=item["exposure_id"], helpful=helpful)
    end = time.monotonic() + 10
    while (shown := get(server, f"/v1/memories/{figs}", "counts"))["helpful"] == 0 and time.monotonic() < end:
        time.sleep(0.05)
    assert (shown["confirmations"], shown["helpful"], shown["unhelpful"]) == (1, 1, 0)
    assert shown["confirmed_at"] is not None


def tell(server: Server, namespace: str, text: str, role: str = "user") -> str:
    event = {"namespace": namespace, "content": text, "actor": {"role": role}, "session": "s"}
    return str(post(server, "/v1/events", events=[event])["accepted"][0]["event_id"])


def test_words_that_repeat_a_recalled_memory_are_no_claim_and_explain_says_so(server: Server) -> None:
    said = tell(server, "echo", "I live in Lund.")
    assert recall(server, "echo", "Where do I live?")
    end = time.monotonic() + 10
    while not get(server, "/v1/audit/events", "echo", type="memory.recalled")["events"]:
        assert time.monotonic() < end
        time.sleep(0.05)
    echo = tell(server, "echo", "You live in Lund.", "assistant")
    told = get(server, f"/v1/memories/{echo}/explain", "echo")
    assert (told["decision"], told["claims"], told["extractor"]) == ("echo", [], f"rules@{RulesExtractor.version}")
    assert told["window"]["outcome"] == "extraction.completed"
    first = get(server, f"/v1/memories/{said}/explain", "echo")
    assert (first["decision"], len(first["claims"])) == (None, 1)
    why = get(server, f"/v1/memories/{first['claims'][0]['id']}/explain", "echo")
    assert why["words"][0]["event_id"] == said and why["window"]["id"] == first["window"]["id"]
    assert why["rule"] and why["fate"]["status"] == "current"


def test_near_copies_are_one_memory(server: Server) -> None:
    first = stated(server, "near", "user", "likes", "oat milk lattes")
    second = stated(server, "near", "user", "likes", "oat-milk latte")
    stated(server, "near", "user", "likes", "2 oat-milk lattes")
    items = get(server, "/v1/memories", "near")["items"]
    assert [i["value"] for i in items] == ["2 oat-milk lattes", "oat milk lattes"]
    shown = get(server, f"/v1/memories/{second}", "near")
    assert (shown["id"], len(shown["evidence"])) == (first, 2)
