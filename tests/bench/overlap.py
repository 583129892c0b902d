"""How much of the exact nearest documents the search by signs finds, on real texts of one namespace.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=. python -P -m tests.bench.overlap DATA_DIR [--texts 40000] [--copies 1]

All texts of the sets in DATA_DIR (`events.jsonl.gz`) become documents, their questions ask. With `--copies` each vector
is there so often, each time a little turned: large namespaces hold near-copies.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from taishi.projections.embedding import Vectors, unit
from taishi.projections.embedding_local import LocalEmbedder
from taishi.projections.vector_schema import vector_path
from taishi.projections.vectors import Document, VectorStore
from taishi.queries.dense import DenseIndex
from taishi.queries.dense_scope import RESCORED

BEST = 20
TURNED = 0.35
"""Length of what is added to a unit vector to make a copy of it."""


def texts_in(folder: Path, file: str, most: int) -> list[str]:
    found: dict[str, None] = {}
    for path in sorted(folder.glob(f"**/{file}.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                text = str(json.loads(line).get("text") or "")[:300]
                if text.strip():
                    found[text] = None
    listed = list(found)
    random.Random(1).shuffle(listed)
    return listed[:most]


def embedded(model: LocalEmbedder, texts: list[str]) -> Vectors:
    return np.concatenate([model.embed(texts[at : at + 64]) for at in range(0, len(texts), 64)])


def turned(rows: Vectors, copies: int) -> Iterator[Vectors]:
    rng = np.random.default_rng(3)
    yield rows
    for _ in range(copies - 1):
        noise = rng.standard_normal(rows.shape, dtype=np.float32) * (TURNED / rows.shape[1] ** 0.5)
        yield unit(rows + noise)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--texts", type=int, default=40_000)
    options.add_argument("--questions", type=int, default=300)
    options.add_argument("--copies", type=int, default=1)
    given = options.parse_args()
    model = LocalEmbedder()
    rows = embedded(model, texts_in(given.data, "events", given.texts))
    asked = embedded(model, texts_in(given.data, "questions", given.questions))
    with tempfile.TemporaryDirectory() as folder:
        store = VectorStore(vector_path(Path(folder), 0, "m"), model="m", dimension=model.dimension)
        ns, seq = store.namespace("n", 1), 0
        for some in turned(rows, given.copies):
            for at in range(0, len(some), 1_000):
                part = some[at : at + 1_000]
                keys = [(seq + n).to_bytes(16, "big") for n in range(len(part))]
                documents = [
                    Document(doc=2 * (seq + n + 1), ns=ns, keys=[key], vectors=part[n : n + 1])
                    for n, key in enumerate(keys)
                ]
                store.add(documents, after=seq, seq=seq + len(part), digest=b"")
                seq += len(part)
        store.close()
        signs = DenseIndex(Path(folder), 0, model="m", exact=0, memory=8 << 30)
        exact = DenseIndex(Path(folder), 0, model="m", exact=1 << 40, memory=8 << 30)
        shared, first, begun = [], 0, time.perf_counter()
        for vector in asked:
            truth = [doc for doc, _ in exact.search(ns, vector, BEST).found]
            near = [doc for doc, _ in signs.search(ns, vector, BEST).found]
            shared.append(len(set(truth) & set(near)) / len(truth))
            first += truth[0] in near
        print(f"{seq:,} vectors, {len(asked)} questions, {RESCORED} rescored; {time.perf_counter() - begun:.0f} s")
        worst = np.quantile(shared, 0.1)
        print(f"  {np.mean(shared):.3f} of the exact top {BEST} (worst tenth {worst:.2f})")
        print(f"  the nearest of all found in {first / len(asked):.3f}")


if __name__ == "__main__":
    main()
