"""Echoes: what recall had shown, said again by others, and the windows that carry it."""

from __future__ import annotations

import pytest

from taishi.ingest.echoes import LATELY, RECALLS, lately, remembered, repeats, shown_words
from tests.support.history import History

SHOWN = ["我在学箜篌。", "I sail a dinghy on Sundays"]


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("我在学箜篌", "assistant"),
        ("用户在学箜篌。", "tool"),
        ("您在学箜篌！", "assistant"),
        ("you sail a dinghy on Sundays.", "assistant"),
        ("Memory: I sail a dinghy on Sundays", "system"),
        ("I sail a dinghy on Sundays; 我在学箜篌", "tool"),
        ("Noted: sail a dinghy on sundays", "external"),
    ],
)
def test_others_repeating_what_was_shown_are_echoes(text, origin):
    assert repeats(text, origin, SHOWN)


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("我在学箜篌", "user_direct"),
        ("我在学箜篌", "import"),
        ("The user sails a catamaran and studies the harp with a new teacher", "assistant"),
        ("你在学箜篌，不过老师下个月要换成一位从苏州来的先生了", "assistant"),
        ("I sail a dinghy on Sundays, so the regatta of the northern lake moved to the 14th of May", "tool"),
        ("I sail a dinghy on Sundays and race it in May at the old mill", "tool"),
        ("", "tool"),
    ],
)
def test_new_words_and_the_users_own_are_not(text, origin):
    assert not repeats(text, origin, SHOWN)
    assert not repeats(text, origin, [])


def test_words_of_claims_and_messages_but_not_of_what_was_erased():
    h = History()
    said = h.say("I sail a dinghy on Sundays")
    h.claim("user", "likes", "sailing", said=said)
    h.claim("user", "works_at", "the boatyard")
    h.forget(said)
    assert shown_words(h.events[:3]) == ["I sail a dinghy on Sundays"] * 2 + ["user works at the boatyard"]
    assert shown_words(h.after_erasure()[:1]) == []


def test_the_last_recalls_of_the_last_half_hour_count():
    h = History()
    recalls = ()
    for n in range(RECALLS + 3):
        event = h.add("memory.recalled", facts={"exposure": f"e{n}", "items": [], "seqs": [n, n + 1]})
        recalls = remembered(recalls, event)
    assert len(recalls) == RECALLS
    assert remembered(recalls, h.recalled("old")) == recalls, "an older format names no positions"
    last = h.events[RECALLS + 2].appended_at
    assert lately(recalls, last) == tuple(range(3, RECALLS + 4))
    assert lately(recalls, last + LATELY) == (RECALLS + 2, RECALLS + 3)
    assert lately(recalls, last + LATELY + 1) == ()
