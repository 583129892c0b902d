"""What a Redis or Valkey server must be like before an event is trusted to it.

Everything is read from INFO, which managed servers allow where they forbid CONFIG; only `durability = "always"` on a
server without WAITAOF needs to see `appendfsync`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from .errors import Unavailable, UnsafeServer
from .valkey_link import ValkeyLink

OLDEST: Final = (7, 0)
_WAITAOF_SINCE: Final = (7, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTraits:
    version: tuple[int, int]
    has_waitaof: bool


def parse_info(reply: bytes) -> Mapping[str, str]:
    """INFO's lines as a mapping."""
    lines = (line.partition(":") for line in reply.decode("utf-8", "replace").splitlines() if not line.startswith("#"))
    return {name: value for name, colon, value in lines if colon}


def unwritten(link: ValkeyLink) -> dict[str, str]:
    """What `readyz` tells of a server whose last write did not reach the disk, so that it takes no more; nothing
    where all is well. Raises Unavailable."""
    written = parse_info(link.ask(b"INFO", b"persistence")).get("aof_last_write_status", "ok")
    return {} if written == "ok" else {"log": "the server cannot write its append-only file: is the disk full?"}


def check_server(
    info: Mapping[str, str], *, durability: Literal["everysec", "always"], appendfsync: str | None = None
) -> ServerTraits:
    """`info` holds the sections server, memory and persistence.

    Raises UnsafeServer with what to change; Unavailable while the server is loading, when it says its AOF is off.
    """
    if info.get("loading", "0") != "0":
        raise Unavailable("the event log's server is still loading its data")
    text = info.get("redis_version", "")
    numbers = [int(part) if part.isdigit() else 0 for part in text.split(".")[:2]]
    version = (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)
    if version < OLDEST:
        raise UnsafeServer(f"the server is {text or 'of unknown version'}: upgrade it to Redis or Valkey 7.0 or later")
    if info.get("aof_enabled") != "1":
        raise UnsafeServer("the server has its append-only file off and would lose events: set `appendonly yes`")
    policy = info.get("maxmemory_policy", "unknown")
    if policy != "noeviction":
        raise UnsafeServer(f"the server evicts data (maxmemory-policy {policy}): set `maxmemory-policy noeviction`")
    traits = ServerTraits(version=version, has_waitaof=version >= _WAITAOF_SINCE)
    if durability == "always" and not traits.has_waitaof and appendfsync != "always":
        raise UnsafeServer("durability `always` needs a server with WAITAOF (7.2): upgrade, or `appendfsync always`")
    return traits
