"""A limit on how long one reading may take, so that one text cannot hold up all others.

By interval timer, hence only in a process's main thread, where job workers run; elsewhere the limit does not apply.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeLimitExceeded(Exception):
    """The body took longer than it was given."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeLimitExceeded inside the body after `seconds`. A timer that was already running goes on afterwards."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def expired(signum: int, frame: FrameType | None) -> None:
        raise TimeLimitExceeded

    outer_handler = signal.signal(signal.SIGALRM, expired)
    began = time.monotonic()
    outer_left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, outer_handler)
        if outer_left:
            signal.setitimer(signal.ITIMER_REAL, max(outer_left - (time.monotonic() - began), 0.001))
