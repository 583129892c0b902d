"""Rebuilding: a new generation beside the live one, built by upkeep jobs while the live one serves.

One chain of jobs a partition, each job a slice of some seconds that puts the next one on the queue; as many chains at
once as there are upkeep workers, the longest partition first. The queue is never the truth: how far a generation has
come stands in the register and in its files, and `drive` puts back on the queue what was lost.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from taishi.ingest.crashpoints import reach
from taishi.ingest.errors import Conflict, KeyMissing, LogDamaged, TaishiError, UnknownEventVersion
from taishi.ingest.log import EventLog
from taishi.ingest.outbox import Outbox
from taishi.ingest.system_events import announce
from taishi.ingest.upkeep import UpkeepQueue
from taishi.projections.analysis import Analyzer
from taishi.projections.lookup import Lookup
from taishi.projections.rebuild import PartitionBuild, PoisonEvent
from taishi.projections.store import CheckpointMoved

from .generations import (
    UNFINISHED,
    Extraction,
    Generation,
    Generations,
    Notice,
    Register,
    generation_folder,
    live_folder,
    now,
    outbox_path,
)

JOB: Final = "rebuild"
SLICE_SECONDS: Final = 10.0
GIVEN_UP: Final = "given up"
"""What is said of a generation that failed because somebody stopped it."""
LAG: Final = 500
"""Events that the live read models may be behind before a build waits for them."""
_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE: Final = 5.0

logger = logging.getLogger(__name__)


def start_rebuild(generations: Generations, *, extractor: str | None = None) -> Generation:
    """Enters a new generation: of what the live one's extraction read, or, with `extractor` (NAME@VERSION), of what
    that one reads from the words anew. Raises Conflict where one is not finished yet."""

    def step(register: Register) -> Register:
        for other in register.generations.values():
            if other.state in UNFINISHED:
                raise Conflict(f"{other.name} is being built: wait for it, or `taishi rebuild --stop` it")
        live = register.live
        fresh = Generation(
            number=register.last + 1, extraction=live.extraction, state="building", started_at=now()
        )
        if extractor is not None:
            number = register.last_extraction + 1
            fresh = replace(fresh, extraction=number, state="extracting")
            anew = Extraction(number=number, extractor=extractor, base=live.extraction)
            register = replace(register, extractions={**register.extractions, number: anew}, last_extraction=number)
        notice = Notice(
            type="generation.started", generation=fresh.number, extraction=fresh.extraction, at=fresh.started_at
        )
        return replace(register.put(fresh), last=fresh.number, notices=(*register.notices, notice))

    after = generations.change(step)
    return after.generation(after.last)


def give_up(generations: Generations) -> Generation | None:
    """Ends the build that is going on. None where there is none."""
    stopped: list[Generation] = []

    def step(register: Register) -> Register:
        for generation in register.generations.values():
            if generation.state in UNFINISHED:
                stopped.append(replace(generation, state="failed", error=GIVEN_UP))
        return register.put(*stopped)

    generations.change(step)
    return stopped[0] if stopped else None


class Rebuilding:
    """`workers` is how many upkeep workers there are."""

    def __init__(
        self,
        *,
        generations: Generations,
        log: EventLog,
        queue: UpkeepQueue,
        analyzer: Callable[[], Analyzer],
        workers: int,
    ) -> None:
        self.generations: Final = generations
        self._log = log
        self._queue = queue
        self._analyzer = analyzer
        self._workers = workers
        self._live = Lookup(partial(live_folder, generations.home))

    def drive(self) -> None:
        """Sees to it that what is to be said is said and what is to be built is being built. Raises Unavailable."""
        register = self.generations.read()
        for notice in register.notices:
            self._announce(notice)
        for generation in register.generations.values():
            if generation.state == "extracting":
                self._extract(generation)
            elif generation.state == "building":
                left = [p for p in range(self._log.partitions) if p not in generation.built]
                left.sort(key=lambda p: -self._log.head(p))
                for partition in left[: self._workers]:
                    self._enqueue(generation, partition)

    def _extract(self, generation: Generation) -> None:
        """Ends the reading of words once all that were there when it began have been read, or have failed. Where the
        log cannot be read on, the rebuild has failed."""
        partitions = range(self._log.partitions)
        if not generation.targets:
            heads = {str(p): self._log.head(p) for p in partitions}
            self._change(generation, lambda g: replace(g, targets=heads))
            return
        path = outbox_path(self.generations.home, generation.extraction)
        if not path.exists():
            return
        outbox = Outbox(path, generation=generation.extraction)
        try:
            done = all(_is_read(outbox, p, generation.targets[str(p)]) for p in partitions)
            behind = {p: seq for p in partitions if (seq := outbox.checkpoint(p).seq) < generation.targets[str(p)]}
        finally:
            outbox.dispose()
        if done:
            self._change(generation, lambda g: replace(g, state="building"))
            return
        try:
            for partition, seq in behind.items():
                self._log.read(partition, after=seq, limit=1)
        except (LogDamaged, UnknownEventVersion) as e:
            self._fail(generation, e)

    def _change(self, generation: Generation, how: Callable[[Generation], Generation]) -> None:
        """Unless it was given up meanwhile."""

        def step(register: Register) -> Register:
            known = register.generations.get(generation.number)
            return register if known is None or known.state not in UNFINISHED else register.put(how(known))

        self.generations.change(step)

    def _announce(self, notice: Notice) -> None:
        facts = {"generation": notice.generation, "extraction": notice.extraction}
        announce(self._log, notice.type, command=f"g{notice.generation}:{notice.at}", facts=facts)
        self.generations.change(lambda r: replace(r, notices=tuple(n for n in r.notices if n != notice)))

    def _enqueue(self, generation: Generation, partition: int) -> None:
        number = generation.slices.get(str(partition), 0)
        self._queue.enqueue(
            JOB,
            {"generation": generation.number, "partition": partition, "slice": number},
            job_id=f"rebuild-g{generation.number}-{generation.started_at}-p{partition}-{number}",
        )

    # the job

    def slice(self, args: Mapping[str, Any]) -> None:
        """Builds one partition for some seconds. A slice that is not the next one of its chain does nothing."""
        number, partition = int(args["generation"]), int(args["partition"])
        generation = self.generations.read().generations.get(number)
        if generation is None or not _is_next(generation, partition, args["slice"]):
            return
        build = PartitionBuild(
            log=self._log,
            folder=generation_folder(self.generations.home, generation),
            partition=partition,
            analyzer=self._analyzer(),
            generation=generation.extraction,
        )
        try:
            built = build.slice(seconds=SLICE_SECONDS, throttle=partial(self._give_way, partition))
            if built.complete:
                build.finish()
        except CheckpointMoved:
            logger.warning("p%d of %s is being built by another worker", partition, generation.name)
            return
        except (PoisonEvent, LogDamaged, KeyMissing, UnknownEventVersion) as e:
            self._fail(generation, e)
            return
        finally:
            build.close()
        reach("slice_built")
        after = self.generations.change(partial(self._advance, number, partition, complete=built.complete))
        generation = after.generations.get(number)
        if generation is not None and generation.state == "building" and not built.complete:
            self._enqueue(generation, partition)

    def _give_way(self, partition: int) -> None:
        """While the live read model of the partition is behind, the build waits; not for ever, lest it never ends."""
        until = time.monotonic() + _LONGEST_PAUSE
        while self._log.head(partition) - self._live.checkpoint(partition) > LAG and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)

    def _advance(self, number: int, partition: int, register: Register, *, complete: bool) -> Register:
        generation = register.generations.get(number)
        if generation is None or generation.state != "building":
            return register
        name = str(partition)
        generation = replace(
            generation, slices={**generation.slices, name: generation.slices.get(name, 0) + 1},
            built=tuple(sorted({*generation.built, partition})) if complete else generation.built,
        )  # fmt: skip
        if len(generation.built) == self._log.partitions:
            generation = replace(generation, state="ready", ready_at=now())
        return register.put(generation)

    def _fail(self, generation: Generation, error: TaishiError) -> None:
        logger.error("the rebuild of %s stops: %s", generation.name, error.message)
        self._change(generation, lambda g: replace(g, state="failed", error=error.message))


def _is_read(outbox: Outbox, partition: int, target: int) -> bool:
    """Whether no window waits that holds an event at or before `target`."""
    oldest = outbox.oldest(partition)
    return outbox.checkpoint(partition).seq >= target and (oldest is None or oldest > target)


def _is_next(generation: Generation, partition: int, number: int) -> bool:
    return (
        generation.state == "building"
        and partition not in generation.built
        and generation.slices.get(str(partition), 0) == number
    )
