"""The project's own black-box cases, played against one running Taishi with its defaults."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.scenario.cases.runner import Server, load, play
from tests.support.running import RunningTaishi

CASES = [*load("engine.jsonl"), *load("language.jsonl")]
THREADS = 6


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    taishi = RunningTaishi(tmp_path_factory.mktemp("cases"), "--no-story")
    try:
        taishi.wait_until_up()
        opened = Server.at(write=taishi.write, read=taishi.read)
        yield opened
        opened.close()
    finally:
        taishi.stop()


@pytest.fixture(scope="module")
def played(server: Server, request: pytest.FixtureRequest) -> Iterator[dict[str, Future[None]]]:
    """The cases that were chosen, begun together: each waits for extraction, so that several at a time are faster."""
    chosen = [item.callspec.params.get("case") for item in request.session.items if hasattr(item, "callspec")]
    with ThreadPoolExecutor(THREADS) as pool:
        yield {case["id"]: pool.submit(play, case, server) for case in CASES if case in chosen}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any], played: dict[str, Future[None]]) -> None:
    played[case["id"]].result()


def test_every_case_has_a_name_of_its_own() -> None:
    names = [case["id"] for case in CASES]
    assert len(names) == len(set(names))


def test_texts_and_bodies_beyond_their_bounds_are_refused(server: Server) -> None:
    def status(*texts: str) -> int:
        events = [{"namespace": "bounds", "content": text} for text in texts]
        return server.write.post("/v1/events", json={"events": events}).status_code

    assert status("长" * 100_001) in (413, 422)
    assert status(*["a" * 90_000] * 13) in (413, 422)
    server.settle("bounds")
    assert server.read.get("/v1/memories", params={"namespace": "bounds"}).json()["items"] == []
