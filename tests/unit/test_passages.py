"""Dialogues given as questions: told from questions, looked for turn by turn, answered by all that was said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import numpy as np
import pytest

from taishi.queries.channels import DenseHits, with_parts
from taishi.queries.folding import Ranked, folded
from taishi.queries.passages import PARTS, is_passage, parts_of
from taishi.queries.understand import understand
from taishi.queries.wanted import Wanted
from tests.support.history import History
from tests.support.read_side import NOW, ReadSide, at

DIALOGUE = (
    "Ana: The violin lesson went badly, my hands would not stop shaking.\n"
    "Assistant: That sounds hard. What do you like to play?\n"
    "Ana: Mostly folk tunes from the islands.\nOne of them has a lovely slow middle part."
)


@pytest.mark.parametrize(
    "text",
    [
        DIALOGUE,
        '<小禾>："今天的陶艺课真难。"\n<助手>："怎么了？"\n<小禾>："泥坯又塌了。"',
        "word " * 60,
        "字" * 120,
    ],
)
def test_a_dialogue_or_a_long_text_asks_for_nothing(text):
    assert is_passage(text)
    question = understand(text, now=NOW, zone=UTC)
    assert (question.intent, dict(question.asks), question.fence_words) == ("open", {}, "")


@pytest.mark.parametrize(
    "text",
    [
        "Which instrument do I play?",
        "Question: which one?\nHint: it has strings.",
        "Name: Ana\nCity: Oporto\nJob: luthier",
        "Ana: hello\nAna: are you there?\nAna: what do I play?",
        "我会拉什么琴？",
    ],
)
def test_what_only_looks_like_a_dialogue_is_a_question(text):
    assert not is_passage(text)
    assert parts_of(text) == ()


def test_the_parts_are_the_turns_of_people_and_the_end():
    assert parts_of(DIALOGUE) == (
        "The violin lesson went badly, my hands would not stop shaking.",
        "Mostly folk tunes from the islands. One of them has a lovely slow middle part.",
        "That sounds hard. What do you like to play? "
        "Mostly folk tunes from the islands. One of them has a lovely slow middle part.",
    )
    long = "\n".join(f"{who}: turn number {n} of this talk" for n in range(20) for who in ("Ana", "Bo"))
    assert len(parts_of(long)) == PARTS + 1
    assert parts_of("word " * 60 + "\nword word word word") == ()


def test_a_memory_is_near_by_its_best_turn_and_by_the_end():
    whole, turns, end = {1: 0.2, 2: 0.3}, [{1: 0.9, 2: 0.1}, {1: 0.0, 2: 0.2}], {2: 0.2, 3: 0.5}
    lifts = with_parts(whole, [*turns, end])
    assert lifts == pytest.approx({1: 0.08 + 0.36 + 0.04, 2: 0.12 + 0.08 + 0.04, 3: 0.08 + 0.04 + 0.1})
    assert max(lifts, key=lambda doc: lifts[doc]) == 1


class ByText:
    """A dense channel in which each text is near to some documents only."""

    def __init__(self, near: dict[str, dict[int, float]], documents: int) -> None:
        self.near, self.documents, self.asked = near, documents, []

    def embed(self, text: str):
        return self.embed_parts((text,))[0]

    def embed_parts(self, texts):
        self.asked += texts
        return [np.array([len(self.asked) - len(texts) + n], dtype=np.float32) for n in range(len(texts))]

    def search(self, partition, ns, vector, k, *, last=None, among=None):
        text = self.asked[int(vector[0])]
        found = next((near for words, near in self.near.items() if words in text and "\n" not in text), {})
        hits = [(2 * seq, found.get(seq, 0.1)) for seq in range(1, self.documents + 1)]
        return DenseHits(sorted(hits, key=lambda hit: -hit[1])[:k], 0.1, 0.1)


def test_what_one_turn_calls_up_comes_first(tmp_path):
    h = History()
    h.say("We watched the harbour fireworks.")
    h.say("The recital hall was cold and I froze on stage.")
    h.say("Dinner was late.")
    dense = ByText({"hands would not stop": {2: 0.5}}, 3)
    items = ReadSide(tmp_path, h.events, dense=dense).ask(DIALOGUE)["items"]
    assert items[0]["text"] == "The recital hall was cold and I froze on stage."
    assert len(dense.asked) == 1 + len(parts_of(DIALOGUE))


def test_a_claim_a_dialogue_calls_up_is_judged_by_all_that_was_said(tmp_path):
    h = History()
    told = h.say("I play the violin, and my hands were shaking at the lesson about folk tunes.")
    h.claim("user", "plays", "violin", said=replace(told, body={"text": "I play the violin"}))
    h.extracted(told)
    side = ReadSide(tmp_path, h.events)
    both = [side.ask(DIALOGUE, wanted=Wanted(kinds=frozenset({kind})))["items"] for kind in ("claim", "event")]
    ((claim,), (event,)) = both
    assert claim["why"]["scores"]["lexical"] == event["why"]["scores"]["lexical"]


def test_a_claim_from_old_words_is_as_old_as_they_are(tmp_path):
    h = History()
    told = h.say("Our choir sings in Latvian.", recorded_at=NOW, occurred_at=at("2019-03-01T00:00:00Z"))
    h.claim("user", "sings_in", "Latvian", said=told, recorded_at=NOW)
    h.extracted(told)
    (item,) = ReadSide(tmp_path, h.events).ask("choir Latvian")["items"]
    assert (item["kind"], item["why"]["scores"]["recency"]) == ("claim", 0.0)


def entry(doc: int, score: float, sources: tuple[int, ...], **more) -> Ranked:
    return Ranked(doc=doc, score=score, parts={}, status="current", met={}, dense=0.0, sources=sources, **more)


def test_a_claim_lifted_to_its_event_stands_for_the_other_words_it_rests_on(tmp_path):
    h = History()
    for text in ("The loom broke again today.", "Again the loom broke."):
        h.say(text)
    h.claim("user", "owns", "a broken loom")
    model = ReadSide(tmp_path, h.events).model
    events, claims = model.events([1, 2]), model.claims([3])
    ranked = [
        entry(2, 0.9, (1,), event=events[1]),
        entry(7, 0.8, (1, 2), claim=claims[3]),
        entry(4, 0.7, (2,), event=events[2]),
    ]
    assert [(one.doc, sorted(one.sources)) for one in folded(ranked, 5)] == [(7, [1, 2])]
