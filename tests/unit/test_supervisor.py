"""The supervisor over small processes of its own. It runs in a child, since it owns its process's signals."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = """if True:
    import os, signal, socket, sys, time
    from pathlib import Path
    from taishi.deploy.supervisor import Process, Supervisor
    folder = Path(sys.argv[1])
    def stubborn():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    def failing():
        raise KeyError("words that must not be logged")
    def serve(listening):
        while True:
            connection, _ = listening.accept()
            connection.sendall(str(os.getpid()).encode())
            connection.close()
    import taishi.deploy.supervisor as module
    module.GRACE = 1.0
    def tell(text):
        print(text, flush=True)
    supervisor = Supervisor(logs=folder / "logs", run=folder / "run", tell=tell, disown=lambda: None)
    supervisor.listen_to_signals()
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    supervisor.start(Process(name="first", run=lambda: time.sleep(60)))
    supervisor.start(Process(name="serving", run=lambda: serve(listening), sockets=[listening]))
    if "stubborn" in sys.argv:
        supervisor.start(Process(name="stubborn", run=stubborn))
    if "failing" in sys.argv:
        supervisor.start(Process(name="failing", run=failing))
    while not supervisor.stop_asked:
        supervisor.tend(seconds=60)
    supervisor.stop()
    print("stopped", flush=True)
"""


class Running:
    def __init__(self, folder: Path, *also: str) -> None:
        command = [sys.executable, "-P", "-c", PROGRAM, str(folder), *also]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.out = self.process.stdout
        self.port = int(self.out.readline())
        self.folder = folder

    def pid(self, name: str) -> int:
        path = self.folder / "run" / f"{name}.pid"
        end = time.monotonic() + 5
        while time.monotonic() < end:
            if path.exists() and (text := path.read_text().strip()):
                return int(text)
            time.sleep(0.01)
        raise AssertionError(f"{name} did not start")

    def ask(self) -> int:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            return int(connection.recv(100))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(*pids: int, seconds: float = 5) -> None:
    end = time.monotonic() + seconds
    while any(map(is_alive, pids)):
        assert time.monotonic() < end, "a process lives on"
        time.sleep(0.02)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for path in tmp_path.glob("run/*.pid"):
        if is_alive(int(path.read_text())):
            os.kill(int(path.read_text()), signal.SIGKILL)


def test_a_killed_child_returns_and_no_caller_is_refused(folder: Path) -> None:
    running = Running(folder)
    for _ in range(4):
        before = running.ask()
        assert before == running.pid("serving")
        os.kill(before, signal.SIGKILL)
        begun = time.monotonic()
        wait_until_gone(before)  # what it had already taken up dies with it
        assert running.ask() != before
        assert time.monotonic() - begun < 2
    running.process.terminate()
    assert running.process.wait(timeout=10) == 0


def test_a_clean_stop_leaves_nothing_and_kills_what_will_not_go(folder: Path) -> None:
    running = Running(folder, "stubborn")
    pids = [running.pid(name) for name in ("first", "serving", "stubborn")]
    time.sleep(0.3)
    running.process.send_signal(signal.SIGINT)
    said = running.out.read()
    assert running.process.wait(timeout=10) == 0
    assert "stubborn does not stop and is killed" in said
    assert not any(map(is_alive, pids))
    assert list(folder.glob("run/*.pid")) == []


def test_children_do_not_outlive_a_killed_supervisor(folder: Path) -> None:
    running = Running(folder)
    pids = [running.pid(name) for name in ("first", "serving")]
    time.sleep(0.2)
    running.process.kill()
    running.process.wait()
    wait_until_gone(*pids)


def test_a_failing_child_is_delayed_more_and_more_and_logs_no_words(folder: Path) -> None:
    running = Running(folder, "failing")
    time.sleep(2)
    running.process.terminate()
    said = running.out.read()
    assert running.process.wait(timeout=10) == 0
    assert 3 <= said.count("failing ended with status 70") <= 7
    log = (folder / "logs" / "failing.log").read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert {(one["process"], one["level"], one["message"]) for one in lines} == {
        ("failing", "error", "ended by an error")
    }
    assert all("KeyError" in one["trace"] for one in lines)
    assert "must not be logged" not in log


def test_what_cannot_be_written_is_told_once_and_written_later(tmp_path: Path) -> None:
    (tmp_path / "run" / "first.new").mkdir(parents=True)  # in the way of the file that names the process
    running = Running(tmp_path)
    try:
        time.sleep(2.5)
        (tmp_path / "run" / "first.new").rmdir()
        assert is_alive(running.pid("first"))
    finally:
        running.process.send_signal(signal.SIGTERM)
    told = running.out.read()
    running.process.wait(timeout=10)
    assert told.count("first.pid cannot be written") == 1, told
