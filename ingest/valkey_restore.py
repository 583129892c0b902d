"""Putting a log back: entries as they once stood, under their own positions and times, into a server that has none.

Everything beside the streams follows from the entries (see `valkey_log` for the keys): dedup memory from their ids, the
namespaces' heads and last recorded times, counters, and the erased set from the tombstones among them. A batch enters
in one transaction, so that a restore that was cut short goes on behind the last entry that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from .entries import StoredEntry
from .envelope import FORGETTING_TYPES, RAW_TYPES, UNORDERED_TYPES
from .errors import LogDamaged
from .stored_entries import StoredEntries
from .valkey_appends import PartitionKeys, fingerprint
from .valkey_link import command, failure
from .valkey_server import CheckedServer
from .valkey_stream import ValkeyStream


class ValkeyRestore:
    """For one process that has the server to itself: nobody else may write to the log meanwhile.

    Raises Unavailable, UnsafeServer, ConfigurationError (another number of partitions).
    """

    def __init__(self, url: str, *, partitions: int, durability: Literal["everysec", "always"] = "everysec") -> None:
        self._keys: Final = [PartitionKeys(i) for i in range(partitions)]
        self._server: Final = CheckedServer(url, keys=self._keys, durability=durability)
        self._spaces: dict[int, dict[bytes, tuple[int, int, int | None]]] = {}

    @property
    def stored(self) -> StoredEntries:
        return ValkeyStream(self._server, self._keys)

    def close(self) -> None:
        self._server.close()

    def head(self, partition: int) -> int:
        return int(self._server.ask_all([command(b"HGET", self._keys[partition].meta, b"seq")])[0] or 0)

    def append(self, partition: int, entries: Sequence[StoredEntry]) -> None:
        """Entries that follow the partition's head, durable when it returns. Raises LogDamaged where they do not."""
        keys, spaces = self._keys[partition], self._namespaces(partition)
        head = self.head(partition)
        if [entry.position.seq for entry in entries] != list(range(head + 1, head + 1 + len(entries))):
            raise LogDamaged(f"partition {partition} ends at {head}: what is put back does not follow")
        requests = [command(b"MULTI")]
        changed: dict[bytes, tuple[int, int, int | None]] = {}
        for entry in entries:
            seq, header = entry.position.seq, entry.header
            given = (b"r", b"%d" % entry.recorded_at) if entry.imported else ()
            requests.append(
                command(
                    b"XADD", keys.log, b"%d-0" % seq, b"h", entry.raw_header, b"b", entry.sealed, b"d", entry.digest,
                    b"t", b"%d" % entry.appended_at, *given,
                )
            )  # fmt: skip
            print_ = fingerprint(header["n"], header["i"])
            requests.append(command(b"HSET", keys.bucket(print_), print_, b"%d" % seq))
            name = header["n"].encode()
            changed[name] = _after(changed.get(name) or spaces.get(name), entry)
            if header["y"] in FORGETTING_TYPES and (gone := [i for i, _ in header["f"]["events"]]):
                requests.append(command(b"SADD", keys.erased, *(fingerprint(header["n"], i) for i in gone)))
        for name, (last, raw, recorded) in changed.items():
            row = b"%d %d %b" % (last, raw, b"" if recorded is None else b"%d" % recorded)
            requests.append(command(b"HSET", keys.namespaces, name, row))
        newest = entries[-1]
        requests.append(
            command(
                b"HSET", keys.meta, b"seq", b"%d" % newest.position.seq, b"at", b"%d" % newest.appended_at,
                b"partitions", b"%d" % len(self._keys),
            )
        )  # fmt: skip
        requests.append(command(b"EXEC"))
        self._transact(requests)
        spaces |= changed

    def _transact(self, requests: Sequence[bytes]) -> None:
        with self._server.connection() as exchange:
            exchange.send(b"".join(requests))
            *_, done = exchange.replies(len(requests))
            if isinstance(done, Exception):
                raise failure(done)
            for one in done:
                if isinstance(one, Exception):
                    raise failure(one)
            self._server.confirm(exchange, written_elsewhere=False)

    def _namespaces(self, partition: int) -> dict[bytes, tuple[int, int, int | None]]:
        """Of each namespace its last sequence number, that of its last raw event, its last ordered recorded time."""
        known = self._spaces.get(partition)
        if known is None:
            (flat,) = self._server.ask_all([command(b"HGETALL", self._keys[partition].namespaces)])
            known = self._spaces[partition] = {name: _row(row) for name, row in zip(flat[::2], flat[1::2], strict=True)}
        return known


def _row(row: Any) -> tuple[int, int, int | None]:
    last, raw, recorded = row.split(b" ")
    return int(last), int(raw), int(recorded) if recorded else None


def _after(before: tuple[int, int, int | None] | None, entry: StoredEntry) -> tuple[int, int, int | None]:
    """As `append.lua` has it."""
    _, raw, recorded = before or (0, 0, None)
    if entry.header["y"] in RAW_TYPES:
        raw = entry.position.seq
    if entry.header["y"] not in UNORDERED_TYPES:
        recorded = entry.recorded_at
    return entry.position.seq, raw, recorded
