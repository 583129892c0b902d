"""Which servers an event is trusted to, and what the refusal says."""

from __future__ import annotations

import pytest

from taishi.ingest.errors import Unavailable, UnsafeServer
from taishi.ingest.server_checks import check_server, parse_info

GOOD = {"redis_version": "7.2.4", "aof_enabled": "1", "maxmemory_policy": "noeviction", "loading": "0"}


def test_good_servers_pass() -> None:
    traits = check_server(GOOD, durability="everysec")
    assert traits.version == (7, 2) and traits.has_waitaof
    old = check_server({**GOOD, "redis_version": "7.0.15"}, durability="everysec")
    assert not old.has_waitaof
    assert check_server({**GOOD, "redis_version": "10.0-rc1"}, durability="always").has_waitaof
    check_server({**GOOD, "redis_version": "7.0.15"}, durability="always", appendfsync="always")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"redis_version": "6.2.14"}, "7.0"),
        ({"redis_version": ""}, "7.0"),
        ({"redis_version": "unknown"}, "7.0"),
        ({"aof_enabled": "0"}, "appendonly yes"),
        ({"maxmemory_policy": "allkeys-lru"}, "maxmemory-policy noeviction"),
        ({"maxmemory_policy": "volatile-ttl"}, "maxmemory-policy noeviction"),
    ],
)
def test_unsafe_servers_are_told_what_to_change(change: dict[str, str], named: str) -> None:
    with pytest.raises(UnsafeServer, match=named):
        check_server({**GOOD, **change}, durability="everysec")


def test_always_needs_a_way_to_be_sure() -> None:
    for appendfsync in (None, "everysec", "no"):
        with pytest.raises(UnsafeServer, match="appendfsync always"):
            check_server({**GOOD, "redis_version": "7.0.15"}, durability="always", appendfsync=appendfsync)


def test_a_loading_server_is_not_called_unsafe() -> None:
    with pytest.raises(Unavailable):
        check_server({**GOOD, "aof_enabled": "0", "loading": "1"}, durability="everysec")
    with pytest.raises(Unavailable):
        check_server({**GOOD, "aof_enabled": "0", "async_loading": "0", "loading": "1"}, durability="always")


def test_info_is_read_line_by_line() -> None:
    reply = b"# Server\r\nredis_version:7.2.4\r\nexecutable:/a:b\r\n\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n"
    assert parse_info(reply) == {"redis_version": "7.2.4", "executable": "/a:b", "maxmemory_policy": "noeviction"}
