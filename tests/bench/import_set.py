"""Imports a set of `recall-data` form through the API and asks for every event again by its own words.

    python -P -m tests.bench.import_set FOLDER

Prints how long the import took, how many events were recalled (in the first ten) by their own text, and how many
answers were 5xx.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import tempfile
import time
from pathlib import Path

import httpx

from taishi.ingest.ids import derived_id
from tests.support.running import RunningTaishi


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder", type=Path)
    args = ap.parse_args()
    with gzip.open(args.folder / "events.jsonl.gz", "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    namespaces = sorted({event["namespace"] for event in events})
    codes: collections.Counter[int] = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="taishi-") as home:
        taishi = RunningTaishi(Path(home), "--no-story").wait_until_up()
        try:
            begun = time.monotonic()
            done = taishi.cli("import", str(args.folder / "events.jsonl.gz"), "--json")
            assert done.returncode == 0, done.stdout + done.stderr
            print(f"import: {time.monotonic() - begun:.1f} s, {' '.join(done.stdout.split())}")
            for namespace in namespaces:
                taishi.settle(namespace, seconds=300)
            print(f"settled after {time.monotonic() - begun:.1f} s")
            found, missed = 0, []
            with httpx.Client(base_url=taishi.read, timeout=60) as client:
                for event in events:
                    asked = {"namespace": event["namespace"], "query": event["text"][:2000], "limit": 10}
                    reply = client.post("/v1/recall", json=asked)
                    codes[reply.status_code] += 1
                    shown = {e["event_id"] for item in reply.json().get("items", []) for e in item["evidence"]}
                    if shown & _ids(event):
                        found += 1
                    else:
                        missed.append(event)
        finally:
            taishi.stop()
    for event in missed[:10]:
        print("missed:", event["namespace"], event["id"], repr(event["text"][:60]))
    print(f"{len(events)} events, {found} recalled by their own words; answers {dict(codes)}")


def _ids(event: dict[str, str]) -> set[str]:
    return {derived_id("import", event["namespace"], event["id"]), event["id"]}


if __name__ == "__main__":
    main()
