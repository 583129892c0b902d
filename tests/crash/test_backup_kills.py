"""A short run of the kills inside backup and restore; `tests/crash/backup_kills.py` is the long one."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from taishi.ingest.crashpoints import BACKUP_POINTS, RESTORE_POINTS
from tests.crash.backup_kills import Stage, at_point, at_random
from tests.support.valkey_server import ValkeyServer


@pytest.fixture(scope="module")
def stage(valkey_session: ValkeyServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with valkey_session.client() as client:
        client.flushall()
    made = Stage(tmp_path_factory.mktemp("b"), valkey_session)
    yield made
    made.home.close()


@pytest.mark.parametrize("point", [*BACKUP_POINTS, *RESTORE_POINTS])
def test_killed_at_a_point_it_is_completed_when_run_again(stage: Stage, point: str) -> None:
    assert at_point(stage, point, number=(*BACKUP_POINTS, *RESTORE_POINTS).index(point))


def test_killed_at_random_it_is_completed_when_run_again(stage: Stage) -> None:
    rng = random.Random(3)
    for number in range(100, 102):
        at_random(stage, number, rng, longest=0.3)
