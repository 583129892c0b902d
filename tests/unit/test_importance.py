"""Importance by stated rules: what words show when they are read, and what only the whole shows when it is folded."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taishi.ingest.importance import as_said, is_kept_on_request, rules
from taishi.ingest.registry import default_registry
from taishi.projections.analysis import Analyzer
from taishi.projections.store import ReadModelFile, open_connection
from tests.support.history import History
from tests.support.write_side import write_side

ANALYZER = Analyzer()


@pytest.mark.parametrize(
    "sentence",
    [
        "记住，我对花生过敏", "请记住我的车牌", "  别忘了我周三有课", "務必記住這件事", "Remember that I sail",
        "Please don't forget: no nuts", "Keep in mind I am left-handed", "Note that the port is 4100",
    ],
)  # fmt: skip
def test_words_that_ask_to_be_kept(sentence):
    assert is_kept_on_request(sentence)
    assert as_said(default_registry().predicate("note"), sentence) == rules().remember


@pytest.mark.parametrize("sentence", ["我记住了", "I remember the lake", "notebooks are mine", "我住在绍兴", ""])
def test_words_that_do_not(sentence):
    assert not is_kept_on_request(sentence)


@pytest.mark.parametrize(
    ("sentence", "closing"),
    [
        ("最后说一句，我周五的票是二等座", True),
        ("走之前说一下，门禁码换成 4417 了", True),
        ("临走前：钥匙在鞋柜里", True),
        ("最后一件事，我对青霉素过敏", True),
        ("差点忘了，我搬到苏州了", True),
        ("One last thing: my flight is at nine", True),
        ("Before I go, my locker is 12", True),
        ("I almost forgot, I moved to Bergen", True),
        ("Lastly, call me Sam", True),
        ("最后我们赢了", False),
        ("离开之前的公司已经三年了", False),
        ("The last thing I bought was a kayak", False),
        ("I go before noon", False),
    ],
)
def test_what_is_said_at_parting_weighs_more(sentence, closing):
    note = default_registry().predicate("note")
    assert as_said(note, sentence) == (rules().closing if closing else note.importance)


def test_a_predicate_has_its_own_and_rules_are_floors():
    allergic, note = (default_registry().predicate(n) for n in ("allergic_to", "note"))
    assert as_said(allergic) == allergic.importance
    assert as_said(note, correction=True) == rules().corrected
    assert as_said(allergic, "remember this", correction=True) == max(allergic.importance, rules().remember)


def weights(path) -> dict[str, float]:
    found = open_connection(path, read_only=True).execute("SELECT event_id, importance FROM claims ORDER BY seq")
    return dict(found.fetchall())


def test_said_on_three_occasions_weighs_more_and_less_again_when_one_goes(tmp_path):
    h = History()
    path = tmp_path / "m.db"
    model = ReadModelFile(path, ANALYZER)
    first, second = h.say("I like figs"), h.say("figs are what I like")
    claims = [h.claim("user", "likes", "figs", said=said, importance=0.6) for said in (first, first, second)]
    model.apply(h.events)
    assert set(weights(path).values()) == {0.6}, "two occasions, told three times"
    claims.append(h.claim("user", "likes", "Figs.", importance=0.6))
    model.apply(h.events[-1:])
    assert set(weights(path).values()) == {rules().repeated}
    claims.append(h.claim("user", "likes", "figs", importance=0.9))
    model.apply(h.events[-1:])
    assert weights(path)[claims[-1].event_id] == 0.9
    model.apply([h.forget(claims[-1]), h.forget(second, claims[2])])
    assert [w for w in weights(path).values() if w is not None] == [0.6, 0.6, 0.6]
    model.close()


def test_a_confirmation_weighs_whenever_the_claim_is_read(tmp_path):
    h = History()
    said = h.say("I like figs")
    claim = h.claim("user", "likes", "figs", said=said, importance=0.6)
    h.confirm(claim)
    again = h.claim("user", "likes", "figs", said=said, importance=0.6)  # read once more by a later generation
    model = ReadModelFile(tmp_path / "m.db", ANALYZER)
    model.apply(h.events)
    assert weights(tmp_path / "m.db") == {e.event_id: rules().confirmed for e in (claim, again)}
    model.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["figs", "plums"])), max_size=8), st.randoms())
def test_weights_are_of_the_set_of_claims(tmp_path_factory, readings, rng: random.Random):
    digests = set()
    for attempt in range(2):
        h = History()
        words = [h.say(f"words {n}") for n in range(4)]
        order = list(enumerate(readings))
        if attempt:
            rng.shuffle(order)
        for n, (said, value) in order:
            event_id = f"00000000-0000-4000-8000-{n:012d}"
            h.claim("user", "lives_in", value, said=words[said], event_id=event_id)
        h.forget(words[0])
        model = ReadModelFile(tmp_path_factory.mktemp("weights") / "m.db", ANALYZER)
        model.apply(h.events, stop_at_poison=True)
        digests.add(str(sorted(weights(model.path).items())))
        model.close()
    assert len(digests) == 1


def test_commands_set_it():
    with write_side() as side:
        fig = {"namespace": "n", "subject": "user", "predicate": "likes", "value": "figs"}
        plain = side.post("/v1/memories", fig)
        side.post("/v1/memories", {**fig, "value": "plums", "text": "Remember: I like plums"})
        side.post(f"/v1/memories/{plain['memory_id']}/correct", {"namespace": "n", "was": "wrong", "value": "dates"})
        bodies = [event.body or {} for event in side.log.events]
    given = [body.get("importance", 0.5) for body in bodies]
    assert given == [default_registry().predicate("likes").importance, rules().remember, rules().corrected]
