"""How much memory the log's server takes, and how much it may take."""

from __future__ import annotations

from typing import NamedTuple

from .valkey_link import ValkeyLink


class ServerMemory(NamedTuple):
    """Bytes. `limit` is the server's `maxmemory`, else the memory of its machine; 0 where neither is told."""

    used: int
    limit: int


def server_memory(link: ValkeyLink) -> ServerMemory:
    """Raises Unavailable."""
    text: bytes = link.ask(b"INFO", b"memory")
    told = dict(line.split(b":", 1) for line in text.splitlines() if b":" in line)
    limit = int(told.get(b"maxmemory", 0)) or int(told.get(b"total_system_memory", 0))
    return ServerMemory(int(told.get(b"used_memory", 0)), limit)
