"""The part of the log that the server holds: raw entries out of the streams, and taking away what was sealed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .entries import StoredEntry, parse_entry
from .envelope import Position
from .errors import LogDamaged, NotFound
from .stored_entries import Run
from .valkey_appends import PartitionKeys, fingerprint
from .valkey_link import command
from .valkey_server import CheckedServer


class EntryMissing(LogDamaged):
    """The stream lacks entry `seq`: it was trimmed, or removed."""

    def __init__(self, partition: int, seq: int) -> None:
        super().__init__(f"the log of partition {partition} has no entry {seq}: entries were removed")
        self.seq = seq


class ValkeyStream:
    """`StoredEntries` adapter over the streams of `keys`. Safe for threads and across fork."""

    def __init__(self, server: CheckedServer, keys: Sequence[PartitionKeys]) -> None:
        self._server: Final = server
        self._keys: Final = keys

    def run(self, partition: int, *, after: int, limit: int) -> Run:
        """As in the port; raises EntryMissing where the first entry is not there."""
        keys = self._keys[partition]
        with self._server.connection() as exchange:
            exchange.send(
                command(b"HGET", keys.meta, b"seq")
                + command(b"XRANGE", keys.log, b"%d-0" % (after + 1), b"+", b"COUNT", b"%d" % limit)
            )
            head, rows = int(exchange.reply() or 0), exchange.reply()
            if rows:
                exchange.confirm_written()
        if after > head:
            raise LogDamaged(f"partition {partition} ends at {head} but was read to {after}: the log was rolled back")
        entries: list[StoredEntry] = []
        try:
            for wanted, (entry_id, fields) in enumerate(rows, after + 1):
                if entry_id != b"%d-0" % wanted:
                    raise EntryMissing(partition, wanted)
                entries.append(parse_entry(partition, wanted, fields))
            if len(rows) < min(limit, head - after):
                raise EntryMissing(partition, after + len(rows) + 1)
        except LogDamaged:
            if not entries:
                raise
        return Run(head=head, entries=entries)

    def at(self, partition: int, seqs: Sequence[int]) -> list[StoredEntry]:
        keys = self._keys[partition]
        asked = [command(b"XRANGE", keys.log, b"%d-0" % seq, b"%d-0" % seq) for seq in seqs]
        head, *rows = self._server.ask_all([command(b"HGET", keys.meta, b"seq"), *asked])
        entries: list[StoredEntry] = []
        for seq, found in zip(seqs, rows, strict=True):
            if not found:
                if 0 < seq <= int(head or 0):
                    raise EntryMissing(partition, seq)
                raise NotFound(f"there is no event at {Position(partition, seq)}")
            entries.append(parse_entry(partition, seq, found[0][1]))
        return entries

    def head(self, partition: int) -> int:
        """Sequence number of the last entry that was appended, 0 if none."""
        return int(self._server.ask_all([command(b"HGET", self._keys[partition].meta, b"seq")])[0] or 0)

    def placed(self, partition: int, entries: Sequence[StoredEntry]) -> list[int | None]:
        """Where the index of event ids, which `append` keeps, places the events of these entries."""
        keys = self._keys[partition]
        prints = [fingerprint(entry.header["n"], entry.header["i"]) for entry in entries]
        found = self._server.ask_all([keys.asked_place(print_) for print_ in prints])
        return [None if seq is None else int(seq) for seq in found]

    def first(self, partition: int) -> int | None:
        """Sequence number of the oldest entry that is here."""
        return self.following(partition, 0)

    def following(self, partition: int, seq: int) -> int | None:
        """Sequence number of the oldest entry behind `seq`."""
        log = self._keys[partition].log
        (rows,) = self._server.ask_all([command(b"XRANGE", log, b"%d-0" % (seq + 1), b"+", b"COUNT", b"1")])
        return int(rows[0][0].split(b"-")[0]) if rows else None

    def sync(self) -> None:
        """Returns when all that was read from here survives a power cut, as far as the server can tell."""
        self._server.sync()

    def shrink(self) -> None:
        """Has the server's file written anew, without what was dropped."""
        self._server.shrink()

    def drop(self, partition: int, *, upto: int) -> int:
        """Takes entries up to `upto` out of the stream, for good. How many there were."""
        (count,) = self._server.ask_all(
            [command(b"XTRIM", self._keys[partition].log, b"MINID", b"=", b"%d-0" % (upto + 1))]
        )
        return int(count)

    def bytes_held(self, partition: int) -> int:
        """Memory of the stream's entries in the server."""
        (size,) = self._server.ask_all([command(b"MEMORY", b"USAGE", self._keys[partition].log, b"SAMPLES", b"0")])
        return int(size or 0)
