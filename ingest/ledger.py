"""The tombstone ledger: what was forgotten, once more, in a file beside the key store.

The log already holds every tombstone. The ledger is for the case that the log itself is replaced by an older copy: a
restore reads here what has to stay forgotten. One JSON line per tombstone, ids and numbers only, never a word. Each
line's `mac` is HMAC-SHA-256 under the key store's `ledger` secret over the line before it and this line, so that no
line can be altered, added or taken out of the middle unseen. A line is fsynced before a forget is acknowledged; one
that a crash tore is cut off at the next append. The keeper adds what a dying command left out, and writes the whole
file anew from the log where it is lost.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

import orjson

from .crashpoints import reach
from .durable_files import sync
from .envelope import Event, Position
from .errors import LogDamaged

_FIRST: Final = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A tombstone. `claims` and `events` are (id, sequence number), `keys` the ids of the destroyed data keys, `at` the
    instant it was recorded. `values` (slot, value, negates) and `subjects` are keyed fingerprints of what must not be
    read from words said at or before `upto` any more."""

    namespace: str
    partition: int
    seq: int
    kind: str
    claims: tuple[tuple[str, int], ...]
    events: tuple[tuple[str, int], ...]
    keys: tuple[int, ...]
    at: int
    upto: int = 0
    values: tuple[tuple[str, str, bool], ...] = ()
    subjects: tuple[str, ...] = ()

    @classmethod
    def of(cls, tombstone: Event) -> Self:
        """The entry of a `claim.forgotten` or `scope.forgotten` as it stands in the log."""
        return cls.of_facts(
            tombstone.facts, namespace=tombstone.namespace, position=tombstone.position, at=tombstone.recorded_at
        )

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], *, namespace: str, position: Position, at: int) -> Self:
        """The same, of a tombstone that was not opened."""
        place = {"namespace": namespace, "partition": position.partition, "seq": position.seq, "at": at}
        return cls.read({**facts, **place})

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        return cls(
            namespace=given["namespace"], partition=given["partition"], seq=given["seq"], kind=given["kind"],
            claims=tuple((i, seq) for i, seq in given["claims"]), events=tuple((i, seq) for i, seq in given["events"]),
            keys=tuple(given["keys"]), at=given["at"], upto=given.get("upto", 0),
            values=tuple((slot, value, bool(negates)) for slot, value, negates in given.get("values", ())),
            subjects=tuple(given.get("subjects", ())),
        )  # fmt: skip

    @property
    def position(self) -> Position:
        return Position(self.partition, self.seq)


class Ledger:
    """Safe for many threads and processes: whoever appends holds the file's lock. `path` need not exist yet."""

    def __init__(self, path: Path, secret: bytes) -> None:
        self.path: Final = path
        self._secret: Final = secret
        self._lock: Final = threading.Lock()
        self._inode = 0
        self._offset = 0
        self._mac = _FIRST
        self._known: set[tuple[int, int]] = set()

    def exists(self) -> bool:
        return self.path.exists()

    def append(self, *entries: LedgerEntry) -> int:
        """Durable when it returns. Entries whose (partition, seq) is there already are passed over. How many were new.

        Raises LogDamaged where the file was tampered with.
        """
        with self._lock, self._locked() as file:
            self._catch_up(file)
            new, mac, lines = set[tuple[int, int]](), self._mac, b""
            for entry in entries:
                place = (entry.partition, entry.seq)
                if place in self._known or place in new:
                    continue
                line, mac = _line(entry, self._secret, mac)
                lines += line
                new.add(place)
            if lines:
                file.write(lines)
                file.flush()
                reach("ledgered")
                os.fsync(file.fileno())
                self._offset, self._mac = self._offset + len(lines), mac
                self._known |= new
        return len(new)

    def entries(self) -> Sequence[LedgerEntry]:
        """Every entry, oldest first, verified; none where there is no file. Raises LogDamaged."""
        if not self.exists():
            return ()
        found: list[LedgerEntry] = []
        mac = _FIRST
        for line in _whole_lines(self.path.read_bytes()):
            entry, mac = _verified(line, self._secret, mac)
            found.append(entry)
        return found

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = not self.path.exists()
        with os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if fresh:
                sync(self.path.parent)
            yield file

    def _catch_up(self, file: BinaryIO) -> None:
        """Reads, verifies and remembers what others appended, and cuts off a torn line."""
        status = os.fstat(file.fileno())
        if status.st_ino != self._inode or status.st_size < self._offset:
            self._inode, self._offset, self._mac, self._known = status.st_ino, 0, _FIRST, set()
        file.seek(self._offset)
        for line in _whole_lines(file.read()):
            entry, self._mac = _verified(line, self._secret, self._mac)
            self._known.add((entry.partition, entry.seq))
            self._offset += len(line)
        file.seek(self._offset)
        if os.fstat(file.fileno()).st_size > self._offset:
            file.truncate()


def _mac(secret: bytes, before: str, entry: bytes) -> str:
    return hmac.new(secret, before.encode() + entry, hashlib.sha256).hexdigest()


def _line(entry: LedgerEntry, secret: bytes, before: str) -> tuple[bytes, str]:
    """The entry as it is written, and its mac."""
    content = asdict(entry)
    mac = _mac(secret, before, orjson.dumps(content, option=orjson.OPT_SORT_KEYS))
    return orjson.dumps({**content, "mac": mac}) + b"\n", mac


def _verified(line: bytes, secret: bytes, before: str) -> tuple[LedgerEntry, str]:
    try:
        content = orjson.loads(line)
        given = content.pop("mac")
        mac = _mac(secret, before, orjson.dumps(content, option=orjson.OPT_SORT_KEYS))
        if hmac.compare_digest(given, mac):
            return LedgerEntry.read(content), mac
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise LogDamaged("the tombstone ledger was altered, or is another deployment's: a line does not follow the last")


def _whole_lines(content: bytes) -> list[bytes]:
    """Without what follows the last line's end: a write that a crash cut short was never acknowledged."""
    return content[: content.rfind(b"\n") + 1].splitlines(keepends=True)
