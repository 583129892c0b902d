"""Asking what may be slow or down, without waiting for it: a bound on each wait, and a growing rest after a failure.

What fails is left alone for a while that doubles, so that a dead service costs callers nothing, and is then asked
again, so that it heals by itself.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from taishi.ingest.errors import Unavailable

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
AT_ONCE: Final = 4
"""Questions that one process may have a service at work on."""

_LOG: Final = logging.getLogger(__name__)

R = TypeVar("R")


class Patience:
    """With one service, called `name` in the log. Safe to share between threads."""

    def __init__(self, name: str, *, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` bound each wait. `clock` counts the rests."""
        self._name = name
        self._seconds = seconds
        self._clock = clock
        self._pool = ThreadPoolExecutor(AT_ONCE, name)
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until = -math.inf

    def ask(self, call: Callable[[], R]) -> R:
        """What `call` returns. Raises Unavailable where it does or takes too long (it is then left to end by itself),
        and while the service rests; what else it raises is no fault of the service."""
        with self._lock:
            if self._clock() < self._rests_until:
                raise Unavailable(f"the {self._name} rests after a failure")
        asked = self._pool.submit(call)
        try:
            found = asked.result(timeout=self._seconds)
        except TimeoutError:
            asked.cancel()
            raise self._rest(f"the {self._name} takes too long") from None
        except Unavailable as e:
            raise self._rest(e.message) from e
        with self._lock:
            if self._failures:
                _LOG.warning("the %s answers again", self._name)
            self._failures, self._rests_until = 0, -math.inf
        return found

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _rest(self, said: str) -> Unavailable:
        with self._lock:
            if not self._failures:
                _LOG.warning("going on without the %s: %s", self._name, said)
            self._rests_until = self._clock() + min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failures, 10))
            self._failures += 1
        return Unavailable(said)
