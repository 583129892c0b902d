"""Dense search over real vector files: exact and by signs, filters, chunks, following writes and deletions."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from taishi.projections.embedding import unit
from taishi.projections.embedding_hashed import HashedEmbedder
from taishi.projections.vector_schema import vector_path
from taishi.projections.vectors import Document, VectorStore
from taishi.queries import dense_scope
from taishi.queries.dense import DenseIndex

D = 96  # no multiple of 64
SIGNS = 40  # rows from which signs are used in these tests


class Filed:
    """A vector file and what is in it, by namespace."""

    def __init__(self, folder: Path, model: str = "m", seed: int = 1, dimension: int = D) -> None:
        self.folder = folder
        self.store = VectorStore(vector_path(folder, 0, model), model=model, dimension=dimension)
        self.dimension = dimension
        self.rng = np.random.default_rng(seed)
        self.centres = self.rng.standard_normal((8, dimension))
        self.seq = 0
        self.vectors: dict[str, dict[int, np.ndarray]] = {}

    def random(self, count: int = 1) -> np.ndarray:
        rows = self.centres[self.rng.integers(0, 8, count)] + self.rng.standard_normal((count, self.dimension))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def add(self, name: str, chunks: int = 1) -> int:
        self.seq += 1
        ns, vectors, doc = self.store.namespace(name, self.seq), self.random(chunks), 2 * self.seq
        keys = [bytes([i]) * 16 for i in range(chunks)]
        document = Document(doc=doc, ns=ns, keys=keys, vectors=vectors)
        self.store.add([document], after=self.seq - 1, seq=self.seq, digest=b"d")
        self.vectors.setdefault(name, {})[doc] = vectors.astype(np.float16).astype(np.float32)
        return doc

    def forget(self, name: str, *docs: int) -> None:
        at = self.store.checkpoint.forgotten
        self.store.forget([(name, docs)], after=at, upto=at)
        for doc in docs:
            self.vectors[name].pop(doc, None)

    def put_back(self, name: str, doc: int) -> None:
        """Takes a document out and puts other vectors in its place, as a revival does."""
        self.seq += 1
        ns, vectors = self.ns(name), self.random(2)
        document = Document(doc=doc, ns=ns, keys=[b"0" * 16, b"1" * 16], vectors=vectors)
        self.store.add([document], after=self.seq - 1, seq=self.seq, digest=b"d", dropped={ns: [doc]})
        self.vectors[name][doc] = vectors.astype(np.float16).astype(np.float32)

    def ns(self, name: str) -> int:
        return self.store.namespace(name, 0)

    def expected(self, name: str, query: np.ndarray, k: int, allowed=None, excluded=()) -> list[tuple[int, float]]:
        scored = [
            (doc, float((rows @ query).max()))
            for doc, rows in self.vectors.get(name, {}).items()
            if (allowed is None or doc in allowed) and doc not in excluded
        ]
        return sorted(scored, key=lambda s: (-s[1], s[0]))[:k]


def index(filed: Filed, **more) -> DenseIndex:
    return DenseIndex(filed.folder, 0, **{"model": "m", "exact": SIGNS, **more})


def same(found, expected) -> None:
    assert [doc for doc, _ in found] == [doc for doc, _ in expected]
    assert np.allclose([c for _, c in found], [c for _, c in expected], atol=1e-5)


@pytest.mark.parametrize("count", [1, 5, SIGNS - 1, SIGNS, SIGNS + 1, 300])
def test_the_nearest_documents_first(tmp_path: Path, count: int) -> None:
    filed = Filed(tmp_path)
    for i in range(count):
        filed.add("n", chunks=1 + i % 3)
        filed.add("elsewhere")
    found = index(filed)
    for query in filed.random(10):
        same(found.search(filed.ns("n"), query, 7).found, filed.expected("n", query, 7))


def test_every_finite_half_widens_to_itself() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16)
    exact = halves.view(np.float16).astype(np.float32)
    finite = np.isfinite(exact)
    assert np.array_equal(dense_scope._floats(halves)[finite].view(np.uint32), exact[finite].view(np.uint32))


def test_signs_lose_next_to_nothing_in_a_large_namespace(tmp_path: Path) -> None:
    filed = Filed(tmp_path, dimension=512)
    ns = filed.store.namespace("n", 1)
    factors = filed.rng.standard_normal((20_030, 40))  # sentences vary in far fewer ways than they have dimensions
    rows = unit((factors @ filed.rng.standard_normal((40, 512))).astype(np.float32))
    asked, rows = rows[:30], rows[30:]
    documents = [Document(doc=2 * i + 2, ns=ns, keys=[b"k" * 16], vectors=rows[i : i + 1]) for i in range(len(rows))]
    filed.store.add(documents, after=0, seq=len(rows), digest=b"d")
    signs, exact = index(filed), index(filed, exact=10**6)
    shared = 0
    for query in asked:
        a, b = signs.search(ns, query, 20), exact.search(ns, query, 20)
        shared += len({doc for doc, _ in a.found} & {doc for doc, _ in b.found})
        assert a.searched == b.searched == 20_000
        assert abs(a.mean - b.mean) < 0.03
        assert abs(a.std - b.std) < 0.03
    assert shared / 600 > 0.9


@pytest.mark.parametrize("mapped", [False, True])
def test_as_of_a_document_it_answers_as_it_did_then_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped: bool
) -> None:
    """With many equal vectors, while the namespace outgrows the exact search, and its sample is taken anew."""
    for name, value in {"RESCORED": 12, "SAMPLE": 8, "KEPT": 0 if mapped else dense_scope.KEPT}.items():
        monkeypatch.setattr(dense_scope, name, value)
    filed = Filed(tmp_path, dimension=70)
    pool, query = filed.random(5), filed.random()[0]
    filed.random = lambda count=1: pool[filed.rng.integers(0, len(pool), count)]  # type: ignore[method-assign]
    follows, then = index(filed), {}
    for i in range(3 * SIGNS):
        doc = filed.add("n", chunks=1 + i % 2)
        then[doc] = follows.search(filed.ns("n"), query, 4)
    again = index(filed)
    for doc, hits in then.items():
        for one in (follows, again):
            assert one.search(filed.ns("n"), query, 4, last=doc) == hits, doc


@pytest.mark.parametrize("count", [20, 400])
def test_filters_act_before_ranking(tmp_path: Path, count: int) -> None:
    filed = Filed(tmp_path)
    docs = [filed.add("n", chunks=1 + i % 2) for i in range(count)]
    found = index(filed)
    query = filed.random()[0]
    far = [doc for doc, _ in filed.expected("n", query, count)[-9:]]
    near = [doc for doc, _ in filed.expected("n", query, 9)]
    allowed = np.array(sorted(far), dtype=np.int64)
    same(found.search(filed.ns("n"), query, 5, allowed=allowed).found, filed.expected("n", query, 5, allowed=set(far)))
    excluded = np.array(sorted(near), dtype=np.int64)
    hits = found.search(filed.ns("n"), query, 5, excluded=excluded)
    same(hits.found, filed.expected("n", query, 5, excluded=set(near)))
    assert hits.searched == sum(len(rows) for rows in filed.vectors["n"].values())
    none = np.array([], dtype=np.int64)
    assert list(found.search(filed.ns("n"), query, 5, allowed=none).found) == []
    assert len(found.search(filed.ns("n"), query, 2 * count).found) == len(docs)


@pytest.fixture(params=[1 << 30, 100 * D * 2, 0], ids=["in memory", "outgrown", "in the file"])
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the vectors of a large namespace are rescored from."""
    monkeypatch.setattr(dense_scope, "KEPT", request.param)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("start", [3, SIGNS - 5, 200])
def test_it_follows_what_is_written_and_forgotten(tmp_path: Path, start: int) -> None:
    filed = Filed(tmp_path)
    for _ in range(start):
        filed.add("n")
    found = index(filed)
    for step in range(60):
        query = filed.random()[0]
        hits = found.search(filed.ns("n"), query, 6)
        same(hits.found, filed.expected("n", query, 6))
        assert hits.searched == sum(len(vectors) for vectors in filed.vectors["n"].values())
        if step % 3 == 2:
            living = sorted(filed.vectors["n"])
            filed.forget("n", *(living[i] for i in {0, len(living) // 2, len(living) - 1}))
        else:
            filed.add("n", chunks=1 + step % 4)
            filed.add("elsewhere")
    assert found.checkpoint() == filed.seq


@pytest.mark.parametrize("start", [3, SIGNS - 5, 200])
def test_what_was_archived_and_is_put_back_is_found_again(tmp_path: Path, start: int) -> None:
    filed = Filed(tmp_path)
    docs = [filed.add("n") for _ in range(start)]
    found = index(filed)
    for step in range(30):
        query = filed.random()[0]
        same(found.search(filed.ns("n"), query, 6).found, filed.expected("n", query, 6))
        doc = docs[(7 * step) % start]
        if step % 2:
            filed.put_back("n", doc)
        else:
            filed.forget("n", doc)
        filed.put_back("n", docs[step % start])
        if step % 5 == 4:
            filed.forget("n", docs[step % start])
            filed.add("n")
    anew = index(filed)
    same(anew.search(filed.ns("n"), query, 9).found, found.search(filed.ns("n"), query, 9).found)


def test_a_namespace_that_is_forgotten_whole_is_empty_and_may_fill_again(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    docs = [filed.add("n") for _ in range(70)]
    found = index(filed)
    query = filed.random()[0]
    found.search(filed.ns("n"), query, 3)
    filed.forget("n", *docs)
    assert found.search(filed.ns("n"), query, 3).found == ()
    assert found._serving is not None
    assert found._serving.scopes[filed.ns("n")].scope.size == 0  # nor is it in memory
    doc = filed.add("n")
    assert [d for d, _ in found.search(filed.ns("n"), query, 3).found] == [doc]


def test_memory_is_bounded_and_answers_stay_right(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    for i in range(600):
        filed.add(f"n{i % 20}")
    found = index(filed, memory=60_000)
    for _ in range(3):
        for i in range(20):
            query = filed.random()[0]
            same(found.search(filed.ns(f"n{i}"), query, 4).found, filed.expected(f"n{i}", query, 4))
            assert found._serving is not None
            assert found._serving.bytes <= 60_000
            assert found._serving.bytes == sum(held.counted for held in found._serving.scopes.values())


def test_no_file_no_namespace_no_hits(tmp_path: Path) -> None:
    found = DenseIndex(tmp_path, 0, model="m")
    query = np.ones(D, dtype=np.float32) / np.sqrt(D, dtype=np.float32)
    assert found.search(1, query, 5).found == ()
    assert (found.model, found.complete, found.checkpoint()) == (None, False, 0)
    filed = Filed(tmp_path)
    filed.add("n")
    assert found.search(99, query, 5).found == ()
    assert found.model == "m"
    assert len(found.search(1, query, 5).found) == 1


def test_it_moves_to_another_models_file_when_that_is_complete(tmp_path: Path) -> None:
    old = Filed(tmp_path, "a")
    old.add("n")
    old.store.retire()
    path = vector_path(tmp_path, 0, "b")
    new = VectorStore(path, model="b", dimension=D, complete_at=1)
    found = DenseIndex(tmp_path, 0, model="b")
    query = old.random()[0]
    assert (found.model, found.complete) == ("a", False)
    assert len(found.search(1, query, 3).found) == 1
    new.add([], after=0, seq=1, digest=b"d")
    found.refresh()
    assert (found.model, found.complete) == ("b", True)
    assert found.search(1, query, 3).found == ()


def test_a_file_that_was_made_anew_is_noticed(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    filed.add("n")
    found = index(filed)
    query = filed.random()[0]
    before = found.search(1, query, 3).found
    filed.store.close()
    filed.store.path.unlink()
    again = Filed(tmp_path, seed=2)
    again.add("n")
    found.refresh()
    after = found.search(1, query, 3).found
    assert after != before
    same(after, again.expected("n", query, 3))


def test_warming_reads_the_largest(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    ns = filed.store.namespace("big", 1)
    rows = filed.random(1_500)
    documents = [Document(doc=2 * i + 2, ns=ns, keys=[b"k" * 16], vectors=rows[i : i + 1]) for i in range(len(rows))]
    filed.store.add(documents, after=0, seq=len(rows), digest=b"d")
    found = index(filed)
    found.warm()
    assert found._serving is not None and list(found._serving.scopes) == [ns]


def test_threads_may_search_while_it_is_written(tmp_path: Path) -> None:
    filed = Filed(tmp_path)
    first = [filed.add("n") for _ in range(100)]
    found = index(filed, memory=30_000)
    ns, query = filed.ns("n"), filed.random()[0]
    stop, errors = threading.Event(), list[BaseException]()

    def search() -> None:
        try:
            while not stop.is_set():
                hits = found.search(ns, query, 300)
                docs = [doc for doc, _ in hits.found]
                assert len(docs) == len(set(docs)) >= 50
                assert set(docs) >= set(first[50:])
                found.search(ns + 1, query, 3)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(150):
        filed.add("n")
        filed.add("m")
        if i < 50:
            filed.forget("n", first[i])
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors


def test_meaning_is_found_over_languages_of_spelling(tmp_path: Path) -> None:
    model = HashedEmbedder()
    store = VectorStore(vector_path(tmp_path, 0, model.id), model=model.id, dimension=model.dimension)
    said = ["灯塔管理员每晚记录潮汐", "The lighthouse keeper records tides", "菜市场早上六点开门"]
    ns = store.namespace("n", 1)
    documents = [
        Document(doc=2 * i, ns=ns, keys=[bytes([i]) * 16], vectors=model.embed([text]))
        for i, text in enumerate(said, start=1)
    ]
    store.add(documents, after=0, seq=3, digest=b"d")
    found = DenseIndex(tmp_path, 0, model=model.id)
    assert found.search(ns, model.embed(["谁在记录潮汐"])[0], 1).found[0][0] == 2
    assert found.search(ns, model.embed(["recording tide"])[0], 1).found[0][0] == 4
