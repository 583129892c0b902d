"""Exports and their replay: files that are not whole, references, what has no words, other deployments."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from taishi.deploy.backup.export_file import is_export, lines_of, written
from taishi.deploy.backup.export_lines import Checked, ExportIndex, header_line
from taishi.deploy.cli.portability import _verified
from taishi.ingest.envelope import Event, NewEvent, Position
from taishi.ingest.errors import BackupDamaged
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from tests.support.read_side import ReadSide
from tests.support.write_side import WriteSide, write_side

LIVES = {"namespace": "src", "subject": "Bob", "predicate": "lives_in"}


def exported(side: WriteSide, namespace: str = "src") -> list[dict[str, Any]]:
    index = ExportIndex(1)
    events = [event for event in side.log.events if event.namespace == namespace]
    now = [side.log.fetch(event.position) for event in events]
    for event in now:
        index.see(event)
    lines = [index.line(event, lambda seq: side.log.fetch(Position(0, seq)).body) for event in now]
    return [dict(orjson.loads(orjson.dumps(line))) for line in lines if line is not None]


def replayed(side: WriteSide, lines: list[dict[str, Any]], *, namespace: str = "dst", status: int = 202) -> Any:
    return side.post("/v1/import/log", {"namespace": namespace, "events": lines}, status)


def of(side: WriteSide, namespace: str = "dst") -> list[Event]:
    return [side.log.fetch(event.position) for event in side.log.events if event.namespace == namespace]


def test_claims_are_bound_to_the_slots_of_where_they_come_to() -> None:
    with write_side() as there, write_side() as here:
        there.post("/v1/memories", {**LIVES, "value": "Rome", "valid_from": "2020-01-01"})
        there.post("/v1/memories", {**LIVES, "value": "Oslo"})
        replayed(here, exported(there))
        stated = here.post("/v1/memories", {**LIVES, "namespace": "dst", "value": "Rome"})
        old, newer, own = (event.facts["claim"] for event in of(here))
        assert old["slot"] == newer["slot"] == own["slot"] and old["value"] == own["value"] != newer["value"]
        assert own["claim_id"] == stated["memory_id"] != old["claim_id"]
        source = there.log.events[0].facts["claim"]
        assert source["slot"] != old["slot"] and source["valid_from"] == old["valid_from"]
        assert [e.recorded_at for e in of(here)[:2]] == [e.recorded_at for e in there.log.events[:2]]
        assert [e.event_id for e in of(here)[:2]] == [e.event_id for e in there.log.events[:2]]


def test_what_is_said_of_claims_finds_them_under_their_new_ids() -> None:
    with write_side() as there, write_side() as here:
        first = there.post("/v1/memories", {**LIVES, "value": "Rome"})["memory_id"]
        corrected = {"namespace": "src", "value": "Oslo", "was": "wrong", "reason": "a slip"}
        second = there.post(f"/v1/memories/{first}/correct", corrected)["memory_id"]
        there.post(f"/v1/memories/{second}/confirm", {"namespace": "src"})
        lines = exported(there)
        for start in range(len(lines)):  # one request each: what came before is found in the log
            replayed(here, lines[start : start + 1])
        old, new, confirmed = of(here)
        assert new.facts["claim"]["targets"] == [old.facts["claim"]["claim_id"]]
        assert confirmed.facts == {"claim": new.facts["claim"]["claim_id"]}
        assert new.body is not None and new.body["reason"] == "a slip"


def test_what_was_forgotten_stays_so_and_in_its_slot() -> None:
    with write_side() as there, write_side() as here:
        first = there.post("/v1/memories", {**LIVES, "value": "Rome"})["memory_id"]
        there.post("/v1/memories", {**LIVES, "value": "Oslo"})
        there.http.delete(f"/v1/memories/{first}", params={"namespace": "src"}).raise_for_status()
        lines = exported(there)
        assert b"Rome" not in orjson.dumps(lines)
        replies = replayed(here, lines)["accepted"]
        assert [one["duplicate"] for one in replies] == [False, False, False]
        erased, living, tombstone = of(here)
        assert erased.body is None and living.body is not None
        assert erased.facts["claim"]["slot"] == living.facts["claim"]["slot"]
        assert tombstone.facts["claims"] == [[erased.facts["claim"]["claim_id"], erased.position.seq]]
        assert tombstone.facts["keys"] == [erased.key_id]
        assert [entry.seq for entry in here.ledger.entries()] == [tombstone.position.seq]
        again = replayed(here, lines)["accepted"]
        assert all(one["duplicate"] for one in again) and len(of(here)) == 3


def test_what_was_forgotten_here_since_is_not_brought_back() -> None:
    with write_side() as there, write_side() as here:
        there.post("/v1/memories", {**LIVES, "value": "Rome"})
        lines = exported(there)
        replayed(here, lines)
        (claim,) = of(here)
        gone = claim.facts["claim"]["claim_id"]
        here.http.delete(f"/v1/memories/{gone}", params={"namespace": "dst"}).raise_for_status()
        assert replayed(here, lines)["accepted"][0]["duplicate"]
        assert of(here)[0].body is None and len(of(here)) == 2


def test_words_that_were_read_are_not_read_again() -> None:
    with write_side() as there, write_side() as here:
        event = {"namespace": "src", "content": "I like tea.", "metadata": {"page": 3}, "actor": {"name": "Bo"}}
        there.post("/v1/events", {"events": [event, {**event, "content": "I like rice."}]})
        lines = exported(there)
        assert "read" not in lines[0]
        replayed(here, [{**lines[0], "read": True}, lines[1]])
        read, unread = of(here)
        assert read.facts == {"read": [1]} and unread.facts == {}
        assert read.body == {"text": "I like tea.", "metadata": {"page": 3}, "speaker": "Bo"}


def test_verdicts_fading_and_what_was_shown_come_along() -> None:
    with write_side() as there, write_side() as here:
        ids = [there.post("/v1/memories", {**LIVES, "value": value})["memory_id"] for value in ("Rome", "Oslo")]
        first, second = (event.facts["claim"] for event in there.log.events)
        exposure = new_id()
        said: list[tuple[str, dict[str, Any]]] = [
            ("conflict.resolved", {"slot": first["slot"], "winner": ids[1], "coexist": False, "claims": ids}),
            ("dedup.judged", {"claims": ids, "verdict": "keep"}),
            ("memory.recalled", {"exposure": exposure, "items": ids, "kinds": ["claim"] * 2, "seqs": [], "reader": {}}),
            ("feedback.given", {"exposure": f"{exposure}.1", "helpful": True}),
            ("claim.archived", {"claims": [[ids[0], 1]], "events": [], "reason": "faded", "since": 7}),
            ("claim.confirmed", {"claim": "0" * 32}),
        ]
        for type_, facts in said:
            event = NewEvent(event_id=new_id(), type=type_, namespace="src", body={}, facts=facts)
            there.log.append(Batch(events=[event]))
        lines = exported(there)
        assert len(lines) == 2 + 5, "what speaks of a claim that is not there is left out"
        replayed(here, lines)
        old, new, resolved, judged, recalled, rated, archived = of(here)
        mine = [event.facts["claim"]["claim_id"] for event in (old, new)]
        assert mine != ids and first["slot"] != old.facts["claim"]["slot"]
        expected = {"slot": old.facts["claim"]["slot"], "winner": mine[1], "coexist": False, "claims": mine}
        assert resolved.facts == expected
        assert judged.facts == {"claims": mine, "verdict": "keep"}
        assert (recalled.facts["items"], recalled.facts["seqs"]) == (mine, [])
        assert rated.facts == {"exposure": f"{exposure}.1", "helpful": True}
        assert archived.facts["claims"] == [[mine[0], old.position.seq]] and archived.facts["since"] == 7
        assert second["claim_id"] == ids[1]


def test_words_that_may_say_what_was_forgotten_are_closed_unread() -> None:
    with write_side() as there, write_side() as here:
        there.post("/v1/events", {"events": [{"namespace": "src", "content": "Bob lives in Rome."}]})
        first = there.post("/v1/memories", {**LIVES, "value": "Rome"})["memory_id"]
        there.http.delete(f"/v1/memories/{first}", params={"namespace": "src"}).raise_for_status()
        there.post("/v1/events", {"events": [{"namespace": "src", "content": "Bob lives in Oslo."}]})
        index = ExportIndex(1)
        for event in of(there, "src"):
            facts = {**event.facts, "values": [["s", "v", False]], "upto": 1}
            index.see(replace(event, facts=facts) if event.type == "claim.forgotten" else event)
        lines = [index.line(event, lambda _: None) for event in of(there, "src")]
        (closing,) = index.last_lines(namespace="src", exported_at=there.log.events[-1].recorded_at)
        replayed(here, [*(line for line in lines if line is not None), closing])
        raw = [event for event in of(here) if event.type == "message.recorded"]
        assert [event.facts for event in raw] == [{"read": [1]}, {}]
        assert of(here)[-1].facts["events"] == [raw[0].event_id]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"type": "log.sealed"}, "type"),
        ({"body": {"subject": "Bob", "predicate": "lives_in", "value": 7}}, "body.value"),
        ({"body": {"subject": "Bob", "predicate": "lives_in", "value": "x", "importance": "high"}}, "body.importance"),
        ({"body": {"subject": "Bob", "predicate": "lives_in", "value": "x", "secret": 1}}, "body.secret"),
        ({"claim": None}, "claim"),
        ({"recorded_at": "yesterday"}, "recorded_at"),
        ({"event_id": "17"}, "event_id"),
        ({"facts": {"anything": 1}}, "facts.anything"),
        ({"type": "memory.recalled", "claim": None, "facts": {"reader": {"n": 1 << 70}}}, "facts"),
        ({"type": "namespace.configured", "body": {"timezone": "Mars"}}, "body.timezone"),
        ({"type": "entity.aliased", "claim": None, "body": {"name": "Bob"}}, "body.of"),
        ({"type": "entity.aliased", "claim": None, "body": {"name": "Bob", "of": None}}, "body.of"),
        ({"type": "entity.merged", "claim": None, "body": {"name": "Bob", "of": "Rob"}}, "body.into"),
        ({"type": "entity.split", "claim": None, "body": {"name": "Bob", "of": "Rob"}}, "body.of"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(change: dict[str, Any], field: str) -> None:
    with write_side() as there, write_side() as here:
        there.post("/v1/memories", {**LIVES, "value": "Rome"})
        (line,) = exported(there)
        problem = here.http.post("/v1/import/log", json={"namespace": "dst", "events": [{**line, **change}]})
        assert problem.status_code == 422, problem.text
        assert problem.json()["field"] == f"events.0.{field}"
        assert of(here) == []


def test_what_left_its_words_behind_is_folded(tmp_path: Path) -> None:
    """A forgotten alias comes without names, and a null setting is none."""
    line = {"event_id": "01900000-0000-7000-8000-00000000000c", "recorded_at": "2024-01-01T00:00:00Z"}
    settings = {"timezone": None, "fading": None, "capacity": 7}
    said = [
        {**line, "event_id": line["event_id"][:-1] + str(n), "type": type_, "body": body}
        for n, (type_, body) in enumerate(
            [("entity.aliased", None), ("entity.split", None), ("namespace.configured", settings)]
        )
    ]
    with write_side() as here:
        replayed(here, said, namespace="ns")
        assert of(here, "ns")[-1].body == {"capacity": 7}
        side = ReadSide(tmp_path, of(here, "ns"))
        assert side.model.rows("SELECT count(*) FROM identities") == [(0,)]
        assert side.model.rows("SELECT timezone FROM namespaces") == [("UTC",)]


def test_what_came_without_words_is_folded_alike_before_its_key_is_destroyed_and_after(tmp_path: Path) -> None:
    """And whether or not the tombstone that took the words comes along."""
    with write_side() as there, write_side() as here:
        there.post("/v1/events", {"events": [{"namespace": "src", "content": "Bob lives in Rome."}]})
        there.post("/v1/memories", {**LIVES, "value": "Oslo"})
        replayed(here, [{**line, "body": None} for line in exported(there)])
        assert all(event.body is None for event in of(here))
        early = [replace(event, body=body) for event, body in zip(of(here), _PLACEHOLDERS, strict=True)]
        digests = {ReadSide(tmp_path / str(n), events).file.digest() for n, events in enumerate((early, of(here)))}
        assert len(digests) == 1


_PLACEHOLDERS = ({"text": ""}, {"subject": "", "predicate": "note", "value": ""})


def test_a_reference_to_what_did_not_come_is_refused() -> None:
    with write_side() as there, write_side() as here:
        first = there.post("/v1/memories", {**LIVES, "value": "Rome"})["memory_id"]
        there.post(f"/v1/memories/{first}/confirm", {"namespace": "src"})
        problem = replayed(here, exported(there)[1:], status=422)
        assert "came before" in problem["detail"]


def test_ids_known_with_other_content_are_refused() -> None:
    with write_side() as there, write_side() as here:
        there.post("/v1/memories", {**LIVES, "value": "Rome"})
        (line,) = exported(there)
        replayed(here, [line])
        replayed(here, [{**line, "body": {**line["body"], "value": "Oslo"}}], status=409)


# -- the file


def export_of(path: Path, lines: list[bytes], passphrase: str | None = None) -> list[bytes]:
    header = header_line(namespace="src", exported_at=5, position=Position(0, 7))
    checked = Checked()
    checked.header(header)
    for line in lines:
        checked.event(line)
    content = [header, *lines, checked.end_line()]
    with written(path, passphrase) as write:
        for line in content:
            write(line)
    return content


@pytest.mark.parametrize("passphrase", [None, "open sesame"])
def test_a_file_comes_back_line_by_line(tmp_path: Path, passphrase: str | None) -> None:
    lines = [orjson.dumps({"event_id": n, "text": os.urandom(600).hex()}) + b"\n" for n in range(2_000)]
    content = export_of(tmp_path / "x", lines, passphrase)
    assert is_export(tmp_path / "x") and list(lines_of(tmp_path / "x", passphrase)) == content
    assert _verified(tmp_path / "x", passphrase) == 2_000
    assert not list(tmp_path.glob("*.partial")) and (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    content = export_of(tmp_path / "x", [b'{"a":1}\n', b'{"a":2}\n'])
    for bad in (content[:-1], [*content[:1], *content[2:]], [content[0], b'{"a":7}\n', *content[2:]]):
        (tmp_path / "x").write_bytes(b"".join(bad))
        with pytest.raises(BackupDamaged):
            _verified(tmp_path / "x", None)
    export_of(tmp_path / "sealed", [b'{"a":1}\n'], "right")
    with pytest.raises(BackupDamaged, match="passphrase"):
        _verified(tmp_path / "sealed", "wrong")
    (tmp_path / "other").write_text('{"content": "an event"}\n')
    assert not is_export(tmp_path / "other")
