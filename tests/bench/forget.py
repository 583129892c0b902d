"""Forgetting, bytes included: one claim among many, and a whole namespace.

    python -P -m tests.bench.forget [--claims 100000] [--rounds 60] [--events 50000] [--embedder hashed]

Starts a real stack in a temporary folder, fills it, and times what a caller waits for: the reply with its receipt,
which comes when every page is overwritten (`read_models: dropped`).
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson

from tests.support.running import RunningTaishi

_THINGS = "tea rain chess jazz kites pottery sailing maps moss bread lamps ferns".split()


def fill(taishi: RunningTaishi, namespace: str, count: int, *, words: str) -> float:
    """Messages, `words` in each with a number of its own, until all is read, folded and embedded. Seconds."""
    began = time.monotonic()
    rng = random.Random(count)
    with httpx.Client(base_url=taishi.write, timeout=60) as http:
        for start in range(0, count, 100):
            texts = [words.format(n=n, thing=rng.choice(_THINGS)) for n in range(start, min(start + 100, count))]
            events = [{"namespace": namespace, "content": text, "session": f"s{start}"} for text in texts]
            while (reply := http.post("/v1/events", json={"events": events})).status_code == 503:
                time.sleep(0.5)
            assert reply.status_code == 202, reply.text
    taishi.settle(namespace, seconds=1_800)
    return time.monotonic() - began


def claims_of(taishi: RunningTaishi, namespace: str, count: int) -> Iterator[str]:
    cursor: str | None = None
    with httpx.Client(base_url=taishi.read, timeout=60) as http:
        while count > 0:
            given: dict[str, Any] = {"namespace": namespace, "limit": min(100, count)}
            page = http.get("/v1/memories", params=given | ({"cursor": cursor} if cursor else {})).json()
            yield from (item["id"] for item in page["items"])
            count -= len(page["items"])
            cursor = page["next_cursor"]
            if cursor is None:
                return


def one_claim(taishi: RunningTaishi, namespace: str, rounds: int) -> dict[str, Any]:
    taken: list[float] = []
    pending = 0
    with httpx.Client(base_url=taishi.write, timeout=60) as http:
        for memory_id in claims_of(taishi, namespace, rounds):
            began = time.monotonic()
            reply = http.delete(f"/v1/memories/{memory_id}", params={"namespace": namespace})
            taken.append(1_000 * (time.monotonic() - began))
            assert reply.status_code == 200, reply.text
            pending += reply.json()["receipt"]["read_models"] != "dropped"
    taken.sort()
    return {
        "forgets": len(taken),
        "p50_ms": round(statistics.median(taken), 1),
        "p95_ms": round(taken[int(0.95 * (len(taken) - 1))], 1),
        "worst_ms": round(taken[-1], 1),
        "pending": pending,
    }


def whole_namespace(taishi: RunningTaishi, namespace: str) -> dict[str, Any]:
    body = {"namespace": namespace, "all": True}
    with httpx.Client(base_url=taishi.write, timeout=300) as http:
        began = time.monotonic()
        dry = http.post("/v1/forget", json=body).json()
        counted = time.monotonic() - began
        began = time.monotonic()
        lines: list[tuple[float, dict[str, Any]]] = []
        with http.stream(
            "POST", "/v1/forget", json={**body, "confirm": dry["confirm"]}, headers={"accept": "application/x-ndjson"}
        ) as reply:
            for line in reply.iter_lines():
                lines.append((time.monotonic() - began, orjson.loads(line)))
        seconds, last = lines[-1]
        assert "receipt" in last, last
    return {
        "would_forget": dry["would_forget"],
        "dry_run_s": round(counted, 2),
        "seconds": round(seconds, 2),
        "first_progress_s": round(lines[0][0], 2),
        "progress_lines": len(lines) - 1,
        "tombstones": len(last["receipt"]["tombstones"]),
        "read_models": last["receipt"]["read_models"],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--claims", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--events", type=int, default=50_000)
    options.add_argument("--embedder", default="hashed")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
        taishi = RunningTaishi(Path(folder) / "home", "--no-story", embedder=given.embedder).wait_until_up()
        try:
            if given.claims:
                seconds = fill(taishi, "many", given.claims, words="I like {thing} number {n}.")
                print(f"{given.claims} claims in {seconds:.0f} s", flush=True)
                print(orjson.dumps(one_claim(taishi, "many", given.rounds)).decode(), flush=True)
            if given.events:
                seconds = fill(taishi, "whole", given.events, words="Row {n} of the log: {thing} was counted.")
                print(f"{given.events} events in {seconds:.0f} s", flush=True)
                print(orjson.dumps(whole_namespace(taishi, "whole")).decode(), flush=True)
        finally:
            taishi.stop()


if __name__ == "__main__":
    main()
