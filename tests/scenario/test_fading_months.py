"""Feedback and confirmation over simulated months, through the write API: what they do to rank, and to how long a
memory lives. And three years of use in seconds (`tests.bench.fading` has the long form)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taishi.commands.lifecycle import Due, lifecycle_event, maintain
from taishi.deploy.aging import ReadModelAging
from taishi.ingest.instants import DAY
from taishi.ingest.log import Batch
from taishi.projections.due import DueModel
from taishi.queries.exposures import Exposures
from taishi.queries.memories import Found, memory
from taishi.queries.point import Point
from taishi.queries.recall import Recall
from taishi.queries.request import RecallRequest
from tests.bench.fading import Simulation, grown
from tests.support.fading import START
from tests.support.read_side import ReadSide, analyzer
from tests.support.watched_log import ClockedLog
from tests.support.write_side import WriteSide, write_side


class Months:
    """Both sides over one log, under one clock."""

    def __init__(self, side: WriteSide, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START
        self.write = side
        assert isinstance(side.log, ClockedLog)
        side.log.clock = self._time
        self.read = ReadSide(folder, [])
        self._folded = 0
        self._exposures = Exposures(side.log)
        self._due = DueModel(folder / "models" / "g1", 0)
        monkeypatch.setattr(time, "time_ns", self._time_ns)

    def _time(self) -> int:
        self.now += 1
        return self.now

    def _time_ns(self) -> int:
        return self._time() * 1_000

    def pass_months(self, months: int) -> None:
        self.now += months * 30 * DAY

    def remember(self, value: str) -> str:
        body = {"namespace": "ns", "subject": "user", "predicate": "likes", "value": value}
        return str(self.write.post("/v1/memories", body)["memory_id"])

    def fold(self) -> None:
        fresh = self.write.log.events[self._folded :]
        if fresh:
            self.read.file.apply(fresh)
        self._folded += len(fresh)

    def recall(self) -> dict[str, dict[str, Any]]:
        """Items by id, best first; told to the log as the product does."""
        self.fold()
        recall = Recall(self.read.models, analyzer=analyzer, now=lambda: self.now, exposures=self._exposures)
        items = recall.answer(RecallRequest(namespace="ns", query="What do I like to eat?"))["items"]
        self._exposures._flush()
        self.fold()
        return {item["id"]: item for item in items}

    def feedback(self, item: dict[str, Any], helpful: bool) -> None:
        body = {"namespace": "ns", "exposure_id": item["exposure_id"], "helpful": helpful}
        self.write.post("/v1/feedback", body)

    def confirm(self, memory_id: str) -> None:
        self.write.post(f"/v1/memories/{memory_id}/confirm", {"namespace": "ns"})

    def maintain(self) -> list[Due]:
        self.fold()
        told: list[Due] = []
        maintain(None, ReadModelAging({0: self._due}, partitions=1, log=None), now=self.now, told=told.append)
        if told:
            self.write.log.append(Batch(events=[lifecycle_event(due) for due in told]))
        self.fold()
        return told

    def seen(self, memory_id: str) -> dict[str, Any]:
        self.fold()
        model = self.read.model
        with model.view():
            point = Point(valid_at=self.now, known_at=self.now)
            return memory(model, Found(model, model.namespace("ns"), memory_id, point))


@pytest.fixture
def months(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Months]:
    with write_side(kind=ClockedLog) as side:
        made = Months(side, tmp_path, monkeypatch)
        made.write.directory.faded = lambda ns, claim_id: _faded(made, claim_id)  # type: ignore[method-assign]
        yield made


def _faded(months: Months, claim_id: str) -> Due | None:
    months.fold()
    found = months._due.faded(months._due.namespaces()[0].ns, claim_id)
    return None if found is None else Due(namespace="ns", **found._asdict())


def test_what_helps_rises_and_lives_longer_what_does_not_sinks_and_goes_first(months: Months) -> None:
    helps, plain, harms = months.remember("radishes"), months.remember("turnips"), months.remember("parsnips")
    before = months.recall()
    assert "feedback" not in before[helps]["why"]["scores"] and "activation" not in before[helps]["why"]["scores"]
    confidence = {one: months.seen(one)["confidence"] for one in (helps, plain, harms)}
    months.feedback(before[helps], True)
    months.feedback(before[harms], False)
    after = months.recall()
    assert [one for one in after if one in (helps, plain, harms)] == [helps, plain, harms]
    assert after[helps]["score"] - before[helps]["score"] < 0.1
    for _ in range(6):
        months.pass_months(1)
        shown = months.recall()
        months.feedback(shown[helps], True)
        months.feedback(shown[harms], False)
    assert list(months.recall()) == [helps, plain, harms]
    assert {one: months.seen(one)["confidence"] for one in (helps, plain, harms)} == confidence

    gone: list[str] = []
    for month in range(60):
        months.pass_months(1)
        gone += [claim_id for due in months.maintain() for claim_id, _ in due.claims]
        if month == 0:
            shown = list(months.recall())
            assert shown.index(helps) < shown.index(plain)  # it has faded less
    assert gone == [harms, plain]
    assert months.seen(helps)["status"] == "current"
    assert months.seen(plain)["status"] == "archived"
    assert list(months.recall()) == [helps]


def test_a_confirmation_prolongs_and_brings_back(months: Months) -> None:
    kept, left = months.remember("radishes"), months.remember("turnips")
    months.pass_months(12)
    months.confirm(kept)
    months.pass_months(10)
    assert [due.claims[0][0] for due in months.maintain()] == [left]
    assert (months.seen(kept)["status"], months.seen(left)["status"]) == ("current", "archived")
    assert left not in months.recall()
    months.confirm(left)
    assert months.seen(left)["status"] == "current"
    assert set(months.recall()) == {kept, left}
    assert months.maintain() == []


def test_after_some_years_memory_is_no_larger_recall_no_slower_and_what_lasts_is_first(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path, per_day=2, maintain_every=30, ask_every=15, timed=20)
    simulation.run(3)
    assert [year.first for year in simulation.years] == [50, 50, 50]
    assert simulation.years[-1].archived > 100
    assert grown(simulation.years, lambda year: year.current) < 0.2
    assert grown(simulation.years, lambda year: year.median) < 0.5  # on a busy machine; the bench holds it to 0.2
