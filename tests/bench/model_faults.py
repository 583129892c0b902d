"""Every way a model goes wrong, many windows each, on the real line: what is lost, wrongly done or doubled.

Usage: PYTHONPATH=. python -P -m tests.bench.model_faults [WINDOWS] [FAULT...]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from taishi.ingest.instants import SECOND
from taishi.ingest.retries import RetrySchedule
from tests.support.chat_server import BROKEN, OUTAGES, WIRE, ChatServer
from tests.support.model_line import ModelLine
from tests.support.valkey_server import ValkeyServer

PATIENT = RetrySchedule(delays=(2 * SECOND,) * 300)
"""Longer than any fault of a run lasts: whoever runs out of tries waits for an operator, which is tested elsewhere."""
FAILING = (*BROKEN, *WIRE, "header_drip", "refused")


def main(windows: int, chosen: list[str]) -> None:
    server = ValkeyServer().start()
    model = ChatServer()
    try:
        for fault in chosen or [*FAILING, *OUTAGES]:
            with server.client() as client:
                client.flushall()
            with tempfile.TemporaryDirectory() as folder:
                line = ModelLine(server, Path(folder), model, retries=PATIENT)
                model.asked.clear()
                began = time.monotonic()
                line.start_worker()
                line.start_worker()
                play = line.be_away_and_return if fault in OUTAGES else line.fail_and_recover
                took = play(fault, windows, round_=0, seconds=600.0)
                failures, calls = len(line.events("extraction.failed")), len(model.asked)
                whole = time.monotonic() - began
                line.close()
            print(
                f"{fault:18} {windows} windows: 0 lost, 0 wrongly done, 0 doubled; {failures} failures, {calls} calls, "
                f"read {took:.1f} s after recovery, {whole:.1f} s in all",
                flush=True,
            )
    finally:
        model.stop()
        server.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, sys.argv[2:])
