"""A namespace over simulated time: what is said is folded, maintenance runs, questions are asked, each at its time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taishi.commands.lifecycle import Due, lifecycle_event, maintain
from taishi.deploy.aging import ReadModelAging
from taishi.ingest.envelope import Event
from taishi.ingest.instants import DAY
from taishi.projections.due import DueModel
from tests.support.history import History, claim_id
from tests.support.read_side import ReadSide, at

START = at("2027-01-01T08:00:00Z")


class Years(History):
    """`clock` goes forward by `pass_days` alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(clock=START)
        self.side = ReadSide(folder, [])
        self.due_model = DueModel(folder / "models" / "g1", 0)
        self.aging = ReadModelAging({0: self.due_model}, partitions=1, log=None)
        self._folded = 0

    def pass_days(self, days: float) -> None:
        assert self.clock is not None
        self.clock += int(days * DAY)

    def fold(self) -> None:
        """What happened so far, and the clock of questions just behind it."""
        assert self.clock is not None
        self.side.now = self.clock + len(self.events) + 1
        if len(self.events) > self._folded:
            self.side.file.apply(self.events[self._folded :])
            self._folded = len(self.events)

    def dues(self) -> list[Due]:
        """What maintenance finds now."""
        self.fold()
        told: list[Due] = []
        maintain(None, self.aging, now=self.side.now, told=told.append)
        return told

    def maintain(self) -> list[Due]:
        """And says it."""
        found = self.dues()
        for due in found:
            self.life(due)
        self.fold()
        return found

    def life(self, due: Due) -> Event:
        new = lifecycle_event(due)
        return self.add(new.type, event_id=new.event_id, facts=dict(new.facts), actor=new.actor, origin="system")

    def ask(self, query: str, **more: Any) -> dict[str, Any]:
        self.fold()
        return self.side.ask(query, **more)

    def place(self, query: str, claim: Event, **more: Any) -> int | None:
        """Where the claim's memory stands in the answer, from 0."""
        ids = [item["id"] for item in self.ask(query, **more)["items"]]
        return ids.index(claim_id(claim)) if claim_id(claim) in ids else None

    def use(self, claim: Event, *, helpful: bool | None = None) -> None:
        """A recall shows it, and a caller says whether that helped."""
        exposure = f"x{len(self.events)}"
        self.recalled(exposure, claim)
        if helpful is not None:
            self.feedback(f"{exposure}.0", helpful)
