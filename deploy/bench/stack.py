"""A whole Taishi for one measurement: started as `taishi up` starts it, on free ports of this machine alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import orjson

from taishi.ingest.errors import TaishiError

from ..client import Client
from ..settings import Settings, load_settings

START_SECONDS: Final = 120.0
STOP_SECONDS: Final = 60.0
SETTLE_STEP: Final = 0.02
STALLED_SECONDS: Final = 600.0
"""Without any progress; a single slow step on a busy machine takes seconds."""
_OF_THE_PLACE: Final = (
    "TAISHI_HOME TAISHI_WRITE_ADDR TAISHI_READ_ADDR TAISHI_WRITE_URL TAISHI_READ_URL TAISHI_API_KEY TAISHI_API_KEYS "
    "TAISHI_JOBS_URL TAISHI_KEYSTORE_URL TAISHI_ABLATE REDIS_URL"
).split()
"""Settings that would lead to the data or the ports of another Taishi. The others, such as the embedder, are kept."""


class StackFailed(TaishiError):
    """It did not start, ended, or stopped making progress."""

    slug = "bench"


class Stack:
    """A running one, and a client of it."""

    def __init__(self, client: Client, process: subprocess.Popen[bytes]) -> None:
        self.client: Final = client
        self._process = process

    def settle(self) -> None:
        """Waits until all that was written is folded, extracted and embedded. Raises StackFailed."""
        last: dict[str, int] = {}
        since = time.monotonic()
        while True:
            status = self.status()
            waiting = {name: int(status[name]) for name in ("lag", "pending_extractions", "pending_vectors")}
            if not any(waiting.values()):
                return
            if waiting != last:
                last, since = waiting, time.monotonic()
            if time.monotonic() - since > STALLED_SECONDS:
                raise StackFailed(f"no progress for {STALLED_SECONDS:.0f} s: {waiting}")
            time.sleep(SETTLE_STEP)

    def failures(self) -> int:
        """Windows of words from which nothing could be read, and events that could not be folded."""
        status = self.status()
        return int(status["failed_extractions"]) + int(status["dead_letters"])

    def status(self) -> dict[str, Any]:
        """Of all partitions together. Raises StackFailed where it has ended."""
        if self._process.poll() is not None:
            raise StackFailed(f"it ended with exit code {self._process.returncode}")
        return self.client.read.call("GET", "/v1/status")


@contextmanager
def running(home: Path, *, ablated: Collection[str] = ()) -> Iterator[Stack]:
    """Up while the context lasts; then it is told to stop, and killed if it does not. Raises StackFailed."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name not in _OF_THE_PLACE}
    environment = {
        **kept,
        "TAISHI_HOME": str(home),
        "TAISHI_WRITE_ADDR": "127.0.0.1:0",
        "TAISHI_READ_ADDR": "127.0.0.1:0",
        "TAISHI_ABLATE": ",".join(sorted(ablated)),
    }
    command = [sys.executable, "-P", "-m", "taishi.deploy.cli", "up", "--no-story", "--json"]
    told, complaints = home / "bench.out", home / "bench.err"
    with told.open("wb") as out, complaints.open("wb") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)
    try:
        settings = _await_up(process, told, complaints, home)
        with Client(settings) as client:
            yield Stack(client, process)
    finally:
        _stop(process)


def _await_up(process: subprocess.Popen[bytes], told: Path, complaints: Path, home: Path) -> Settings:
    """Settings under which a client finds both sides."""
    end = time.monotonic() + START_SECONDS
    while True:
        ended = process.poll() is not None
        urls = _urls(told)
        if {"takes_writes", "answers"} <= urls.keys():
            return load_settings(home=home, write_url=urls["takes_writes"], read_url=urls["answers"])
        if ended or time.monotonic() > end:
            said = complaints.read_text("utf-8", errors="replace").strip()
            raise StackFailed(f"it does not start: {said[-500:] or 'no reason given'}")
        time.sleep(0.02)


def _urls(told: Path) -> dict[str, str]:
    lines = told.read_bytes().split(b"\n")[:-1]
    events = [orjson.loads(line) for line in lines if line.startswith(b'{"event"')]
    return {event["event"]: event["url"] for event in events if "url" in event}


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
