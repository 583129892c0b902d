"""One batch on its way into the log: checked, sealed, put in `append.lua`'s words, and the script's answer understood.

Nothing here touches a socket. Error fields count events as the caller numbered them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from . import ids
from .crypto import NO_KEY
from .entries import Sealed, same_words, seal_event, similar
from .envelope import RAW_TYPES, UNORDERED_TYPES, Event, Position
from .errors import (
    ConfigurationError,
    EventIdConflict,
    EvidenceErased,
    Gone,
    InvalidInput,
    LogDamaged,
    RecordedBehind,
    TaishiError,
    WrongExpectedVersion,
)
from .instants import render
from .log import ANY_VERSION, NO_STREAM, STREAM_EXISTS, Appended, Batch, Recorded
from .valkey_link import command

BUCKETS: Final = 8192
"""Dedup hashes per partition: with the server's default of 512 listpack entries, compact up to four million events."""
_EXPECTED: Final[Mapping[str, bytes]] = {ANY_VERSION: b"any", NO_STREAM: b"none", STREAM_EXISTS: b"some"}
_EXACT: Final = 2**53
"""Lua counts in doubles: times beyond ± this many microseconds (years 1684 to 2255) lose their last digits."""
_EVENT: Final = b"$16\r\n%b\r\n$%d\r\n%b\r\n$%d\r\n%b\r\n$%d\r\n%b\r\n$32\r\n%b\r\n"


class PartitionKeys:
    """The names of one partition's keys. They share a hash tag: one slot of a cluster."""

    def __init__(self, partition: int) -> None:
        base = b"taishi:{p%d}:" % partition
        self.partition: Final = partition
        self.log: Final = base + b"log"
        self.meta: Final = base + b"meta"
        self.namespaces: Final = base + b"ns"
        self.erased: Final = base + b"erased"
        self.bucket_prefix: Final = base + b"ids:"

    def bucket(self, fingerprint: bytes) -> bytes:
        """As `append.lua` has it."""
        return b"%b%d" % (self.bucket_prefix, (fingerprint[0] % (BUCKETS >> 8)) * 256 + fingerprint[1])

    def asked_place(self, fingerprint: bytes) -> bytes:
        """The command, in RESP, whose reply is the sequence number of the event with this fingerprint."""
        bucket = self.bucket(fingerprint)
        return b"*3\r\n$4\r\nHGET\r\n$%d\r\n%b\r\n$16\r\n%b\r\n" % (len(bucket), bucket, fingerprint)


def fingerprint(namespace: str, event_id: str) -> bytes:
    """16 bytes that stand for an event id of a namespace in the dedup buckets and the erased set."""
    return hashlib.blake2b(f"{namespace}\0{event_id}".encode(), digest_size=16).digest()


class Submission:
    """A batch, and what is known of it so far.

    It is sent with `request` and judged with `answer`; events that the log knows already are settled one by one, and
    what is then still open is sent again.
    """

    def __init__(self, batch: Batch, *, keys: PartitionKeys, partitions: int) -> None:
        """Raises InvalidInput, EventIdConflict."""
        self._batch: Final = batch
        self._keys: Final = keys
        self._partitions: Final = partitions
        self._events: Final = batch.events
        self._sealed: dict[int, Sealed] = {}
        self._recorded: dict[int, Recorded] = {}
        self._twins: Final[dict[int, int]] = {}
        self._prints: Final = [fingerprint(batch.namespace, event.event_id) for event in batch.events]
        self._open: list[int] = []
        self._check()

    @property
    def keys(self) -> PartitionKeys:
        return self._keys

    @property
    def open_events(self) -> int:
        return len(self._open)

    def _check(self) -> None:
        if self._batch.guard is not None and not ids.is_canonical(self._batch.guard):
            raise InvalidInput("a guard must be an event id: a UUID in lower case", field="guard")
        first: dict[str, int] = {}
        for i, event in enumerate(self._events):
            if event.namespace != self._batch.namespace:
                raise InvalidInput("events of one request have one namespace", field=f"events.{i}.namespace")
            if not ids.is_canonical(event.event_id):
                raise InvalidInput("an event id must be a UUID in lower case", field=f"events.{i}.event_id")
            if event.recorded_at is not None and abs(event.recorded_at) >= _EXACT:
                raise InvalidInput("the time is out of range", field=f"events.{i}.recorded_at")
            for name, others in (("evidence", event.evidence), ("erases", event.erases)):
                if not all(map(ids.is_canonical, others)):
                    raise InvalidInput("an event id must be a UUID in lower case", field=f"events.{i}.{name}")
            twin = first.setdefault(event.event_id, i)
            if twin == i:
                self._open.append(i)
            elif similar(self._events[twin], event):
                self._twins[i] = twin
            else:
                raise _id_conflict(i)

    def seal(self, given: Iterator[tuple[int, bytes]] | None, nonces: Iterator[bytes]) -> None:
        """Does nothing when it was done before. `given` are fresh keys, None for open bodies.

        Raises InvalidInput for what is no JSON.
        """
        if self._sealed:
            return
        for i in self._open:
            key_id, key = (NO_KEY, None) if given is None else next(given)
            try:
                self._sealed[i] = seal_event(self._events[i], key_id=key_id, key=key, nonce=next(nonces))
            except (TypeError, UnicodeEncodeError):
                raise InvalidInput("the event cannot be written as JSON", field=f"events.{i}") from None

    def request(self, script: bytes) -> bytes:
        """The EVALSHA of what is still open, in RESP."""
        keys, batch, prints = self._keys, self._batch, self._prints
        guard = b"" if batch.guard is None else fingerprint(batch.namespace, batch.guard)
        expected = _EXPECTED.get(batch.expected) if isinstance(batch.expected, str) else b"%d" % batch.expected
        if expected is None:
            raise InvalidInput("the expected version is not one of any_version, no_stream, stream_exists or a number")
        pairs: list[bytes] = []
        erases: list[bytes] = []
        parts: list[bytes] = []
        for place, i in enumerate(self._open):
            event, sealed = self._events[i], self._sealed[i]
            marks = b"-" if event.type in UNORDERED_TYPES else b"o"
            marks += b"r" if event.type in RAW_TYPES else b"-"
            if event.recorded_at is not None:
                marks += b"%d" % event.recorded_at
            header, body = sealed.header, sealed.body
            parts.append(_EVENT % (prints[i], len(marks), marks, len(header), header, len(body), body, sealed.digest))
            for needed in event.evidence:
                pairs += (b"%d" % place, fingerprint(batch.namespace, needed))
            erases += [fingerprint(batch.namespace, erased) for erased in event.erases]
        head = (
            b"EVALSHA", script, b"4", keys.log, keys.meta, keys.namespaces, keys.erased,
            b"%d" % self._partitions, batch.namespace.encode(), expected, guard, keys.bucket_prefix,
            b"%d" % len(self._open), b"%d" % (len(pairs) // 2), b"".join(erases),
        )  # fmt: skip
        total = len(head) + 5 * len(self._open) + len(pairs)
        start = b"*%d\r\n" % total + command(*head).split(b"\r\n", 1)[1]
        return b"".join([start, *parts, command(*pairs).split(b"\r\n", 1)[1]])

    def answer(self, reply: Sequence[Any]) -> Mapping[int, int] | Appended:
        """The result, or the positions (by event) of events that the log knows, to be compared.

        Raises what the log refuses the batch with.
        """
        match reply[0]:
            case b"OK":
                for place, i in enumerate(self._open):
                    position = Position(self._keys.partition, reply[1] + place)
                    self._recorded[i] = Recorded(event_id=self._events[i].event_id, position=position)
                self._open = []
                return self.result()
            case b"DROPPED":
                return Appended(recorded=(), dropped=True)
            case b"KNOWN":
                known = dict(zip(self._open, reply[1:], strict=True))
                for i, seq in known.items():
                    if seq < 0:
                        raise _gone(i)
                return {i: seq for i, seq in known.items() if seq > 0}
            case _:
                raise self._refusal(reply)

    def settle(self, i: int, stored: Event) -> None:
        """Event `i` is in the log as `stored`. Raises EventIdConflict, Gone."""
        if stored.erased:
            raise _gone(i)
        if not same_words(self._events[i], stored):
            raise _id_conflict(i)
        self._recorded[i] = Recorded(event_id=stored.event_id, position=stored.position, duplicate=True)
        self._open.remove(i)

    def result(self) -> Appended:
        """Once nothing is open."""
        for i, twin in self._twins.items():
            first = self._recorded[twin]
            self._recorded[i] = Recorded(event_id=first.event_id, position=first.position, duplicate=True)
        return Appended(recorded=[self._recorded[i] for i in range(len(self._events))])

    def _refusal(self, reply: Sequence[Any]) -> TaishiError:
        match reply[0]:
            case b"VERSION":
                return WrongExpectedVersion(
                    f"the namespace is at version {reply[1]}, not at the expected one",
                    field="expected_version",
                    actual=reply[1],
                )
            case b"ERASED":
                refused = [self._open[place] for place in reply[1:]]
                return EvidenceErased("an event rests on evidence that was forgotten", refused=refused)
            case b"BEHIND":
                earliest = render(int(reply[2]))
                return RecordedBehind(
                    f"the namespace has recorded events up to {earliest}: no recorded_at may be earlier",
                    field=f"events.{self._open[reply[1]]}.recorded_at",
                    earliest=earliest,
                )
            case b"FUTURE":
                field = f"events.{self._open[reply[1]]}.recorded_at"
                return InvalidInput("recorded_at lies in the future", field=field)
            case b"PARTITIONS":
                return wrong_partitions(created=reply[1], wanted=self._partitions)
            case _:
                return LogDamaged(f"partition {self._keys.partition} is longer than its counter: others write to it")


def wrong_partitions(*, created: int, wanted: int) -> ConfigurationError:
    return ConfigurationError(f"the log was created with {created} partitions, not {wanted}: set that number")


def _id_conflict(i: int) -> EventIdConflict:
    return EventIdConflict("the event id is known with other content", field=f"events.{i}.event_id")


def _gone(i: int) -> Gone:
    return Gone("the event was forgotten and does not come back", field=f"events.{i}.event_id")
