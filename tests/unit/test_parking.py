"""Poison events: parked with what stands behind them, tried again, given up; it ends as a clean replay does."""

from dataclasses import replace

import pytest

from taishi.projections import fold_claims
from taishi.projections.analysis import Analyzer
from taishi.projections.fold import _HANDLERS
from taishi.projections.store import ReadModelFile
from tests.support.history import History

ANALYZER = Analyzer()


@pytest.fixture
def poisoned(monkeypatch):
    """Folds of claims about `Ute` fail while the returned dict says so."""
    state = {"on": True}

    def stated(model, event, ns):
        if state["on"] and (event.body or {}).get("subject") == "Ute":
            raise KeyError("upgrade me")
        fold_claims.stated(model, event, ns)

    monkeypatch.setitem(_HANDLERS, "claim.asserted", stated)
    return state


def history():
    """Two people move; the second claim about each names the slot of the first."""
    h = History()
    for who in ("Ute", "Bo"):
        h.claim(who, "lives_in", "Graz")
        h.claim(who, "lives_in", "Linz")
    h.say("and something else")
    return h


def letters(model):
    return list(model._connection.execute("SELECT seq, error, attempts, state FROM dead_letters ORDER BY seq"))


def at(h):
    return lambda seq: h.events[seq - 1]


def clean_digest(tmp_path, h):
    model = ReadModelFile(tmp_path / "clean.db", ANALYZER)
    model.apply(h.events)
    assert letters(model) == []
    return model.digest()


def test_what_speaks_of_the_same_waits_and_the_rest_flows(tmp_path, poisoned):
    h = history()
    model = ReadModelFile(tmp_path / "live.db", ANALYZER)
    poisoned["on"] = True
    first = next(e for e in h.events if (e.body or {}).get("subject") == "Ute")
    assert model.apply(h.events) == len(letters(model)) > 0
    assert all(state == "parked" for *_, state in letters(model))
    assert letters(model)[0][:2] == (first.position.seq, "KeyError")
    places = {row[0] for row in model._connection.execute("SELECT value FROM claims WHERE subject = 'Bo'")}
    assert places == {"Graz", "Linz"}


def test_after_an_upgrade_the_parked_are_folded_and_it_is_as_if_nothing_had_been(tmp_path, poisoned):
    h = history()
    model = ReadModelFile(tmp_path / "live.db", ANALYZER)
    model.apply(h.events[:2])
    model.apply(h.events[2:])
    stuck = len(letters(model))
    assert model.retry(at(h)) == 0  # nobody asked
    model.ask_again()
    assert model.retry(at(h)) == 0 and len(letters(model)) == stuck
    poisoned["on"] = False
    model.ask_again()
    assert model.retry(at(h)) == stuck
    assert model.digest() == clean_digest(tmp_path, h)


def test_a_later_event_of_the_slot_waits_even_where_it_would_fold(tmp_path, poisoned):
    h = history()
    model = ReadModelFile(tmp_path / "live.db", ANALYZER)
    seqs = [e.position.seq for e in h.events if (e.body or {}).get("subject") == "Ute"]
    model.apply(h.events[: seqs[1] - 1])
    poisoned["on"] = False
    model.apply(h.events[seqs[1] - 1 :])
    assert [(seq, error) for seq, error, *_ in letters(model)] == [(seqs[0], "KeyError"), (seqs[1], "waits")]
    model.ask_again()
    assert model.retry(at(h)) == 2
    assert model.digest() == clean_digest(tmp_path, h)


def test_what_is_given_up_blocks_nothing(tmp_path, poisoned):
    h = history()
    model = ReadModelFile(tmp_path / "live.db", ANALYZER)
    seqs = [e.position.seq for e in h.events if (e.body or {}).get("subject") == "Ute"]
    model.apply(h.events[: seqs[1] - 1])
    poisoned["on"] = False
    model.apply(h.events[seqs[1] - 1 :])
    skip = h.add("event.skipped", facts={"seq": seqs[0]}, body={"reason": "made by a broken plugin"})
    model.apply([skip])
    assert model.retry(at(h)) == 1
    assert [(seq, state) for seq, *_, state in letters(model)] == [(seqs[0], "skipped")]
    rebuilt = ReadModelFile(tmp_path / "rebuilt.db", ANALYZER)
    poisoned["on"] = True
    with pytest.raises(KeyError):
        rebuilt.apply(h.events, stop_at_poison=True, skipping=[seqs[1]])
    poisoned["on"] = False
    rebuilt.apply(h.events, stop_at_poison=True, skipping=[seqs[0]])
    assert list(rebuilt._connection.execute("SELECT count(*) FROM claims")) == list(
        model._connection.execute("SELECT count(*) FROM claims")
    )


def test_forgetting_never_waits_and_a_parked_event_folds_erased(tmp_path, poisoned):
    h = history()
    model = ReadModelFile(tmp_path / "live.db", ANALYZER)
    model.apply(h.events)
    parked = [h.events[seq - 1] for seq, *_ in letters(model)]
    forget = h.forget(*parked, kind="subject")
    model.apply([forget])
    assert model.checkpoint.seq == forget.position.seq
    poisoned["on"] = False
    model.ask_again()
    assert model.retry(lambda seq: replace(h.events[seq - 1], body=None)) == len(parked)
    assert list(model._connection.execute("SELECT count(*) FROM claims WHERE subject = 'Ute'")) == [(0,)]
