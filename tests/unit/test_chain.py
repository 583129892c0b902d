"""The hash chain: pinned, and sensitive to everything it covers."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from taishi.ingest.chain import GENESIS, link

ENTRY: dict[str, Any] = {
    "seq": 7,
    "event_id": "0198c0de-7a11-7000-8000-00000000002a",
    "appended_at": 1_772_000_000_000_000,
    "recorded_at": -5,
    "digest": hashlib.sha256(b"entry").digest(),
}


def test_the_chain_is_pinned() -> None:
    plain = (
        GENESIS
        + (7).to_bytes(8, "big")
        + bytes.fromhex("0198c0de7a117000800000000000002a")
        + (1_772_000_000_000_000).to_bytes(8, "big")
        + (-5).to_bytes(8, "big", signed=True)
        + ENTRY["digest"]
    )
    assert link(GENESIS, **ENTRY) == hashlib.sha256(plain).digest()


@pytest.mark.parametrize(
    "change",
    [
        {"seq": 8},
        {"event_id": "0198c0de-7a11-7000-8000-00000000002b"},
        {"appended_at": 1_772_000_000_000_001},
        {"recorded_at": -4},
        {"digest": hashlib.sha256(b"other").digest()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_part_counts(change: dict[str, Any]) -> None:
    assert link(GENESIS, **{**ENTRY, **change}) != link(GENESIS, **ENTRY)
    assert link(link(GENESIS, **ENTRY), **ENTRY) != link(GENESIS, **ENTRY)


def test_short_values_are_refused() -> None:
    with pytest.raises(ValueError):
        link(b"", **ENTRY)
    with pytest.raises(ValueError):
        link(GENESIS, **{**ENTRY, "digest": b"x"})
