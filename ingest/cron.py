"""The clock of recurring upkeep: once in each period of a job it puts that job on the queue.

RQ's own CronScheduler was looked at and is not used: it pickles arguments, gives every job a random id (so that a slow
or stuck job piles up behind itself) and forgets at a restart what it did before. Here a job's id is its name and the
number of its period, counted from the epoch, and the last period is kept beside the queue: two clocks, or one that is
killed and started again, do no harm, and what was due while nothing ran is made up for once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from .errors import Unavailable
from .upkeep import Periods, UpkeepQueue

log_ = logging.getLogger(__name__)

_LONGEST_SLEEP: Final = 30.0
_RETRY_SECONDS: Final = 5.0


class Cron:
    """`every` are seconds between runs, by the name of the job; 0: never. `clock` tells seconds since the epoch."""

    def __init__(
        self,
        queue: UpkeepQueue,
        periods: Periods,
        *,
        every: Mapping[str, int],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._queue = queue
        self._periods = periods
        self._every = {name: seconds for name, seconds in every.items() if seconds > 0}
        self._clock = clock

    def tick(self) -> list[str]:
        """Puts what is due on the queue. The names of those jobs. Raises Unavailable."""
        put = []
        for name, seconds in self._every.items():
            period = int(self._clock() // seconds)
            last = self._periods.last(name)
            if last is None or last < period:
                self._queue.enqueue(name, {}, job_id=f"{name}-{seconds}-{period}")
                self._periods.set_last(name, period)
                put.append(name)
        return put

    def pause(self) -> float:
        """Seconds until something may be due."""
        now = self._clock()
        return min([_LONGEST_SLEEP, *(seconds - now % seconds for seconds in self._every.values())])

    def run(self, stop: threading.Event, *, settle: float) -> None:
        """Until `stop` is set. `settle` are seconds before the first look, while everything else starts."""
        stop.wait(settle)
        while not stop.is_set():
            try:
                self.tick()
                wait = self.pause()
            except Unavailable as e:
                log_.warning("waiting: %s", type(e).__name__)
                wait = _RETRY_SECONDS
            stop.wait(wait)
