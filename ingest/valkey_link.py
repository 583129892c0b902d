"""The wire to a Redis or Valkey server: requests out, replies in, every failure as one of ours.

The protocol is pinned to RESP 2 and replies stay bytes, so that their shape does not depend on the client library's
version. Nothing is retried here: who sends an append again gets the first one's positions, by its event ids.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from redis import exceptions
from redis.backoff import NoBackoff
from redis.connection import Connection, ConnectionPool
from redis.retry import Retry

from .errors import ConfigurationError, LogDamaged, TaishiError, Unavailable

ANSWER_SECONDS: Final = 10.0
_CONNECT_SECONDS: Final = 2.0
_WRITTEN_SECONDS: Final = 5.0
_WRITTEN_POLL: Final = 0.001

Reply = Any
"""bytes, int, None, a list of replies, or a ResponseError in its place."""


def command(*words: bytes) -> bytes:
    """One command in RESP."""
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


_PERSISTENCE: Final = command(b"INFO", b"persistence")


_PASSING: Final = frozenset(
    {"OOM", "MISCONF", "READONLY", "LOADING", "BUSY", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"}
)
"""Codes of errors that pass without our doing."""


def failure(problem: Exception) -> TaishiError:
    """`problem` as one of our errors. Messages tell the kind of failure, never what was sent."""
    if isinstance(problem, exceptions.AuthenticationError | exceptions.NoPermissionError):
        return ConfigurationError("the event log's server refuses the URL's user or password, or their rights")
    if isinstance(problem, exceptions.TimeoutError):
        return Unavailable("the event log's server did not answer in time")
    if isinstance(problem, exceptions.BusyLoadingError):
        return Unavailable("the event log's server is still loading its data")
    if isinstance(problem, exceptions.OutOfMemoryError):
        return Unavailable("the event log's server is out of memory: raise its maxmemory", retry_after=5)
    if isinstance(problem, exceptions.ReadOnlyError):
        return Unavailable("the event log's server is a read-only replica: name the primary")
    if isinstance(problem, exceptions.ResponseError):
        code = str(problem).split(" ", 1)[0]
        if code in _PASSING or isinstance(problem, exceptions.ClusterDownError | exceptions.TryAgainError):
            return Unavailable(f"the event log's server takes no writes at present ({code})")
        return LogDamaged(f"the event log's keys are not as the log writes them ({code if code.isupper() else 'ERR'})")
    return Unavailable("the event log's server cannot be reached")


class ValkeyLink:
    """A pool of connections. Safe for threads and across fork. `url` is redis://, rediss:// or unix://."""

    def __init__(self, url: str) -> None:
        settings: dict[str, Any] = {
            "protocol": 2,
            "decode_responses": False,
            "socket_connect_timeout": _CONNECT_SECONDS,
            "socket_timeout": ANSWER_SECONDS,
            "retry": Retry(NoBackoff(), 0),
        }
        if url.startswith("unix:"):
            del settings["socket_connect_timeout"]
        try:
            self._pool: Final[ConnectionPool] = ConnectionPool.from_url(url, **settings)
        except ValueError:
            raise ConfigurationError("the event log's URL must begin with redis://, rediss:// or unix://") from None

    def close(self) -> None:
        self._pool.disconnect()

    @contextmanager
    def connection(self) -> Iterator[Exchange]:
        """One connection to ourselves. It is dropped, not reused, when the block fails."""
        try:
            connection: Connection = self._pool.get_connection()
        except (exceptions.RedisError, OSError) as problem:
            raise failure(problem) from problem
        clean = False
        try:
            yield Exchange(connection)
            clean = True
        except (exceptions.RedisError, OSError) as problem:
            raise failure(problem) from problem
        finally:
            if not clean:
                connection.disconnect()  # type: ignore[no-untyped-call]
            self._pool.release(connection)

    def ask(self, *words: bytes) -> Reply:
        """One command, its reply; an error reply raises."""
        with self.connection() as exchange:
            exchange.send(command(*words))
            return exchange.reply()


class Exchange:
    """Requests and their replies on one connection, in order. Every request that was sent must have its reply read."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, packed: bytes) -> None:
        self._connection.send_packed_command([packed], check_health=False)  # type: ignore[no-untyped-call]

    def reply(self) -> Reply:
        """The next reply. Raises ResponseError where it is an error."""
        return self._connection.read_response(disable_decoding=True)

    def replies(self, count: int) -> list[Reply]:
        """The next replies; an error reply stands in its place."""
        found: list[Reply] = []
        for _ in range(count):
            try:
                found.append(self.reply())
            except exceptions.ResponseError as problem:
                found.append(problem)
        return found

    def confirm_written(self) -> None:
        """Returns when everything this connection has seen is in the server's AOF file (write(2), not fsync).

        With `appendfsync everysec` the server writes its AOF buffer before it answers, except while a background fsync
        is running: then it answers first and writes up to two seconds later. A server killed in between loses what it
        acknowledged. `aof_buffer_length` is what it has not written yet, so a zero *in a later round trip* (INFO sent
        together with the append would run before the write) says that the append survives kill -9. A failed write
        leaves the buffer filled or `aof_last_write_status` at `err`. Raises Unavailable when it does not clear.
        """
        deadline = time.monotonic() + _WRITTEN_SECONDS
        while True:
            self.send(_PERSISTENCE)
            info = self.reply()
            if b"\naof_buffer_length:0\r" in info and b"\naof_last_write_status:ok\r" in info:
                return
            if time.monotonic() > deadline:
                raise Unavailable("the event log's server does not get its append-only file written", retry_after=5)
            time.sleep(_WRITTEN_POLL)

    def confirm_synced(self) -> None:
        """Returns when this connection's writes are fsynced. The server must have WAITAOF."""
        self.send(command(b"WAITAOF", b"1", b"0", b"%d" % int(_WRITTEN_SECONDS * 1000)))
        (reply,) = self.replies(1)
        if not isinstance(reply, list) or reply[0] < 1:
            raise Unavailable("the event log's server does not get its append-only file synced", retry_after=5)

