"""The reranker: it orders what was found, its share is shown, and recall does without one that is slow, down or odd."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taishi.deploy.processes import reranking
from taishi.deploy.setting_blocks import RerankerSetting
from taishi.ingest.errors import Unavailable
from taishi.queries.recall import Recall
from taishi.queries.reranking import Reranking
from taishi.queries.reranking_http import HttpReranker
from tests.support.history import History
from tests.support.read_side import ReadSide, analyzer
from tests.support.rerank_server import RerankServer

QUESTION = "Which harbour walk did the guide book praise?"
PLAIN = "The guide book had praise for one harbour walk in the north."
FAVOURITE = "A harbour walk that I would do again: out to the lighthouse."


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer(favourite="lighthouse") as running:
        yield running


def history() -> History:
    h = History()
    for text in (PLAIN, FAVOURITE, "Nothing of the sort was in the paper."):
        h.say(text)
    return h


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def side(folder: Path, server: RerankServer, clock: Clock | None = None, **more: Any) -> tuple[ReadSide, Clock]:
    clock = Clock() if clock is None else clock
    made = ReadSide(folder, history().events)
    reranker = HttpReranker(base_url=server.base_url, model="m", seconds=1.0)
    made.recall = Recall(
        made.models, analyzer=analyzer, now=lambda: made.now,
        reranking=Reranking(reranker, **{"seconds": 2.0, "most": 10, "weight": 2.0, "clock": clock, **more}),
    )  # fmt: skip
    return made, clock


def test_it_reorders_and_its_share_is_shown(tmp_path: Path, server: RerankServer) -> None:
    assert ReadSide(tmp_path / "without", history().events).texts(QUESTION)[0] == PLAIN
    reply = side(tmp_path / "with", server)[0].ask(QUESTION)
    first, second = reply["items"][:2]
    assert (first["text"], second["text"], reply["degraded"]) == (FAVOURITE, PLAIN, [])
    assert (first["why"]["scores"]["rerank"], second["why"]["scores"]["rerank"]) == (1.8, 0.2)
    assert first["score"] == pytest.approx(sum(first["why"]["scores"].values()), abs=1e-3)
    assert server.asked[0]["query"] == QUESTION


def test_what_does_not_hold_is_not_brought_back(tmp_path: Path, server: RerankServer) -> None:
    h = History()
    h.claim("user", "lives_in", "lighthouse road", valid_from=1)
    h.claim("user", "lives_in", "mill lane", valid_from=2_000_000)
    made = ReadSide(tmp_path, h.events)
    reranker = Reranking(HttpReranker(base_url=server.base_url, model="m"), seconds=2, most=10, weight=5)
    made.recall = Recall(made.models, analyzer=analyzer, now=lambda: made.now, reranking=reranker)
    assert [i["value"] for i in made.ask("Where do I live?")["items"]] == ["mill lane"]


@pytest.mark.parametrize("fault", ["error", "no_json", "one_missing", "nan", "words", "one_twice"])
def test_a_fault_leaves_the_order_says_so_and_heals(tmp_path: Path, server: RerankServer, fault: str) -> None:
    made, clock = side(tmp_path, server)
    server.fault = fault
    reply = made.ask(QUESTION)
    assert (reply["items"][0]["text"], reply["degraded"]) == (PLAIN, ["reranker"])
    server.fault = None
    asked = len(server.asked)
    assert made.ask(QUESTION)["degraded"] == ["reranker"], "it rests"
    assert len(server.asked) == asked
    clock.now += 1.0
    reply = made.ask(QUESTION)
    assert (reply["items"][0]["text"], reply["degraded"]) == (FAVOURITE, [])


def test_the_pause_grows_while_it_stays_down(tmp_path: Path, server: RerankServer) -> None:
    made, clock = side(tmp_path, server)
    server.fault = "error"
    for _ in range(40):
        made.ask(QUESTION)
        clock.now += 0.5
    assert len(server.asked) <= 6


def test_a_slow_one_is_not_waited_for(tmp_path: Path, server: RerankServer) -> None:
    made, _ = side(tmp_path, server, seconds=0.1)
    made.ask("harbour")  # the connection is there
    server.fault, server.slowness = "slow", 5.0
    begun = time.monotonic()
    reply = made.ask(QUESTION)
    assert time.monotonic() - begun < 3
    assert (reply["items"][0]["text"], reply["degraded"]) == (PLAIN, ["reranker"])


def test_nothing_behind_the_address(tmp_path: Path, server: RerankServer) -> None:
    made = ReadSide(tmp_path, history().events)
    gone = Reranking(HttpReranker(base_url="http://127.0.0.1:9/v1", model="m"), seconds=2, most=10, weight=1)
    made.recall = Recall(made.models, analyzer=analyzer, now=lambda: made.now, reranking=gone)
    assert made.ask(QUESTION)["degraded"] == ["reranker"]


def test_dashscope_wraps_the_same(server: RerankServer) -> None:
    reranker = HttpReranker(base_url=server.base_url, model="gte", style="dashscope", api_key="sk-test")
    assert reranker.rerank("q", ["a", "lighthouse", "b"]) == [0.1, 0.9, 0.1]
    assert server.keys == ["Bearer sk-test"]
    assert server.asked[0]["parameters"]["top_n"] == 3
    assert reranker.rerank("q", []) == []
    reranker.close()


def test_complaints_hold_no_words_and_no_key(server: RerankServer) -> None:
    server.fault = "no_json"
    reranker = HttpReranker(base_url=server.base_url, model="m", api_key="sk-hidden")
    with pytest.raises(Unavailable) as e:
        reranker.rerank("a private question", ["a private text"])
    assert "private" not in e.value.message and "sk-hidden" not in e.value.message


def test_off_unless_there_is_a_block(server: RerankServer) -> None:
    assert reranking(None) is None
    made = reranking(RerankerSetting(base_url=server.base_url, model="m", top=7))
    assert made is not None and made.most == 7
    made.close()
