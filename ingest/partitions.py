"""Partitions: which stream a namespace lives in.

The mapping must never change: the number of partitions is fixed when the log is created and checked by every writer.
"""

from __future__ import annotations

import hashlib


def partition_of(namespace: str, partitions: int) -> int:
    """0 ≤ result < `partitions`; the same on every machine and in every process."""
    digest = hashlib.blake2b(namespace.encode(), digest_size=8, person=b"taishi.ns").digest()
    return int.from_bytes(digest, "big") % partitions
