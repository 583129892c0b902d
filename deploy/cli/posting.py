"""Sending history: a side that is down for a moment is waited for, since what it took before it went is known to it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from ..client import CallFailed, Side

TRIES: Final = 5
RETRY_SECONDS: Final = 1.0


def posted(side: Side, route: str, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was accepted. Raises CallFailed where it is refused, or not answered in time."""
    for patience in range(TRIES, 0, -1):
        try:
            reply = side.call("POST", route, body)
            break
        except CallFailed as e:
            if e.status not in (0, 503) or patience == 1:
                raise
            time.sleep(float(e.problem.get("retry_after", RETRY_SECONDS)))
    return list(reply["accepted"])
