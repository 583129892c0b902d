"""Recall over large read models, vectors on: time to the answer, in process and one question at a time.

    PYTHONPATH=. python -P -m tests.bench.recall [--namespaces 1] [--each 100000] [--bulk] [--folder DIR --keep]

Every claim is read from a message of its own, so that a namespace of 100,000 claims holds 200,000 documents; with
`--stated` it is stated outright, with `--bulk` too, and rows are written without folding (`tests.bench.bulk`): a
million in minutes. Vectors of documents are made up (their directions do not matter to the time); the
question's is the local embedder's, and its time counts. With `--folder` and `--keep` the models are used again.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from taishi.ingest.envelope import Event
from taishi.projections.analysis import Analyzer
from taishi.projections.embedding_local import LocalEmbedder
from taishi.projections.schema import document_of_claim, document_of_event
from taishi.projections.store import ReadModelFile
from taishi.projections.vector_schema import vector_path
from taishi.projections.vectors import Document, VectorStore
from taishi.queries.meaning import Meaning
from taishi.queries.reading import ReadModels
from taishi.queries.recall import Recall
from taishi.queries.request import RecallRequest
from tests.bench import bulk
from tests.bench.corpus import Message, messages
from tests.support.history import History

STEP = 2_000
QUESTIONS = (
    ("{v}怎么样？", "现在{s}喜欢{v}吗？", "{v}路的新地址是多少号", "{s}住在哪里？", "楼下有一家店的{v}"),
    ("does {s} like {v}?", "where does {s} live now?", "what is the address in {v}?", "{v} notes", "moved to {v}"),
)


def build(folder: Path, namespaces: int, each: int, embedder: LocalEmbedder, *, stated: bool) -> None:
    """Folds the events and their vectors."""
    generation = folder / "models" / "g1"
    generation.mkdir(parents=True)
    (folder / "models" / "current").write_text("g1\n")
    (folder / "vectors").mkdir()
    model = ReadModelFile(generation / "claims-p0.db", Analyzer())
    store = VectorStore(
        vector_path(folder / "vectors", 0, embedder.id), model=embedder.id, dimension=embedder.dimension
    )
    history, source, rng = History(), messages(), np.random.default_rng(1)
    topics = rng.standard_normal((500, embedder.dimension), dtype=np.float32)
    first: dict[str, int] = {}
    done, began = 0, time.perf_counter()
    for pack in _packs(namespaces, each):
        fresh: list[Event] = []
        for name in pack:
            m = next(source)
            said = None if stated else history.say(m.text, namespace=name)
            claim = history.claim(m.subject, m.predicate, m.value, said=said, negated=m.negated, namespace=name)
            fresh += [claim] if said is None else [said, claim]
            first.setdefault(name, fresh[-1].position.seq if said is None else said.position.seq)
        for at in range(0, len(fresh), 500):
            model.apply(fresh[at : at + 500])
        _embed(store, fresh, first, topics, rng)
        history.events[:] = [fresh[-1]] * len(history.events)  # positions go on; the events themselves are done with
        done += len(pack)
        if done % 20_000 == 0:
            print(f"  {done:,} claims, {time.perf_counter() - began:.0f} s", flush=True)
    model.scrub()
    model.close()
    store.close()


def _packs(namespaces: int, each: int) -> Iterator[list[str]]:
    names = [f"n{n}" for n in range(namespaces) for _ in range(each)]
    for at in range(0, len(names), STEP):
        yield names[at : at + STEP]


def _embed(store: VectorStore, fresh: list[Event], first: dict[str, int], topics: np.ndarray, rng) -> None:
    rows = topics[rng.integers(0, len(topics), len(fresh))]
    rows = rows + rng.standard_normal(rows.shape, dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    documents = [
        Document(
            doc=(document_of_claim if e.type.startswith("claim.") else document_of_event)(e.position.seq),
            ns=first[e.namespace],
            keys=[e.digest[:16]],
            vectors=rows[i : i + 1],
        )
        for i, e in enumerate(fresh)
    ]
    for name in {e.namespace for e in fresh}:
        store.namespace(name, first[name])
    store.add(documents, after=store.checkpoint.seq, seq=fresh[-1].position.seq, digest=fresh[-1].digest)


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--namespaces", type=int, default=1)
    ap.add_argument("--each", type=int, default=100_000)
    ap.add_argument("--questions", type=int, default=400)
    ap.add_argument("--folder", type=Path)
    ap.add_argument("--keep", action="store_true")
    ap.add_argument("--stated", action="store_true")
    ap.add_argument("--bulk", action="store_true")
    ap.add_argument("--no-vectors", action="store_true")
    args = ap.parse_args()
    embedder = LocalEmbedder()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder if args.keep else Path(temporary)
        if not (folder / "models").exists():
            begun = time.perf_counter()
            if args.bulk:
                bulk.write(folder, embedder.id, embedder.dimension, args.namespaces, args.each)
            else:
                build(folder, args.namespaces, args.each, embedder, stated=args.stated)
            print(f"built in {time.perf_counter() - begun:.0f} s", flush=True)
        models = ReadModels(folder / "models", partitions=1, partition_of=lambda _: 0)
        meaning = Meaning(load=lambda: embedder, folder=folder / "vectors", partitions=1)
        if not args.no_vectors:
            meaning.warm()
        analyzer = Analyzer()
        recall = Recall(
            models, analyzer=lambda: analyzer, now=lambda: time.time_ns() // 1000,
            dense=None if args.no_vectors else meaning,
        )  # fmt: skip
        ask(recall, args)
        print(f"resident at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def question_about(message: Message, rng: random.Random) -> str:
    chinese = not message.text.isascii()
    subject = ("我" if chinese else "I") if message.subject == "user" else message.subject
    return rng.choice(QUESTIONS[0 if chinese else 1]).format(s=subject, v=message.value)


def ask(recall: Recall, args: argparse.Namespace) -> None:
    rng, source = random.Random(2), messages()
    if args.bulk:
        said = list(bulk.asked(args.namespaces, args.each, args.questions + 50, rng))
    else:
        said = [(f"n{n // args.each}", next(source)) for n in range(min(args.namespaces * args.each, 400_000))]
    gc.collect()
    gc.freeze()  # as the read API does
    spent: list[float] = []
    busy: list[float] = []
    verdicts: dict[str, int] = {}
    for number in range(args.questions + 50):
        name, message = rng.choice(said)
        question = question_about(message, rng)
        begun, worked = time.perf_counter(), time.thread_time()
        reply = recall.answer(RecallRequest(namespace=name, query=question))
        if number >= 50:
            spent.append((time.perf_counter() - begun) * 1e3)
            busy.append((time.thread_time() - worked) * 1e3)
            verdicts[reply["answerability"]] = verdicts.get(reply["answerability"], 0) + 1
    print(f"{args.namespaces:,} x {args.each:,} claims, {len(spent)} questions, {verdicts}")
    for what, times in (("to the answer", sorted(spent)), ("of processor", sorted(busy))):
        p50, p95, p99 = (times[int(len(times) * q)] for q in (0.5, 0.95, 0.99))
        print(f"  {what}: p50 {p50:.2f} ms, p95 {p95:.2f} ms, p99 {p99:.2f} ms")


if __name__ == "__main__":
    main()
