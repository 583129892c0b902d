"""Recall over HTTP on a whole Taishi: several clients at once, each with one question under way.

    PYTHONPATH=. python -P -m tests.bench.recall_http [--claims 10000] [--clients 8] [--workers 2] [--seconds 10]

Claims are stated outright into one namespace, and embedded; the clients are two processes of threads beside the server,
whose time counts.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import tempfile
import threading
import time
from pathlib import Path
from queue import Queue
from typing import Any

import httpx

from tests.bench.corpus import messages
from tests.bench.recall import question_about
from tests.support.running import RunningTaishi

NAMESPACE = "bench"


def fill(taishi: RunningTaishi, claims: int) -> None:
    """Through the write API, by eight connections."""
    work: Queue[bytes | None] = Queue()
    source = messages()
    for _ in range(claims):
        m = next(source)
        polarity = "negative" if m.negated else "positive"
        body = {"namespace": NAMESPACE, "subject": m.subject, "predicate": m.predicate, "value": m.value}
        work.put(json.dumps({**body, "polarity": polarity}).encode())
    address = taishi.write.removeprefix("http://")

    def send() -> None:
        connection = http.client.HTTPConnection(address)
        while not work.empty():
            connection.request("POST", "/v1/memories", work.get(), {"content-type": "application/json"})
            reply = connection.getresponse()
            reply.read()
            assert reply.status == 202, reply.status

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taishi.settle(NAMESPACE, seconds=600)


def client(address: str, until: float, seed: int, told: Any) -> None:
    rng, source = random.Random(seed), messages()
    said = [next(source) for _ in range(2_000)]
    connection = http.client.HTTPConnection(address)
    spent: list[float] = []
    degraded = refused = 0
    while time.monotonic() < until:
        body = json.dumps({"namespace": NAMESPACE, "query": question_about(rng.choice(said), rng)}).encode()
        begun = time.perf_counter()
        connection.request("POST", "/v1/recall", body, {"content-type": "application/json"})
        reply = connection.getresponse()
        content = reply.read()
        spent.append((time.perf_counter() - begun) * 1e3)
        refused += reply.status != 200
        degraded += b'"degraded":[]' not in content
    told.put((spent, degraded, refused))


def several(address: str, until: float, seeds: list[int], told: Any) -> None:
    threads = [threading.Thread(target=client, args=(address, until, seed, told)) for seed in seeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure(taishi: RunningTaishi, clients: int, seconds: float) -> None:
    address = taishi.read.removeprefix("http://")
    fork = multiprocessing.get_context("fork")
    for length in (2.0, seconds):  # the first one warms up
        told, until = fork.Queue(), time.monotonic() + length
        seeds = [list(range(first, clients, 2)) for first in (0, 1)]
        sides = [fork.Process(target=several, args=(address, until, some, told)) for some in seeds]
        busy = _busy(taishi)
        for side in sides:
            side.start()
        found = [told.get() for _ in range(clients)]
        for side in sides:
            side.join()
    times = sorted(t for spent, _, _ in found for t in spent)
    p50, p95, p99 = (times[int(len(times) * q)] for q in (0.5, 0.95, 0.99))
    wrong = sum(refused for _, _, refused in found)
    print(f"{clients} clients: {len(times) / seconds:,.0f} recalls/s, p50 {p50:.1f} ms, p95 {p95:.1f}, p99 {p99:.1f}")
    spent = (_busy(taishi) - busy) / len(times)
    print(f"  {spent:.1f} ms of processor a recall on the read side: {2_000 / spent:,.0f}/s would fill two cores")
    print(f"  {sum(degraded for _, degraded, _ in found)} degraded, {wrong} refused; load {os.getloadavg()[0]:.1f}")


def _busy(taishi: RunningTaishi) -> float:
    """Milliseconds of processor that the read processes have used."""
    ticks = 0
    for file in (taishi.home / "run").glob("read*.pid"):
        fields = Path(f"/proc/{int(file.read_text())}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return 1_000 * ticks / os.sysconf("SC_CLK_TCK")


def memory(taishi: RunningTaishi) -> None:
    """PSS of every process, in MB."""
    sizes = {}
    for file in sorted((taishi.home / "run").glob("*.pid")):
        rollup = Path(f"/proc/{int(file.read_text())}/smaps_rollup").read_text()
        sizes[file.stem] = int(rollup.split("\nPss:")[1].split()[0]) // 1024
    rollup = Path(f"/proc/{taishi.process.pid}/smaps_rollup").read_text()
    sizes["up"] = int(rollup.split("\nPss:")[1].split()[0]) // 1024
    print(f"  PSS {sum(sizes.values())} MB: {sizes}")


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--claims", type=int, default=10_000)
    ap.add_argument("--clients", type=int, default=8)
    ap.add_argument("--workers", type=int, default=2)
    ap.add_argument("--seconds", type=float, default=10.0)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as home:
        taishi = RunningTaishi(Path(home), "--no-story", read_workers=str(args.workers)).wait_until_up(seconds=120)
        try:
            memory(taishi)
            begun = time.monotonic()
            fill(taishi, args.claims)
            print(f"{args.claims:,} claims, {args.workers} read workers; filled in {time.monotonic() - begun:.0f} s")
            httpx.post(f"{taishi.read}/v1/recall", json={"namespace": NAMESPACE, "query": "warm"}, timeout=30)
            for _ in range(2):
                measure(taishi, args.clients, args.seconds)
            memory(taishi)
        finally:
            taishi.stop()


if __name__ == "__main__":
    main()
