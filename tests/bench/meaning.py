"""How fast text is analysed and embedded, and how fast meaning is searched.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=. python -P -m tests.bench.meaning [--rows 100000] [--namespaces 20000]

Bars: analysis 15,000 messages/s; embedding by the worker 600/s; one namespace of 100,000 vectors 3 ms at the median;
20,000 namespaces of 50 in one file 1 ms, each asked for the first time. Rates are per second of processor time: on a
busy machine the clock tells of the others.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np

from taishi.projections.analysis import Analyzer
from taishi.projections.embedding import unit
from taishi.projections.embedding_choice import make_embedder
from taishi.projections.vector_schema import vector_path
from taishi.projections.vector_worker import VectorWorker
from taishi.projections.vectors import Document, VectorStore
from taishi.queries.dense import DenseIndex
from tests.bench.corpus import messages
from tests.support.history import History
from tests.support.history_log import HistoryLog

D = 512


def line(name: str, value: str) -> None:
    print(f"{name:58} {value}", flush=True)


def rate(name: str, count: int, work: Callable[[], object]) -> None:
    begun, processor = time.perf_counter(), time.process_time()
    work()
    wall, spent = time.perf_counter() - begun, time.process_time() - processor
    line(name, f"{count / spent:10,.0f}/s of processor time, {count / wall:,.0f}/s by the clock")


def latency(name: str, search: Callable[[int], object], count: int) -> None:
    took, spent = [], []
    for i in range(count):
        begun, processor = time.perf_counter(), time.thread_time()
        search(i)
        spent.append((time.thread_time() - processor) * 1_000)
        took.append((time.perf_counter() - begun) * 1_000)
    p50, p95, alone = statistics.median(took), sorted(took)[int(count * 0.95)], statistics.median(spent)
    line(name, f"p50 {p50:.2f} ms ({alone:.2f} of processor time), p95 {p95:.2f} ms")


def fill(folder: Path, rows: int, namespaces: int) -> tuple[DenseIndex, np.ndarray]:
    """Vectors that vary in 60 ways, dealt out to the namespaces in turn. The index, and 500 questions."""
    rng = np.random.default_rng(7)
    basis = rng.standard_normal((60, D))

    def some(count: int) -> np.ndarray:
        return unit((rng.standard_normal((count, 60)) @ basis).astype(np.float32))

    store = VectorStore(vector_path(folder, 0, "bench"), model="bench", dimension=D)
    for start in range(0, rows, 1_000):
        vectors = some(min(1_000, rows - start))
        documents = [
            Document(
                doc=2 * seq,
                ns=store.namespace(f"n{seq % namespaces}", seq),
                keys=[seq.to_bytes(16, "big")],
                vectors=vectors[i : i + 1],
            )
            for i, seq in enumerate(range(start + 1, start + len(vectors) + 1))
        ]
        store.add(documents, after=start, seq=start + len(vectors), digest=b"")
    store.close()
    return DenseIndex(folder, 0, model="bench"), some(500)


def texts(count: int) -> None:
    said = [message.text for message in islice(messages(), count)]
    analyzer = Analyzer()
    analyzer.index(said[0])
    length = statistics.mean(map(len, said))
    rate(f"analysis of {count:,} messages of {length:.0f} characters", count, lambda: [analyzer.index(s) for s in said])
    model = make_embedder("local")
    assert model is not None
    model.embed(["warm"])
    history = History()
    for text in said[: count // 10]:
        history.say(text)
    with tempfile.TemporaryDirectory() as folder:
        log = HistoryLog(history)
        worker = VectorWorker(log=log, folder=Path(folder), partitions=[0], embedder=model, secret=b"s" * 32)
        rate(f"worker with {model.id}, {count // 10:,} of them", count // 10, worker.catch_up)
        worker.close()


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--namespaces", type=int, default=20_000)
    options.add_argument("--texts", type=int, default=20_000)
    given = options.parse_args()
    texts(given.texts)
    with tempfile.TemporaryDirectory() as folder:
        index, asked = fill(Path(folder), given.rows, 1)
        begun = time.perf_counter()
        index.warm()
        line(f"reading {given.rows:,} vectors of one namespace", f"{time.perf_counter() - begun:.2f} s")
        latency("  search", lambda i: index.search(1, asked[i], 50), 300)
        half = np.arange(2, 2 * given.rows, 4, dtype=np.int64)
        latency("  search, half of them allowed", lambda i: index.search(1, asked[i], 50, allowed=half), 300)
    with tempfile.TemporaryDirectory() as folder:
        index, asked = fill(Path(folder), given.namespaces * 50, given.namespaces)
        order = np.random.default_rng(1).permutation(given.namespaces)[:500] + 1
        name = f"{given.namespaces:,} namespaces of 50, each"
        latency(f"{name} for the first time", lambda i: index.search(int(order[i]), asked[i], 50), len(order))
        latency(f"{name} once more", lambda i: index.search(int(order[i]), asked[i], 50), len(order))


if __name__ == "__main__":
    main()
