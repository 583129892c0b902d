"""What follows the log for every generation at once: read models and keepers, each in a thread of its own.

Who is followed is what the register says; a thread is started and ended as the register changes. The live generation
goes first: the others give way while it is behind. Switching changes no thread's file, so that nothing has to be handed
over, and both sides of a switch stay up to date.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from taishi.ingest.errors import Unavailable
from taishi.ingest.log import EventLog
from taishi.projections.analysis import Analyzer
from taishi.projections.worker import Projector

from .generations import Extraction, Generation, Generations, Register, generation_folder, models_folder
from .verifying import sweep

_LOOK_SECONDS: Final = 0.5
_GIVE_WAY_SECONDS: Final = 0.05

logger = logging.getLogger(__name__)


class Runs(Protocol):
    def run(self, stop: threading.Event) -> None: ...


class _Thread:
    """Something that runs until it is told to end; what it raises is kept."""

    def __init__(self, name: str, make: Callable[[], Runs]) -> None:
        self.stop: Final = threading.Event()
        self.error: BaseException | None = None
        self._make = make
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._make().run(self.stop)
        except BaseException as e:
            self.error = e

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    def join(self) -> None:
        self.stop.set()
        self._thread.join()


class Fleet:
    """Threads by key. One that ends by an error ends the process with it: whoever started that starts it again."""

    def __init__(self) -> None:
        self._threads: dict[str, _Thread] = {}

    def keep(self, wanted: Iterable[tuple[str, Callable[[], Runs]]]) -> None:
        """Ends what is not wanted any more and starts what is new. Raises what a thread ended with."""
        made = dict(wanted)
        for name in [name for name in self._threads if name not in made]:
            self._threads.pop(name).join()
        for name, make in made.items():
            thread = self._threads.get(name)
            if thread is None:
                self._threads[name] = _Thread(name, make)
            elif thread.ended and thread.error is not None:
                raise thread.error

    def end(self) -> None:
        for thread in self._threads.values():
            thread.stop.set()
        for thread in self._threads.values():
            thread.join()
        self._threads.clear()


@dataclass(slots=True)
class _Precedence:
    """Which generation goes first, and whether it is behind."""

    live: int = 0
    behind: bool = False


class _Followed(Projector):
    """A projector that is closed by the thread that ran it, and steps slowly while the live one is behind."""

    def __init__(self, precedence: _Precedence, generation: Generation, **given: Any) -> None:
        super().__init__(generation=generation.extraction, **given)
        self._precedence = precedence
        self._number = generation.number

    def step(self, partition: int) -> bool:
        first = self._precedence.live == self._number
        if not first and self._precedence.behind:
            time.sleep(_GIVE_WAY_SECONDS)
        full = super().step(partition)
        if first:
            self._precedence.behind = full
        return full

    def run(self, stop: threading.Event) -> None:
        try:
            super().run(stop)
        finally:
            self.close()


class FollowedModels:
    """The read models of every generation that follows the log. `drive` is called about every half second, too."""

    def __init__(
        self, *, generations: Generations, log: EventLog, analyzer: Analyzer, drive: Callable[[], None]
    ) -> None:
        self._generations = generations
        self._log = log
        self._analyzer = analyzer
        self._drive = drive
        self._fleet = Fleet()
        self._precedence = _Precedence()
        self._stamp: tuple[int, int] | None = None

    def run(self, stop: threading.Event) -> None:
        try:
            while not stop.is_set():
                self._look()
                try:
                    self._drive()
                except Unavailable as e:
                    logger.warning("rebuilding waits: %s", e.message)
                stop.wait(_LOOK_SECONDS)
        finally:
            self._fleet.end()

    def _look(self) -> None:
        stamp = self._generations.stamp()
        register = self._generations.read()
        self._generations.heal()
        self._precedence.live = register.live.number
        followed = register.followed()
        self._fleet.keep((g.name, self._maker(g)) for g in followed)
        if stamp != self._stamp:
            self._sweep({g.name for g in register.generations.values()})
            self._stamp = stamp

    def _maker(self, generation: Generation) -> Callable[[], Runs]:
        return lambda: _Followed(
            self._precedence,
            generation,
            log=self._log,
            folder=generation_folder(self._generations.home, generation),
            partitions=range(self._log.partitions),
            analyzer=self._analyzer,
        )

    def _sweep(self, known: set[str]) -> None:
        """Removes the folders of generations that were pruned, and of replays that were killed."""
        sweep(self._generations.home)
        for folder in models_folder(self._generations.home).glob("g*"):
            if folder.is_dir() and folder.name not in known:
                logger.warning("%s was pruned: its files are removed", folder.name)
                shutil.rmtree(folder, ignore_errors=True)


class KeptWindows:
    """A keeper for every extraction generation that new words are read for. `make` makes one, told whether it is the
    live one's: whose jobs go first."""

    def __init__(self, *, generations: Generations, make: Callable[[Extraction, bool], Runs]) -> None:
        self._generations = generations
        self._make = make
        self._fleet = Fleet()

    def run(self, stop: threading.Event) -> None:
        try:
            while not stop.is_set():
                register = self._generations.read()
                live = register.live.extraction
                self._fleet.keep(
                    (f"e{x.number}-{x.number == live}-{x.base}", partial(self._make, x, x.number == live))
                    for x in register.extracting()
                )
                self._sweep(register)
                stop.wait(_LOOK_SECONDS)
        finally:
            self._fleet.end()

    def _sweep(self, register: Register) -> None:
        """Removes the files of extractions that were dropped."""
        for path in (self._generations.home / "keeper").glob("e*.db*"):
            number = path.name.removeprefix("e").partition(".")[0]
            if number.isdecimal() and int(number) not in register.extractions:
                path.unlink(missing_ok=True)
