"""The fold of a partition: rows, replays in any batches, erasure, poison, exactly once."""

from __future__ import annotations

import random
from pathlib import Path
from uuid import UUID

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taishi.ingest.instants import FOREVER
from taishi.projections import fold
from taishi.projections.analysis import Analyzer
from taishi.projections.fold_erasure import MANY
from taishi.projections.store import CheckpointMoved, ReadModelFile, ReadModelOutdated, open_connection
from tests.support.history import History, claim_id

ANALYZER = Analyzer()


def folded(path: Path, events, *, batches=None) -> ReadModelFile:
    model = ReadModelFile(path, ANALYZER)
    at = 0
    for size in batches or [len(events)]:
        if events[at : at + size]:
            model.apply(events[at : at + size])
        at += size
    if events[at:]:
        model.apply(events[at:])
    return model


def rows(path: Path, sql: str, *values):
    return open_connection(path, read_only=True).execute(sql, values).fetchall()


def current(path: Path, predicate: str, at: int = FOREVER - 1) -> list[str]:
    found = rows(
        path,
        "SELECT c.value, c.negated FROM beliefs b JOIN claims c ON c.seq = b.claim"
        " WHERE c.predicate = ? AND b.valid_from <= ? AND b.valid_to > ? ORDER BY c.seq",
        predicate,
        at,
        at,
    )
    return [("not " if negated else "") + value for value, negated in found]


def found(path: Path, query: str) -> list[int]:
    return [r[0] for r in rows(path, "SELECT rowid FROM fulltext WHERE fulltext MATCH ? ORDER BY rowid", query)]


@st.composite
def histories(draw) -> History:
    """A life: words, claims read from them sooner or later, outright claims, corrections, retractions, forgetting."""
    h = History()
    said, claims = [], []
    for _ in range(draw(st.integers(1, 14))):
        step = draw(
            st.sampled_from(
                ["say", "say", "read", "read", "assert", "assert", "correct", "retract", "forget", "other", "judge"]
            )
        )
        value = draw(st.sampled_from(["Bonn", "Graz", "Lima"]))
        if step == "say":
            said.append(h.say(f"I live in {value}"))
        elif step == "read" and said:
            words = draw(st.sampled_from(said))
            claims.append(
                h.claim(
                    "user",
                    draw(st.sampled_from(["lives_in", "likes"])),
                    value,
                    said=words,
                    negated=draw(st.booleans()),
                    valid_from=draw(st.sampled_from([None, 1, 5_000_000])),
                )
            )
            h.extracted(words)
        elif step == "assert":
            claims.append(
                h.claim(
                    "user",
                    "lives_in",
                    value,
                    valid_from=draw(st.sampled_from([None, 1, 9_000_000])),
                    valid_to=draw(st.sampled_from([None, None, 50_000_000])),
                )
            )
        elif step == "correct" and claims:
            target = draw(st.sampled_from(claims))
            was = draw(st.sampled_from(["wrong", "true_until"]))
            claims.append(
                h.claim(
                    "user",
                    "lives_in",
                    value,
                    correction=True,
                    type_="claim.corrected",
                    was=was,
                    targets=(claim_id(target),),
                )
            )
        elif step == "retract" and claims:
            h.add("claim.retracted", facts={"targets": [claim_id(draw(st.sampled_from(claims)))], "was": "wrong"})
        elif step == "forget" and (said or claims):
            h.forget(draw(st.sampled_from(said + claims)))
        elif step == "judge" and claims:
            _judge(draw, h, claims)
        elif step == "other":
            h.say("elsewhere", namespace="other")
    return h


def _judge(draw, h: History, claims: list) -> None:
    claim = draw(st.sampled_from(claims))
    match draw(st.sampled_from(["confirm", "wins", "coexist", "recalled", "feedback"])):
        case "confirm":
            h.confirm(claim)
        case "wins":
            h.resolve(claim, winner=claim)
        case "coexist":
            h.resolve(claim)
        case "recalled":
            h.recalled(draw(st.sampled_from("xy")), claim)
        case _:
            h.feedback(draw(st.sampled_from(["x", "y.0", "y.1"])), draw(st.booleans()))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories(), st.randoms(use_true_random=False))
def test_any_batches_and_a_replay_after_erasure_give_one_digest(tmp_path_factory, history: History, rng: random.Random):
    """Folded live (words there, then forgotten) equals a rebuild from a log whose keys are destroyed."""
    tmp = tmp_path_factory.mktemp("fold")
    events = history.events
    sizes = [rng.randint(1, 4) for _ in events]
    live = folded(tmp / "live.db", events, batches=[1] * len(events))
    batched = folded(tmp / "batched.db", events, batches=sizes)
    rebuilt = folded(tmp / "rebuilt.db", history.after_erasure())
    assert rows(tmp / "live.db", "SELECT * FROM dead_letters") == []
    assert live.digest() == batched.digest() == rebuilt.digest()
    for model in (live, batched, rebuilt):
        model.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories())
def test_slots_folded_one_by_one_equal_their_replay(tmp_path_factory, history: History):
    path = tmp_path_factory.mktemp("slots") / "m.db"
    model = folded(path, history.events, batches=[1] * len(history.events))
    before = [sorted(rows(path, f"SELECT * FROM {t}"), key=repr) for t in ("beliefs", "history", "chains")]
    for (slot,) in rows(path, "SELECT slot FROM slots"):
        model._model.replay(slot)
    assert [sorted(rows(path, f"SELECT * FROM {t}"), key=repr) for t in ("beliefs", "history", "chains")] == before
    model.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_extractions_that_finish_in_any_order_give_one_digest(tmp_path_factory, data: st.DataObject):
    """Words, outright claims and a correction keep their order; what is read from the words comes whenever it comes."""
    tmp = tmp_path_factory.mktemp("order")
    kinds = data.draw(st.lists(st.sampled_from(["say", "say", "assert", "wrong"]), min_size=2, max_size=7))
    readings = {
        n: data.draw(st.lists(st.sampled_from(["Bonn", "Graz", "Lima"]), min_size=1, max_size=2))
        for n, kind in enumerate(kinds)
        if kind == "say"
    }
    equal = data.draw(st.booleans())  # imported with one and the same recorded time
    digests = set()
    for attempt in range(3):
        h, waiting, outright = History(), [], []
        for n, kind in enumerate(kinds):
            at = {"recorded_at": 1_000 if equal else 1_000 + n, "event_id": str(UUID(int=10**6 + n))}
            if kind == "say":
                waiting.append((n, h.say(f"words {n}", **at)))
            elif kind == "assert" or not outright:
                outright.append(h.claim("user", "lives_in", f"place {n}", valid_from=5, **at))
            else:
                target = (claim_id(outright[-1]),)
                more = {"correction": True, "type_": "claim.corrected", "was": "wrong", "targets": target}
                outright.append(h.claim("user", "lives_in", f"place {n}", valid_from=5, **more, **at))
            while waiting and data.draw(st.booleans()):
                _read_one(h, waiting, readings, data)
        while waiting:
            _read_one(h, waiting, readings, data)
        model = ReadModelFile(tmp / f"{attempt}.db", ANALYZER)
        model.apply(h.events, stop_at_poison=True)
        digests.add(model.digest())
        model.close()
    assert len(digests) == 1


def _read_one(h: History, waiting: list, readings: dict[int, list[str]], data: st.DataObject) -> None:
    n, words = waiting.pop(data.draw(st.integers(0, len(waiting) - 1)))
    for k, value in enumerate(readings[n]):
        h.claim("user", "lives_in", value, said=words, valid_from=5, event_id=str(UUID(int=10**9 + 10 * n + k)))
    h.extracted(words)


def test_a_confirmation_counts_with_its_last_time(tmp_path):
    h = History()
    claim = h.claim("user", "likes", "figs")
    h.confirm(claim)
    last = h.confirm(claim)
    model = folded(tmp_path / "m.db", h.events)
    counts = "SELECT memory_id, confirmations, confirmed_at FROM standing"
    assert rows(tmp_path / "m.db", counts) == [(claim_id(claim), 2, last.recorded_at)]
    model.apply([h.forget(claim)])
    assert rows(tmp_path / "m.db", counts) == []
    model.close()


def test_feedback_counts_once_for_each_memory_shown_and_may_come_first(tmp_path):
    h = History()
    figs, plums = h.claim("user", "likes", "figs"), h.claim("user", "likes", "plums")
    path = tmp_path / "m.db"
    h.feedback("e.1", True)
    h.recalled("e", figs, plums)
    model = folded(path, h.events)
    counts = "SELECT helpful, unhelpful FROM standing WHERE memory_id = ?"
    assert rows(path, counts, claim_id(plums)) == [(1, 0)]
    model.apply([h.feedback("e.1", True)])
    model.apply([h.feedback("e.1", False)])
    assert rows(path, counts, claim_id(plums)) == [(0, 1)]
    model.apply([h.feedback("e", True), h.feedback("nothing", True), h.feedback("e.7", True)])
    assert rows(path, counts, claim_id(plums)) == [(1, 1)]
    assert rows(path, counts, claim_id(figs)) == [(1, 0)]
    model.close()


def test_only_the_last_exposures_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("taishi.projections.fold_judgement.EXPOSURES", 3)
    h = History()
    figs = h.claim("user", "likes", "figs")
    for n in range(5):
        h.recalled(f"e{n}", figs)
    folded(tmp_path / "m.db", h.events).close()
    assert sorted(rows(tmp_path / "m.db", "SELECT exposure FROM exposures")) == [("e2",), ("e3",), ("e4",)]


def test_words_are_found_and_forgotten_without_a_trace(tmp_path):
    h = History()
    kept = h.say("my kestrel nests in the tower")
    words = h.say("我的暗语是 quivervane 蘑菇")
    claim = h.claim("user", "note", "quivervane", said=words)
    h.extracted(words)
    path = tmp_path / "m.db"
    model = folded(path, h.events)
    assert found(path, '"1|=quivervan"') == [2 * words.position.seq, 2 * claim.position.seq + 1]
    gone = h.forget(words, claim)
    model.apply([gone])
    assert model.scrub()
    assert found(path, '"1|=quivervan"') == []
    assert found(path, '"1|=kestrel"') == [2 * kept.position.seq]
    everything = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    for trace in ("quivervan", "uivervan", "蘑菇", "暗语"):
        assert trace.encode() not in everything
    assert rows(path, "SELECT subject_key FROM subjects") == []
    model._connection.execute("INSERT INTO fulltext (fulltext) VALUES ('integrity-check')")
    model.close()


def test_what_the_forgotten_claim_displaced_is_believed_again(tmp_path):
    h = History()
    h.claim("user", "lives_in", "Bonn", valid_from=1)
    graz = h.claim("user", "lives_in", "Graz", valid_from=2)
    path = tmp_path / "m.db"
    model = folded(path, h.events)
    assert current(path, "lives_in") == ["Graz"]
    model.apply([h.forget(graz)])
    assert current(path, "lives_in") == ["Bonn"]
    opaque = rows(path, "SELECT c.text, h.known_to FROM history h JOIN claims c ON c.seq = h.claim WHERE h.claim = 2")
    assert opaque == [(None, 3_000_000)]
    model.close()


def test_liking_and_no_longer_liking_is_one_change_of_one_slot(tmp_path):
    h = History()
    h.claim("user", "likes", "Coriander")
    h.claim("user", "likes", "coriander.", negated=True)
    path = tmp_path / "m.db"
    model = folded(path, h.events)
    assert current(path, "likes") == ["not coriander."]
    assert rows(path, "SELECT old_claim, new_claim, rule FROM chains") == [(1, 2, "began_later")]
    model.close()


def test_pending_extractions_are_counted(tmp_path):
    h = History()
    first, second, third = h.say("one"), h.say("two"), h.say("three")
    path = tmp_path / "m.db"
    model = folded(path, h.events)
    counts = "SELECT pending, failed FROM namespaces"
    assert rows(path, counts) == [(3, 0)]
    model.apply([h.extracted(first)])
    model.apply([h.extracted(second, failed=True)])
    assert rows(path, counts) == [(1, 1)]
    model.apply([h.extracted(second)])
    model.apply([h.extracted(second)])
    model.apply([h.forget(third, kind="event")])
    assert rows(path, counts) == [(0, 0)]
    model.close()


def test_a_second_worker_fails_and_changes_nothing(tmp_path):
    h = History()
    h.say("one")
    h.say("two")
    path = tmp_path / "m.db"
    first, second = ReadModelFile(path, ANALYZER), ReadModelFile(path, ANALYZER)
    first.apply(h.events)
    digest = first.digest()
    with pytest.raises(CheckpointMoved):
        second.apply(h.events)
    assert first.digest() == digest
    first.close()
    second.close()


def test_a_poison_event_is_set_aside_live_and_stops_a_rebuild(tmp_path):
    h = History()
    h.say("before")
    h.add("claim.extracted", facts={"claim": {"nonsense": 1}})
    h.say("after")
    model = folded(tmp_path / "live.db", h.events)
    assert model.checkpoint.seq == 3
    assert rows(tmp_path / "live.db", "SELECT seq, error, state FROM dead_letters") == [(2, "TypeError", "parked")]
    assert len(rows(tmp_path / "live.db", "SELECT seq FROM events")) == 2
    model.close()
    rebuild = ReadModelFile(tmp_path / "rebuild.db", ANALYZER)
    with pytest.raises(TypeError):
        rebuild.apply(h.events, stop_at_poison=True)
    assert rebuild.checkpoint.seq == 0
    rebuild.close()


def test_a_batch_that_fails_leaves_nothing_half_done(tmp_path, monkeypatch):
    h = History()
    h.say("one")
    h.say("two")
    path = tmp_path / "m.db"
    model = ReadModelFile(path, ANALYZER)

    def full(*_):
        raise apsw.FullError("disk")

    monkeypatch.setitem(fold._HANDLERS, "message.recorded", full)
    with pytest.raises(apsw.FullError):
        model.apply(h.events)
    monkeypatch.undo()
    assert rows(path, "SELECT count(*) FROM namespaces") == [(0,)]
    model.apply(h.events)
    assert rows(path, "SELECT count(*) FROM events") == [(2,)]
    model.close()


def test_a_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "m.db"
    ReadModelFile(path, ANALYZER).close()
    connection = open_connection(path)
    connection.execute("UPDATE checkpoint SET fold_version = 0")
    connection.close()
    with pytest.raises(ReadModelOutdated):
        ReadModelFile(path, ANALYZER)


def test_many_documents_leave_the_index_without_a_trace(tmp_path):
    """The quick way out of the index, and the merge that follows."""
    h = History()
    said = [h.say(f"kaminuro{n} and pelagristo{n} were seen, 㐬㑀{chr(0x3500 + n)}") for n in range(MANY + 50)]
    kept = h.say("a lantern is kept")
    h.forget(*said, kind="session")
    model = folded(tmp_path / "m.db", h.events)
    assert not model.is_scrubbed
    while not model.scrub():
        pass
    assert model.is_scrubbed
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for word in (b"kaminuro", b"minuro", b"pelagristo", b"gristo", "㐬㑀".encode(), "㑀".encode(), b"lagris"):
        assert word not in content
    assert rows(tmp_path / "m.db", "SELECT count(*) FROM terms WHERE term LIKE '%ristro%'") == [(0,)]
    assert found(tmp_path / "m.db", '"1|=lantern"') == [2 * kept.position.seq]
    h.forget(kept)
    model.apply(h.events[-1:])
    assert model.scrub() and b"lantern" not in (tmp_path / "m.db").read_bytes()
    model.close()
