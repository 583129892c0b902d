"""The upkeep queue and its clock, on a real server and real worker processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from taishi.ingest.cron import Cron
from taishi.ingest.rq_upkeep import RqUpkeepQueue
from tests.support import upkeep_worker
from tests.support.valkey_server import ValkeyServer


@pytest.fixture
def url(valkey: ValkeyServer) -> str:
    return f"{valkey.url}?db=1"


def work(url: str, folder: Path) -> int:
    return subprocess.run([sys.executable, "-P", upkeep_worker.__file__, url, str(folder)], env={}).returncode


def test_a_job_is_put_once_and_runs(url: str, tmp_path: Path) -> None:
    queue = RqUpkeepQueue(url)
    assert queue.enqueue("note", {"number": 1}, job_id="note-1")
    assert not queue.enqueue("note", {"number": 1}, job_id="note-1")
    assert work(url, tmp_path) == 0
    assert (tmp_path / "notes").read_text() == "1\n"
    assert queue.enqueue("note", {"number": 2}, job_id="note-1")
    assert work(url, tmp_path) == 0
    assert (tmp_path / "notes").read_text() == "1\n2\n"


def test_a_job_whose_worker_was_killed_does_not_stand_in_its_successors_way(url: str, tmp_path: Path) -> None:
    queue = RqUpkeepQueue(url)
    assert queue.enqueue("die", {"number": 7}, job_id="die-7")
    assert work(url, tmp_path) != 0
    assert queue.enqueue("die", {"number": 7}, job_id="die-7")
    assert work(url, tmp_path) == 0
    assert (tmp_path / "notes").read_text() == "7\n"


def test_the_clock_puts_each_job_once_a_period_whoever_asks(url: str, tmp_path: Path) -> None:
    now = [1_000_000.0]
    queue = RqUpkeepQueue(url)

    def cron() -> Cron:
        return Cron(queue, queue, every={"note": 60, "never": 0}, clock=lambda: now[0])

    one = cron()
    assert one.tick() == ["note"]
    assert one.tick() == [] == cron().tick()
    now[0] += 600
    assert cron().tick() == ["note"]
    assert 0 < one.pause() <= 30
