"""What a recall is asked, and the point of the two times that it is asked of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from .exposures import Reader
from .point import Point
from .understand import Question
from .wanted import Wanted

DEFAULT_LIMIT: Final = 10
DEFAULT_BUDGET: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """Instants are whole microseconds; None where not given. `asker` is the name of the asking actor (`asker.asker_of`
    tells for whom "I" stands then). `position` keeps out what was read after it. `asked_at` is when it counts as asked.
    """

    namespace: str
    query: str
    valid_at: int | None = None
    known_at: int | None = None
    position: int | None = None
    limit: int = DEFAULT_LIMIT
    token_budget: int = DEFAULT_BUDGET
    session: str | None = None
    asker: str | None = None
    reader: Reader = field(default_factory=Reader)
    wanted: Wanted = field(default_factory=Wanted)
    explain: bool = False
    asked_at: int | None = None

    def as_asked_then(self, now: int) -> RecallRequest:
        """What was true and known at one past moment is the question as it would have been asked at that moment."""
        if self.valid_at is None or self.valid_at != self.known_at or self.valid_at >= now:
            return self
        return replace(self, valid_at=None, asked_at=self.valid_at)

    def known(self, now: int) -> Point:
        """What was known and had been read, where it is now."""
        known_at = now if self.known_at is None else self.known_at
        return Point(valid_at=now, known_at=known_at, past_knowledge=known_at < now, position=self.position)

    def point(self, question: Question, now: int) -> Point:
        """The point that `question`, which stands for the request's, is answered at."""
        asked_at = now if self.asked_at is None else self.asked_at
        named = asked_at if question.valid_at is None else question.valid_at
        return replace(self.known(now), valid_at=named if self.valid_at is None else self.valid_at)
