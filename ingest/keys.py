"""The key store's port: one data key per event, and the deployment's own secrets.

Keys are minted in blocks, each block durable before its first key is used, so that the hot path commits nothing. A
destroyed key leaves its row, marked; a row that is missing is damage, not erasure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol


class KeyStore(Protocol):
    def take(self, count: int) -> Sequence[tuple[int, bytes]]:
        """`count` fresh (key_id, 32-byte key) pairs, durable, never given to anyone else."""
        ...

    def keys(self, key_ids: Collection[int]) -> Mapping[int, bytes | None]:
        """Keys by id; None where destroyed; absent where there is no row."""
        ...

    def destroy(self, key_ids: Collection[int], *, at: int) -> int:
        """Overwrites keys, durably, before it returns. How many were alive. `at` is an instant."""
        ...

    def secret(self, name: str) -> bytes:
        """A 32-byte secret of this deployment (`fingerprint`, `ledger`), minted at first use."""
        ...
