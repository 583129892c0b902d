"""Faults that are no kills: processes that stop and go on, a full disk, a clock that jumps, a log whose end is cut.

    python -P -m tests.crash.faults [--rounds 3] [--seed N]

Each runs a whole Taishi under load on loopback. While a disk is full nothing may be acknowledged that is not stored;
afterwards everything goes on by itself. Prints what it counted.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.crash.kills import NAMESPACES, settle_and_judge, until_in_service
from tests.crash.load import Load, read_log
from tests.support.running import NAMES, RunningTaishi

DAY = 86_400


def can_preload() -> str | None:
    """What is missing for the faults that need a library of their own; None where nothing is."""
    if not sys.platform.startswith("linux"):
        return "needs Linux"
    return None if shutil.which("cc") else "needs a C compiler (cc)"


def build(folder: Path) -> Path:
    source = Path(__file__).parent.parent / "support" / "faults.c"
    library = folder / "faults.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def stops(folder: Path, *, rounds: int, seed: int) -> dict[str, object]:
    """Each process in turn stands still for a while and goes on."""
    rng = random.Random(seed)
    taishi = RunningTaishi(folder / "home", "--no-story").wait_until_up()
    load = Load(taishi.write, NAMESPACES, seed=seed).start()
    count = 0
    try:
        for n in range(rounds * len(NAMES)):
            pid = taishi.pid(NAMES[n % len(NAMES)])
            os.kill(pid, signal.SIGSTOP)
            time.sleep(rng.uniform(0.2, 1.0))
            os.kill(pid, signal.SIGCONT)
            until_in_service(taishi)
            count += 1
        load.stop()
        return {**settle_and_judge(folder, taishi, load), "stops": count}
    finally:
        taishi.stop()


def full_disk(folder: Path, *, rounds: int, seed: int) -> dict[str, object]:
    """No space is left for a while, for any process."""
    faults, library = folder / "faults", build(folder)
    faults.mkdir()
    taishi = RunningTaishi(folder / "home", "--no-story", preload=library, faults=str(faults)).wait_until_up()
    load = Load(taishi.write, NAMESPACES, seed=seed).start()
    refused = 0
    try:
        for _ in range(rounds):
            until(lambda: len(load.acknowledged) > 20)
            (faults / "full").touch()
            time.sleep(0.5)
            before = len(load.acknowledged)
            time.sleep(1.5)
            assert len(load.acknowledged) - before == 0, "something was acknowledged that could not be stored"
            event = {"namespace": "probe", "content": "no room"}
            reply = httpx.post(f"{taishi.write}/v1/events", json={"events": [event]}, timeout=20)
            assert reply.status_code == 503, reply.text
            refused += 1
            asked = {"namespace": NAMESPACES[0], "query": "where do I live?"}
            for _ in range(8):  # each reader, once before and once after it found that its exposures are not taken
                assert httpx.post(f"{taishi.read}/v1/recall", json=asked, timeout=20).status_code == 200
                time.sleep(0.1)
                assert httpx.get(f"{taishi.read}/v1/status", params={"namespace": NAMESPACES[0]}).status_code == 200
            ready = httpx.get(f"{taishi.write}/readyz", timeout=20)
            assert (ready.status_code, list(ready.json()["missing"])) == (503, ["log"])
            (faults / "full").unlink()
            until_in_service(taishi, limit=30)
        load.stop()
        return {**settle_and_judge(folder, taishi, load), "refused while full": refused}
    finally:
        (faults / "full").unlink(missing_ok=True)
        taishi.stop()


def clock_jumps(folder: Path, *, rounds: int, seed: int) -> dict[str, object]:
    """The wall clock goes a day ahead, back again, and an hour behind."""
    faults, library = folder / "faults", build(folder)
    faults.mkdir()
    taishi = RunningTaishi(folder / "home", "--no-story", preload=library, faults=str(faults)).wait_until_up()
    load = Load(taishi.write, NAMESPACES, seed=seed).start()
    jumps = 0
    try:
        for offset in [DAY, 0, -3600, 0] * rounds:
            (faults / "clock.new").write_text(f"{offset}\n")
            (faults / "clock.new").replace(faults / "clock")
            until_in_service(taishi)
            remember_and_recall(taishi, jumps)
            jumps += 1
        load.stop()
        return {**settle_and_judge(folder, taishi, load), "jumps": jumps}
    finally:
        taishi.stop()


def remember_and_recall(taishi: RunningTaishi, number: int) -> None:
    """What is told now is what holds now, wherever the clock has been before."""
    namespace, value = "clock", f"Tarn-{number}"
    body = {"namespace": namespace, "subject": "user", "predicate": "lives_in", "value": value}
    placed = httpx.post(f"{taishi.write}/v1/memories", json=body, timeout=20).json()
    asked = {"namespace": namespace, "query": "where do I live?", "min_position": placed["position"]}
    reply = httpx.post(f"{taishi.read}/v1/recall", json=asked, timeout=20).json()
    shown = [(item.get("value"), item["status"]) for item in reply["items"]]
    assert shown and shown[0] == (value, "current"), shown


def cut_tail(folder: Path, *, rounds: int, seed: int) -> dict[str, object]:
    """The server dies and the end of its file is gone: events that were acknowledged are lost, as with a broken disk.
    Read models that knew them notice, and are replayed from what is left."""
    rng = random.Random(seed)
    lost = 0
    taishi = RunningTaishi(folder / "home", "--no-story").wait_until_up()
    try:
        for n in range(rounds):
            load = Load(taishi.write, NAMESPACES, seed=seed + n).start()
            until(lambda load=load: len(load.acknowledged) > 60)
            load.stop()
            for namespace in NAMESPACES:
                taishi.settle(namespace)
            supervisor = taishi.process.pid
            os.kill(supervisor, signal.SIGSTOP)  # so that it starts no server before the file is cut
            taishi.kill("server")
            time.sleep(0.2)
            tail = max((taishi.home / "valkey" / "appendonlydir").glob("*.incr.aof"), key=lambda f: f.stat().st_mtime)
            appends = [found.start() for found in re.finditer(rb"message.recorded", tail.read_bytes())]
            os.truncate(tail, appends[-rng.randint(5, 40)])  # in the midst of it
            os.kill(supervisor, signal.SIGCONT)
            until_in_service(taishi, limit=30)
            gone = {key for key in load.acknowledged if key not in known(taishi, load)}
            assert gone, "the cut took nothing that was acknowledged"
            lost += len(gone)
            for key in load.acknowledged.keys() & gone:
                del load.acknowledged[key]
            load.tried -= gone
        scratch = folder / "judged"
        scratch.mkdir()
        return {**settle_and_judge(scratch, taishi, load), "lost with the tail": lost}
    finally:
        taishi.stop()


def known(taishi: RunningTaishi, load: Load) -> set[tuple[str, str]]:
    return {(e.namespace, e.event_id) for events in read_log(taishi.home, taishi.log_url).values() for e in events}


def until(done: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


FAULTS = {"stops": stops, "full_disk": full_disk, "clock_jumps": clock_jumps, "cut_tail": cut_tail}
PRELOADED = ("full_disk", "clock_jumps")


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--seed", type=int, default=int(time.time()))
    ap.add_argument("faults", nargs="*", default=list(FAULTS))
    args = ap.parse_args()
    print(f"seed {args.seed}", flush=True)
    for name in args.faults:
        with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
            print(name, FAULTS[name](Path(folder), rounds=args.rounds, seed=args.seed), flush=True)


if __name__ == "__main__":
    main()
