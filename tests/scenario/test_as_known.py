"""What was answered live is answered again when the same moment is asked for later (`tests.bench.as_known` in full)."""

from __future__ import annotations

from pathlib import Path

from tests.bench.as_known import WAYS, Invented
from tests.support.running import RunningTaishi


def test_the_answers_of_past_moments_are_given_again(tmp_path: Path) -> None:
    taishi = RunningTaishi(tmp_path / "home", "--no-story").wait_until_up()
    try:
        moments = Invented(taishi, seed=11)
        moments.live(30)
        differing = [line for by in WAYS for line in moments.again(by=by)]
    finally:
        taishi.stop()
    assert not differing, "\n".join(differing)
