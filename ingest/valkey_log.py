"""The event log on Redis Streams (Valkey or Redis, 7.0 or later).

One stream `taishi:{p<i>}:log` per partition, entries `<seq>-0` with a gapless counter (`entries` says what is in one).
Beside it `:meta` (hash: seq, at, partitions), `:ns` (hash: namespace → "last_seq raw_seq last_recorded"),
`:ids:<bucket>` (dedup: hashes of 16-byte fingerprint → seq) and `:erased` (set of fingerprints). They change together,
in `append.lua`, or not at all.

What is acknowledged survives a killed server, and what is read does too (see `Exchange.confirm_written`); with
`durability="always"` what is acknowledged is fsynced and survives a power cut.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, Literal

from redis import exceptions

from .crashpoints import reach
from .crypto import NONCE_BYTES
from .entries import StoredEntry, open_entry
from .envelope import Event, Position
from .errors import InvalidInput, NotFound, TaishiError, Unavailable
from .keys import KeyStore
from .log import Appended, Batch, NamespaceHead
from .partitions import partition_of
from .stored_entries import StoredEntries
from .valkey_appends import PartitionKeys, Submission, fingerprint
from .valkey_link import ANSWER_SECONDS, Reply, command, failure
from .valkey_server import LOAD_SCRIPT, SCRIPT_SHA, CheckedServer
from .valkey_stream import ValkeyStream

_ATTEMPTS: Final = 5


class ValkeyLog:
    """`EventLog` adapter. Safe for threads and across fork; connects, and checks the server, at first use.

    Every method raises Unavailable when the server does not answer, UnsafeServer when it would lose events,
    ConfigurationError when the log was created with another number of partitions.
    """

    def __init__(
        self,
        url: str,
        *,
        keys: KeyStore,
        partitions: int = 4,
        encryption: Literal["on", "off"] = "on",
        durability: Literal["everysec", "always"] = "everysec",
        floor: Callable[[int], int] | None = None,
    ) -> None:
        """`floor` tells how far a partition has reached at least: a server that holds less raises LogDamaged."""
        if partitions < 1:
            raise InvalidInput("a log needs at least one partition", field="partitions")
        self._key_store: Final = keys
        self._encrypted: Final = encryption == "on"
        self._keys: Final = [PartitionKeys(i) for i in range(partitions)]
        self._server: Final = CheckedServer(url, keys=self._keys, durability=durability, floor=floor)
        self.stream: Final = ValkeyStream(self._server, self._keys)
        self._stored: StoredEntries = self.stream

    @property
    def partitions(self) -> int:
        return len(self._keys)

    def partition_of(self, namespace: str) -> int:
        try:
            return partition_of(namespace, len(self._keys))
        except UnicodeEncodeError:
            raise InvalidInput("the namespace is not valid text", field="namespace") from None

    @property
    def stored(self) -> StoredEntries:
        """The entries as they are stored."""
        return self._stored

    def close(self) -> None:
        self._server.close()

    # -- writing

    def append(self, batch: Batch) -> Appended:
        outcome = self.append_many([batch])[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def append_many(self, batches: Sequence[Batch]) -> list[Appended | Exception]:
        outcomes: dict[int, Appended | Exception] = {}
        open_: dict[int, Submission] = {}
        for n, batch in enumerate(batches):
            try:
                open_[n] = self._submission(batch)
            except TaishiError as refused:
                outcomes[n] = refused
        try:
            count = sum(submission.open_events for submission in open_.values())
            given = iter(self._key_store.take(count)) if self._encrypted else None
            noise = os.urandom(NONCE_BYTES * count)
            nonces = (noise[at : at + NONCE_BYTES] for at in range(0, len(noise), NONCE_BYTES))
            for _ in range(_ATTEMPTS):
                if not open_:
                    break
                self._attempt(open_, outcomes, given, nonces)
            for n in open_:
                outcomes[n] = Unavailable("other writers keep appending the same event ids")
        except TaishiError as down:
            outcomes.update(dict.fromkeys(open_, down))
        return [outcomes[n] for n in range(len(batches))]

    def _submission(self, batch: Batch) -> Submission:
        if not batch.events:
            raise InvalidInput("a batch needs at least one event", field="events")
        return Submission(batch, keys=self._keys[self.partition_of(batch.namespace)], partitions=len(self._keys))

    def _attempt(
        self,
        open_: dict[int, Submission],
        outcomes: dict[int, Appended | Exception],
        given: Iterator[tuple[int, bytes]] | None,
        nonces: Iterator[bytes],
    ) -> None:
        """Sends what is open once. Afterwards `open_` holds what must be sent again, less what the log knew."""
        known: dict[int, dict[int, int]] = {}
        for n, reply in self._run(open_, given, nonces).items():
            try:
                if isinstance(reply, InvalidInput):
                    raise reply
                if isinstance(reply, Exception):
                    raise failure(reply)
                answer = open_[n].answer(reply)
                if isinstance(answer, Appended):
                    outcomes[n] = answer
                    del open_[n]
                else:
                    known[n] = dict(answer)
            except TaishiError as refused:
                outcomes[n] = refused
                del open_[n]
        for n, places in known.items():
            submission = open_[n]
            try:
                stored = self._fetch(submission.keys.partition, list(places.values()))
                for (i, _), event in zip(places.items(), stored, strict=True):
                    submission.settle(i, event)
                if submission.open_events == 0:
                    outcomes[n] = submission.result()
                    del open_[n]
            except TaishiError as refused:
                outcomes[n] = refused
                del open_[n]

    def _run(
        self, open_: dict[int, Submission], given: Iterator[tuple[int, bytes]] | None, nonces: Iterator[bytes]
    ) -> dict[int, Reply]:
        """The script's replies, in one exchange; when it returns, what they say is durable.

        The server works on one batch while the next is sealed. One that cannot be sealed has its error for a reply.
        """
        requests: dict[int, bytes] = {}
        found: dict[int, Reply] = {}
        with self._server.connection() as exchange:
            for n, submission in open_.items():
                try:
                    submission.seal(given, nonces)
                    requests[n] = submission.request(SCRIPT_SHA)
                except InvalidInput as refused:
                    found[n] = refused
                    continue
                exchange.send(requests[n])
            if not requests:
                return found
            found.update(zip(requests, exchange.replies(len(requests)), strict=True))
            unknown = [n for n, reply in found.items() if isinstance(reply, exceptions.NoScriptError)]
            if unknown:
                exchange.send(LOAD_SCRIPT + b"".join(requests[n] for n in unknown))
                found.update(zip(unknown, exchange.replies(len(unknown) + 1)[1:], strict=True))
            known = any(isinstance(reply, list) and reply[0] == b"KNOWN" for reply in found.values())
            self._server.confirm(exchange, written_elsewhere=known)
        reach("appended")
        return found

    # -- reading

    def read(self, partition: int, *, after: int, limit: int = 500) -> list[Event]:
        """As in the port. What stands before a damaged or unreadable entry is returned; the next read raises."""
        return self._opened(self._stored.run(partition, after=after, limit=limit).entries)

    def wait(self, after: dict[int, int], *, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        streams = [self._keys[partition].log for partition in after]
        places = [b"%d-0" % seq for seq in after.values()]
        while True:
            left = deadline - time.monotonic()
            block = (b"BLOCK", b"%d" % max(1, int(min(left, ANSWER_SECONDS / 2) * 1000))) if left > 0 else ()
            with self._server.connection() as exchange:
                exchange.send(command(b"XREAD", b"COUNT", b"1", *block, b"STREAMS", *streams, *places))
                if exchange.reply():
                    return True
            if left <= ANSWER_SECONDS / 2:
                return False

    def fetch(self, position: Position) -> Event:
        if not 0 <= position.partition < len(self._keys):
            raise NotFound(f"there is no event at {position}")
        return self._fetch(position.partition, [position.seq])[0]

    def locate(self, namespace: str, event_ids: Sequence[str]) -> list[Position | None]:
        partition = self.partition_of(namespace)
        prints = [fingerprint(namespace, event_id) for event_id in event_ids]
        keys = self._keys[partition]
        found = self._server.ask_all([keys.asked_place(print_) for print_ in prints])
        return [None if seq is None else Position(partition, int(seq)) for seq in found]

    def head(self, partition: int) -> int:
        return self.stream.head(partition)

    def namespace_head(self, namespace: str) -> NamespaceHead:
        partition = self.partition_of(namespace)
        (row,) = self._server.ask_all([command(b"HGET", self._keys[partition].namespaces, namespace.encode())])
        seq, raw_seq, recorded_at = (int(part or 0) for part in (row or b"0 0 ").split(b" "))
        return NamespaceHead(position=Position(partition, seq), raw_seq=raw_seq, recorded_at=recorded_at)

    def _fetch(self, partition: int, places: Sequence[int]) -> list[Event]:
        entries = self._stored.at(partition, places)
        opened = self._opened(entries)
        if len(opened) < len(entries):
            self._opened(entries[len(opened) :])
        return opened

    def _opened(self, entries: Sequence[StoredEntry]) -> list[Event]:
        """The events up to the first that cannot be opened; its error when it is the very first."""
        held = self._key_store.keys({entry.key_id for entry in entries if entry.encrypted})
        erased = self._erased([entry for entry in entries if not entry.encrypted])
        events: list[Event] = []
        for entry in entries:
            key = held.get(entry.key_id)
            gone = (entry.encrypted and key is None and entry.key_id in held) or entry.position in erased
            try:
                events.append(open_entry(entry, key, erased=gone))
            except TaishiError:
                if not events:
                    raise
                break
        return events

    def _erased(self, entries: Sequence[StoredEntry]) -> Collection[Position]:
        """Which of the unencrypted entries were forgotten: they have no key whose destruction would say so."""
        asked: list[bytes] = []
        for entry in entries:
            erased = self._keys[entry.position.partition].erased
            asked.append(command(b"SISMEMBER", erased, fingerprint(entry.header["n"], entry.header["i"])))
        replies = self._server.ask_all(asked) if asked else []
        return {entry.position for entry, gone in zip(entries, replies, strict=True) if gone}
