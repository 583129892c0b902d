"""As known then: what was answered live is answered again, word for word, when the same moment is asked for later.

    python -m tests.bench.as_known [--moments 1000] [--seed 7] [--set FOLDER]

A whole Taishi. A namespace is told this and that, corrected, confirmed and retracted; after each step, once it is
settled, a question is asked, and its answer kept. With `--set` the conversations and questions are those of a labelled
set. At the end all are asked again: as known at that moment, and as of the position that was read then. Prints what
differed; exit code 1 if anything did.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

from taishi.deploy.bench.dataset import Dataset, Event, load
from taishi.deploy.cli.importing import as_event
from tests.support.running import RunningTaishi

NAMESPACE = "moments"
CITIES = ("Bruges", "Ghent", "Liège", "Namur", "Leuven", "苏州", "泉州", "大理")
FOODS = ("waffles", "mussels", "chicory", "leeks", "豆腐脑", "米线")
TRADES = ("a bakery", "a printing house", "the harbour office", "造纸厂")
QUESTIONS = (
    "Where do I live?", "where did I live before?", "What do I like?", "我住在哪里?", "我喜欢什么?", "Where do I work?",
    "What did I say about the canal?", "which version runs?", "what happened with the lock?",
)  # fmt: skip
FIELDS = (
    "kind", "id", "text", "subject", "predicate", "value", "status", "valid_from", "valid_to", "occurs_from",
    "known_from", "known_to", "evidence",
)  # fmt: skip


class Moments:
    """Answers that were `kept` as they were given: (what was asked, reply)."""

    def __init__(self, taishi: RunningTaishi, *, seed: int) -> None:
        self.taishi = taishi
        self.chance = random.Random(seed)
        self.http = httpx.Client(timeout=30)
        self.kept: list[tuple[dict[str, str], dict[str, Any]]] = []

    def write(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        reply = self.http.post(self.taishi.write + path, json=body)
        assert reply.status_code == 202, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def keep(self, namespace: str, query: str) -> None:
        asked = {"namespace": namespace, "query": query}
        self.kept.append((asked, self.ask(asked)))

    def ask(self, asked: dict[str, str], **point: str) -> dict[str, Any]:
        """An answer of all channels: on a busy machine the embedder may be too slow for one, which says so."""
        for _ in range(20):
            reply = self.http.post(self.taishi.read + "/v1/recall", json={**asked, "limit": 8, **point})
            assert reply.status_code == 200, reply.text
            found: dict[str, Any] = reply.json()
            if not found["degraded"]:
                return found
            time.sleep(0.25)
        raise AssertionError(f"degraded for long: {found['degraded']}")

    def again(self, *, by: str) -> Iterator[str]:
        """What differs, a line for each moment. `by` is one of `WAYS`."""
        for n, (asked, live) in enumerate(self.kept):
            as_of = live["as_of"]
            point = {"known_at": as_of["known_at"]}
            if by == "moment":
                point["valid_at"] = as_of["known_at"]
            if by == "as_of_position":
                point["as_of_position"] = as_of["position"]
            if difference := unlike(live, self.ask(asked, **point)):
                yield f"{n} {by} {asked['query']!r}: {difference}"


class Invented(Moments):
    """One namespace, and chance."""

    def __init__(self, taishi: RunningTaishi, *, seed: int) -> None:
        super().__init__(taishi, seed=seed)
        self.memories: list[str] = []

    def step(self) -> None:
        pick = self.chance.choice
        kind = pick(["say"] * 5 + ["remember", "remember", "correct", "confirm"])
        if kind == "say":
            text = pick([
                f"I live in {pick(CITIES)}.", f"I moved to {pick(CITIES)}.", f"我搬到{pick(CITIES)}了。",
                f"I like {pick(FOODS)}.", f"I don't like {pick(FOODS)} any more.", f"我喜欢吃{pick(FOODS)}。",
                f"I work at {pick(TRADES)}.", f"The canal lock near {pick(CITIES)} was closed again, number "
                f"{self.chance.randrange(500)}.", f"Temporarily I live in {pick(CITIES)}.",
            ])  # fmt: skip
            event = {"namespace": NAMESPACE, "content": text, "session": f"s{self.chance.randrange(20)}"}
            self.write("/v1/events", {"events": [event]})
        elif kind == "remember" or not self.memories:
            body = {"namespace": NAMESPACE, "subject": "gateway", "predicate": "version",
                    "value": f"{self.chance.randrange(9)}.{self.chance.randrange(9)}"}  # fmt: skip
            self.memories.append(self.write("/v1/memories", body)["memory_id"])
        elif kind == "correct":
            change = {"namespace": NAMESPACE, "value": f"{self.chance.randrange(99)}.0",
                      "was": pick(["wrong", "true_until"])}  # fmt: skip
            reply = self.http.post(f"{self.taishi.write}/v1/memories/{pick(self.memories)}/correct", json=change)
            assert reply.status_code in (202, 404, 409, 410), reply.text
            if reply.status_code == 202:
                self.memories.append(reply.json()["memory_id"])
        else:
            reply = self.http.post(
                f"{self.taishi.write}/v1/memories/{pick(self.memories)}/confirm", json={"namespace": NAMESPACE}
            )
            assert reply.status_code in (202, 404, 409, 410), reply.text

    def live(self, count: int) -> None:
        for n in range(count):
            self.step()
            self.taishi.settle(NAMESPACE)
            self.keep(NAMESPACE, QUESTIONS[n % len(QUESTIONS)])


class Conversations(Moments):
    """Those of a labelled set, in order; a question of the same conversation after every few messages of it."""

    def __init__(self, taishi: RunningTaishi, dataset: Dataset, *, seed: int) -> None:
        super().__init__(taishi, seed=seed)
        self.dataset = dataset

    def live(self, count: int) -> None:
        asked: dict[str, list[str]] = {}
        for question in self.dataset.questions:
            asked.setdefault(question.namespace, []).append(question.text)
        total = sum(map(len, self.dataset.events.values()))
        said = 0
        for namespace, events in self.dataset.events.items():
            for part in batched(events, max(total // count, 1)):
                lines = [as_event(event.line, namespace=namespace, default=namespace) for event in part]
                self.write("/v1/events", {"events": lines})
                said += len(part)
                self.taishi.settle(namespace)
                if len(self.kept) < said * count // total:
                    self.keep(namespace, self.chance.choice(asked[namespace]))


def batched(events: Sequence[Event], size: int) -> Iterator[Sequence[Event]]:
    for start in range(0, len(events), size):
        yield events[start : start + size]


WAYS = ("known_at", "moment", "as_of_position")
"""By what was known, by what was known and true, by what had been read."""


def unlike(live: dict[str, Any], then: dict[str, Any]) -> str:
    if live["answerability"] != then["answerability"]:
        return f"answerability {live['answerability']} → {then['answerability']}"
    here, there = ([{f: item.get(f) for f in FIELDS} for item in reply["items"]] for reply in (live, then))
    if here == there:
        return ""
    ids = [[item["id"] for item in items] for items in (here, there)]
    if sorted(ids[0]) != sorted(ids[1]):
        gone = [i["text"] for i in here if i["id"] not in ids[1]]
        new = [i["text"] for i in there if i["id"] not in ids[0]]
        return f"missing {gone}, new {new}"
    if ids[0] != ids[1]:
        return f"order {[i['text'] for i in here]} → {[i['text'] for i in there]}"
    return "; ".join(
        f"{a['text']}: {f} {a[f]} → {b[f]}" for a, b in zip(here, there, strict=True) for f in FIELDS if a[f] != b[f]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--set", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        taishi = RunningTaishi(Path(folder), "--no-story").wait_until_up()
        try:
            moments: Invented | Conversations
            if given.set is None:
                moments = Invented(taishi, seed=given.seed)
            else:
                moments = Conversations(taishi, load(given.set), seed=given.seed)
            moments.live(given.moments)
            differing = {by: list(moments.again(by=by)) for by in WAYS}
        finally:
            taishi.stop()
    for by, lines in differing.items():
        print(f"{by}: {len(lines)} of {len(moments.kept)} moments differ")
        for line in lines[:40]:
            print("  " + line)
    return int(any(differing.values()))


if __name__ == "__main__":
    sys.exit(main())
