"""The point of the two time axes that is asked about, and what of the log had been read there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taishi.ingest.instants import FOREVER

WHOLE: Final = (FOREVER, FOREVER)
"""The `bounds` of all there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The asked instants. `past_knowledge` says that `known_at` lies behind now, so that closed rectangles count.

    `position` keeps out what was read after it (a sequence number of the partition).
    """

    valid_at: int
    known_at: int
    past_knowledge: bool = False
    position: int | None = None

    @property
    def known(self) -> int | None:
        """For `reading`: None where what is known now is asked."""
        return self.known_at if self.past_knowledge else None

    @property
    def whole(self) -> bool:
        """All that there is was known and read at the point."""
        return not self.past_knowledge and self.position is None

    @property
    def bounds(self) -> tuple[int, int]:
        """For SQL (`known_then`): the instant and the position up to which things count."""
        return self.known_at if self.past_knowledge else FOREVER, FOREVER if self.position is None else self.position

    def read(self, seq: int) -> bool:
        return self.position is None or seq <= self.position

    def knows(self, known_from: int) -> bool:
        """Something known from that instant on was known at the point."""
        return not self.past_knowledge or known_from <= self.known_at


def known_then(claim: str, *, at: str = "?2", upto: str = "?3") -> str:
    """SQL: the claim in the table `claim` was known at a point, whose `bounds` are the parameters `at` and `upto`."""
    return f"{claim}.known_from <= {at} AND {claim}.seq <= {upto}"


def stood_then(claim: str, *, at: str = "?2", upto: str = "?3") -> str:
    """As `known_then`, and nothing known at the point had taken it back."""
    back = f"{claim}.removed_at IS NULL OR {claim}.removed_at > {at} OR {claim}.removed_seq > {upto}"
    return f"{known_then(claim, at=at, upto=upto)} AND ({back})"
