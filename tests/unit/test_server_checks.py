"""Which servers an event is trusted to, and what the refusal says."""

from __future__ import annotations

import pytest

from taishi.ingest.errors import Unavailable, UnsafeServer
from taishi.ingest.server_checks import check_server, parse_info, unwritten
from taishi.ingest.valkey_link import ValkeyLink

GOOD = {"redis_version": "7.2.4", "aof_enabled": "1", "maxmemory_policy": "noeviction", "loading": "0"}


def test_good_servers_pass() -> None:
    traits = check_server(GOOD, durability="everysec")
    assert traits.version == (7, 2) and traits.has_waitaof
    old = check_server({**GOOD, "redis_version": "7.0.15"}, durability="everysec")
    assert not old.has_waitaof
    assert check_server({**GOOD, "redis_version": "10.0-rc1"}, durability="always").has_waitaof
    check_server({**GOOD, "redis_version": "7.0.15"}, durability="always", appendfsync="always")


@pytest.mark.parametrize(("status", "wrong"), [(b"ok", []), (b"err", ["log"])])
def test_a_server_that_does_not_get_its_file_written_says_so(status: bytes, wrong: list[str]) -> None:
    class Link(ValkeyLink):
        def ask(self, *words: bytes) -> bytes:
            assert words == (b"INFO", b"persistence")
            return b"# Persistence\r\naof_enabled:1\r\naof_last_write_status:%s\r\n" % status

    assert list(unwritten(Link("redis://127.0.0.1:1"))) == wrong


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
