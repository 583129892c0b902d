"""Rebuilding and switching, killed at each named point: what comes of it equals a clean replay.

    python -P -m tests.crash.rebuild_kills [--each-point 10]

For each point a Taishi with some history is started, in which the process that comes to the point dies there, as many
times as asked; a generation is built and switched to, however often it takes. Prints how many deaths were counted, and
ends with 1 where a digest differs from a replay, or a build does not end.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import httpx

from taishi.ingest.crashpoints import REBUILD_POINTS
from tests.bench.corpus import messages
from tests.support.running import RunningTaishi


def told(taishi: RunningTaishi, *arguments: str) -> dict[str, Any] | None:
    """None where the command itself was killed."""
    done = taishi.cli(*arguments, "--json", seconds=300)
    if done.returncode < 0:
        return None
    assert done.returncode == 0, done.stdout + done.stderr
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply


def say(taishi: RunningTaishi, count: int) -> None:
    said = messages(5)
    for number in range(8):
        events = [{"namespace": f"n{number}", "content": next(said).text} for _ in range(count // 8)]
        httpx.post(f"{taishi.write}/v1/events", json={"events": events}, timeout=60).raise_for_status()
    for number in range(8):
        taishi.settle(f"n{number}", seconds=120)


def deaths(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


def kill_at(point: str, rounds: int) -> int:
    """How often a process died there."""
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        file = Path(folder) / "deaths"
        taishi = RunningTaishi(
            Path(folder) / "home", "--no-story", embedder="off", crash_point=f"{point}:1:{rounds}",
            crash_file=str(file),
        ).wait_until_up()  # fmt: skip
        try:
            say(taishi, 80)
            live = 1
            while deaths(file) < rounds:
                built = told(taishi, "rebuild")
                assert built is not None and built["generation"]["state"] == "ready", built
                live = built["generation"]["number"]
                while told(taishi, "activate", str(live)) is None:
                    pass
                while (verified := told(taishi, "verify", "--replay")) is None:
                    pass
                assert verified["generation"] == live and verified["equal"], verified
        finally:
            taishi.stop()
        return deaths(file)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--each-point", type=int, default=10)
    args = ap.parse_args()
    for point in REBUILD_POINTS:
        print(f"{point}: died {kill_at(point, args.each_point)} times, digests equal to a replay", flush=True)


if __name__ == "__main__":
    main()
