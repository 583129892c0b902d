"""Every read of a past point is that of a model which had read no further, whatever callers said later of who is who,
of what was wrong, is over or was sold, of what has faded, or of how helpful it was."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.ingest.envelope import Actor, Event
from taishi.ingest.errors import NotFound
from taishi.queries import asker
from taishi.queries.explanation import explanation
from taishi.queries.listing import ListRequest, list_memories
from taishi.queries.memories import Found, life, memory
from taishi.queries.point import Point
from taishi.queries.timeline import timeline
from taishi.queries.validity import STATUSES
from taishi.queries.wanted import Wanted
from tests.support.history import History, claim_id
from tests.support.history_log import HistoryLog
from tests.support.read_side import ReadSide, assert_given_again, at, told

JAN, MAY = at("2026-01-01T00:00:00Z"), at("2026-05-01T00:00:00Z")
HOUR = 3_600_000_000
PLACES = ("Bruges", "Ghent", "bruges!")
PEOPLE = ("Bob", "Robert Lee", "Ann")
THINGS = ("a red Skoda Octavia", "the Skoda", "a piano")
QUESTIONS = (
    "where do I live?", "where did Bob live before?", "what does Robert Lee like?", "who likes Ghent?",
    "what do I own?", "What did that restaurant cost?", "tell me about Ann", "where was I yesterday?",
)  # fmt: skip
KINDS = (
    "home", "person", "speaker", "outside", "place", "own", "sold", "alias", "merge", "split", "wrong", "instead",
    "until", "confirm", "resolve", "recall", "judge", "expire", "audit", "zone",
)  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 2), st.integers(0, 2), st.sampled_from([1, 9, 400])),
    min_size=4, max_size=12,
)  # fmt: skip


def played(steps: list[tuple[str, int, int, int]]) -> History:
    h = History(clock=MAY)
    claims: list[Event] = []
    once: set[str] = set()
    for kind, one, other, hours in steps:
        h.clock = (h.clock or 0) + hours * HOUR
        place, who, begins = PLACES[one], PEOPLE[other], JAN + one * (MAY - JAN) // 4
        session = "s" if one else None
        if kind == "home":
            claims.append(h.claim("user", "lives_in", place, said=h.say(f"I live in {place}.", session=session)))
        elif kind == "person":
            said = h.say(f"{who} likes {place}", session=session)
            claims.append(h.claim(who, "likes", place, said=said, negated=hours == 9))
        elif kind == "speaker":
            said = h.say(f"I live in {place}.", session=session, actor=Actor(id=who.casefold()))
            claims.append(h.claim(who, "lives_in", place, said=said, said_by=who, valid_from=begins))
        elif kind == "outside":
            said = h.say(f"{who} lives in {place}.", origin="external")
            claims.append(h.claim(who, "lives_in", place, said=said, strength=10))
        elif kind == "place":
            said = h.say("We sat in noma, a small restaurant.", session="s")
            claims.append(h.claim(("noma", "user")[one % 2], "status", place, said=said))
        elif kind in ("own", "sold"):
            said = h.say(f"I {'have' if kind == 'own' else 'sold'} {THINGS[one]}.", session=session)
            claims.append(h.claim("user", "owns", THINGS[one].removeprefix("the "), said=said, negated=kind == "sold"))
        elif kind in ("alias", "merge") and one != other:
            type_, key = ("entity.aliased", "of") if kind == "alias" else ("entity.merged", "into")
            h.add(type_, body={"name": PEOPLE[one], key: who})
        elif kind == "split":
            h.add("entity.split", body={"name": who})
        elif kind == "zone":
            h.add("namespace.configured", body={"timezone": ("Asia/Shanghai", "UTC", "America/Lima")[one]})
        elif claims:
            said_of(h, kind, claims, once, one, other)
    return h


def said_of(h: History, kind: str, claims: list[Event], once: set[str], one: int, other: int) -> None:
    """What a caller, or maintenance, says of a claim. `once` holds what was said that is said no second time."""
    target = claims[(3 * one + other) % len(claims)]
    mine = claim_id(target)
    if kind == "wrong":
        h.add("claim.retracted", facts={"targets": [mine], "was": "wrong"})
    elif kind in ("instead", "until"):
        body = target.body or {}
        value = body["value"] if kind == "until" else PLACES[other]
        claims.append(
            h.claim(
                body["subject"], body["predicate"], value, type_="claim.corrected", correction=True, targets=(mine,),
                strength=50, was="wrong" if kind == "instead" else "true_until", negated=kind == "until",
            )
        )  # fmt: skip
    elif kind == "confirm":
        h.confirm(target)
    elif kind == "resolve":
        h.resolve(target, winner=target if other else None)
    elif kind == "recall":
        h.recalled(f"x{one}", target, claims[-1])
    elif kind == "judge":
        h.feedback(f"x{one}.{other % 2}", other > 0)
    elif kind == "audit" and (pair := "-".join(sorted({mine, claim_id(claims[-1])}))) not in {mine, *once}:
        once.add(pair)
        h.add("dedup.judged", facts={"verdict": "keep" if one else "merge", "claims": pair.split("-")})
    elif kind == "expire" and mine not in once:
        once.add(mine)
        facts = {"claims": [[mine, target.position.seq]], "events": [], "reason": "ttl", "since": h.clock}
        h.add("claim.expired", facts=facts)


def shown(side: ReadSide, ids: list[str], known_at: int | None = None) -> dict[str, Any]:
    """What the reads that are no questions tell. `known_at` None: now."""
    model, now = side.model, side.now
    namespace = model.namespace("ns")
    instant = now if known_at is None else known_at
    point = Point(valid_at=instant, known_at=instant, past_knowledge=instant < now)
    replies: dict[str, Any] = {}
    for subject in (None, "user", "bob", "ann"):
        request = ListRequest(
            namespace="ns", subject=subject, statuses=frozenset(STATUSES), valid_at=known_at, known_at=known_at
        )
        replies[f"list {subject}"] = list_memories(model, namespace, request, now)["items"]
        replies[f"timeline {subject}"] = timeline(model, namespace, subject=subject, predicate=None, point=point)
    for name in ids:
        try:
            found = Found(model, namespace, name, point)
        except NotFound:
            replies[name] = None
            continue
        one, whole = memory(model, found), life(model, found, point)
        for reply in (one, whole):
            reply.pop("read_at", None)  # only the first of a day is kept
        replies[name] = [one, whole]
    return replies


@settings(max_examples=40, deadline=None)
@given(STEPS, st.integers(0, 2), st.sampled_from([None, "s"]), st.sampled_from([None, "ann"]))
def test_every_read_of_the_past_is_that_of_then(
    steps: list[tuple[str, int, int, int]], first: int, session: str | None, by: str | None
) -> None:
    events = played(steps).events
    kinds = frozenset({"claim", "event"}) if session is None else frozenset({"event"} if first == 1 else {"claim"})
    more: dict[str, Any] = {"session": session, "asker": by, "explain": True, "limit": (1, 3, 10)[first]}
    more["wanted"] = Wanted(kinds=kinds)
    with tempfile.TemporaryDirectory() as folder:
        whole = ReadSide(Path(folder) / "whole", events)
        for upto in {len(events) // 3, len(events) // 2, len(events) - 1} - {0, -1}:
            now = events[upto - 1].recorded_at
            then = ReadSide(Path(folder) / str(upto), events[:upto], now=now)
            read = events[upto].type != "claim.extracted"  # else it is taken to be known since its words are recorded
            for question in QUESTIONS[first::3]:
                assert_given_again(question, whole=whole, then=then, upto=upto, by_knowledge=read, **more)
            if read:
                stated = [claim_id(e) for e in events if "claim_id" in e.facts.get("claim", ())]
                ids = [*stated, *(e.event_id for e in events if e.type == "message.recorded")]
                assert shown(whole, ids, now) == shown(then, ids), upto
            then.file.close()
        whole.file.close()


def test_what_callers_say_later_is_no_part_of_what_was_read_before(tmp_path: Path) -> None:
    h = History(clock=MAY)
    claim = h.claim("Bob", "lives_in", "Ghent", valid_from=JAN)
    known_at = h.events[-1].recorded_at
    h.clock = MAY + HOUR
    h.confirm(claim)
    h.add("entity.aliased", body={"name": "Bob", "of": "Ann"})
    other = h.claim("Ann", "lives_in", "Bruges", valid_from=MAY)
    said = h.say("Bob lives in Ghent")
    side = ReadSide(tmp_path, h.events)
    ids = [claim_id(claim), said.event_id, claim_id(other)]
    past = shown(side, ids, known_at)
    assert [len(past[f"timeline {name}"]["items"]) for name in (None, "bob", "ann")] == [1, 1, 0]
    (listed,) = past["list bob"]
    one, whole = past[ids[0]]
    assert (listed["known_to"], listed["importance"]) == (one["known_to"], one["importance"]) == (None, 0.5)
    assert (one["confirmations"], one["confirmed_at"], whole["chain"]) == (0, None, [])
    assert past[ids[1]] is past[ids[2]] is None
    now = shown(side, ids)
    assert (now[ids[0]][0]["confirmations"], now[ids[0]][0]["importance"]) == (1, 0.9)
    assert now[ids[0]][1]["chain"]


def test_who_is_who_is_what_had_been_read_of_it(tmp_path: Path) -> None:
    """What was said of it before the question was asked, but not read yet, does not count as of the position."""
    h = History(clock=MAY)
    h.claim("Bob", "likes", "Ghent")
    h.add("entity.aliased", body={"name": "Ann", "of": "Rob"})
    read = len(h.events)
    h.add("entity.aliased", body={"name": "Bob", "of": "Robert Lee"})
    side = ReadSide(tmp_path, h.events)
    asked = MAY + HOUR
    assert side.ask("what does Robert Lee like?", position=read + 1, known_at=asked, valid_at=asked)["items"]
    assert not side.ask("what does Robert Lee like?", position=read, known_at=asked, valid_at=asked)["items"]


def test_days_are_those_of_the_time_zone_that_had_been_read(tmp_path: Path) -> None:
    h = History(clock=MAY)
    h.add("namespace.configured", body={"timezone": "Asia/Tokyo"})
    h.add("namespace.configured", body={"fading": "off"})
    h.say("The kettle broke.")
    h.add("namespace.configured", body={"timezone": "America/Lima"})
    side = ReadSide(tmp_path, h.events)
    asked = {"known_at": MAY + HOUR, "valid_at": MAY + HOUR, "explain": True}
    spans = [side.ask("what broke yesterday?", position=seq, **asked)["explain"]["time"] for seq in (3, 4)]
    assert spans[0] != spans[1]
    assert spans[1] == side.ask("what broke yesterday?", **asked)["explain"]["time"]


def test_what_was_read_later_does_not_say_what_is_pointed_at(tmp_path: Path) -> None:
    h = History()
    said = h.say("We sat in noma, a small restaurant.", session="s")
    h.claim("noma", "status", "open", said=said)
    side = ReadSide(tmp_path, h.events)
    question = "What did that restaurant cost?"
    assert side.ask(question, session="s", explain=True)["explain"]["pointing"]["stands_for"] == "noma"
    assert "pointing" not in side.ask(question, session="s", explain=True, position=1)["explain"]


def test_what_was_said_again_and_faded_later_had_not_faded_yet(tmp_path: Path) -> None:
    h = History(clock=MAY)

    def over(claim: Event) -> None:
        h.clock = (h.clock or 0) + HOUR
        facts = {"claims": [[claim_id(claim), claim.position.seq]], "events": [], "reason": "ttl", "since": MAY}
        h.add("claim.expired", facts=facts)

    first = h.claim("user", "status", "tired")
    over(first)
    again = h.claim("user", "status", "Tired!")
    asked = h.events[-1].recorded_at
    over(again)
    side = ReadSide(tmp_path, h.events)
    before = ReadSide(tmp_path / "then", h.events[:3], now=asked)
    ids = [claim_id(first)]
    assert shown(side, ids, asked) == shown(before, ids)
    assert shown(side, ids, asked)[ids[0]][0]["status"] == "current"


def test_the_fate_that_is_explained_is_that_of_the_asked_point(tmp_path: Path) -> None:
    h = History(clock=MAY)
    claim = h.claim("user", "lives_in", "Ghent", valid_from=JAN)
    known_at = h.events[-1].recorded_at
    h.clock = MAY + HOUR
    h.add("claim.retracted", facts={"targets": [claim_id(claim)], "was": "wrong"})
    side = ReadSide(tmp_path, h.events)

    def fate(point: Point) -> dict[str, Any]:
        found = Found(side.model, side.model.namespace("ns"), claim_id(claim), point)
        told: dict[str, Any] = explanation(side.model, found, point, HistoryLog(h))["fate"]
        return told

    then = fate(Point(valid_at=known_at, known_at=known_at, past_knowledge=True))
    assert (then["status"], then["removed_at"], then["removed_by"], then["superseded"]) == ("current", None, None, [])
    now = fate(Point(valid_at=side.now, known_at=side.now))
    assert (now["status"], now["removed_why"], now["removed_by"]["type"]) == ("retracted", "wrong", "claim.retracted")


def test_what_was_taken_back_weighs_as_it_was_stated(tmp_path: Path) -> None:
    """However often the same is said by others."""
    h = History(clock=MAY)
    wrong = h.claim("Bob", "likes", "Ghent")
    h.add("claim.retracted", facts={"targets": [claim_id(wrong)], "was": "wrong"})
    for _ in range(4):
        h.claim("Bob", "likes", "Ghent")
    asked = h.events[-1].recorded_at
    then = ReadSide(tmp_path / "then", h.events, now=asked)
    h.clock = MAY + HOUR
    h.say("Nothing new.")
    side = ReadSide(tmp_path / "whole", h.events)
    ids = [claim_id(wrong)]
    assert shown(side, ids, asked) == shown(then, ids)
    assert shown(then, ids)["list None"][-1]["importance"] == 0.5


def test_who_speaks_is_told_alike_when_others_are_spoken_of_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asker, "SUBJECTS", 2)
    h = History(clock=MAY)
    said = h.say("I live in Ghent.", actor=Actor(id="ann"))
    h.claim("Ann", "lives_in", "Ghent", said=said, said_by="Ann")
    h.claim("Rob", "likes", "Ghent")
    read = len(h.events)
    before = ReadSide(tmp_path / "then", h.events)
    for value in PLACES:
        for who in ("Rob", "Bob"):
            h.claim(who, "likes", value)
    side = ReadSide(tmp_path / "whole", h.events)
    question = "where do I live?"
    told_then = told(before.ask(question))
    assert told_then["items"]
    assert told(side.ask(question, position=read)) == told_then


def test_a_namespace_is_not_there_before_its_first_event(tmp_path: Path) -> None:
    h = History()
    h.say("I like rain.", namespace="other")
    h.say("I like snow.")
    question = "what do I like?"
    then = told(ReadSide(tmp_path / "then", h.events[:1]).ask(question, explain=True))
    assert told(ReadSide(tmp_path / "whole", h.events).ask(question, explain=True, position=1)) == then


def test_what_the_audit_took_for_one_was_two_before(tmp_path: Path) -> None:
    h = History(clock=MAY)
    two = [h.claim("user", "likes", value) for value in ("rowing on the lake", "lake rowing")]
    known_at = h.events[-1].recorded_at
    h.clock = MAY + HOUR
    h.add("dedup.judged", facts={"verdict": "merge", "claims": [claim_id(claim) for claim in two]})
    side = ReadSide(tmp_path, h.events)
    assert {item["id"] for item in side.ask("what do I like?", position=2)["items"]} == {claim_id(c) for c in two}
    assert len(side.ask("what do I like?", known_at=known_at, valid_at=known_at)["items"]) == 2
    assert len(side.ask("what do I like?")["items"]) == 1
