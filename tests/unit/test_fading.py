"""Fading: activation, what is due, and what the folds make of the events that say so."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taishi.commands.lifecycle import maintain
from taishi.ingest.fading import fading
from taishi.ingest.instants import DAY
from taishi.ingest.registry import Predicate
from taishi.projections.activation import Use, activation, expires_at, faded_at, practice, stretch
from taishi.queries.listing import ListRequest, list_memories
from taishi.queries.memories import Found, memory
from taishi.queries.point import Point
from tests.support.fading import Years
from tests.support.history import claim_id

YEAR = Predicate(name="p", life=365)
FOR_GOOD = Predicate(name="p", life=0)
PASSING = Predicate(name="p", life=365, expires=180)


def vivid(use: Use, now: int, *, importance: float = 0.5, predicate: Predicate = YEAR) -> float:
    return activation(use, predicate, importance=importance, own=True, now=now)


def test_half_is_left_after_a_life_and_all_of_what_is_kept_for_good():
    assert vivid(Use(0), 0) == 1.0
    assert vivid(Use(0), 365 * DAY) == pytest.approx(0.5)
    assert vivid(Use(0), 10_000 * DAY, predicate=FOR_GOOD) == 1.0
    assert faded_at(Use(0), FOR_GOOD, importance=1, own=True) is None
    assert expires_at(Use(0), YEAR, importance=1, own=True) is None
    assert expires_at(Use(0), PASSING, importance=0.5, own=True) == 180 * DAY


def test_importance_reads_help_and_confirmation_prolong_and_the_unhelpful_shortens():
    now = 400 * DAY
    plain = vivid(Use(0), now)
    assert vivid(Use(0), now, importance=0.9) > plain
    assert vivid(Use(0, read_at=300 * DAY, reads=1), now) > plain
    assert vivid(Use(0, helpful=2), now) > plain > vivid(Use(0, unhelpful=2), now)
    assert vivid(Use(0, known_at=200 * DAY, confirmations=1), now) > vivid(Use(0, known_at=200 * DAY), now) > plain
    assert activation(Use(0), YEAR, importance=0.5, own=False, now=now) < plain


@given(
    reads=st.integers(0, 10**6), confirmations=st.integers(0, 10**6), helpful=st.integers(0, 10**6),
    unhelpful=st.integers(0, 10**6), importance=st.floats(0, 1), days=st.integers(0, 10**5),
)
def test_use_is_bounded(reads, confirmations, helpful, unhelpful, importance, days):
    use = Use(0, None, days * DAY, reads, confirmations, helpful, unhelpful)
    rules = fading()
    assert rules.least * 0.5 <= stretch(importance, own=True, use=use) <= rules.most * 1.5
    assert 0 <= vivid(use, 20_000 * DAY, importance=importance) <= 1
    bound = rules.read_lives * 365 + 365 * rules.most * 1.5 * 1.6
    assert faded_at(use, YEAR, importance=importance, own=True) <= bound * DAY


def test_what_was_just_brought_in_and_shown_once_ranks_as_if_there_were_no_fading():
    assert practice(Use(0, read_at=0, reads=1)) == 0
    assert vivid(Use(5 * DAY, read_at=5 * DAY, reads=1), 5 * DAY) == 1.0


@pytest.fixture
def years(tmp_path: Path) -> Years:
    return Years(tmp_path)


def status(years: Years, claim, **point) -> str:
    years.fold()
    model = years.side.model
    now = years.side.now
    with model.view():
        found = Found(model, model.namespace("ns"), claim_id(claim), Point(valid_at=now, known_at=now, **point))
        return str(memory(model, found)["status"])


def test_a_passing_state_expires_and_is_then_archived(years: Years):
    said = years.say("The status of the parser is broken")
    broken = years.claim("parser", "status", "broken", said=said)
    name = years.claim("user", "name", "Mara")
    years.pass_days(100)
    assert years.maintain() == []
    years.pass_days(60)
    (due,) = years.maintain()
    assert (due.kind, due.reason) == ("claim.expired", "ttl")
    assert status(years, broken) == "ended"
    assert years.maintain() == []
    years.pass_days(200)
    (due,) = years.maintain()
    assert (due.kind, due.reason) == ("claim.archived", "faded")
    assert [e for e, _ in due.events] == [said.event_id]
    assert status(years, broken) == "archived"
    assert status(years, name) == "current"
    assert years.ask("Is the parser broken?")["items"] == []
    with years.side.model.view() as model:
        listed = list_memories(
            model, model.namespace("ns"), ListRequest(namespace="ns", statuses=frozenset({"archived"})), years.side.now
        )
        point = Point(valid_at=years.side.now, known_at=years.side.now)
        found = Found(model, model.namespace("ns"), claim_id(broken), point)
        answer = memory(model, found)
    assert [item["id"] for item in listed["items"]] == [claim_id(broken)]
    assert answer["text"] == said.body["text"]
    assert answer["evidence"][0]["event_id"] == said.event_id


def test_known_before_it_faded_it_had_not(years: Years):
    likes = years.claim("user", "likes", "radishes")
    then = years.clock
    years.pass_days(800)
    assert [due.kind for due in years.maintain()] == ["claim.archived"]
    model = years.side.model
    with model.view():
        point = Point(valid_at=then + DAY, known_at=then + DAY, past_knowledge=True)
        found = Found(model, model.namespace("ns"), claim_id(likes), point)
    assert found.verdict.status == "current"
    assert status(years, likes, position=likes.position.seq) == "current"
    assert status(years, likes, position=len(years.events)) == "archived"


def test_said_again_it_is_back_at_once_and_maintenance_says_so(years: Years):
    first = years.claim("user", "likes", "radishes", said=years.say("I like radishes"))
    years.pass_days(800)
    years.maintain()
    assert years.place("Do I like radishes?", first) is None
    years.claim("user", "likes", "radishes", said=years.say("I like radishes a lot"))
    assert status(years, first) == "current"
    assert years.ask("Do I like radishes?")["answerability"] == "supported"
    (due,) = years.maintain()
    assert (due.kind, due.reason, due.claims) == ("claim.revived", "evidence", [(claim_id(first), first.position.seq)])
    assert years.maintain() == []
    years.pass_days(500)
    assert years.maintain() == []
    years.pass_days(300)
    (due,) = years.maintain()
    assert due.kind == "claim.archived" and len(due.claims) == 2


def test_a_confirmation_before_the_event_keeps_it(years: Years):
    likes = years.claim("user", "likes", "radishes")
    years.pass_days(800)
    (due,) = years.dues()
    years.confirm(likes)
    years.life(due)
    assert status(years, likes) == "current"
    assert years.dues() == []


def test_the_same_run_twice_says_it_under_the_same_ids(years: Years):
    years.claim("user", "likes", "radishes")
    years.claim("user", "status", "tired")
    years.pass_days(800)
    ids = [years.life(due).event_id for due in years.dues()]
    assert [years.life(due).event_id for due in years.maintain()] == []
    assert len(set(ids)) == 2


def test_what_is_read_on_many_days_stays_and_what_lies_ahead_does_not_fade(years: Years):
    read = years.claim("user", "likes", "radishes")
    years.claim("user", "likes", "turnips")
    now = years.clock
    years.claim("user", "plans", "a year in Lima", occurs_from=now + 900 * DAY, occurs_to=now + 1_200 * DAY)
    for _ in range(20):
        years.pass_days(40)
        years.use(read)
    assert [due.predicate for due in years.maintain()] == ["likes"]
    assert status(years, read) == "current"


def test_a_full_namespace_archives_what_is_worth_least(years: Years):
    years.add("namespace.configured", body={"capacity": 10}, origin="system")
    kept = [years.claim("user", "likes", f"dish {n}", importance=0.9) for n in range(8)]
    least = [years.claim("user", "note", f"note {n}", importance=0.1) for n in range(4)]
    years.pass_days(1)
    found = years.maintain()
    assert {due.reason for due in found} == {"capacity"} and len(found) == 3
    assert all(status(years, claim) == "current" for claim in kept)
    assert [status(years, claim) for claim in least].count("archived") == 3
    assert years.maintain() == []


def test_nothing_fades_where_fading_is_off(years: Years):
    years.add("namespace.configured", body={"fading": "off"}, origin="system")
    years.claim("user", "likes", "radishes")
    years.pass_days(2_000)
    assert years.maintain() == []


def test_a_run_that_is_out_of_time_says_what_is_left(years: Years):
    for name in ("one", "two", "three"):
        years.claim("user", "likes", "radishes", namespace=name)
    years.pass_days(800)
    years.fold()
    looks = iter([True, True, False])
    told: list[str] = []
    result = maintain(
        None, years.aging, now=years.side.now, told=lambda due: told.append(due.namespace), in_time=lambda: next(looks)
    )
    assert (told, list(result.left)) == (["one"], ["one", "two", "three"])
    result = maintain(None, years.aging, now=years.side.now, namespaces=["two", "unknown"])
    assert (result.counts, result.namespaces) == ({"archived (faded)": 1}, 2)


def test_replay_gives_the_same_read_model(years: Years, tmp_path: Path):
    said = years.say("I like radishes")
    first = years.claim("user", "likes", "radishes", said=said)
    years.claim("user", "likes", "turnips", said=said)
    years.use(first, helpful=True)
    years.pass_days(1_000)
    years.maintain()
    years.pass_days(400)
    years.maintain()
    years.claim("user", "likes", "radishes", said=years.say("Radishes, I like them"))
    years.maintain()
    again = Years(tmp_path / "again")
    again.events = years.events
    again.fold()
    assert again.side.file.digest() == years.side.file.digest()
    again.side.file.close()
