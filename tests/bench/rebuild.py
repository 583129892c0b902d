"""A full rebuild of read models from a long history: how long, how much memory, and whether killing it matters.

    python -P -m tests.bench.rebuild [--events 1000000] [--kills 10] [--batch 2000] [--home DIR]

Makes the history (kept in --home, taken up again if it is there), then builds one generation with two processes, the
longest partition first, as the upkeep workers do; with --kills a second one, whose processes are killed with SIGKILL so
often on the way and started again, and compares the content digests. Vectors live outside generations and are reused.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from taishi.deploy.event_log import open_keys, open_log, opened_log
from taishi.deploy.settings import Settings, load_settings
from taishi.deploy.verifying import digest_of
from taishi.projections.analysis import Analyzer
from taishi.projections.rebuild import BATCH, PartitionBuild
from taishi.projections.worker import model_path
from tests.bench.history import HistoryWriter
from tests.support.valkey_server import ValkeyServer

WORKERS = 2
PARTITIONS = 4


def work(settings: Settings, folder: Path, partition: int, batch: int) -> None:
    """Builds one partition; prints marks of (events, processor seconds) and, at the end, the peak of memory."""
    build = PartitionBuild(
        log=open_log(settings, open_keys(settings)), folder=folder, partition=partition, analyzer=Analyzer(),
        generation=1, batch=batch,
    )  # fmt: skip
    while True:
        built = build.slice(seconds=0.5)
        print(json.dumps([built.seq, time.process_time()]), flush=True)
        if built.complete:
            break
    build.finish()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"peak": peak * (1 if sys.platform == "darwin" else 1024)}), flush=True)


@dataclass(slots=True)
class Building:
    """One generation being built by up to two processes."""

    settings: Settings
    folder: Path
    batch: int
    waiting: list[int]
    running: dict[int, subprocess.Popen[str]] = field(default_factory=dict)
    marks: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    peaks: dict[int, int] = field(default_factory=dict)

    def run(self, *, kills: int = 0, seed: int = 3) -> float:
        """How many seconds it took."""
        rng, began, left = random.Random(seed), time.perf_counter(), kills
        next_kill = began + rng.uniform(1, 4)
        while self.waiting or self.running:
            while self.waiting and len(self.running) < WORKERS:
                self._start(self.waiting.pop(0))
            time.sleep(0.02)
            if left and self.running and time.perf_counter() > next_kill:
                partition = rng.choice(list(self.running))
                self.running[partition].send_signal(signal.SIGKILL)
                left, next_kill = left - 1, time.perf_counter() + rng.uniform(1, 4)
            for partition, process in list(self.running.items()):
                if process.poll() is not None:
                    self._ended(partition, process)
        if left:
            print(f"only {kills - left} kills: it was done before")
        return time.perf_counter() - began

    def _start(self, partition: int) -> None:
        command = [sys.executable, "-P", "-m", "tests.bench.rebuild", "--work", str(partition)]
        command += ["--folder", str(self.folder), "--home", str(self.settings.home), "--batch", str(self.batch)]
        environment = {**os.environ, "REDIS_URL": str(self.settings.redis_url)}
        self.running[partition] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    def _ended(self, partition: int, process: subprocess.Popen[str]) -> None:
        del self.running[partition]
        assert process.stdout is not None
        for line in process.stdout:
            told = json.loads(line)
            if isinstance(told, dict):
                self.peaks[partition] = told["peak"]
            else:
                self.marks.setdefault(partition, []).append((told[0], told[1]))
        if process.returncode == -signal.SIGKILL:
            self.waiting.insert(0, partition)
        elif process.returncode:
            raise SystemExit(f"the build of partition {partition} failed")


def cost(marks: list[tuple[int, float]], start: float, end: float) -> float:
    """Processor seconds per event between two shares of a partition's events."""
    last = marks[-1][0]
    points = [(0, 0.0), *marks]
    low = max(p for p in points if p[0] <= start * last)
    high = min(p for p in points if p[0] >= end * last)
    return (high[1] - low[1]) / max(high[0] - low[0], 1)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--events", type=int, default=1_000_000)
    ap.add_argument("--kills", type=int, default=0)
    ap.add_argument("--batch", type=int, default=BATCH)
    ap.add_argument("--home", type=Path)
    ap.add_argument("--folder", type=Path)
    ap.add_argument("--work", type=int)
    args = ap.parse_args()
    if args.work is not None:
        work(load_settings(home=args.home, partitions=PARTITIONS), args.folder, args.work, args.batch)
        return
    home = args.home or Path(tempfile.mkdtemp(prefix="rebuild-"))
    try:
        with kept_server(home, keep=args.home is not None) as url:
            measure(load_settings(home=home, partitions=PARTITIONS, redis_url=url), args)
    finally:
        if args.home is None:
            shutil.rmtree(home)


@contextmanager
def kept_server(home: Path, *, keep: bool) -> Iterator[str]:
    """The URL of a server with what is kept in `home`; what it holds at the end is kept there, if nothing was."""
    server = ValkeyServer()
    if (home / "server").exists():
        shutil.rmtree(server.directory)
        shutil.copytree(home / "server", server.directory)
    server.start()
    try:
        yield server.url
        if keep and not (home / "server").exists():
            server.client().execute_command("WAITAOF", 1, 0, 5000)
            shutil.copytree(server.directory, home / "server", ignore=shutil.ignore_patterns("s", "log"))
    finally:
        server.stop()


def measure(settings: Settings, args: argparse.Namespace) -> None:
    with opened_log(settings) as (log, keys):
        began = time.perf_counter()
        if not log.head(0):
            done = max(HistoryWriter(log, keys, events=args.events).write())
            took = time.perf_counter() - began
            print(f"history: {done:,} events in {took:.0f} s ({done / took:,.0f}/s)", flush=True)
        heads = {p: log.head(p) for p in range(PARTITIONS)}
    total = sum(heads.values())
    print(f"partitions: {', '.join(f'{n:,}' for n in heads.values())}", flush=True)
    order = sorted(heads, key=lambda p: -heads[p])
    folders = [settings.home / "one", settings.home / "killed"]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    one = Building(settings, folders[0], args.batch, list(order))
    took = one.run()
    longest = one.marks[order[0]]
    first, last = cost(longest, 0, 0.1), cost(longest, 0.9, 1)
    size = sum(f.stat().st_size for f in folders[0].iterdir())
    peak = sum(sorted(one.peaks.values())[-WORKERS:])
    print(f"rebuild: {total:,} events in {took:.0f} s ({total / took:,.0f}/s on {WORKERS} processes),"
          f" {sum(m[-1][1] for m in one.marks.values()) / total * 1e6:.0f} µs of a core an event,"
          f" peak {peak / 2**20:.0f} MB resident together, {size / total:,.0f} bytes an event")  # fmt: skip
    print(f"per event, longest partition: first tenth {first * 1e6:.0f} µs, last tenth {last * 1e6:.0f} µs of a core,"
          f" {last / first:.2f} times", flush=True)  # fmt: skip
    if args.kills:
        killed = Building(settings, folders[1], args.batch, list(order))
        took = killed.run(kills=args.kills)
        sides = [[digest_of(model_path(folder, p), p) for p in heads] for folder in folders]
        same = sides[0] == sides[1]
        print(f"killed {args.kills} times and resumed: {took:.0f} s, digests {'equal' if same else 'DIFFER'}")
        if not same:
            raise SystemExit(1)
    print(f"{platform.machine()}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
