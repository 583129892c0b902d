"""kill -9 inside sealing and trimming, while events are appended: at every named point, and at random moments.

    python -P -m tests.crash.sealing_kills [--random 30] [--each-point 10] [--seed N]

After each kill everything is readable at once; after each dozen the next run has mended what was half done, each
segment is told of once, and the whole log verifies.
"""

from __future__ import annotations

import argparse
import collections
import random
import tempfile
import threading
import time
from pathlib import Path

from taishi.ingest.crashpoints import SEALING_POINTS
from tests.support.sealing_stage import SealingStage
from tests.support.valkey_server import ValkeyServer


def kills(*, each_point: int, at_random: int, seed: int) -> dict[str, int]:
    """How many kills there were, by where."""
    rng = random.Random(seed)
    told: collections.Counter[str] = collections.Counter()
    plan: list[str | None] = [point for _ in range(each_point) for point in SEALING_POINTS] + [None] * at_random
    rng.shuffle(plan)
    while plan:
        server = ValkeyServer().start()
        with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
            stage = SealingStage(server, Path(folder))
            try:
                for _ in range(min(12, len(plan))):
                    point = plan.pop()
                    told[point or "random"] += killed(stage, point, rng)
                    assert stage.read() == stage.said
                stage.seal()
                stage.judge()
            finally:
                stage.close()
                server.stop()
    return dict(told)


def killed(stage: SealingStage, point: str | None, rng: random.Random) -> bool:
    stage.say(rng.randrange(200, 600))
    ended = threading.Event()

    def append() -> None:
        while not ended.wait(0.02):
            stage.say(rng.randrange(1, 20))

    writer = threading.Thread(target=append)
    writer.start()
    try:
        if point is None:
            return stage.seal_and_die(None, seconds=rng.uniform(0.0, 0.3))
        return stage.seal_and_die(point)
    finally:
        ended.set()
        writer.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=30)
    parser.add_argument("--each-point", type=int, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    print(kills(each_point=given.each_point, at_random=given.random, seed=given.seed), flush=True)


if __name__ == "__main__":
    main()
