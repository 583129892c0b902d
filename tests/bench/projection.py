"""Fold rate at growing read models: claims, chains, tombstones and full text, without embedding.

    python -P -m tests.bench.projection [--rows 500000] [--folder DIR]

Half the events are messages, half the claims read from them. The rate is that of the last 10,000 events before each
mark, on one core, by the clock and by processor time (others may share the machine), from decoded events to committed
batches of 500; decoding and decrypting is measured apart.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from pathlib import Path

from taishi.projections.analysis import Analyzer
from taishi.projections.store import ReadModelFile
from tests.bench.corpus import messages
from tests.support.history import History

MARKS = (10_000, 100_000, 500_000, 1_000_000)
STEP = 10_000


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--rows", type=int, default=500_000)
    ap.add_argument("--folder", type=Path)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = Path(folder) / "m.db"
        model = ReadModelFile(path, Analyzer())
        history, source = History(), messages()
        total, began = 0, time.perf_counter()
        spent = 0.0
        while total < args.rows:
            fresh = []
            for message in (next(source) for _ in range(STEP // 2)):
                said = history.say(message.text, session=f"s{total // 50}")
                fresh += [
                    said,
                    history.claim(
                        message.subject, message.predicate, message.value, said=said, negated=message.negated
                    ),
                ]
            begun, busy = time.perf_counter(), time.process_time()
            for at in range(0, len(fresh), 500):
                model.apply(fresh[at : at + 500])
            took, cpu = time.perf_counter() - begun, time.process_time() - busy
            spent += took
            total += len(fresh)
            if total in MARKS or total >= args.rows:
                size = sum(p.stat().st_size for p in Path(folder).iterdir())
                rates = f"{STEP / took:>8,.0f} events/s, {STEP / cpu:,.0f} a core second"
                size_told = f"{size / total:,.0f} bytes an event"
                print(f"{total:>9,} rows: {rates} (all so far {total / spent:,.0f}/s), {size_told}", flush=True)
        model.close()
        machine = f"{platform.machine()}, Python {platform.python_version()}"
        print(f"{machine}, {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
