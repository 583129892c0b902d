"""Generations: the read models that stand side by side, which extraction each of them folds, and which one is live.

A *model generation* is a folder `models/g<k>`. An *extraction generation* is the number in the headers of derived
events: what one extractor, at one version, read from the words. `models/generations.json` says which folder folds
which extraction and how far it has come; `models/current` names the live one and is replaced atomically, since readers
look at nothing else. The register is changed under a file lock, by whole replacement: whoever reads it reads one state.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from taishi.ingest.crashpoints import reach
from taishi.ingest.durable_files import write_durably
from taishi.ingest.errors import Conflict, NotFound

FIRST: Final = 1
State = Literal["extracting", "building", "ready", "live", "kept", "failed"]
"""`extracting`: words are read anew · `building`: events are folded · `ready`: follows the log, may be activated ·
`kept`: was live, follows the log · `failed`: a poison event stopped it, or it was given up."""
FOLLOWING: Final = frozenset({"ready", "live", "kept"})
"""States in which a generation's read models follow the log."""
UNFINISHED: Final = frozenset({"extracting", "building"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """`extractor` is a name (with `@version` as it was asked for), None for the one that the settings name.

    `base` is the extraction generation whose claims are carried over where their words were erased; None: nothing is.
    """

    number: int
    extractor: str | None = None
    base: int | None = None

    @property
    def name(self) -> str | None:
        return None if self.extractor is None else self.extractor.partition("@")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """Instants are microseconds. `targets`: where each partition ended when it was begun. `slices`: how many slices of
    each partition were built; `built`: partitions that are done."""

    number: int
    extraction: int
    state: State
    started_at: int = 0
    ready_at: int | None = None
    activated_at: int | None = None
    targets: Mapping[str, int] = field(default_factory=dict)
    slices: Mapping[str, int] = field(default_factory=dict)
    built: tuple[int, ...] = ()
    error: str | None = None

    @property
    def name(self) -> str:
        return f"g{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A system event that every partition is to hold: `generation.started` or `generation.activated`."""

    type: str
    generation: int
    extraction: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """One state of the register. `notices` are system events that are not yet known to be in the log."""

    generations: Mapping[int, Generation]
    extractions: Mapping[int, Extraction]
    notices: tuple[Notice, ...] = ()
    last: int = FIRST
    last_extraction: int = FIRST

    @property
    def live(self) -> Generation:
        return next(g for g in self.generations.values() if g.state == "live")

    def generation(self, number: int) -> Generation:
        """Raises NotFound."""
        found = self.generations.get(number)
        if found is None:
            raise NotFound(f"there is no generation g{number}: `taishi generations` lists them", field="generation")
        return found

    def extraction(self, number: int) -> Extraction:
        """Raises NotFound where no generation folds it any more."""
        found = self.extractions.get(number)
        if found is None:
            raise NotFound(f"extraction generation {number} was dropped", field="generation")
        return found

    def extraction_of(self, generation: Generation) -> Extraction:
        return self.extractions[generation.extraction]

    def put(self, *generations: Generation) -> Register:
        return replace(self, generations={**self.generations, **{g.number: g for g in generations}})

    def without(self, number: int) -> Register:
        """Drops a generation, and the extraction that no other one folds."""
        left = {k: g for k, g in self.generations.items() if k != number}
        used = {g.extraction for g in left.values()}
        extractions = {
            e: x if x.base in used else replace(x, base=None) for e, x in self.extractions.items() if e in used
        }
        return replace(self, generations=left, extractions=extractions)

    def followed(self) -> list[Generation]:
        """Those whose read models follow the log, the live one first."""
        found = [g for g in self.generations.values() if g.state in FOLLOWING]
        return sorted(found, key=lambda g: (g.state != "live", -g.number))

    def extracting(self) -> list[Extraction]:
        """Those that new windows are read for: of every generation that did not fail, the live one's first."""
        live = self.live.extraction
        wanted = {g.extraction for g in self.generations.values() if g.state != "failed"}
        return sorted((self.extractions[e] for e in wanted), key=lambda e: (e.number != live, -e.number))


def finished(generation: Generation) -> Generation:
    """The generation, if its read models are whole and follow the log. Raises Conflict."""
    if generation.state in FOLLOWING:
        return generation
    why = generation.error or "wait until `taishi generations` calls it ready"
    raise Conflict(f"{generation.name} is {generation.state}: {why}", field="generation")


def models_folder(home: Path) -> Path:
    return home / "models"


def vectors_folder(home: Path) -> Path:
    """Vectors are keyed by content and model, and outlive a generation."""
    return home / "vectors"


def generation_folder(home: Path, generation: Generation) -> Path:
    return models_folder(home) / generation.name


def outbox_path(home: Path, extraction: int) -> Path:
    """The keeper's file of an extraction generation."""
    return home / "keeper" / ("keeper.db" if extraction == FIRST else f"e{extraction}.db")


def live_extraction(home: Path) -> int:
    """The number of the extraction generation that the live read models fold."""
    return Generations(home).read().live.extraction


def live_folder(home: Path) -> Path:
    """The live generation's folder, as it is now."""
    return models_folder(home) / _marker(home).read_text("utf-8").strip()


def name_live(home: Path, name: str) -> None:
    """Makes that generation's folder the live one, at once for every reader."""
    write_durably(_marker(home), f"{name}\n".encode())


def is_founded(home: Path) -> bool:
    """Whether something was ever started in this home: there is a live generation."""
    return _marker(home).exists()


def _marker(home: Path) -> Path:
    return models_folder(home) / "current"


def ensure_generation(home: Path) -> None:
    """Makes the folders, and the first generation the live one where there is none."""
    models = models_folder(home)
    for folder in (models, vectors_folder(home)):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    generations = Generations(home)
    with generations.locked():
        if not is_founded(home):
            (models / f"g{FIRST}").mkdir(mode=0o700, exist_ok=True)
            name_live(home, f"g{FIRST}")
        if not generations.path.exists():
            number = int(live_folder(home).name.removeprefix("g"))
            first = Generation(number=number, extraction=FIRST, state="live", activated_at=now())
            generations.write(
                Register(generations={number: first}, extractions={FIRST: Extraction(number=FIRST)}, last=number)
            )


class Generations:
    """The register of one home folder. Safe for many processes."""

    def __init__(self, home: Path) -> None:
        self.home: Final = home
        self.path: Final = models_folder(home) / "generations.json"

    def read(self) -> Register:
        """Raises NotFound where nothing was ever started in this home."""
        try:
            return _load(orjson.loads(self.path.read_bytes()))
        except FileNotFoundError:
            raise self._none() from None

    def _none(self) -> NotFound:
        return NotFound(f"there are no read models in {self.home}: `taishi up` makes them")

    def stamp(self) -> tuple[int, int]:
        """Differs once the register was replaced."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return 0, 0
        return found.st_ino, found.st_mtime_ns

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Raises NotFound where nothing was ever started in this home."""
        try:
            file = (self.path.parent / "generations.lock").open("w")
        except FileNotFoundError:
            raise self._none() from None
        with file as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def change(self, step: Callable[[Register], Register]) -> Register:
        """Replaces the register by what `step` makes of it, and the name of the live generation with it. What `step`
        raises changes nothing."""
        with self.locked():
            before = self.read()
            after = step(before)
            if after != before:
                self.write(after)
            if live_folder(self.home).name != after.live.name:
                reach("registered")
                name_live(self.home, after.live.name)
            return after

    def write(self, register: Register) -> None:
        """Whole, under the lock."""
        write_durably(self.path, orjson.dumps(_dump(register), option=orjson.OPT_INDENT_2))

    def heal(self) -> None:
        """After a crash between the register and the live one's name: the register counts."""
        if live_folder(self.home).name != self.read().live.name:
            self.change(lambda register: register)


def now() -> int:
    return time.time_ns() // 1_000


def _dump(register: Register) -> dict[str, Any]:
    return {
        "last": register.last,
        "last_extraction": register.last_extraction,
        "extractions": [asdict(e) for e in register.extractions.values()],
        "generations": [asdict(g) for g in register.generations.values()],
        "notices": [asdict(n) for n in register.notices],
    }


def _load(data: Mapping[str, Any]) -> Register:
    return Register(
        last=data["last"],
        last_extraction=data["last_extraction"],
        extractions={e["number"]: Extraction(**e) for e in data["extractions"]},
        generations={g["number"]: Generation(**{**g, "built": tuple(g["built"])}) for g in data["generations"]},
        notices=tuple(Notice(**n) for n in data["notices"]),
    )
