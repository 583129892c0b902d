"""Fits the weights of answerability on dev data: what the signals are where the answer is there, and where it is not.

    python -m tests.bench.answerability collect DATA HOMES OUT [--embedder local|hashed|off] --set NAME
    python -m tests.bench.answerability fit OUT...

`collect` asks each question of a set in the form of `taishi bench recall`, whose home (`--home HOMES/<set> --keep`)
holds it already: as it is; with its evidence withheld, in sets whose evidence is not repeated elsewhere; and in another
namespace of its set. Rows of JSON: what `judge` was told. `fit` takes half of the questions of each set to weigh the
signals and to choose the threshold, tells what that gives on the other halves, and prints the table fitted on all.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np

from taishi.deploy.bench import driver
from taishi.deploy.bench.dataset import Dataset, load, sittings
from taishi.deploy.generations import models_folder, vectors_folder
from taishi.ingest.partitions import partition_of
from taishi.projections.analysis import Analyzer
from taishi.projections.embedding_choice import make_embedder
from taishi.queries import channels, recall
from taishi.queries.meaning import Meaning
from taishi.queries.reading import ReadModel, ReadModels
from taishi.queries.recall import Recall
from taishi.queries.request import RecallRequest
from taishi.queries.times import instant

PARTITIONS = 4
MOST = 400
"""Questions of one set, evenly taken."""
ONCE = ("memdaily", "memdaily_mix", "madial_zh", "madial_en")
"""Sets whose evidence, once withheld, is not repeated in other words."""
ALIKE = ("prefeval", "memdaily_mix")
"""Sets whose namespaces all answer all questions."""
REFUSED = 0.02
"""Of the answerable questions of each set, at most, or a single one."""
SIGNALS: Mapping[str, Sequence[str]] = {
    "calibrated": ("covered", "missing", "nearest", "named"),
    "other": ("covered", "missing", "lift", "named"),
    "none": ("covered", "missing", "named"),
}

Row = dict[str, Any]


class Asked:
    """Recall over a kept home, whose documents can be withheld, and what its judge was told."""

    def __init__(self, home: Path, embedder: str) -> None:
        self.models = ReadModels(
            models_folder(home), partitions=PARTITIONS, partition_of=lambda ns: partition_of(ns, PARTITIONS)
        )
        self.meaning: Meaning | None = None
        if embedder != "off":
            self.meaning = Meaning(
                load=lambda: make_embedder(embedder), folder=vectors_folder(home), partitions=PARTITIONS
            )
            self.meaning.warm()
        analyzer = Analyzer()
        self.recall = Recall(
            self.models, analyzer=lambda: analyzer, now=lambda: int(time.time() * 1e6), dense=self.meaning
        )
        self.withheld: frozenset[int] = frozenset()
        self.told: list[Row] = []
        self._listen()
        self._withhold()

    def _listen(self) -> None:
        judge = recall.answerability.judge

        def listening(ranked: Any, signals: Any, **more: Any) -> Any:
            verdict = judge(ranked, signals, **more)
            slot = any(e.slot for e in ranked)
            sure = bool(not ranked or more["untold"] and not more["lapsed"])
            open_to_it = more["asked"] and not slot and not sure
            self.told.append({"signals": asdict(signals), "sure": sure, "weighed": open_to_it})
            return verdict

        recall.answerability.judge = listening

    def _withhold(self) -> None:
        search, slots, rank = channels.search, channels._slot_documents, recall.rank

        def fewer(*a: Any, **more: Any) -> Any:
            found = search(*a, **more)
            return replace(found, matches={d: m for d, m in found.matches.items() if d not in self.withheld})

        def ranked(*a: Any, **more: Any) -> Any:
            those, lapsed, left = rank(*a, **more)
            gone = self.withheld
            kept = [r for r in those if r.doc not in gone and not any(2 * s in gone for s in r.sources)]
            return kept, lapsed, left

        channels.search = fewer
        channels._slot_documents = lambda *a: [d for d in slots(*a) if d not in self.withheld]
        recall.rank = ranked
        if self.meaning is not None:
            near = self.meaning.search

            def nearer(partition: int, ns: int, vector: Any, k: int, *, last: int | None = None) -> Any:
                hits = near(partition, ns, vector, k + len(self.withheld), last=last)
                if hits is None:
                    return None
                return replace(hits, hits=[hit for hit in hits.hits if hit[0] not in self.withheld][:k])

            self.meaning.search = nearer  # type: ignore[method-assign]

    def ask(self, request: RecallRequest, withheld: frozenset[int] = frozenset()) -> list[Row]:
        self.withheld, self.told = withheld, []
        self.recall.answer(request)
        return self.told


def documents(model: ReadModel, namespace: str, ids: Sequence[str]) -> frozenset[int]:
    """Raw events, and the claims read from them."""
    row = model.namespace(namespace)
    assert row is not None
    seqs = [r[0] for i in ids for r in model.rows("SELECT seq FROM events WHERE ns=? AND event_id=?", row.ns, i)]
    claims = [r[0] for seq in seqs for r in model.rows("SELECT claim FROM evidence WHERE event=?", seq)]
    return frozenset([2 * seq for seq in seqs] + [2 * seq + 1 for seq in claims])


def collect(dataset: Dataset, name: str, home: Path, embedder: str) -> Iterator[Row]:
    asked = Asked(home, embedder)
    heads = json.loads((home / driver.FED).read_text())["heads"]
    each = [(s, q) for s in sittings(dataset.questions, in_place=False) for q in s.questions]
    copies = list(dict.fromkeys(driver._name(s.namespace, s.copy) for s, _ in each))
    for sitting, question in each[:: max(1, -(-len(each) // MOST))]:
        copy = driver._name(sitting.namespace, sitting.copy)
        head = None if question.visible_until is None else heads[copy][str(question.visible_until)]
        position = None if head is None else int(head.split(":")[1])
        at = None if question.as_of is None else instant(question.as_of, zone=UTC, field="as_of")
        plain = RecallRequest(namespace=copy, query=question.text, position=position, valid_at=at)

        def row(kind: str, answerable: bool, told: list[Row], question: Any = question) -> Row:
            return {"set": name, "id": question.id, "kind": kind, "answerable": answerable, "parts": told}

        yield row("own", question.answerable, asked.ask(plain))
        if question.answerable and question.gold and name in ONCE:
            ids = [driver._event_id(copy, e) for e in dataset.events[sitting.namespace] if e.id in question.gold]
            gone = documents(asked.models.of(copy), copy, ids)
            yield row("withheld", False, asked.ask(plain, gone))
        other = copies[(copies.index(copy) + 1 + len(copies) // 2) % len(copies)]
        if other.split("/copy-")[0] != sitting.namespace and name not in ALIKE:
            yield row("elsewhere", False, asked.ask(replace(plain, namespace=other, position=None)))


# fitting


def learned(row: Row) -> bool:
    """Whether it is certain enough what the answer should be: some "unanswerable" questions are answered elsewhere."""
    return bool(row["answerable"]) or row["kind"] != "own" or row["set"] in ONCE


def weigh(rows: Sequence[Row], names: Sequence[str], *, ridge: float = 1.0) -> np.ndarray:
    """Weights, and the bias last. Answerable and not weigh the same; a set by the root of its size."""
    parts = [(p["signals"], row) for row in rows if learned(row) for p in row["parts"] if p["weighed"]]
    x = np.array([[signals[n] for n in names] for signals, _ in parts])
    y = np.array([float(row["answerable"]) for _, row in parts])
    groups = [(row["set"], row["kind"], row["answerable"]) for _, row in parts]
    size = Counter(groups)
    w = np.array([size[g] ** -0.5 for g in groups])
    for side in (0.0, 1.0):
        w[y == side] *= len(y) / 2 / w[y == side].sum()
    mean, deviation = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = np.c_[(x - mean) / deviation, np.ones(len(x))]
    b = np.zeros(z.shape[1])
    shrink = np.diag([ridge] * len(names) + [0.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-z @ b))
        b += np.linalg.solve((z * (w * p * (1 - p))[:, None]).T @ z + shrink, z.T @ (w * (y - p)) - shrink @ b)
    weights = b[:-1] / deviation
    return np.r_[weights, b[-1] - weights @ mean]


def refused(row: Row, b: np.ndarray, names: Sequence[str], least: float) -> bool:
    def none(part: Row) -> bool:
        if part["sure"] or not part["weighed"]:
            return bool(part["sure"])
        x = np.array([part["signals"][n] for n in names])
        return bool(1 / (1 + np.exp(-(b[:-1] @ x + b[-1]))) < least)

    return all(none(part) for part in row["parts"])


def rates(rows: Sequence[Row], b: np.ndarray, names: Sequence[str], least: float) -> dict[tuple[Any, ...], list[bool]]:
    found = defaultdict(list)
    for row in rows:
        found[row["set"], row["kind"], row["answerable"]].append(refused(row, b, names, least))
    return found


def threshold(rows: Sequence[Row], b: np.ndarray, names: Sequence[str]) -> float:
    """The highest that refuses few enough. Where nothing was found at all, it is not the threshold that refuses."""
    answerable = [row for row in rows if row["answerable"]]
    sure = {key: sum(v) for key, v in rates(answerable, b, names, 0.0).items()}
    best = 0.0
    for least in np.arange(0.02, 0.90, 0.01):
        refusals = rates(answerable, b, names, float(least))
        if any(sum(v) > max(REFUSED * len(v), 1, sure[key]) for key, v in refusals.items()):
            break
        best = float(least)
    return best


def fit(rows: Sequence[Row]) -> None:
    for kind in SIGNALS:
        of = [r for r in rows if r["parts"] and r["parts"][0]["signals"]["vectors"] == kind]
        if not of:
            continue
        names = SIGNALS[kind]
        held = defaultdict(list)
        for half in (0, 1):
            inside = [row for row in of if zlib.crc32(row["id"].encode()) % 2 == half]
            outside = [row for row in of if zlib.crc32(row["id"].encode()) % 2 != half]
            b = weigh(inside, names)
            for key, those in rates(outside, b, names, threshold(inside, b, names)).items():
                held[key] += those
        b = weigh(of, names)
        least = threshold(of, b, names)
        all_in = rates(of, b, names, least)
        for key in sorted(held):
            told = f"held out {np.mean(held[key]):.3f}  in {np.mean(all_in[key]):.3f}"
            print(f"# {kind:10} {key!s:44} {len(held[key]):4}  {told}")
        print(f"[{kind}]\nleast = {least:.2f}\nbias = {b[-1]:.3f}\n\n[{kind}.weights]")
        print("\n".join(f"{name} = {value:.3f}" for name, value in zip(names, b[:-1], strict=True)), end="\n\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect")
    collecting.add_argument("data", type=Path)
    collecting.add_argument("homes", type=Path)
    collecting.add_argument("out", type=Path)
    collecting.add_argument("--embedder", default="local")
    collecting.add_argument("--set", dest="name", required=True)
    fitting = commands.add_parser("fit")
    fitting.add_argument("rows", type=Path, nargs="+")
    given = parser.parse_args()
    if given.command == "fit":
        fit([json.loads(line) for path in given.rows for line in path.read_text().splitlines()])
        return
    with given.out.open("w") as out:
        for row in collect(load(given.data / given.name), given.name, given.homes / given.name, given.embedder):
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
