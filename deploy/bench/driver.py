"""Plays a set against a running Taishi: its events through the write side, its questions through recall.

Everything goes over HTTP, as for any other client, in one order, one request after the other: two runs differ in
nothing but time.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from taishi.ingest.errors import InvalidInput
from taishi.ingest.ids import derived_id
from taishi.queries.meaning import REFRESH_SECONDS

from ..cli.importing import Sender, as_event
from ..client import CallFailed
from .dataset import Dataset, Event, Question, Sitting, sittings, stops
from .measures import SHOWN, Outcome
from .stack import Stack

FED: Final = "fed.json"
_GONE: Final = 410

Watch = Callable[[str, int, int], None]
"""Told of a stage, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Played:
    """`degraded` counts answers that had to do without a channel, `failures` windows and events that were not read:
    with any of either, the figures are not those of a sound system."""

    outcomes: Sequence[Outcome]
    degraded: int
    failures: int


class Driver:
    """Feeds and asks one set. `keep` lets `home` be asked again later: nothing is forgotten in a first copy."""

    def __init__(self, stack: Stack, dataset: Dataset, *, home: Path, keep: bool, watch: Watch) -> None:
        self._stack = stack
        self._dataset = dataset
        self._marker = home / FED
        self._sittings = sittings(dataset.questions, in_place=not keep)
        self._watch = watch
        self._heads: dict[str, dict[int, str]] = {}
        self._own: dict[str, str] = {}

    def play(self) -> Played:
        """Raises CallFailed, StackFailed, and InvalidInput where the home holds something else."""
        self._feed()
        hidden = [sitting for sitting in self._sittings if sitting.hidden]
        plain = [sitting for sitting in self._sittings if not sitting.hidden]
        total = len(self._dataset.questions)
        found: list[Outcome] = []
        degraded = 0
        self._settle()
        for outcome, missing in self._answers(plain):
            found.append(outcome)
            degraded += missing
            self._watch("asking", len(found), total)
        if hidden:
            self._forget(hidden)
            self._settle()
        for outcome, missing in self._answers(hidden):
            found.append(outcome)
            degraded += missing
            self._watch("asking", len(found), total)
        return Played(found, degraded, self._stack.failures())

    # feeding

    def _copies(self) -> Iterator[tuple[str, str]]:
        """Each copy's name and the namespace it is of."""
        for namespace, copy in dict.fromkeys((s.namespace, s.copy) for s in self._sittings):
            yield _name(namespace, copy), namespace

    def _feed(self) -> None:
        copies = dict(self._copies())
        events = {name: self._dataset.events.get(namespace, ()) for name, namespace in copies.items()}
        self._own = {_event_id(name, event): event.id for name, those in events.items() for event in those}
        fingerprint = hashlib.sha256("\n".join(self._own).encode()).hexdigest()
        if self._marker.exists():
            held = orjson.loads(self._marker.read_bytes())
            if held["fingerprint"] != fingerprint:
                raise InvalidInput(f"{self._marker.parent} was fed with something else: give another home")
            self._heads = {name: {int(seq): at for seq, at in by.items()} for name, by in held["heads"].items()}
            return
        self._feed_all(copies, events)
        held = {"fingerprint": fingerprint, "heads": self._heads}
        self._marker.write_bytes(orjson.dumps(held, option=orjson.OPT_NON_STR_KEYS))

    def _feed_all(self, copies: Mapping[str, str], events: Mapping[str, Sequence[Event]]) -> None:
        """In steps, where questions ask for the state at certain events: claims are read from words after them, so that
        a state is one that has settled."""
        total = sum(map(len, events.values()))
        done = 0

        def sent(count: int) -> None:
            nonlocal done
            done += count
            self._watch("feeding", done, total)

        sender = Sender(self._stack.client.write, sent)
        at = dict.fromkeys(copies, 0)
        ends = stops(self._dataset.questions)
        for step in range(max(map(len, ends.values()), default=0)):
            stopped = {name: ends[of][step] for name, of in copies.items() if step < len(ends.get(of, ()))}
            for name, until in stopped.items():
                at[name] = self._send(sender, name, events[name], at[name], until)
            sender.finish()
            self._stack.settle()
            for name, until in stopped.items():
                self._heads.setdefault(name, {})[until] = self._head(name)
        for name in copies:
            self._send(sender, name, events[name], at[name], None)
        sender.finish()

    @staticmethod
    def _send(sender: Sender, name: str, events: Sequence[Event], begin: int, until: int | None) -> int:
        """From index `begin` on, up to and with sequence number `until`. The index of what is left."""
        for number in range(begin, len(events)):
            event = events[number]
            if until is not None and event.seq > until:
                return number
            sender.add(event.line.place, as_event(event.line, namespace=name, default=name))
        return len(events)

    def _head(self, name: str) -> str:
        status = self._stack.client.read.call("GET", "/v1/status", query={"namespace": name})
        return str(status["positions"]["head"])

    def _forget(self, hidden: Sequence[Sitting]) -> None:
        write = self._stack.client.write
        for sitting in hidden:
            name = _name(sitting.namespace, sitting.copy)
            for event in self._dataset.events[sitting.namespace]:
                if event.id in sitting.hidden:
                    try:
                        write.call("DELETE", f"/v1/memories/{_event_id(name, event)}", query={"namespace": name})
                    except CallFailed as e:
                        if e.status != _GONE:  # forgotten in an earlier run
                            raise

    def _settle(self) -> None:
        self._watch("settling", 0, 0)
        self._stack.settle()
        time.sleep(REFRESH_SECONDS)  # the read side looks for new vectors so often

    # asking

    def _answers(self, those: Sequence[Sitting]) -> Iterator[tuple[Outcome, bool]]:
        """Each with whether a channel was missing."""
        for sitting in those:
            name = _name(sitting.namespace, sitting.copy)
            for question in sitting.questions:
                begun = time.perf_counter()
                reply = self._stack.client.read.call("POST", "/v1/recall", self._body(name, question))
                took = time.perf_counter() - begun
                yield self._outcome(question, reply, took), bool(reply["degraded"])

    def _body(self, name: str, question: Question) -> dict[str, Any]:
        until = question.visible_until
        return {
            "namespace": name,
            "query": question.text,
            "valid_at": question.as_of,
            "as_of_position": None if until is None else self._heads[name][until],
            "limit": SHOWN,
            "explain": True,
        }

    def _outcome(self, question: Question, reply: Mapping[str, Any], seconds: float) -> Outcome:
        items = reply["items"]
        shown = [{self._own.get(piece["event_id"]) for piece in item["evidence"]} for item in items]
        return Outcome(
            question=question.id,
            type=question.type,
            answerable=question.answerable,
            gold=question.gold,
            stale=question.stale,
            ranked=tuple(frozenset(one for one in those if one is not None) for those in shown),
            verdict=reply["answerability"],
            top_score=items[0]["score"] if items else None,
            strength=reply.get("explain", {}).get("strength"),
            tokens=reply["context"]["tokens"],
            milliseconds=seconds * 1_000,
        )


def _name(namespace: str, copy: int) -> str:
    return f"{namespace}/copy-{copy}" if copy else namespace


def _event_id(name: str, event: Event) -> str:
    """The id that an import gives it."""
    return derived_id("import", name, event.id)
