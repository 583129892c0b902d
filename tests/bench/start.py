"""How soon a Taishi takes writes and answers, and what all its processes weigh when warm and empty.

    python -P -m tests.bench.start [--times 5]

Each start is in an empty home. Memory is PSS (shared pages counted once), summed over the supervisor and every process
it started; Linux alone tells it.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
from pathlib import Path

from tests.support.running import NAMES, RunningTaishi


def pss(pid: int) -> float:
    """MB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no Pss line")


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--times", type=int, default=5)
    args = ap.parse_args()
    writes, answers, weights = [], [], []
    for _ in range(args.times):
        with tempfile.TemporaryDirectory(prefix="taishi-") as home:
            taishi = RunningTaishi(Path(home), "--no-story").wait_until_up()
            try:
                taishi.settle("empty")
                writes.append(taishi.times["takes_writes"])
                answers.append(taishi.times["answers"])
                by_name = {name: pss(taishi.pid(name)) for name in NAMES}
                by_name["supervisor"] = pss(taishi.process.pid)
                weights.append(by_name)
            finally:
                taishi.stop()
    write, answer = statistics.median(writes), statistics.median(answers)
    print(f"takes writes after {write:.2f} s, answers (all warm) after {answer:.2f} s")
    total = statistics.median(sum(w.values()) for w in weights)
    print(f"PSS {total:.0f} MB: " + ", ".join(f"{name} {mb:.0f}" for name, mb in weights[-1].items()))
    print(f"median of {args.times} starts, {platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
