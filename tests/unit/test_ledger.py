"""The tombstone ledger: durable, append-only in fact, shared by processes, healed after a crash."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import orjson
import pytest

from taishi.ingest.errors import LogDamaged
from taishi.ingest.ledger import Ledger, LedgerEntry
from tests.support.history import History

SECRET = b"s" * 32


def entry(seq: int, partition: int = 0) -> LedgerEntry:
    return LedgerEntry(
        namespace="n", partition=partition, seq=seq, kind="claim", claims=(("c" * 32, seq - 1),),
        events=(("e" * 36, seq - 1),), keys=(seq,), at=seq * 1_000_000,
    )  # fmt: skip


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "keys" / "ledger.jsonl", SECRET)


def test_entries_come_back_once_each(ledger: Ledger) -> None:
    assert ledger.entries() == () and not ledger.exists()
    assert ledger.append(entry(3), entry(5)) == 2
    assert ledger.append(entry(5), entry(5, partition=1), entry(3)) == 1
    assert list(ledger.entries()) == [entry(3), entry(5), entry(5, partition=1)]
    assert Ledger(ledger.path, SECRET).append(entry(3), entry(9)) == 1
    assert ledger.append(entry(9)) == 0, "what another one wrote is known"
    assert ledger.path.stat().st_mode & 0o777 == 0o600
    lines = [orjson.loads(line) for line in ledger.path.read_bytes().splitlines()]
    named = {"namespace", "partition", "seq", "kind", "claims", "events", "keys", "at", "mac"}
    assert set(lines[0]) == {*named, "upto", "values", "subjects"}
    assert lines[0]["claims"] == [["c" * 32, 2]] and entry(3).position.seq == 3


def test_a_tombstone_becomes_an_entry_without_a_word() -> None:
    history = History()
    claim = history.claim("user", "likes", "tea")
    tombstone = history.forget(claim)
    made = LedgerEntry.of(tombstone)
    assert (made.seq, made.kind, made.keys) == (2, "claim", (1,))
    assert made.events == ((claim.event_id, 1),) and "tea" not in repr(made)


def test_a_torn_line_is_cut_off(ledger: Ledger) -> None:
    ledger.append(entry(3), entry(5))
    whole = ledger.path.read_bytes()
    for cut in (1, 40, len(whole.splitlines()[1]) - 1):
        ledger.path.write_bytes(whole[:-cut])
        fresh = Ledger(ledger.path, SECRET)
        assert list(fresh.entries()) == [entry(3)]
        assert fresh.append(entry(5)) == 1 and ledger.path.read_bytes() == whole
    assert ledger.append(entry(7)) == 1 and len(ledger.entries()) == 3


@pytest.mark.parametrize("damage", ["altered", "removed", "swapped", "added", "nonsense", "array"])
def test_tampering_shows(ledger: Ledger, damage: str) -> None:
    ledger.append(entry(3), entry(5), entry(7))
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    changed = {
        "altered": [lines[0].replace(b'"n"', b'"m"'), *lines[1:]],
        "removed": [lines[0], lines[2]],
        "swapped": [lines[1], lines[0], lines[2]],
        "added": [*lines, lines[0]],
        "nonsense": [*lines, b"nonsense\n"],
        "array": [*lines, b"[1]\n"],
    }[damage]
    ledger.path.write_bytes(b"".join(changed))
    for broken in (Ledger(ledger.path, SECRET).entries, lambda: Ledger(ledger.path, SECRET).append(entry(9))):
        with pytest.raises(LogDamaged):
            broken()
    ledger.path.write_bytes(b"".join(lines))
    with pytest.raises(LogDamaged):
        Ledger(ledger.path, b"t" * 32).entries()


def _append(path: Path, partition: int) -> None:
    ledger = Ledger(path, SECRET)
    for seq in range(1, 40):
        ledger.append(entry(seq, partition), entry(seq, 9))


def test_many_processes_append(ledger: Ledger) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_append, args=(ledger.path, p)) for p in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = ledger.entries()
    assert len(found) == len({(e.partition, e.seq) for e in found}) == 4 * 39
