"""`taishi up`: the server, the processes and the story under one supervisor, in the order that is soonest of use.

The server starts first and boots while modules load; what takes writes and folds them comes next; what needs the
embedder comes last, so that its weights are loaded once and shared. Nothing here runs a thread: the parent forks.
"""

from __future__ import annotations

import http.client
import os
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import orjson

from taishi.ingest.errors import ConfigurationError

from .backup.marker import refuse_unfinished
from .generations import ensure_generation
from .server import DirectoryLock, EmbeddedServer, find_binary, next_database
from .settings import Address, Settings
from .supervisor import Process, Supervisor

_SERVER_TRIES: Final = 4
_BIND_SECONDS: Final = 3.0
_BACKLOG: Final = 1024
_LOOK_SECONDS: Final = 0.1  # a process that is still starting leaves the caller in its backlog


class Reporter:
    """Tells the person (or, as JSON lines, the program) that watches."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json: Final = as_json
        self._begun = time.monotonic()

    def event(self, name: str, text: str, **facts: object) -> None:
        seconds = round(time.monotonic() - self._begun, 2)
        if self.as_json:
            line = orjson.dumps({"event": name, "seconds": seconds, **facts}).decode()
        else:
            line = f"[{seconds:5.1f} s] {text}"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def note(self, text: str) -> None:
        self.event("note", text, note=text)


def launch(settings: Settings, *, story: bool, once: bool, as_json: bool = False) -> int:
    """Runs until it is told to stop. The exit code. Raises TaishiError where it cannot start."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more of them fight over the same cores
    reporter = Reporter(as_json=as_json)
    settings.check_exposure()
    _make_home(settings.home)
    refuse_unfinished(settings.home)
    lock = DirectoryLock(settings.home)
    write_socket, read_socket = _listen(settings.write), _listen(settings.read)
    settings = settings.model_copy(
        update={"write_addr": _served(settings.write, write_socket), "read_addr": _served(settings.read, read_socket)}
    )
    supervisor = Supervisor(logs=settings.logs, run=settings.run, tell=reporter.note, disown=lock.disown)
    supervisor.listen_to_signals()
    server = _embedded(settings)
    log_url = server.url if server is not None else settings.redis_url or ""
    jobs_url = settings.jobs_url or next_database(log_url)
    settings = settings.model_copy(update={"redis_url": log_url, "jobs_url": jobs_url})
    try:
        return _run(settings, supervisor, server, reporter, (write_socket, read_socket), story=story, once=once)
    finally:
        if supervisor.stop_asked:
            reporter.event("stopping", "stopping")
        supervisor.stop()
        if server is not None:
            server.clear()
        lock.release()


def _run(
    settings: Settings,
    supervisor: Supervisor,
    server: EmbeddedServer | None,
    reporter: Reporter,
    sockets: tuple[socket.socket, socket.socket],
    *,
    story: bool,
    once: bool,
) -> int:
    if server is not None:
        server.prepare()
        supervisor.start(Process(name="server", run=server.become))
    from . import processes  # while the server boots
    from .backup.standing import refuse_behind_ledger
    from .kept_files import drop_vectors

    if server is not None:
        _await_server(server, supervisor, settings)
    if supervisor.stop_asked:
        return 0
    processes.check_log(settings)
    refuse_behind_ledger(settings)
    ensure_generation(settings.home)
    if settings.embedder == "off":
        drop_vectors(settings.home)
    write, read = sockets
    supervisor.start(Process(name="write", run=partial(processes.run_write, settings, write), sockets=[write]))
    supervisor.start(Process(name="projector", run=partial(processes.run_projector, settings)))
    supervisor.start(Process(name="keeper", run=partial(processes.run_keeper, settings)))
    for number in range(1, settings.rq_workers + 1):
        supervisor.start(Process(name=f"worker-{number}", run=partial(processes.run_worker, settings)))
    sides = _Sides(reporter, settings)
    for load in processes.warming(settings):
        load()
        supervisor.tend(seconds=0)
        sides.look()
    for name in ("read", *(f"read-{number}" for number in range(2, settings.read_workers + 1))):
        supervisor.start(Process(name=name, run=partial(processes.run_read, settings, read, name=name), sockets=[read]))
    if settings.embedder != "off":
        supervisor.start(Process(name="vectors", run=partial(processes.run_vectors, settings)))
    for number in range(1, settings.upkeep_workers + 1):
        supervisor.start(Process(name=f"upkeep-{number}", run=partial(processes.run_upkeep, settings)))
    supervisor.start(Process(name="cron", run=partial(processes.run_cron, settings)))
    _await(sides.look, supervisor)
    if story and not supervisor.stop_asked:
        from .story import tell_story

        tell = partial(tell_story, settings, as_json=reporter.as_json)
        supervisor.start(Process(name="story", run=tell, lasting=False))
    while not supervisor.stop_asked:
        supervisor.tend(seconds=0.2 if once else 3600)
        if once and (not story or supervisor.status("story") is not None):
            return (supervisor.status("story") or 0) if story else 0
    return 0


def _await_server(server: EmbeddedServer, supervisor: Supervisor, settings: Settings) -> None:
    """However long its log takes to load. Raises ConfigurationError where it keeps failing."""

    def answers() -> bool:
        if supervisor.deaths("server") >= _SERVER_TRIES:
            raise ConfigurationError(f"the event log's server does not start: {settings.logs / 'server.log'} says why")
        return server.answers()

    _await(answers, supervisor)


def _await(done: Callable[[], bool], supervisor: Supervisor) -> None:
    while not supervisor.stop_asked and not done():
        supervisor.tend(seconds=0.01)


class _Sides:
    """Which of the two APIs is ready, told once each."""

    def __init__(self, reporter: Reporter, settings: Settings) -> None:
        self._reporter = reporter
        self._waiting = {"takes writes": settings.write, "answers": settings.read}

    def look(self) -> bool:
        """True when both are."""
        for text, side in list(self._waiting.items()):
            if _is_ready(side):
                del self._waiting[text]
                self._reporter.event(text.replace(" ", "_"), f"{text} at {side.url}", url=side.url)
        return not self._waiting


def _is_ready(side: Address) -> bool:
    connection = http.client.HTTPConnection(side.url.removeprefix("http://"), timeout=_LOOK_SECONDS)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _make_home(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.chmod(0o700)
    except OSError as e:
        raise ConfigurationError(f"TAISHI_HOME={home} cannot be used: {e.strerror}", field="home") from None


def _embedded(settings: Settings) -> EmbeddedServer | None:
    if settings.redis_url:
        return None
    directory = settings.home / "valkey"
    return EmbeddedServer(binary=find_binary().path, directory=directory, durability=settings.durability)


def _listen(address: Address) -> socket.socket:
    """A listening socket. One that a killed supervisor's children still hold is waited for, for a moment."""
    end = time.monotonic() + _BIND_SECONDS
    while True:
        try:
            family, *_, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
            listening = socket.socket(family, socket.SOCK_STREAM)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(where)
            listening.listen(_BACKLOG)
        except OSError as e:
            if time.monotonic() > end:
                raise ConfigurationError(
                    f"{address.host}:{address.port} cannot be served: {e.strerror}; "
                    "set TAISHI_WRITE_ADDR and TAISHI_READ_ADDR to free ones"
                ) from None
            time.sleep(0.05)
        else:
            return listening


def _served(address: Address, listening: socket.socket) -> str:
    """The address with the port that was given to it, where it asked for any (0)."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{listening.getsockname()[1]}"
