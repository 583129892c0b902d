"""`taishi up` as a stranger runs it: it starts, tells its story, survives kills and stops without a trace."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.running import NAMES, RunningTaishi, is_alive
from tests.support.valkey_server import ValkeyServer


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningTaishi]:
    taishi = RunningTaishi(tmp_path_factory.mktemp("home"), "--no-story")
    try:
        yield taishi.wait_until_up()
    finally:
        taishi.stop()


TOLD = [
    ("April", "now", "Hangzhou"),
    ("June", "June", "Hangzhou"),
    ("June", "now", "Beijing"),
    ("now", "now", "Beijing"),
]


def test_the_story_is_told_with_both_times(tmp_path: Path) -> None:
    taishi = RunningTaishi(tmp_path, "--once")
    assert taishi.process.wait(timeout=90) == 0, "".join(taishi.lines)
    taishi.stop()
    answers = taishi.events["story"]["answers"]
    assert [(a["true"], a["known"], a["value"]) for a in answers] == TOLD
    assert all("Hangzhou" in a["words"][0] if a["value"] == "Hangzhou" else "Beijing" in a["words"][0] for a in answers)


def test_a_person_is_told_it_as_a_table_and_what_to_type_next(tmp_path: Path) -> None:
    taishi = RunningTaishi(tmp_path, "--once", as_json=False)
    assert taishi.process.wait(timeout=90) == 0, "".join(taishi.lines)
    taishi.stop()
    told = "".join(taishi.lines)
    rows = [line.split()[:3] for line in told.splitlines() if line.strip().startswith(("April ", "June ", "now "))]
    assert [tuple(row) for row in rows] == TOLD, told
    assert "taishi timeline" in told


def test_it_starts_in_time(running: RunningTaishi) -> None:
    # The bars are 3 s and 6 s on two idle cores; a suite that shares them gets some slack.
    assert running.times["takes_writes"] < 8
    assert running.times["answers"] < 12


def test_the_home_is_private_and_held(running: RunningTaishi) -> None:
    assert running.home.stat().st_mode & 0o777 == 0o700
    assert "another Taishi is running" in RunningTaishi(running.home, "--no-story").refused()


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_process_is_back_in_two_seconds(running: RunningTaishi, name: str) -> None:
    before = running.kill(name)
    begun = time.monotonic()
    after = running.pid(name, other_than=before)
    while not (running.ready(running.write) and running.ready(running.read)):
        assert time.monotonic() - begun < 10, "".join(running.lines)
        time.sleep(0.01)
    took = time.monotonic() - begun
    assert is_alive(after)
    assert took < 2, f"{name} took {took:.1f} s"


def test_what_is_told_is_remembered_after_all_that(running: RunningTaishi) -> None:
    assert running.cli("tell", "I like jasmine tea.", "-n", "after").returncode == 0
    running.settle("after")
    done = running.cli("recall", "Which tea do I like?", "-n", "after")
    assert done.returncode == 0, done.stderr
    assert "jasmine" in done.stdout
    assert "jasmine" in running.cli("list", "-n", "after").stdout
    assert '"lag": 0' in running.cli("status", "-n", "after", "--json").stdout
    for log in (running.home / "logs").iterdir():
        assert "jasmine" not in log.read_text(), log


def test_sigterm_stops_everything_and_a_second_start_goes_on(tmp_path: Path) -> None:
    taishi = RunningTaishi(tmp_path, "--no-story").wait_until_up()
    events = {"events": [{"namespace": "n", "content": "It rained in the night."}]}
    assert httpx.post(f"{taishi.write}/v1/events", json=events).status_code == 202
    pids = [taishi.pid(name) for name in NAMES]
    assert taishi.stop() == 0
    assert not any(map(is_alive, pids))
    assert list((tmp_path / "run").glob("*.pid")) == []
    again = RunningTaishi(tmp_path, "--no-story").wait_until_up()
    again.settle("n")
    reply = httpx.post(f"{again.read}/v1/recall", json={"namespace": "n", "query": "rained night"}).json()
    assert again.stop() == 0
    assert "rained" in reply["items"][0]["text"]


def test_a_killed_supervisor_takes_its_children_with_it_and_leaves_a_home_that_starts(tmp_path: Path) -> None:
    taishi = RunningTaishi(tmp_path, "--no-story").wait_until_up()
    pids = [taishi.pid(name) for name in NAMES]
    os.kill(taishi.process.pid, signal.SIGKILL)
    taishi.process.wait()
    again = RunningTaishi(tmp_path, "--no-story").wait_until_up()
    assert not any(map(is_alive, pids))
    assert again.stop() == 0


def test_a_taken_port_is_named(tmp_path: Path, running: RunningTaishi) -> None:
    address = running.write.removeprefix("http://")
    said = RunningTaishi(tmp_path, "--no-story", write_addr=address).refused()
    assert address in said
    assert "TAISHI_WRITE_ADDR" in said


def test_strangers_are_not_served_without_keys(tmp_path: Path) -> None:
    said = RunningTaishi(tmp_path, "--no-story", read_addr="0.0.0.0:0").refused()
    assert "without API keys" in said


def test_a_server_that_would_lose_events_is_refused(tmp_path: Path) -> None:
    unsafe = ValkeyServer("--appendonly", "no").start()
    try:
        said = RunningTaishi(tmp_path, "--no-story", redis_url=unsafe.url).refused()
    finally:
        unsafe.stop()
    assert "appendonly yes" in said


def test_a_named_server_holds_log_and_jobs_apart(tmp_path: Path, own_valkey: ValkeyServer) -> None:
    keys = '[{"name": "me", "key": "0123456789abcdef", "rights": ["admin"]}]'
    taishi = RunningTaishi(tmp_path, "--no-story", redis_url=own_valkey.url, embedder="off", api_keys=keys)
    try:
        taishi.wait_until_up()
        assert not (tmp_path / "valkey").exists()
        assert not (tmp_path / "run" / "vectors.pid").exists()
        assert taishi.cli("tell", "It snowed.", "-n", "n").returncode == 1
        taishi.environment["TAISHI_API_KEY"] = "0123456789abcdef"
        assert taishi.cli("tell", "It snowed.", "-n", "n").returncode == 0
        assert "pending vectors: 0" in taishi.cli("status", "-n", "n").stdout
        with own_valkey.client() as client:
            databases = client.info("keyspace")
        assert {"db0", "db1"} <= databases.keys()
    finally:
        assert taishi.stop() == 0
