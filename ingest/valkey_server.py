"""The server behind the log: checked before its use and after it failed, and asked whether what it said is durable."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, Final, Literal

from .errors import LogDamaged, Unavailable
from .server_checks import ServerTraits, check_server, parse_info
from .valkey_appends import PartitionKeys, wrong_partitions
from .valkey_link import Exchange, ValkeyLink, command, failure

_SCRIPT: Final = files(__package__).joinpath("append.lua").read_bytes()
SCRIPT_SHA: Final = hashlib.sha1(_SCRIPT, usedforsecurity=False).hexdigest().encode()
LOAD_SCRIPT: Final = command(b"SCRIPT", b"LOAD", _SCRIPT)
_FULL_INFO: Final = command(b"INFO", b"server") + command(b"INFO", b"memory") + command(b"INFO", b"persistence")


class CheckedServer:
    """Connections to a server that is safe for a log of `keys`' partitions. Safe for threads and across fork.

    Raises Unavailable, UnsafeServer, ConfigurationError (another number of partitions, wrong password).
    """

    def __init__(
        self,
        url: str,
        *,
        keys: Sequence[PartitionKeys],
        durability: Literal["everysec", "always"],
        floor: Callable[[int], int] | None = None,
    ) -> None:
        """`floor` tells how far a partition has reached at least."""
        self._link: Final = ValkeyLink(url)
        self._keys: Final = keys
        self._durability: Final[Literal["everysec", "always"]] = durability
        self._floor: Final = floor
        self._traits: ServerTraits | None = None

    def close(self) -> None:
        self._link.close()

    @contextmanager
    def connection(self) -> Iterator[Exchange]:
        """A connection to a server that was checked since it last failed."""
        try:
            with self._link.connection() as exchange:
                if self._traits is None:
                    self._traits = self._checked(exchange)
                yield exchange
        except Unavailable:
            self._traits = None
            raise

    def ask_all(self, requests: Sequence[bytes]) -> list[Any]:
        """Replies in one exchange. The first error raises."""
        with self.connection() as exchange:
            exchange.send(b"".join(requests))
            replies = exchange.replies(len(requests))
        for reply in replies:
            if isinstance(reply, Exception):
                raise failure(reply)
        return replies

    def confirm(self, exchange: Exchange, *, written_elsewhere: bool) -> None:
        """Returns when what this connection has written or been told is durable, as far as `durability` asks.

        WAITAOF looks at what its own connection wrote: where something may have been `written_elsewhere`, it is made
        to write.
        """
        if self._durability == "everysec":
            exchange.confirm_written()
        elif self._traits is not None and self._traits.has_waitaof:
            if written_elsewhere:
                exchange.send(command(b"HINCRBY", self._keys[0].meta, b"synced", b"1"))
                exchange.reply()
            exchange.confirm_synced()

    def sync(self) -> None:
        """Returns when what the server has taken is fsynced, or written where it cannot tell. Raises Unavailable."""
        with self.connection() as exchange:
            if self._traits is not None and self._traits.has_waitaof:
                exchange.send(command(b"HINCRBY", self._keys[0].meta, b"synced", b"1"))
                exchange.reply()
                exchange.confirm_synced()
            else:
                exchange.confirm_written()

    def shrink(self) -> None:
        """Has the append-only file written anew, in the background, without what was trimmed."""
        with self.connection() as exchange:
            exchange.send(command(b"BGREWRITEAOF"))
            exchange.replies(1)  # an error says that one is running already

    def _checked(self, exchange: Exchange) -> ServerTraits:
        exchange.send(_FULL_INFO)
        info = parse_info(b"\n".join(exchange.replies(3)))
        appendfsync = None
        if self._durability == "always":
            exchange.send(command(b"CONFIG", b"GET", b"appendfsync"))
            (reply,) = exchange.replies(1)
            appendfsync = reply[1].decode() if isinstance(reply, list) and len(reply) == 2 else None
        traits = check_server(info, durability=self._durability, appendfsync=appendfsync)
        wanted = b"%d" % len(self._keys)
        for keys in self._keys:
            if (created := _partitions_of(exchange, keys, wanted)) != wanted:
                raise wrong_partitions(created=int(created), wanted=len(self._keys))
            if self._floor is not None and (least := self._floor(keys.partition)):
                exchange.send(command(b"HGET", keys.meta, b"seq"))
                if (head := int(exchange.reply() or 0)) < least:
                    raise behind_archive(keys.partition, head, least)
        exchange.send(LOAD_SCRIPT)
        exchange.reply()
        return traits


def _partitions_of(exchange: Exchange, keys: PartitionKeys, wanted: bytes) -> bytes:
    """How many partitions the log was made with, which is written down where it is new. A log that is there is not
    written to: it can be read on a server whose disk is full."""
    ask = command(b"HGET", keys.meta, b"partitions")
    exchange.send(ask)
    replies = exchange.replies(1)
    if replies == [None]:
        exchange.send(command(b"HSETNX", keys.meta, b"partitions", wanted) + ask)
        replies = exchange.replies(2)
    for reply in replies:
        if isinstance(reply, Exception):
            raise failure(reply)
    created: bytes = replies[-1]
    return created


def behind_archive(partition: int, head: int, least: int) -> LogDamaged:
    return LogDamaged(
        f"partition {partition} ends at {head}, its archive at {least}: the server's log was rolled back or emptied; "
        "restore it"
    )
