"""When a window whose extraction failed is tried again by itself, and when it is left to an operator.

Only what a model may do better next time is tried again. The time follows from the failure's own event, so that every
keeper that reads the log comes to the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .instants import DAY, SECOND

MODEL_ERRORS: Final = "model."
"""What codes begin with that a model answered for."""
_SPREAD: Final = 0.2
"""Failures of one moment come again spread over this share of the delay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySchedule:
    """`delays` in microseconds, by how many failures came before; after the last one nothing is tried by itself."""

    delays: tuple[int, ...] = ()

    def retry_at(self, *, window_id: str, error: str, failures: int, failed_at: int) -> int | None:
        """The instant of the next try after so many failures (from 1); None: not by itself."""
        if not error.startswith(MODEL_ERRORS) or failures > len(self.delays):
            return None
        delay = self.delays[failures - 1]
        return failed_at + delay + int(delay * _SPREAD * int(window_id[:4], 16) / 0xFFFF)


NO_RETRIES: Final = RetrySchedule()
PATIENT: Final = RetrySchedule(
    delays=(10 * SECOND, 60 * SECOND, 300 * SECOND, 1_800 * SECOND, 7_200 * SECOND, 28_800 * SECOND, DAY)
)
"""Seven tries over a day and a half."""
