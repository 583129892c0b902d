"""Partitions: which stream a namespace lives in.

The mapping must never change: the number of partitions is fixed when the log is created and checked by every writer.
"""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import count


def partition_of(namespace: str, partitions: int) -> int:
    """0 ≤ result < `partitions`; the same on every machine and in every process."""
    digest = hashlib.blake2b(namespace.encode(), digest_size=8, person=b"taishi.ns").digest()
    return int.from_bytes(digest, "big") % partitions


@cache
def system_namespace(partition: int, partitions: int) -> str:
    """The namespace of what Taishi tells about itself in that partition. It begins with a control character, which no
    caller's namespace may hold."""
    names = (f"\x01taishi {number}" for number in count())
    return next(name for name in names if partition_of(name, partitions) == partition)
