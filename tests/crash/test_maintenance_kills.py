"""A short form of `maintenance_kills`."""

from tests.crash.maintenance_kills import kills, two_at_once


def test_maintenance_killed_at_named_points_and_at_random_is_completed_by_the_next_run() -> None:
    told = kills(each_point=2, at_random=2, seed=3)
    assert told["due_found"] == told["faded"] == 2


def test_two_runs_at_once_say_everything_once() -> None:
    two_at_once()
