"""A whole Taishi, as `taishi up` starts it, in a home folder of its own on free ports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from taishi.deploy.server import socket_path

NAMES = (
    "server", "write", "projector", "keeper", "worker-1", "read", "read-2", "vectors", "upkeep-1", "upkeep-2", "cron",
)  # fmt: skip


class RunningTaishi:
    """`home` may be that of an earlier one. The server is the wheel's, whatever is on PATH. `settings` are TAISHI_*;
    `preload` is a shared library that every process of it loads."""

    def __init__(
        self, home: Path, *options: str, as_json: bool = True, preload: Path | None = None, **settings: str
    ) -> None:
        self.home = home
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TAISHI_") and k != "REDIS_URL"}
        self.environment = {
            **kept,
            "PATH": "/nonexistent",
            "TAISHI_HOME": str(home),
            "TAISHI_WRITE_ADDR": "127.0.0.1:0",
            "TAISHI_READ_ADDR": "127.0.0.1:0",
            **{"REDIS_URL" if n == "redis_url" else f"TAISHI_{n.upper()}": v for n, v in settings.items()},
        }
        if preload is not None:
            self.environment["LD_PRELOAD"] = str(preload)
        command = [sys.executable, "-P", "-m", "taishi.deploy.cli", "up", *options]
        command += ["--json"] if as_json else []
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, text=True
        )
        self.lines: list[str] = []
        self.events: dict[str, dict[str, Any]] = {}
        self.times: dict[str, float] = {}
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line)
                if line.startswith('{"event"'):
                    event = json.loads(line)
                    self.events[event["event"]] = event
                    self.times[event["event"]] = time.monotonic() - self.begun
                self._changed.notify_all()

    def wait_for(self, *names: str, seconds: float = 60) -> RunningTaishi:
        """Until `up` has told these events."""
        with self._changed:
            there = self._changed.wait_for(
                lambda: all(n in self.events for n in names) or self.process.poll() is not None, timeout=seconds
            )
        assert there and all(n in self.events for n in names), "".join(self.lines)
        return self

    def wait_until_up(self, *, seconds: float = 60) -> RunningTaishi:
        return self.wait_for("takes_writes", "answers", seconds=seconds)

    @property
    def write(self) -> str:
        return str(self.events["takes_writes"]["url"])

    @property
    def read(self) -> str:
        return str(self.events["answers"]["url"])

    @property
    def log_url(self) -> str:
        """The embedded server's, for looking at the log itself."""
        return f"unix://{socket_path(self.home / 'valkey')}?db=0"

    def pid(self, name: str, *, other_than: int | None = None, seconds: float = 10) -> int:
        """The process id, once there is one (another one)."""
        path = self.home / "run" / f"{name}.pid"
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                pid = int(path.read_text() or 0)
            except FileNotFoundError:
                pid = 0
            if pid and pid != other_than:
                return pid
            time.sleep(0.005)
        raise AssertionError(f"{name} has no process: {''.join(self.lines)}")

    def kill(self, name: str) -> int:
        pid = self.pid(name)
        os.kill(pid, signal.SIGKILL)
        return pid

    def ready(self, url: str) -> bool:
        try:
            return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def settle(self, namespace: str, *, seconds: float = 30) -> None:
        """Until all that was written is read, extracted and embedded."""
        end = time.monotonic() + seconds
        while True:
            status = httpx.get(f"{self.read}/v1/status", params={"namespace": namespace}, timeout=10).json()
            if not (status["lag"] or status["pending_extractions"] or status["pending_vectors"]):
                return
            assert time.monotonic() < end, status
            time.sleep(0.02)

    def cli(self, *arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, "TAISHI_WRITE_URL": self.write, "TAISHI_READ_URL": self.read}
        command = [sys.executable, "-P", "-m", "taishi.deploy.cli", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, check=False)

    def stop(self, *, seconds: float = 30) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=seconds)
        finally:
            self.process.kill()
            self._reader.join(timeout=5)


    def refused(self, *, seconds: float = 30) -> str:
        """What it says when it ends by itself with exit code 1."""
        assert self.process.wait(timeout=seconds) == 1, "".join(self.lines)
        self._reader.join(timeout=5)
        assert self.process.stderr is not None
        return self.process.stderr.read()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
