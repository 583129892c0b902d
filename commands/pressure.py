"""Back-pressure: writers are told to wait before the rest of the system is behind for good.

What brings new words is refused under pressure; what corrects, judges or forgets never is.
"""

from __future__ import annotations

from typing import Protocol


class Pressure(Protocol):
    def check(self, namespace: str) -> None:
        """Returns where more of this namespace can be taken. Raises Overloaded. Never blocks."""
        ...


class Unlimited(Pressure):
    """Takes everything."""

    def check(self, namespace: str) -> None:
        return
