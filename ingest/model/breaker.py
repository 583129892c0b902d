"""A circuit breaker: a model that is down is left alone for a while, then asked by one call before all others.

One per process. `now` is monotonic seconds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final

_SPREAD: Final = 0.25


class Breaker:
    """Opens after `after` outages in a row, for `first` seconds, each time twice as long up to `longest`."""

    def __init__(
        self,
        *,
        after: int = 3,
        first: float = 2.0,
        longest: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._after = after
        self._first = first
        self._longest = longest
        self._clock = clock
        self._chance = chance
        self._in_a_row = 0
        self._opened = 0
        self._closed_until = 0.0

    @property
    def open_for(self) -> float:
        """Seconds for which no call is to be made; 0 where one may be."""
        return max(0.0, self._closed_until - self._clock())

    def succeeded(self) -> None:
        """The model answered, well or not."""
        self._in_a_row = self._opened = 0
        self._closed_until = 0.0

    def failed(self, *, retry_after: float = 0.0) -> None:
        """The model could not be had. It may say when to come back."""
        self._in_a_row += 1
        if self._in_a_row >= self._after or retry_after > self._longest:
            pause = min(self._first * 2**self._opened, self._longest) * (1 + _SPREAD * self._chance())
            self._closed_until = self._clock() + max(pause, min(retry_after, 10 * self._longest))
            self._opened = min(self._opened + 1, 16)
