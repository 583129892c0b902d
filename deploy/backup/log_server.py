"""The log's server for a command that works beside, or instead of, a running Taishi."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from taishi.ingest.errors import NotFound

from ..server import DirectoryLock, EmbeddedServer, find_binary
from ..settings import Settings

_LOADING_SECONDS: Final = 600.0
_STOP_SECONDS: Final = 60.0


@contextmanager
def reached_server(settings: Settings) -> Iterator[Settings]:
    """Settings that name a server which answers: the one that is configured, the one that `taishi up` runs on this
    home, else one that runs for as long as the block does. Raises NotFound where the home holds no log."""
    if settings.redis_url is not None:
        yield settings
        return
    server = _embedded(settings)
    if server.answers():
        yield settings.model_copy(update={"redis_url": server.url})
        return
    if not server.directory.exists():
        raise NotFound(f"there is no log in {settings.home}: `taishi up` makes one")
    with own_server(settings) as named:
        yield named


@contextmanager
def own_server(settings: Settings) -> Iterator[Settings]:
    """A server over this home for this block alone, unless one is configured. Raises ConfigurationError where Taishi
    runs on the home."""
    lock = DirectoryLock(settings.home)
    try:
        if settings.redis_url is not None:
            yield settings
            return
        server = _embedded(settings)
        server.prepare()
        held = DirectoryLock(server.directory, seconds=10)
        settings.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (settings.logs / "server.log").open("ab") as output:
            process = subprocess.Popen(server.command(), stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        try:
            server.wait(seconds=_LOADING_SECONDS)
            yield settings.model_copy(update={"redis_url": server.url})
        finally:
            process.terminate()
            process.wait(timeout=_STOP_SECONDS)
            server.clear()
            held.release()
    finally:
        lock.release()


def _embedded(settings: Settings) -> EmbeddedServer:
    return EmbeddedServer(
        binary=find_binary().path, directory=settings.home / "valkey", durability=settings.durability
    )
