"""Sealing, killed at its named points, while others append and read: nothing is lost, doubled or left half made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from taishi.ingest.crashpoints import SEALING_POINTS
from taishi.ingest.errors import Unavailable
from tests.support.sealing_stage import SealingStage
from tests.support.valkey_server import ValkeyServer


@pytest.fixture
def home(valkey: ValkeyServer, tmp_path: Path) -> Iterator[SealingStage]:
    made = SealingStage(valkey, tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("point", SEALING_POINTS)
def test_killed_at_a_named_point(home: SealingStage, point: str) -> None:
    home.say(400)
    assert home.seal_and_die(point, 1 if point == "stream_trimmed" else 2)
    assert home.read() == home.said, "readable at once, by those who run"
    home.say(3)
    home.seal()
    home.judge()
    assert home.log.stream.first(0) == home.log.archive.last(0) + 1


def test_sealing_while_others_append_and_read(home: SealingStage) -> None:
    home.say(100)
    ended = threading.Event()
    broken: list[BaseException] = []

    def guarded(work: object) -> None:
        assert callable(work)
        try:
            while not ended.is_set():
                work()
        except BaseException as e:
            broken.append(e)

    def read() -> None:
        said = len(home.said)
        assert len(home.read()) >= said

    def seal() -> None:
        try:
            home.seal()
        except Unavailable:
            pass

    threads = [
        threading.Thread(target=guarded, args=(work,)) for work in (lambda: home.say(5), read, read, seal, seal)
    ]
    for thread in threads:
        thread.start()
    ended.wait(1.5)
    ended.set()
    for thread in threads:
        thread.join()
    assert not broken, broken
    home.seal()
    home.judge()
