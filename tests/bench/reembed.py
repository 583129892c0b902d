"""Embedding a long history anew with the local model, as `taishi rebuild --only vectors` does: how long it takes.

    python -P -m tests.bench.reembed [--events 1000000] [--home DIR]

The history is that of `tests.bench.rebuild`; one that it kept in --home is taken up again. One process does the work,
as in a deployment; the other core is for those who ask meanwhile.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from taishi.deploy.event_log import opened_log
from taishi.deploy.settings import Settings, load_settings
from taishi.projections.embedding import Vectors
from taishi.projections.embedding_local import LocalEmbedder
from taishi.projections.vector_worker import VectorWorker
from tests.bench.history import HistoryWriter
from tests.bench.rebuild import PARTITIONS, kept_server


class CountedEmbedder(LocalEmbedder):
    """How many texts were embedded, and with how much processor time."""

    texts = 0
    seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        begun = time.process_time()
        rows = super().embed(texts)
        self.texts += len(texts)
        self.seconds += time.process_time() - begun
        return rows


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--events", type=int, default=1_000_000)
    ap.add_argument("--home", type=Path)
    args = ap.parse_args()
    home = args.home or Path(tempfile.mkdtemp(prefix="reembed-"))
    try:
        with kept_server(home, keep=args.home is not None) as url:
            measure(load_settings(home=home, partitions=PARTITIONS, redis_url=url), args.events)
    finally:
        if args.home is None:
            shutil.rmtree(home)


def measure(settings: Settings, events: int) -> None:
    with opened_log(settings) as (log, keys):
        if not log.head(0):
            print(f"history: {max(HistoryWriter(log, keys, events=events).write()):,} events", flush=True)
        total = sum(log.head(p) for p in range(PARTITIONS))
        model = CountedEmbedder()
        model.embed(["太史"])
        folder = settings.home / "embedded"
        shutil.rmtree(folder, ignore_errors=True)
        worker = VectorWorker(
            log=log, folder=folder, partitions=range(PARTITIONS), embedder=model, secret=keys.secret("vectors")
        )
        marks = [(0, time.process_time())]
        model.texts, model.seconds = 0, 0.0
        began, told = time.perf_counter(), time.perf_counter()
        for partition in range(PARTITIONS):
            while worker.step(partition):
                marks.append((sum(worker.checkpoints().values()), time.process_time()))
                if time.perf_counter() - told > 30:
                    told = time.perf_counter()
                    print(f"  {marks[-1][0]:,} of {total:,}, {told - began:.0f} s", flush=True)
        assert sum(worker.checkpoints().values()) == total
        worker.close()
        took, busy = time.perf_counter() - began, time.process_time() - marks[0][1]
    size = sum(f.stat().st_size for f in folder.iterdir())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    first, last = (rate(marks, share, total) for share in (0.0, 0.9))
    print(f"embedded anew: {total:,} events, {model.texts:,} texts, in {took:.0f} s ({total / took:,.0f} events/s),"
          f" {busy:.0f} s of a core ({total / busy:,.0f} events each; {model.seconds / busy:.0%} in the model);"
          f" peak {peak / 2**20:.0f} MB, {size / total:,.0f} bytes an event")  # fmt: skip
    print(f"events a core second: first tenth {first:,.0f}, last tenth {last:,.0f}")
    print(f"{platform.machine()}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}")


def rate(marks: Sequence[tuple[int, float]], share: float, total: int) -> float:
    """Of the tenth that begins at that share of all events."""
    within = [mark for mark in marks if share * total <= mark[0] <= (share + 0.1) * total]
    (first, begun), (last, ended) = within[0], within[-1]
    return (last - first) / (ended - begun)


if __name__ == "__main__":
    main()
