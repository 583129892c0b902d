"""What is asked as of a position shows nothing that was read after it: not as evidence, not as a step of a chain."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.ingest.envelope import Event
from tests.support.history import History, claim_id
from tests.support.read_side import ReadSide, assert_given_again, at

JAN, MAY = at("2026-01-01T00:00:00Z"), at("2026-05-01T00:00:00Z")
PLACES = ("Bruges", "Ghent", "Liège")
QUESTIONS = ("where do I live?", "where did I live before?", "what do I like?")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["say", "state", "like", "retract", "confirm", "resolve", "recall", "judge"]),
        st.integers(0, 2),
        st.integers(0, 3),
    ),
    min_size=3,
    max_size=12,
)


def played(steps: list[tuple[str, int, int]]) -> History:
    """A claim is read from words right after they were said, so that at any later instant it is known."""
    h = History(clock=MAY)
    claims: list[Event] = []
    for kind, place, when in steps:
        h.clock = MAY + len(h.events) * 9 * 3_600_000_000
        value = PLACES[place]
        begins = JAN + when * (MAY - JAN) // 4
        if kind == "say":
            said = h.say(f"I live in {value}.")
            claims.append(h.claim("user", "lives_in", value, said=said, valid_from=begins))
        elif kind == "state":
            claims.append(h.claim("user", "lives_in", value, valid_from=begins))
        elif kind == "like":
            said = h.say(f"I like {value}{'!' * when}")
            claims.append(h.claim("user", "likes", value, said=said))
        elif claims:
            target = claims[(place + when) % len(claims)]
            if kind == "retract":
                h.add("claim.retracted", facts={"targets": [claim_id(target)], "was": "wrong" if place else "ended"})
            elif kind == "confirm":
                h.confirm(target)
            elif kind == "recall":
                h.recalled(f"x{when % 2}", target, claims[place % len(claims)])
            elif kind == "judge":
                h.feedback(f"x{when % 2}.{place % 2}", when > 1)
            else:
                h.resolve(target, winner=target if when % 2 else None)
    return h


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_the_answer_is_that_of_a_model_which_had_read_no_further(steps: list[tuple[str, int, int]]) -> None:
    """Word for word: as of the position, and by what was known at the instant of the last event read."""
    events = played(steps).events
    with tempfile.TemporaryDirectory() as folder:
        whole = ReadSide(Path(folder) / "whole", events)
        for upto in {len(events) // 3, len(events) // 2, len(events) - 1} - {0, -1}:
            now = events[upto - 1].recorded_at
            then = ReadSide(Path(folder) / str(upto), events[:upto], now=now)
            read = events[upto].type != "claim.extracted"  # else it is taken to be known since its words are recorded
            for question in QUESTIONS:
                assert_given_again(question, whole=whole, then=then, upto=upto, by_knowledge=read)
            then.file.close()
        whole.file.close()


def test_said_again_later_is_no_evidence_before_and_no_successor_yet(tmp_path: Path) -> None:
    h = History()
    first = h.say("I live in Bruges.")
    h.claim("user", "lives_in", "Bruges", said=first, valid_from=JAN)
    again = h.say("I live in Bruges, as I said.")
    h.claim("user", "lives_in", "Bruges", said=again, valid_from=JAN)
    h.claim("user", "lives_in", "Ghent", valid_from=MAY)
    side = ReadSide(tmp_path, h.events)
    (then,) = side.ask("where do I live?", position=2)["items"]
    assert [e["position"] for e in then["evidence"]] == ["p0:1"]
    assert then["why"]["chain"] == {}
    later = next(i for i in side.ask("where did I live before?")["items"] if i["value"] == "Bruges")
    assert [e["position"] for e in later["evidence"]] == ["p0:1", "p0:3"]
    assert "superseded_by" in later["why"]["chain"]


def test_as_known_then_no_later_step_is_told(tmp_path: Path) -> None:
    h = History()
    h.claim("user", "lives_in", "Bruges", valid_from=JAN, recorded_at=JAN)
    h.claim("user", "lives_in", "Ghent", valid_from=MAY, recorded_at=MAY)
    side = ReadSide(tmp_path, h.events)
    (then,) = side.ask("where do I live?", known_at=MAY - 1)["items"]
    assert (then["value"], then["why"]["chain"]) == ("Bruges", {})
