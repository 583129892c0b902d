"""Audit and archive of a whole Taishi, by its commands: sealed as it runs, verified, anchored, and caught altered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from taishi.projections.store import open_connection
from tests.support.running import RunningTaishi


def said(taishi: RunningTaishi, *arguments: str, code: int = 0) -> dict[str, Any]:
    told = taishi.cli(*arguments, "--json")
    assert told.returncode == code, told.stdout + told.stderr
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def tell(taishi: RunningTaishi, count: int, start: int = 0) -> None:
    events = [
        {"namespace": "ledger", "content": f"I moved to house number {start + n}", "session": f"s{n % 3}"}
        for n in range(count)
    ]
    reply = httpx.post(f"{taishi.write}/v1/events", json={"events": events}, timeout=30)
    assert reply.status_code == 202, reply.text


def test_sealed_verified_anchored_and_caught(tmp_path: Path) -> None:
    taishi = RunningTaishi(tmp_path / "home", "--no-story", embedder="hashed").wait_until_up()
    try:
        tell(taishi, 120)
        taishi.settle("ledger", seconds=60)
        reader = {"actor": {"id": "clerk"}, "session": "desk"}
        asked = {"namespace": "ledger", "query": "which house number did the user move to?", **reader}
        (first, *_) = httpx.post(f"{taishi.read}/v1/recall", json=asked, timeout=30).json()["items"]
        anchor = str(tmp_path / "heads.json")
        heads = said(taishi, "audit", "heads", "--export", anchor)
        sealed = said(taishi, "archive", "seal", "--keep", "40")
        (row,) = (p for p in sealed["partitions"] if p["sealed"])
        assert row["trimmed"] == row["sealed"] and row["stream_bytes"]["after"] < row["stream_bytes"]["before"] / 2

        tell(taishi, 30, start=120)
        taishi.settle("ledger", seconds=60)
        verdict = said(taishi, "audit", "verify", "--anchor", anchor, "--public-key", heads["public_key"])
        assert verdict["sound"] and verdict["entries"] > 300
        page = said(taishi, "audit", "-n", "ledger", "--type", "message.recorded", "--session", "s1", "--limit", "7")
        assert [e["session"] for e in page["events"]] == ["s1"] * 7 and page["next_cursor"]
        lines = tmp_path / "events.jsonl"
        exported = said(taishi, "audit", "-n", "ledger", "--export", str(lines))
        events = [json.loads(line) for line in lines.read_text().splitlines()]
        assert exported["exported"] == len(events)
        assert sum(e["type"] == "message.recorded" for e in events) == 150
        told = said(taishi, "explain", first["id"], "-n", "ledger")
        assert told["reads"][0]["reader"] == {"actor": "clerk"} and told["reads"][0]["session"] == "desk"

        caught(taishi, row["partition"], row["segments"][0])
    finally:
        taishi.stop()


def caught(taishi: RunningTaishi, partition: str, segment: str) -> None:
    """One bit of a checkpoint, of a segment; a lost segment: each named, and nothing once it is put right."""
    model = taishi.home / "models" / "g1" / f"claims-{partition}.db"
    connection = open_connection(model)
    chain = connection.execute("SELECT chain FROM checkpoint").get
    connection.execute("UPDATE checkpoint SET chain = ?", (bytes([chain[0] ^ 4, *chain[1:]]),))
    verdict = said(taishi, "audit", "verify", code=1)
    assert verdict["first"]["where"] == f"g1/{model.name}" and "chain value" in verdict["first"]["what"]
    connection.execute("UPDATE checkpoint SET chain = ?", (chain,))
    connection.close()

    path = taishi.home / "archive" / f"{segment}.seg"
    kept = path.read_bytes()
    path.write_bytes(kept[:900] + bytes([kept[900] ^ 1]) + kept[901:])
    verdict = said(taishi, "audit", "verify", code=1)
    assert verdict["first"]["where"] == segment and str(path) in verdict["first"]["what"]
    path.unlink()
    assert "is missing" in said(taishi, "archive", "list", code=1)["segments"][0]["damage"]
    path.write_bytes(kept)
    manifest = path.with_suffix(".json")
    aside = manifest.rename(manifest.with_suffix(".aside"))
    lost = said(taishi, "archive", "list", code=1)["segments"][0]
    assert lost == {"segment": segment, "damage": "a segment with these entries was lost"}
    aside.rename(manifest)
    assert said(taishi, "audit", "verify")["sound"]
