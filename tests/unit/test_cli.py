"""The command line against a stand-in for both sides: what it sends, what it prints, how it fails."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from taishi.deploy.amounts import amount
from taishi.deploy.cli import posting
from taishi.deploy.cli.app import COMMANDS, app
from taishi.deploy.generations import Generations, ensure_generation
from taishi.deploy.rebuilding import start_rebuild


class StandIn(ThreadingHTTPServer):
    """Answers each (method, path) with what `replies` says, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: dict[str, tuple[int, Any]] = {}
        self.asked: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []


class Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(size)) if size else None
        name = f"{self.command} {self.path}"
        self.server.asked.append((name, body))
        self.server.headers.append(dict(self.headers))
        status, reply = self.server.replies.get(name.partition("?")[0], (404, {"detail": "no such route"}))
        if callable(reply):
            reply = reply(body)
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_DELETE = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    server = StandIn()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("TAISHI_HOME", str(tmp_path))
    monkeypatch.setenv("TAISHI_WRITE_URL", url)
    monkeypatch.setenv("TAISHI_READ_URL", url)
    monkeypatch.setenv("TAISHI_API_KEY", "a-key-of-the-tests")
    yield server
    server.shutdown()
    server.server_close()


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=given)


def test_tell_sends_the_words_and_the_key(sides: StandIn) -> None:
    sides.replies["POST /v1/events"] = (202, {"accepted": [{"event_id": "e", "position": "p0:7", "duplicate": False}]})
    done = run("tell", "the tea is cold", "-n", "home", "--session", "s", "--name", "Ann")
    assert (done.exit_code, done.output) == (0, "recorded at p0:7\n")
    event = {"namespace": "home", "content": "the tea is cold", "session": "s", "actor": {"name": "Ann"}}
    assert sides.asked == [("POST /v1/events", {"events": [event]})]
    assert sides.headers[0]["authorization"] == "Bearer a-key-of-the-tests"
    assert run("tell", "-", given="from a pipe\n").exit_code == 0
    assert sides.asked[-1][1]["events"][0] == {"namespace": "default", "content": "from a pipe"}


def test_a_refusal_is_text_on_standard_error_and_exit_code_1(sides: StandIn) -> None:
    problem = {"status": 422, "title": "Invalid input", "detail": "give some text", "field": "events.0.content"}
    sides.replies["POST /v1/events"] = (422, problem)
    done = run("tell", " ")
    assert done.exit_code == 1
    assert done.stderr == "taishi: events.0.content: give some text\n"
    assert json.loads(run("tell", " ", "--json").stdout) == problem


def test_what_is_not_utf8_is_refused(sides: StandIn) -> None:
    for command in (("tell", "caf\udce9"), ("list", "--subject", "caf\udce9")):
        done = run(*command)
        assert (done.exit_code, "UTF-8" in done.stderr) == (1, True), done
    assert not sides.asked


def test_an_empty_namespace_is_not_the_default_one(sides: StandIn) -> None:
    run("tell", "hello", "-n", "")
    assert sides.asked[-1][1]["events"][0]["namespace"] == ""


def test_a_home_without_taishi_is_said_to_be_one(sides: StandIn, tmp_path: Path) -> None:
    for command in (("rebuild",), ("backup", str(tmp_path / "copy")), ("generations",)):
        done = run(*command, "--json")
        assert done.exit_code == 1 and "`taishi up` makes" in done.stderr, done
        assert "`taishi up` makes" in json.loads(done.stdout)["detail"]
    assert not (tmp_path / "valkey").exists() and not (tmp_path / "copy").exists()


def test_a_generation_goes_by_its_name_and_by_its_number(sides: StandIn, tmp_path: Path) -> None:
    ensure_generation(tmp_path)
    for name in ("g1", "1"):
        done = run("activate", name)
        assert done.exit_code == 0 and done.stdout == "g1 is live\n", done
    done = run("activate", "g7")
    assert done.exit_code == 1 and "there is no generation g7" in done.stderr, done
    assert run("activate", "live").exit_code == 2


def test_a_generation_that_is_being_built_is_called_so(sides: StandIn, tmp_path: Path) -> None:
    ensure_generation(tmp_path)
    generations = Generations(tmp_path)
    start_rebuild(generations, extractor="rules@2")
    for command in (("activate", "g2"), ("diff",), ("diff", "g2", "g1")):
        done = run(*command)
        assert done.exit_code == 1 and "g2 is extracting: wait until" in done.stderr, done.output
    shown = run("generations").stdout.splitlines()
    assert shown[0].startswith("g1  live") and "  since 20" in shown[0] and "  begun 20" in shown[1]
    assert run("rebuild", "--stop").stdout == "g2 is given up\n"
    assert "g2 is failed: given up" in run("activate", "g2").stderr


def test_a_home_where_nothing_was_started_is_not_called_free_of_failures(sides: StandIn, tmp_path: Path) -> None:
    for command in (("dead-letters",), ("dead-letters", "retry", "--all"), ("archive", "list"), ("audit", "verify")):
        done = run(*command)
        assert done.exit_code == 1 and str(tmp_path) in done.stderr and "`taishi up` makes" in done.stderr, command
    ensure_generation(tmp_path)
    assert run("dead-letters").stdout == "nothing failed\n"


def test_what_is_not_there_is_not_called_verified(sides: StandIn, tmp_path: Path) -> None:
    ensure_generation(tmp_path)
    done = run("verify", "--replay")
    assert done.exit_code == 1 and "g1 has no read models yet" in done.stderr


def test_a_file_that_cannot_be_written_is_named(sides: StandIn, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    sides.replies["GET /v1/audit/events"] = (200, {"events": [], "next_cursor": None})
    done = run("audit", "--export", str(tmp_path / "file" / "below"))
    assert done.exit_code == 1 and str(tmp_path / "file") in done.stderr and "Traceback" not in done.output


def test_a_side_that_is_down_is_named(sides: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAISHI_READ_URL", "http://127.0.0.1:1")
    done = run("recall", "anything")
    assert done.exit_code == 1
    assert "the read side at http://127.0.0.1:1 does not answer" in done.stderr
    assert "taishi up" in done.stderr


def test_one_is_one_and_not_ones() -> None:
    assert [amount(n, "flaw") for n in (0, 1, 2_000)] == ["0 flaws", "1 flaw", "2,000 flaws"]
    assert [amount(n, "entry", "entries") for n in (1, 2)] == ["1 entry", "2 entries"]


def test_a_wrong_command_line_is_exit_code_2(sides: StandIn) -> None:
    assert run("recall").exit_code == 2
    assert run("forget").exit_code == 2
    assert run("forget", "id", "--all").exit_code == 2
    assert run("remember", "--qualifier", "novalue", "--subject", "a").exit_code == 2
    assert run("nonsense").exit_code == 2
    assert sides.asked == []


def test_a_memory_is_about_the_user_unless_it_names_somebody(sides: StandIn) -> None:
    sides.replies["POST /v1/memories"] = (200, {"memory_id": "m", "position": "p0:1"})
    said = ("--predicate", "owns", "--value", "canoe")
    for more, subject in ((said, "user"), ((*said, "--subject", "Ann"), "Ann"), (("a note",), None)):
        assert run("remember", *more).exit_code == 0
        assert sides.asked[-1][1].get("subject") == subject


def test_who_asks_is_told(sides: StandIn) -> None:
    sides.replies["POST /v1/recall"] = (200, {"answerability": "no_evidence", "items": []})
    assert run("recall", "where do I live?", "--actor", "ned-7").exit_code == 0
    assert sides.asked[-1][1]["actor"] == "ned-7"


def test_every_command_has_json(sides: StandIn) -> None:
    tree = get_command(app)
    leaves: list[list[str]] = []
    for name in COMMANDS:
        command = tree.get_command(None, name)
        below = list(getattr(command, "commands", {}))
        leaves += [[name, inner] for inner in below] or [[name]]
    assert len(leaves) >= 15
    for path in leaves:
        assert "--json" in run(*path, "--help").output, path


def test_recall_prints_items_with_their_times_and_words(sides: StandIn) -> None:
    item = {
        "kind": "claim", "id": "ab12", "text": "The tea is [cold]", "status": "superseded", "known_to": None,
        "valid_from": "2026-05-01T00:00:00Z", "valid_to": None, "known_from": "2026-08-01T09:30:00Z",
        "evidence": [{"quote": "cold tea"}],
    }
    reply = {"answerability": "low_confidence", "items": [item], "degraded": ["vectors"]}
    sides.replies["POST /v1/recall"] = (200, reply)
    done = run("recall", "is the tea warm?", "--known-at", "2026-09-01")
    assert done.exit_code == 0, done.output
    assert sides.asked[0][1] == {"namespace": "default", "query": "is the tea warm?", "known_at": "2026-09-01"}
    assert "low confidence  (degraded: vectors)" in done.output
    assert "1. The tea is [cold]" in done.output
    assert "superseded · true 2026-05-01 → · known 2026-08-01 09:30 →" in done.output
    assert "said: cold tea" in done.output
    assert "id ab12" in done.output


def test_forgetting_a_scope_is_asked_about_first(sides: StandIn) -> None:
    def reply(body: dict[str, Any]) -> dict[str, Any]:
        if "confirm" in body:
            return {"receipt": {"position": "p1:9"}}
        return {"would_forget": {"claims": 3, "events": 2}, "confirm": "a-token"}

    sides.replies["POST /v1/forget"] = (200, reply)
    kept = run("forget", "--subject", "Ann", given="n\n")
    assert kept.exit_code == 1
    assert "3 claims, 2 events" in kept.output
    assert len(sides.asked) == 1
    gone = run("forget", "--subject", "Ann", given="y\n")
    assert gone.exit_code == 0
    assert sides.asked[-1][1] == {"namespace": "default", "subject": "Ann", "confirm": "a-token"}
    assert json.loads(run("forget", "--subject", "Ann", "--json").stdout)["confirm"] == "a-token"
    assert json.loads(run("forget", "--subject", "Ann", "--json", "--yes").stdout) == {"receipt": {"position": "p1:9"}}


def test_forgetting_what_is_not_there_is_said_and_nothing_is_sent(sides: StandIn) -> None:
    sides.replies["POST /v1/forget"] = (200, {"would_forget": {"claims": 0, "events": 0}, "confirm": "a-token"})
    done = run("forget", "--subject", "Nobody", "--yes")
    assert done.exit_code == 0 and "nothing matches" in done.stdout
    assert "would_forget" in json.loads(run("forget", "--subject", "Nobody", "--yes", "--json").stdout)
    assert [body.get("confirm") for _, body in sides.asked] == [None, None]


def test_a_passphrase_is_not_asked_for_where_there_is_no_terminal(sides: StandIn, tmp_path: Path) -> None:
    for extra, said in (((), "--passphrase-file"), (("--passphrase-file", str(tmp_path / "none")), "is empty")):
        (tmp_path / "none").write_text("\n")
        done = run("export", str(tmp_path / "x"), "--encrypt", *extra)
        assert done.exit_code == 1 and said in done.stderr and "Warning" not in done.stderr
        assert not (tmp_path / "x").exists()


def test_forgetting_one_memory_needs_no_question(sides: StandIn) -> None:
    sides.replies["DELETE /v1/memories/ab12"] = (200, {"receipt": {"position": "p1:9"}})
    assert run("forget", "ab12", "-n", "a b", "--reason", "asked to").exit_code == 0
    assert sides.asked == [("DELETE /v1/memories/ab12?namespace=a+b&reason=asked+to", None)]


def test_the_status_of_one_namespace_and_of_all(sides: StandIn) -> None:
    one = {"positions": {"head": "p0:7", "read": "p0:7", "vectors": None}, "lag": 0, "held": None}
    sides.replies["GET /v1/status"] = (200, one)
    assert run("status", "-n", "a").stdout == "positions: head p0:7, read p0:7\nlag: 0\nheld: none\n"
    held = {"position": "p1:4", "reason": "log-damaged", "detail": "a bit is turned"}
    whole = {"positions": {"p0": {"head": 7, "read": 7, "vectors": 5}}, "pending_vectors": 2, "held": [held]}
    sides.replies["GET /v1/status"] = (200, whole)
    assert run("status", "--all").stdout.splitlines() == [
        "p0: head 7, read 7, vectors 5",
        "pending vectors: 2",
        "held: position p1:4, reason log-damaged, detail a bit is turned",
    ]
    assert [name for name, _ in sides.asked] == ["GET /v1/status?namespace=a", "GET /v1/status"]
    assert run("status", "--all", "-n", "a").exit_code == 2


def test_contested_memories_name_their_slot_and_are_decided_between(sides: StandIn) -> None:
    item = {"id": "ab12", "text": "port 4100", "status": "contested", "slot": "5f"}
    sides.replies["GET /v1/memories"] = (200, {"items": [item], "next_cursor": None})
    assert "   slot 5f\n" in run("list").stdout
    sides.replies["POST /v1/conflicts/5f/resolve"] = sides.replies["POST /v1/memories/ab12/confirm"] = (
        202, {"position": "p0:9"}
    )  # fmt: skip
    assert run("resolve", "5f").exit_code == run("resolve", "5f", "--winner", "ab12", "--coexist").exit_code == 2
    assert run("resolve", "5f", "--winner", "ab12", "--reason", "seen").stdout == "resolved at p0:9\n"
    assert sides.asked[-1][1] == {"namespace": "default", "winner": "ab12", "reason": "seen"}
    assert run("resolve", "5f", "--coexist", "-n", "n").exit_code == 0
    assert sides.asked[-1][1] == {"namespace": "n", "coexist": True}
    assert run("confirm", "ab12").stdout == "confirmed at p0:9\n"


def test_what_was_taken_back_is_explained_with_who_why_and_what_instead(sides: StandIn) -> None:
    by = {
        "position": "p0:7", "type": "claim.corrected", "actor": {"id": None, "role": "user"}, "reason": "misheard",
        "memory": {"id": "cd34", "value": "plums", "text": "I like plums"},
    }  # fmt: skip
    fate = {"removed_at": "2026-03-01T09:00:00Z", "removed_why": "wrong", "removed_by": by}
    memory = {"id": "ab12", "text": "I like figs", "status": "retracted"}
    link = {"known_at": "2026-03-01T09:00:00Z", "rule": "wrong", "old": {"value": "figs"}, "new": None}
    told = {"memory": memory, "words": [], "chain": [link, {**link, "new": {"value": "plums"}}], "fate": fate}
    sides.replies["GET /v1/memories/ab12/explain"] = (200, told)
    assert run("explain", "ab12").stdout.splitlines()[-3:] == [
        "at 2026-03-01 09:00: figs is believed no more (wrong)",
        "at 2026-03-01 09:00: figs gave way to plums (wrong)",
        "taken back at 2026-03-01 09:00 by claim.corrected at p0:7 (wrong), for: misheard;"
        " instead: I like plums, id cd34",
    ]


def accepting(sides: StandIn) -> None:
    seen: set[str] = set()

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        answers = []
        for event in body["events"]:
            answers.append({"event_id": event["event_id"], "position": "p0:1", "duplicate": event["event_id"] in seen})
            seen.add(event["event_id"])
        return {"accepted": answers}

    sides.replies["POST /v1/events"] = sides.replies["POST /v1/import"] = (202, reply)


def test_import_takes_conversations_and_events_and_may_be_repeated(sides: StandIn, tmp_path: Path) -> None:
    accepting(sides)
    talk = tmp_path / "talk.jsonl.gz"
    noon = "2025-01-01T10:00"
    said = [("1", "a", "Ann", "hello", noon), ("2", "b", "user", "hi", None), ("3", "a", "Ben", "bye", None)]
    said += [("4", "a", "Ann", "", None), ("5", "a", "Ann", " \n", None)]
    rows = [
        {"id": i, "namespace": ns, "session": "s", "seq": 0, "speaker": speaker, "text": text, "time": at}
        for i, ns, speaker, text, at in said
    ]
    talk.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    past = tmp_path / "past.jsonl"
    past.write_text('{"content": "x", "recorded_at": "2025-01-01"}\n\n{"content": "y", "recorded_at": "2025-01-02"}\n')
    done = run("import", str(talk), str(past), "--json")
    assert json.loads(done.stdout) == {"imported": 5, "duplicates": 0, "silent": 2}
    sent = {(route, body["events"][0]["namespace"]): body["events"] for route, body in sides.asked}
    assert [e["content"] for e in sent["POST /v1/events", "a"]] == ["hello", "bye"]
    first = sent["POST /v1/events", "a"][0]
    assert (first["actor"], first["occurred_at"], first["session"]) == ({"name": "Ann"}, noon, "s")
    assert sent["POST /v1/events", "b"][0]["actor"] == {"role": "user"}
    assert [e["content"] for e in sent["POST /v1/import", "default"]] == ["x", "y"]
    again = run("import", str(talk), str(past))
    assert again.output == "imported 0 events (5 were there already)\n2 lines without words left out\n"


def test_a_refused_line_is_named(sides: StandIn, tmp_path: Path) -> None:
    sides.replies["POST /v1/events"] = (422, {"detail": "give some text", "field": "events.1.content"})
    path = tmp_path / "some.jsonl"
    path.write_text('{"content": "x"}\n{"content": ""}\n')
    done = run("import", str(path))
    assert done.exit_code == 1
    assert f"{path}:2: events.1.content: give some text" in done.stderr
    path.write_text('{"content": "x"}\nnot json\n')
    assert f"{path}:2 is not a JSON object" in run("import", str(path)).stderr


def test_import_waits_for_a_side_that_is_down(
    sides: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "RETRY_SECONDS", 0.01)
    accepting(sides)
    taken = sides.replies["POST /v1/events"]
    sides.replies["POST /v1/events"] = (503, {"detail": "the log is down"})
    path = tmp_path / "some.jsonl"
    path.write_text('{"content": "x"}\n')
    assert run("import", str(path)).exit_code == 1
    assert len(sides.asked) == posting.TRIES

    def come_back(body: dict[str, Any]) -> dict[str, Any]:
        sides.replies["POST /v1/events"] = taken
        return {"detail": "the log is down"}

    sides.replies["POST /v1/events"] = (503, come_back)
    assert "imported 1 event (" in run("import", str(path)).output


def test_import_splits_batches(sides: StandIn, tmp_path: Path) -> None:
    accepting(sides)
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps({"content": "x" * 10_000, "namespace": f"n{i % 2}"}) + "\n" for i in range(450)))
    assert run("import", str(path)).exit_code == 0
    sizes = [len(body["events"]) for _, body in sides.asked]
    assert sum(sizes) == 450
    assert max(sizes) * 10_000 <= 500_000


def test_doctor_tells_settings_and_sources_but_no_secret(sides: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://me:hidden@127.0.0.1:1/0")
    sides.replies["GET /healthz"] = sides.replies["GET /readyz"] = (200, {})
    monkeypatch.setenv("TAISHI_READADDR", "127.0.0.1:1")
    monkeypatch.setenv("TAISHI_REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setenv("TAISHI_SCHEDULE__SEAL", "7")
    done = run("doctor")
    assert "   environment: no setting goes by TAISHI_READADDR, TAISHI_REDIS_URL\n" in done.output
    assert "redis_url = redis://me:***@127.0.0.1:1/0  (REDIS_URL)" in done.output
    assert "api_key = set  (TAISHI_API_KEY)" in done.output
    assert "partitions = 4  (default)" in done.output
    assert "hidden" not in done.output
    assert "a-key-of-the-tests" not in done.output
    report = json.loads(run("doctor", "--json").stdout)
    assert {s["name"] for s in report["settings"]} >= {"home", "write_addr", "redis_url", "jobs_url", "keystore_url"}
