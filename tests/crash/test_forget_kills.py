"""A short run of the kills inside forget; `tests/crash/forget_kills.py` is the long one."""

from pathlib import Path

from tests.crash.forget_kills import point_kills


def test_killed_after_the_tombstone_and_before_the_pages_are_overwritten(tmp_path: Path) -> None:
    for point in ("tombstoned", "unscrubbed"):
        (tmp_path / point).mkdir()
        assert point_kills(tmp_path / point, point, count=1, seed=11)["hits"] >= 1
