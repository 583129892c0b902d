"""Entries as they are stored, bodies still sealed: what the log opens, the archive seals and the audit walks.

Adapters: `valkey_stream` (what the server holds) and `archived_log` (sealed segments and the server's tail as one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .entries import StoredEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Entries in a row. `head` is the partition's last sequence number when they were read."""

    head: int
    entries: Sequence[StoredEntry]


class StoredEntries(Protocol):
    def run(self, partition: int, *, after: int, limit: int) -> Run:
        """Up to `limit` entries with seq > `after`, contiguous, oldest first, digests verified.

        What stands before a damaged entry is returned; LogDamaged where the very first is missing or damaged.
        """
        ...

    def at(self, partition: int, seqs: Sequence[int]) -> Sequence[StoredEntry]:
        """The entries at these places. Raises NotFound beyond the head, LogDamaged where one is missing or damaged."""
        ...
