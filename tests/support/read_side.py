"""Read models folded from a test's history, and recall over them, without a server or an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from taishi.ingest.envelope import Event
from taishi.ingest.instants import from_datetime, parse
from taishi.projections.analysis import Analyzer
from taishi.projections.store import ReadModelFile
from taishi.queries.reading import ReadModel, ReadModels
from taishi.queries.recall import Recall
from taishi.queries.request import RecallRequest

NOW = from_datetime(parse("2026-12-01T12:00:00Z"))


@lru_cache(maxsize=1)
def analyzer() -> Analyzer:
    return Analyzer()


def at(text: str) -> int:
    return from_datetime(parse(text))


def told(reply: dict[str, Any]) -> dict[str, Any]:
    """All of an answer but what names the reading of it."""
    items = [{**item, "exposure_id": None} for item in reply["items"]]
    return {**reply, "items": items, "exposure_id": None, "as_of": None}


class ReadSide:
    """Folds `events` into one partition below `folder`."""

    def __init__(self, folder: Path, events: Sequence[Event], *, dense: Any = None, now: int = NOW) -> None:
        generation = folder / "models" / "g1"
        generation.mkdir(parents=True)
        (folder / "models" / "current").write_text("g1\n")
        self.file = ReadModelFile(generation / "claims-p0.db", analyzer())
        if events:
            self.file.apply(events)
        self.models = ReadModels(folder / "models", partitions=1, partition_of=lambda _: 0)
        self.now = now
        self.recall = Recall(self.models, analyzer=analyzer, now=lambda: self.now, dense=dense)

    @property
    def model(self) -> ReadModel:
        return self.models.at(0)

    def ask(self, query: str, **more: Any) -> dict[str, Any]:
        """Names that end in `_at` may be ISO 8601 times."""
        given = {k: at(v) if k.endswith("_at") and isinstance(v, str) else v for k, v in more.items()}
        return self.recall.answer(RecallRequest(**{"namespace": "ns", "query": query, **given}))

    def texts(self, query: str, **more: Any) -> list[str]:
        return [item["text"] for item in self.ask(query, **more)["items"]]


def assert_given_again(
    question: str, *, whole: ReadSide, then: ReadSide, upto: int, by_knowledge: bool, **more: Any
) -> None:
    """`whole` answers word for word as `then` does, which had read no further than `upto` and whose `now` is when that
    was known: as of the position and, with `by_knowledge`, without it."""
    live, point = told(then.ask(question, **more)), {"known_at": then.now, "valid_at": then.now}
    assert told(whole.ask(question, position=upto, **point, **more)) == live, (upto, question)
    if by_knowledge:
        assert told(whole.ask(question, **point, **more)) == live, (upto, question)
