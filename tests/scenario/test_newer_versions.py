"""An event of a later release holds its partition, for every reader, and nothing else; status says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from taishi.ingest.envelope import NewEvent, Position
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from taishi.ingest.upcasters import UPCASTERS
from taishi.projections.worker import Projector
from taishi.queries.reading import ReadModels
from taishi.queries.status import VectorsAt, namespace_status, whole_status
from tests.support.extraction_line import Line
from tests.support.read_side import analyzer
from tests.support.valkey_server import ValkeyServer


@pytest.fixture
def line(valkey: ValkeyServer, tmp_path: Path) -> Iterator[Line]:
    made = Line(valkey, tmp_path)
    yield made
    made.close()


def test_it_holds_its_partition_alone(line: Line, tmp_path: Path) -> None:
    here, there = (next(n for n in "abcdefgh" if line.log.partition_of(n) == p) for p in (0, 1))
    line.say("before", namespace=here)
    newer = NewEvent(
        event_id=new_id(), type="message.recorded", namespace=here, body={"said": ["in", "another", "shape"]},
        schema_version=UPCASTERS.newest("message.recorded") + 1,
    )  # fmt: skip
    line.log.append(Batch(events=[newer]))
    line.say("behind it", namespace=here)
    line.say("one", "two", namespace=there)
    models = tmp_path / "models"
    (models / "g1").mkdir(parents=True)
    (models / "current").write_text("g1\n")
    for _ in range(2):  # and once more, started anew on what it had read
        projector = Projector(log=line.log, folder=models / "g1", partitions=range(2), analyzer=analyzer())
        assert [projector._round(without=()) for _ in range(3)][-1] == [0]
        assert projector.positions() == {0: 1, 1: 2}
        projector.close()
        keeper = line.new_keeper()
        for _ in range(3):
            keeper.step()
        assert [line.outbox.checkpoint(p).seq for p in range(2)] == [1, 2]
    read = ReadModels(models, partitions=2, partition_of=line.log.partition_of)
    status = namespace_status(read, line.log, VectorsAt(None), here)
    assert status["lag"] == 2
    assert status["held"]["position"] == str(Position(0, 2))
    assert status["held"]["reason"] == "unknown-event-version" and "upgrade" in status["held"]["detail"]
    assert namespace_status(read, line.log, VectorsAt(None), there)["held"] is None
    assert [one["position"] for one in whole_status(read, line.log, VectorsAt(None))["held"]] == ["p0:2"]
