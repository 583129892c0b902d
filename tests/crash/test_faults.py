"""A short run of each fault that is no kill; `tests/crash/faults.py` is the long one."""

from pathlib import Path

import pytest

from tests.crash.faults import FAULTS, PRELOADED, can_preload


@pytest.mark.parametrize("name", FAULTS)
def test_it_goes_on_by_itself_and_nothing_acknowledged_is_lost(tmp_path: Path, name: str) -> None:
    missing = can_preload() if name in PRELOADED else None
    if missing:
        pytest.skip(f"{missing} to make a disk full and a clock jump")
    told = FAULTS[name](tmp_path, rounds=1, seed=3)
    assert told["acknowledged"]
