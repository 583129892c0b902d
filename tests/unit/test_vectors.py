"""Vector files and their worker: exactly once, forgetting without a trace, dead and lying models, change of model."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import apsw
import numpy as np
import pytest

from taishi.ingest.envelope import Event, Position
from taishi.ingest.errors import InvalidInput, LogDamaged, Unavailable, UnknownEventVersion
from taishi.projections.embedding import Vectors, unit
from taishi.projections.embedding_hashed import HashedEmbedder
from taishi.projections.store import CheckpointMoved
from taishi.projections.vector_schema import STRIDE, vector_path, vector_paths
from taishi.projections.vector_worker import VectorWorker
from taishi.projections.vectors import Document, VectorFileUnfit, VectorStore, inspect, serving
from tests.support.history import History, claim_id
from tests.support.history_log import HistoryLog

SECRET = b"k" * 32
MODEL = HashedEmbedder()


class Model:
    """The hashed embedder under a name, which fails as it is told and keeps what it was asked."""

    def __init__(self, name: str = "a@1") -> None:
        self.id = name
        self.dimension = MODEL.dimension
        self.asked: list[str] = []
        self.fails: Callable[[Sequence[str]], None] = lambda texts: None

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.fails(texts)
        self.asked += texts
        return MODEL.embed(texts)


class Noise(Model):
    """A direction of its own for every text, without zeros."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit(
            np.array(
                [np.random.default_rng(crc32(text.encode())).standard_normal(self.dimension) for text in texts],
                dtype=np.float32,
            )
        )


def worker(folder: Path, history: History | HistoryLog, model: Model | None = None) -> VectorWorker:
    log = history if isinstance(history, HistoryLog) else HistoryLog(history)
    return VectorWorker(log=log, folder=folder, partitions=[0], embedder=model or Model(), secret=SECRET)


def rows(folder: Path, model: str = "a@1") -> dict[int, bytes]:
    """Vectors by row id."""
    db = apsw.Connection(str(vector_path(folder, 0, model)), flags=apsw.SQLITE_OPEN_READONLY)
    return dict(db.execute("SELECT id, vector FROM vectors ORDER BY id").fetchall())


def docs(folder: Path, model: str = "a@1") -> list[int]:
    return sorted({row // STRIDE for row in rows(folder, model)})


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def down(texts: Sequence[str]) -> None:
    raise Unavailable("the model sleeps")


@pytest.fixture
def history() -> History:
    h = History()
    said = h.say("我上周搬到了厦门")
    h.claim("user", "lives_in", "厦门", said=said)
    h.extracted(said)
    h.claim("user", "likes", "climbing")
    h.say("Ada lives by the sea", namespace="other")
    return h


def test_events_and_claims_are_embedded_under_their_documents(tmp_path: Path, history: History) -> None:
    """Once each: the first claim has the words of its event."""
    model = Model()
    w = worker(tmp_path, history, model)
    w.catch_up()
    assert docs(tmp_path) == [2, 5, 9, 10]
    assert w.checkpoints() == {0: 5}
    assert model.asked == ["我上周搬到了厦门", "likes climbing", "Ada lives by the sea"]
    stored = np.frombuffer(rows(tmp_path)[2 * STRIDE], dtype=np.float16)
    assert np.allclose(stored, MODEL.embed(["我上周搬到了厦门"])[0], atol=1e-3)


def test_speakers_are_embedded_with_every_chunk(tmp_path: Path) -> None:
    h = History()
    h.add("message.recorded", body={"text": "风很大，我们没有出海。" * 40, "speaker": "阿澄"})
    model = Model()
    worker(tmp_path, h, model).catch_up()
    assert len(model.asked) > 1
    assert all(text.startswith("阿澄: ") for text in model.asked)
    assert len(rows(tmp_path)) >= len(model.asked)


def test_the_same_in_any_batches_and_after_any_number_of_restarts(tmp_path: Path) -> None:
    h = History()
    for i in range(700):
        h.say(f"第{i}天去了{i % 13}号码头 and saw {i % 7} gulls", namespace=f"n{i % 5}")
        if i % 50 == 7:
            h.forget(h.events[random.Random(i).randrange(len(h.events))])
    one = tmp_path / "one"
    worker(one, h).catch_up()
    many = tmp_path / "many"
    while True:
        w = worker(many, h)
        more = w.step(0)
        w.close()
        if not more:
            break
    assert rows(one) == rows(many) != {}


def test_a_second_worker_fails_and_changes_nothing(tmp_path: Path, history: History) -> None:
    first, second = worker(tmp_path, history), worker(tmp_path, history)
    stale = second._partitions[0].store
    events = history.events
    first.catch_up()
    before = rows(tmp_path)
    with pytest.raises(CheckpointMoved):
        second._embed_events(stale, events, after=0)
    with pytest.raises(CheckpointMoved):
        stale.forget([("ns", [2])], after=0, upto=5)
    assert rows(tmp_path) == before


# forgetting


def test_forgotten_words_leave_no_bytes(tmp_path: Path) -> None:
    h = History()
    rng = random.Random(4)
    for i in range(1_500):
        h.say(f"备忘 {rng.random()} {i}", namespace=f"n{rng.randrange(30)}")
    w = worker(tmp_path, h, Noise())
    w.catch_up()
    gone = rng.sample(h.events, 200)
    kept = rows(tmp_path)
    patterns = [kept[2 * e.position.seq * STRIDE][64:160] for e in gone]
    w._partitions[0].store.scrub()
    assert all(pattern in bytes_of(tmp_path) for pattern in patterns)
    for event in gone:
        facts = {"kind": "event", "claims": [], "events": [[event.event_id, event.position.seq]], "keys": []}
        h.add("claim.forgotten", namespace=event.namespace, facts=facts)
    w.catch_up()
    left = bytes_of(tmp_path)
    assert not [pattern for pattern in patterns if pattern in left]
    assert len(rows(tmp_path)) == len(kept) - 200
    w.close()


def test_a_forgotten_event_takes_what_it_claimed_with_it_and_a_claim_only_itself(tmp_path: Path) -> None:
    h = History()
    a = h.say("我养了一只鹦鹉")
    b = h.claim("user", "owns", "鹦鹉", said=a)
    c = h.claim("user", "speaks", "Dutch")
    w = worker(tmp_path, h)
    w.catch_up()
    h.add("claim.forgotten", facts={"kind": "claim", "claims": [["x", b.position.seq]], "events": [], "keys": []})
    w.catch_up()
    assert docs(tmp_path) == [2 * a.position.seq, 2 * c.position.seq + 1]
    h.forget(a, c)
    w.catch_up()
    assert docs(tmp_path) == []


def fade(history: History, kind: str, *gone) -> None:
    claims = [[claim_id(e), e.position.seq] for e in gone if e.type.startswith("claim.")]
    raw = [[e.event_id, e.position.seq] for e in gone if not e.type.startswith("claim.")]
    history.add(f"claim.{kind}", facts={"claims": claims, "events": raw, "reason": "faded", "since": 0})


def test_what_is_archived_has_no_vectors_and_what_is_revived_has_them_again(tmp_path: Path) -> None:
    h = History()
    said = h.say("I like radishes")
    claim = h.claim("user", "likes", "radishes", said=said)
    h.say("The harbour was closed")
    one, all_at_once = worker(tmp_path / "one", h), tmp_path / "all"
    one.catch_up()
    before = rows(tmp_path / "one")
    fade(h, "archived", claim, said)
    one.catch_up()
    assert docs(tmp_path / "one") == [6]
    fade(h, "revived", claim, said)
    one.catch_up()
    assert rows(tmp_path / "one") == before
    worker(all_at_once, h).catch_up()
    assert rows(all_at_once) == before
    fade(h, "archived", claim, said)
    fade(h, "revived", claim, said)
    h.forget(claim, said)
    one.catch_up()
    worker(tmp_path / "late", HistoryLog(h)).catch_up()
    assert docs(tmp_path / "one") == docs(tmp_path / "late") == [6]


def test_forgetting_does_not_reach_into_another_namespace(tmp_path: Path, history: History) -> None:
    w = worker(tmp_path, history)
    w.catch_up()
    history.add(
        "claim.forgotten", namespace="ns", facts={"kind": "event", "claims": [], "events": [["x", 5]], "keys": []}
    )
    w.catch_up()
    assert docs(tmp_path) == [2, 5, 9, 10]


def test_words_erased_before_they_were_read_are_never_embedded(tmp_path: Path, history: History) -> None:
    history.forget(history.events[0], history.events[1])
    log = HistoryLog(history)
    log.erased = True
    model = Model()
    worker(tmp_path, log, model).catch_up()
    assert docs(tmp_path) == [9, 10]
    assert not [text for text in model.asked if "厦门" in text]


def test_words_read_before_but_embedded_after_their_forgetting_are_not_stored(tmp_path: Path) -> None:
    """The worker holds the words of a batch when it looks ahead and sees that they are forgotten."""
    h = History()
    secret = h.say("保险箱在阁楼")
    for i in range(400):
        h.say(f"闲话 {i}")
    h.forget(secret)
    w = worker(tmp_path, h)  # reads bodies that are still there
    w.step(0)
    assert 2 not in docs(tmp_path)
    w.catch_up()
    assert len(docs(tmp_path)) == 400


# models that fail


def test_a_dead_model_delays_vectors_and_nothing_else(tmp_path: Path, history: History) -> None:
    model = Model()
    w = worker(tmp_path, history, model)
    w.catch_up()
    model.fails = down
    late = history.say("潮水退了")
    assert not w.step(0)
    assert w.checkpoints() == {0: 5}
    assert w.down() == [0]
    history.forget(history.events[0], late)
    w.step(0)  # still at rest
    assert docs(tmp_path) == [5, 9, 10]
    model.fails = lambda texts: None
    w._partitions[0].retry_at = 0
    w.catch_up()
    assert w.down() == []
    assert docs(tmp_path) == [5, 9, 10]
    assert w.checkpoints() == {0: 7}


def test_pauses_grow_and_are_bounded(tmp_path: Path, history: History) -> None:
    model = Model()
    model.fails = down
    w = worker(tmp_path, history, model)
    state = w._partitions[0]
    pauses = []
    for _ in range(9):
        state.retry_at = 0
        w.step(0)
        pauses.append(round(state.retry_at - time.monotonic()))
    assert pauses == sorted(pauses)
    assert pauses[0] <= 1 and pauses[-1] == 30


class Liar(Model):
    def __init__(self, rows_: Callable[[int], Vectors]) -> None:
        super().__init__()
        self._rows = rows_

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._rows(len(texts))


@pytest.mark.parametrize(
    "lie",
    [
        lambda n: np.zeros((n + 1, MODEL.dimension), dtype=np.float32),
        lambda n: np.zeros((n, 3), dtype=np.float32),
        lambda n: np.full((n, MODEL.dimension), np.nan, dtype=np.float32),
        lambda n: 1 / 0,
    ],
)
def test_a_lying_model_is_a_dead_one(tmp_path: Path, history: History, lie: Callable[[int], Vectors]) -> None:
    w = worker(tmp_path, history, Liar(lie))
    w.catch_up()
    assert w.down() == [0]
    assert w.checkpoints() == {0: 0}
    assert rows(tmp_path) == {}


def test_a_refused_text_is_set_aside_and_the_rest_goes_on(tmp_path: Path, history: History) -> None:
    model = Model()

    def refuses(texts: Sequence[str]) -> None:
        if any("climbing" in text for text in texts):
            raise InvalidInput("not this one")

    model.fails = refuses
    w = worker(tmp_path, history, model)
    w.catch_up()
    assert docs(tmp_path) == [2, 5, 10]
    db = apsw.Connection(str(vector_path(tmp_path, 0, "a@1")))
    assert db.execute("SELECT doc, ns, error FROM refused").fetchall() == [(9, 1, "invalid-input")]
    assert w.checkpoints() == {0: 5}


def test_a_body_that_is_not_what_its_type_says_is_set_aside(tmp_path: Path) -> None:
    h = History()
    h.add("claim.asserted", body={"subject": "user"})
    h.say("雾散了")
    w = worker(tmp_path, h)
    w.catch_up()
    assert docs(tmp_path) == [4]
    assert w.checkpoints() == {0: 2}


# change of model


def test_another_model_takes_over_when_it_is_done_and_the_old_one_forgets_meanwhile(tmp_path: Path) -> None:
    h = History()
    for i in range(300):
        h.say(f"第{i}页：灯塔与{i % 9}艘船")
    worker(tmp_path, h, Model("a@1")).catch_up()
    newer = Model("b@2")
    w = worker(tmp_path, h, newer)
    w.step(0)
    assert w.checkpoints()[0] < 300
    found = serving(tmp_path, 0, "b@2")
    assert found is not None and found.model == "a@1" and found.complete
    newer.fails = down
    h.forget(h.events[3], h.events[290])
    w.step(0)
    assert not {8, 582} & set(docs(tmp_path, "a@1"))
    newer.fails = lambda texts: None
    w._partitions[0].retry_at = 0
    w.catch_up()
    found = serving(tmp_path, 0, "b@2")
    assert found is not None and found.model == "b@2" and found.complete and not found.retired
    assert vector_paths(tmp_path, 0) == [vector_path(tmp_path, 0, "b@2")]
    assert len(docs(tmp_path, "b@2")) == 298


def test_a_model_that_comes_back_after_it_was_retired_is_made_anew(tmp_path: Path, history: History) -> None:
    worker(tmp_path, history, Model("a@1")).catch_up()
    sleeping = Model("b@2")
    sleeping.fails = down
    w = worker(tmp_path, history, sleeping)
    w.catch_up()
    w.close()
    again = Model("a@1")
    worker(tmp_path, history, again).catch_up()
    assert again.asked
    assert docs(tmp_path) == [2, 5, 9, 10]


def test_vectors_stay_when_worker_starts_again_and_when_claims_are_read_anew(tmp_path: Path, history: History) -> None:
    worker(tmp_path, history).catch_up()
    model = Model()
    w = worker(tmp_path, history, model)
    history.claim("user", "lives_in", "厦门", said=history.events[0])  # another generation's reading
    w.catch_up()
    assert model.asked == []
    assert docs(tmp_path)[-1] == 13


def test_a_file_of_other_dimension_or_version_is_refused(tmp_path: Path) -> None:
    path = vector_path(tmp_path, 0, "m")
    VectorStore(path, model="m", dimension=8).close()
    with pytest.raises(VectorFileUnfit):
        VectorStore(path, model="m", dimension=9)
    apsw.Connection(str(path)).execute("UPDATE meta SET version = 99")
    with pytest.raises(VectorFileUnfit):
        VectorStore(path, model="m", dimension=8)
    assert inspect(path) is None


def test_a_log_that_was_rolled_back_under_the_file_means_a_new_one(tmp_path: Path, history: History) -> None:
    worker(tmp_path, history).catch_up()
    other = History()
    other.events.extend(replace(e, digest=b"other" + e.digest) for e in history.events[:5])
    model = Model()
    worker(tmp_path, other, model).catch_up()
    assert model.asked
    other.events.pop()
    w = worker(tmp_path, other, Model())
    assert w.checkpoints() == {0: 0}


def test_a_log_shorter_than_what_was_looked_through_means_a_new_file(tmp_path: Path, history: History) -> None:
    """Else what is forgotten at positions looked through before would stay."""
    model = Model()
    w = worker(tmp_path, history, model)
    w.catch_up()
    model.fails = down
    for i in range(3):
        history.say(f"回声 {i}")
    w.catch_up()
    w.step(0)
    assert w._partitions[0].store.checkpoint.forgotten == 8
    w.close()
    del history.events[6:]
    w = worker(tmp_path, history)
    assert (w.checkpoints(), w._partitions[0].store.checkpoint.forgotten) == ({0: 0}, 0)


def test_a_store_takes_only_what_fits(tmp_path: Path) -> None:
    store = VectorStore(vector_path(tmp_path, 0, "m"), model="m", dimension=4)
    ns = store.namespace("n", 1)
    bad = [
        np.ones((1, 5), dtype=np.float32),
        np.full((1, 4), np.inf, dtype=np.float32),
        np.ones((STRIDE + 1, 4), dtype=np.float32),
    ]
    for vectors in bad:
        document = Document(doc=2, ns=ns, keys=[b"k"] * len(vectors), vectors=vectors)
        with pytest.raises(ValueError):
            store.add([document], after=0, seq=1, digest=b"d")
    assert store.checkpoint.seq == 0


# running


def test_run_embeds_what_comes_and_stops_when_told(tmp_path: Path, history: History) -> None:
    w = worker(tmp_path, history)
    stop = threading.Event()
    thread = threading.Thread(target=w.run, args=(stop,))
    thread.start()

    def until(done: Callable[[], bool]) -> float:
        begun = time.monotonic()
        while not done():
            assert time.monotonic() - begun < 10
            time.sleep(0.002)
        return time.monotonic() - begun

    until(lambda: len(docs(tmp_path)) == 4)
    delays = []
    for i in range(20):
        event = history.say(f"渡轮 {i} 已靠岸")
        delays.append(until(lambda seq=event.position.seq: 2 * seq in docs(tmp_path)))
    assert sorted(delays)[10] < 0.1
    history.forget(history.events[0])
    until(lambda: 2 not in docs(tmp_path))
    stop.set()
    thread.join(timeout=5)
    assert not thread.is_alive()
    w.close()


@pytest.mark.parametrize("error", [LogDamaged("a bit is turned"), UnknownEventVersion("of tomorrow")])
def test_what_it_stands_on_may_be_damaged_since_and_it_goes_on(
    tmp_path: Path, history: History, error: Exception
) -> None:
    class Damaged(HistoryLog):
        def fetch(self, position: Position) -> Event:
            raise error

    first = worker(tmp_path, history)
    first.catch_up()
    first.close()
    history.say("the harbour is frozen")
    model = Model()
    second = VectorWorker(log=Damaged(history), folder=tmp_path, partitions=[0], embedder=model, secret=SECRET)
    assert second.stands(0)
    second.catch_up()
    assert model.asked == ["the harbour is frozen"]
    second.close()


CRASHING = """
import sys
from pathlib import Path
from zlib import crc32
from tests.unit.test_vectors import crashing_history, worker
w = worker(Path(sys.argv[1]), crashing_history())
print("ready", flush=True)
while w.step(0):
    pass
"""


def crashing_history() -> History:
    h = History()
    rng = random.Random(11)
    for i in range(1_200):
        h.say(f"航海日志 {i}: 风力 {rng.randrange(12)} 级", namespace=f"n{i % 3}")
        if i % 97 == 50:
            h.forget(h.events[rng.randrange(len(h.events))])
    return h


def test_killed_at_any_moment_it_ends_up_the_same(tmp_path: Path) -> None:
    folder, clean = tmp_path / "killed", tmp_path / "clean"
    worker(clean, crashing_history()).catch_up()
    rng = random.Random(3)
    for _ in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", CRASHING, str(folder)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(rng.random() * 0.15)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    worker(folder, crashing_history()).catch_up()
    assert rows(folder) == rows(clean) != {}
