"""One process that starts all others, by fork, and keeps them running until it is told to stop.

Heavy modules are loaded here before the fork, so that their memory is shared. The parent stays single-threaded, which
is what makes forking safe. Listening sockets are opened here and inherited: while a process starts again, callers wait
in its backlog instead of being refused.

A child that ends is started again: at once the first time, later with a growing delay, which starts over after it has
run for a while. Children never outlive the supervisor, however it ends.
"""

from __future__ import annotations

import ctypes
import gc
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from .logs import start_logging, write_line

GRACE: Final = 10.0  # seconds from SIGTERM to SIGKILL
_STEADY: Final = 10.0  # seconds after which a child counts as healthy again
_FIRST_DELAY: Final = 0.1
_LONGEST_DELAY: Final = 10.0
_LONGEST_DELAY_KILLED: Final = 0.5  # killed from outside: nothing says that it would fail again


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """`run` returns (or raises) when the process ends; SIGTERM must end it. `sockets` are those it serves, alone or
    with others; who does not serve one closes it.

    One that is not `lasting` ends by itself, is not started again, and keeps the supervisor's standard output.
    """

    name: str
    run: Callable[[], None]
    sockets: Sequence[socket.socket] = ()
    lasting: bool = True


@dataclass(slots=True)
class _Child:
    process: Process
    pid: int | None = None
    started: float = 0.0
    deaths: int = 0
    due: float | None = None
    stopping: bool = False
    status: int | None = None
    told: bool = False
    warned: bool = False


class Supervisor:
    """Owns its children. `tell` is given one line a time for the person who watches."""

    def __init__(self, *, logs: Path, run: Path, tell: Callable[[str], None], disown: Callable[[], None]) -> None:
        """`logs` and `run` are folders: `<name>.log`, `<name>.pid`. `disown` runs first in every child."""
        self._logs = logs
        self._run = run
        self._tell = tell
        self._disown = disown
        self._children: dict[str, _Child] = {}
        self._stop_asked = False
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if hasattr(os, "pipe2") else _pipe()
        logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        run.mkdir(mode=0o700, parents=True, exist_ok=True)

    def listen_to_signals(self) -> None:
        """From here on SIGINT, SIGTERM and SIGHUP ask for a clean stop instead of ending this process."""
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` wants it
                signal.signal(number, self._on_stop)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def _on_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop_asked = True

    @property
    def stop_asked(self) -> bool:
        return self._stop_asked

    def start(self, process: Process) -> None:
        child = _Child(process)
        self._children[process.name] = child
        self._fork(child)

    def deaths(self, name: str) -> int:
        """How often it ended unasked of late."""
        return self._children[name].deaths

    def status(self, name: str) -> int | None:
        """Exit status of a process that is not lasting (negative: the signal), None while it runs."""
        return self._children[name].status

    def tend(self, *, seconds: float) -> None:
        """Starts again what has ended, for so long, or until a stop is asked."""
        end = time.monotonic() + seconds
        while not self._stop_asked:
            self._reap()
            now = time.monotonic()
            for child in self._children.values():
                if child.due is not None and child.due <= now:
                    self._fork(child)
                elif child.pid is not None and not child.told:
                    self._tell_pid(child)
            dues = [child.due for child in self._children.values() if child.due is not None]
            wait = min([end, *dues]) - time.monotonic()
            if wait <= 0 and end <= time.monotonic():
                return
            self._sleep(max(0.0, min(wait, 1.0)))

    def stop(self) -> None:
        """All children, the first started last; each gets SIGTERM, and SIGKILL after the grace."""
        first, *others = self._children.values() or [None]
        self._stop([child for child in others if child is not None])
        if first is not None:
            self._stop([first])

    def _stop(self, children: Sequence[_Child]) -> None:
        for child in children:
            child.stopping, child.due = True, None
            self._signal(child, signal.SIGTERM)
        end = time.monotonic() + GRACE
        while any(child.pid is not None for child in children):
            self._reap()
            if time.monotonic() > end:
                for child in children:
                    if child.pid is not None:
                        self._tell(f"{child.process.name} does not stop and is killed")
                        self._signal(child, signal.SIGKILL)
                end = time.monotonic() + GRACE
            self._sleep(0.05)

    @staticmethod
    def _signal(child: _Child, number: signal.Signals) -> None:
        if child.pid is not None:
            os.kill(child.pid, number)  # not reaped yet, so the pid is still its own

    def _sleep(self, seconds: float) -> None:
        if select.select([self._wake_read], [], [], seconds)[0]:
            os.read(self._wake_read, 4096)

    def _reap(self) -> None:
        for child in self._children.values():
            if child.pid is None:
                continue
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid == 0:
                continue
            child.pid = None
            self._pidfile(child).unlink(missing_ok=True)
            child.status = os.waitstatus_to_exitcode(status)
            if child.process.lasting and not child.stopping:
                self._plan_restart(child, child.status)

    def _plan_restart(self, child: _Child, code: int) -> None:
        now = time.monotonic()
        if now - child.started > _STEADY:
            child.deaths = 0
        longest = _LONGEST_DELAY_KILLED if code == -signal.SIGKILL else _LONGEST_DELAY
        delay = 0.0 if child.deaths == 0 else min(longest, _FIRST_DELAY * 2 ** min(child.deaths - 1, 10))
        child.deaths += 1
        child.due = now + delay
        how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        again = f"starting again in {delay:.1f} s" if delay else "starting again"
        self._tell(f"{child.process.name} {how}; {again} (log: {self._logs / child.process.name}.log)")

    def _pidfile(self, child: _Child) -> Path:
        return self._run / f"{child.process.name}.pid"

    def _fork(self, child: _Child) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        # What is loaded is moved out of the collector's sight: it would write to shared pages.
        gc.freeze()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._be(child.process, parent)
        child.pid, child.started, child.due, child.told = pid, time.monotonic(), None, False
        self._tell_pid(child)

    def _tell_pid(self, child: _Child) -> None:
        """Writes the file that names its process. A full disk keeps no child from running: it is tried again."""
        written = self._pidfile(child).with_suffix(".new")
        try:
            written.write_text(f"{child.pid}\n")
            written.replace(self._pidfile(child))  # whole or not at all: others read it
        except OSError as e:
            if not child.warned:
                self._tell(f"{self._pidfile(child)} cannot be written: {e.strerror}")
            child.warned = True
        else:
            child.told, child.warned = True, False

    def _be(self, process: Process, parent: int) -> NoReturn:
        code = 70
        try:
            os.setpgid(0, 0)  # what the terminal sends to its group is for the supervisor to answer
            _die_with(parent)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._disown()
            for other in self._children.values():
                if other.process is not process:
                    for listening in set(other.process.sockets).difference(process.sockets):
                        listening.close()
            if process.lasting:
                start_logging(self._logs / f"{process.name}.log")
            _name_process(f"taishi-{process.name}")
            process.run()
            code = 0
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 1
        except BaseException as e:
            write_line(e)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _pipe() -> tuple[int, int]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    return read, write


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _die_with(parent: int) -> None:
    """SIGTERM when the supervisor ends, told by the kernel where it can, and by looking everywhere; then SIGKILL."""
    if sys.platform == "linux":
        _libc().prctl(1, int(signal.SIGTERM), 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it ended in between
        os._exit(70)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _name_process(name: str) -> None:
    if sys.platform == "linux":
        _libc().prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME: what `ps` and `top` show
