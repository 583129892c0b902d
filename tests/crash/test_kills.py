"""A short run of the kill harness; `tests/crash/kills.py` is the long one."""

from pathlib import Path

import pytest

from taishi.ingest.crashpoints import POINTS
from tests.crash.kills import point_kills, random_kills
from tests.support.running import NAMES


def test_every_process_killed_once_under_load(tmp_path: Path) -> None:
    told = random_kills(tmp_path, count=len(NAMES), seed=7)
    assert told["kills"] == len(NAMES)


@pytest.mark.parametrize("point", POINTS)
def test_killed_between_two_writes(tmp_path: Path, point: str) -> None:
    assert point_kills(tmp_path, point, count=2, seed=11)["hits"] >= 2
