"""kill -9 under load: every process at random moments, and at named points between two writes.

    python -P -m tests.crash.kills [--random 30] [--each-point 5] [--seed N]

Starts real stacks on loopback, kills, waits for normal service after each kill (a write is acknowledged, a recall
answers, the killed process has a successor), and at the end judges the log and the read models. Prints what it counted.
"""

from __future__ import annotations

import argparse
import collections
import random
import statistics
import tempfile
import time
from pathlib import Path

import httpx

from taishi.ingest.crashpoints import POINTS
from tests.crash.load import Load, judge, models_as_they_are, read_log
from tests.support.running import NAMES, RunningTaishi

NAMESPACES = [f"crash-{n}" for n in range(6)]


def in_service(taishi: RunningTaishi) -> bool:
    """Reads and writes both answer now."""
    try:
        asked = {"namespace": "probe", "query": "anything"}
        if httpx.post(f"{taishi.read}/v1/recall", json=asked, timeout=2).status_code != 200:
            return False
        event = {"namespace": "probe", "content": "still here"}
        return httpx.post(f"{taishi.write}/v1/events", json={"events": [event]}, timeout=2).status_code == 202
    except httpx.HTTPError:
        return False


def until_in_service(taishi: RunningTaishi, limit: float = 15.0) -> float:
    began = time.monotonic()
    while not in_service(taishi):
        assert time.monotonic() - began < limit, "".join(taishi.lines[-20:])
        time.sleep(0.01)
    return time.monotonic() - began


def random_kills(folder: Path, *, count: int, seed: int) -> dict[str, object]:
    rng = random.Random(seed)
    taishi = RunningTaishi(folder / "home", "--no-story").wait_until_up()
    load = Load(taishi.write, NAMESPACES, seed=seed).start()
    killed: collections.Counter[str] = collections.Counter()
    back: list[tuple[float, str]] = []
    try:
        for n in range(count):
            time.sleep(rng.uniform(0.05, 0.8))
            name = NAMES[n % len(NAMES)]
            pid = taishi.kill(name)
            began = time.monotonic()
            taishi.pid(name, other_than=pid)
            until_in_service(taishi)
            back.append((time.monotonic() - began, name))
            killed[name] += 1
        load.stop()
        found = settle_and_judge(folder, taishi, load)
    finally:
        taishi.stop()
    worst = max(back)
    times = sorted(t for t, _ in back)
    return {
        **found,
        "kills": sum(killed.values()),
        "by process": dict(killed),
        "back in service, median": round(statistics.median(times), 2),
        "p95": round(times[int(0.95 * (len(times) - 1))], 2),
        "worst": f"{worst[0]:.2f} s ({worst[1]})",
    }


def point_kills(folder: Path, point: str, *, count: int, seed: int) -> dict[str, object]:
    deaths = folder / "deaths"
    deaths.touch()
    after = {"key_minted": 1, "outboxed": 5, "enqueued": 5, "extracted": 5}.get(point, 25)
    taishi = RunningTaishi(
        folder / "home", "--no-story", crash_point=f"{point}:{after}:{count}", crash_file=str(deaths)
    ).wait_until_up()
    load = Load(taishi.write, NAMESPACES, seed=seed, pause=0.002).start()
    try:
        end = time.monotonic() + 60
        while (hits := len(deaths.read_text().splitlines())) < count and time.monotonic() < end:
            time.sleep(0.05)
        until_in_service(taishi)
        load.stop()
        found = settle_and_judge(folder, taishi, load)
    finally:
        taishi.stop()
    assert hits >= count, f"{point} was hit {hits} times, not {count}"
    return {**found, "hits": hits}


def settle_and_judge(folder: Path, taishi: RunningTaishi, load: Load) -> dict[str, int]:
    """After a long load there is much left to read: it may take as long as it goes on."""
    for namespace in [*NAMESPACES, "probe"]:
        taishi.settle(namespace, seconds=60 + len(load.acknowledged) / 50)
    scratch = folder / "scratch"
    scratch.mkdir()
    with models_as_they_are(taishi.home) as models:
        return judge(models, read_log(taishi.home, taishi.log_url), load, scratch)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--random", type=int, default=30)
    ap.add_argument("--each-point", type=int, default=5)
    ap.add_argument("--seed", type=int, default=int(time.time()))
    args = ap.parse_args()
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
        if args.random:
            (Path(folder) / "random").mkdir()
            print("random", random_kills(Path(folder) / "random", count=args.random, seed=args.seed), flush=True)
        for point in POINTS if args.each_point else ():
            (Path(folder) / point).mkdir()
            print(point, point_kills(Path(folder) / point, point, count=args.each_point, seed=args.seed), flush=True)


if __name__ == "__main__":
    main()
