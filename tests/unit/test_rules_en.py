"""English sentences and what the rules read of them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from taishi.ingest.extractor import Extractor
from taishi.ingest.instants import render
from taishi.ingest.registry import default_registry
from taishi.ingest.rules import RulesExtractor
from taishi.ingest.slots import Fingerprints, bind
from tests.support.rules_cases import claims, extract, lines, read, said, score, short

NOON = datetime(2026, 11, 27, 15, 30, tzinfo=UTC)


def test_every_labelled_line_of_the_working_half_is_read_as_labelled() -> None:
    total, odd = score("rules_en", "dev")
    assert odd == []
    assert total.right >= 100


@pytest.mark.parametrize("half", ["held", "fresh"])
def test_the_lines_that_were_put_aside_are_read_well(half: str) -> None:
    total, odd = score("rules_en", half)
    assert total.precision >= 0.95, odd
    assert total.recall >= 0.95, odd


@pytest.mark.parametrize(
    ("like", "dislike", "value"),
    [
        ("I like eating dumplings.", "I don't like dumplings anymore.", "dumplings"),
        ("I love jazz", "I no longer like jazz", "jazz"),
        ("I'm into chess", "I'm not into chess anymore", "chess"),
        ("I enjoy playing badminton", "I can't stand badminton", "badminton"),
    ],
)
def test_like_and_no_longer_like_meet_in_one_slot(like: str, dislike: str, value: str) -> None:
    assert read(like) == {("user", "likes", value, "+")}
    assert read(dislike) == {("user", "likes", value, "-")}


def test_work_in_a_city_and_a_move_share_a_slot() -> None:
    [work] = claims("I work in Dublin")
    moved = claims("I actually moved to Lisbon in May", said_at=NOON)
    at_work = next(claim for claim in moved if claim.predicate == "works_at")
    assert work.qualifiers == at_work.qualifiers == {"kind": "city"}
    assert render(at_work.valid_from) == "2026-05-01T00:00:00Z"
    [company] = claims("I work at Canva")
    assert company.qualifiers == {"kind": "company"}


@pytest.mark.parametrize(
    ("text", "value", "begins"),
    [
        ("I visited the aquarium three days ago.", "visited the aquarium", "2026-11-24T00:00:00Z"),
        ("I met my landlord yesterday.", "met my landlord", "2026-11-26T00:00:00Z"),
        ("Last month I bought a cookbook.", "bought a cookbook", "2026-10-01T00:00:00Z"),
    ],
)
def test_a_happening_is_dated_at_its_own_grain(text: str, value: str, begins: str) -> None:
    [claim] = claims(text, said_at=NOON)
    assert (claim.predicate, claim.value) == ("did", value)
    assert render(claim.occurs_from) == render(claim.valid_from) == begins


def test_a_plan_holds_until_its_time_is_over() -> None:
    [plan] = claims("I'm going to Oslo for a workshop next March.", said_at=NOON)
    assert (plan.predicate, plan.modality) == ("plans", "plan")
    assert render(plan.valid_from) == "2026-11-27T15:30:00Z"
    assert render(plan.occurs_from) == "2027-03-01T00:00:00Z"
    assert render(plan.valid_to) == "2027-04-01T00:00:00Z"


def test_temporarily_and_this_week() -> None:
    [theme] = claims("My eyes hurt, so I've temporarily switched to light mode.")
    assert short(theme) == ("user", "prefers.theme", "light mode", "+")
    assert theme.temporary
    [diet] = claims("I'm not eating meat this week.", said_at=NOON)
    assert short(diet) == ("user", "diet", "meat", "-")
    assert diet.valid_to is not None
    assert diet.temporary


def test_the_later_personal_best_falls_into_the_slot_of_the_earlier() -> None:
    [was] = claims("My personal best for the mile is 6:12.")
    [now] = claims("I just ran a new personal best of 5:58 for the mile!")
    assert (
        (was.predicate, was.qualifiers)
        == (now.predicate, now.qualifiers)
        == ("personal_best", {"event": "mile"})
    )
    assert (was.value, now.value) == ("6:12", "5:58")


def _slot(text: str) -> tuple[str, str, bool]:
    [claim] = claims(text)
    facts = bind(
        claim,
        namespace="n",
        evidence=("e1",),
        known_from=0,
        strength=40,
        registry=default_registry(),
        fingerprints=Fingerprints(b"k" * 32),
    )
    return facts.slot, facts.value, facts.negates


def test_a_transfer_ends_the_plain_membership_before_it() -> None:
    before, after = _slot("Noor is on project Osprey."), _slot("Noor moved to project Heron.")
    assert before[0] == after[0]
    assert before[1] != after[1]
    club, other = _slot("I joined the chess club."), _slot("I joined the sailing club.")
    assert club[0] != other[0]


def test_a_job_replaces_a_job_and_another_role_does_not() -> None:
    assert _slot("I work as a nurse.")[0] == _slot("I was promoted to head nurse.")[0]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("My name is not Jan, it's Jana.", ("user", "name", "Jana", "+")),
        ("I live in Turin, not in Milan.", ("user", "lives_in", "Turin", "+")),
    ],
)
def test_not_this_but_that(text: str, wanted: tuple[str, str, str, str]) -> None:
    assert read(text) == {wanted}


def test_the_verb_must_suit_its_subject() -> None:
    for text in (
        "Sounds like a plan",
        "However, like many people",
        "Dancing is like second nature to me",
        "My love for music",
    ):
        assert read(text) == set()
    assert read("Marta likes ballet") == {("Marta", "likes", "ballet", "+")}


def test_lists_are_taken_apart_only_where_they_are_plain() -> None:
    assert read("I like plums and figs") == {("user", "likes", "plums", "+"), ("user", "likes", "figs", "+")}
    assert read("I dislike games with timers and ads") == {
        ("user", "likes", "games with timers and ads", "-")
    }


def test_a_relative_beside_a_name_is_a_claim_of_its_own() -> None:
    assert read("My aunt Greta lives in Graz") == {
        ("Greta", "lives_in", "Graz", "+"),
        ("user", "relative", "Greta", "+"),
    }
    assert read("My brother is called Ivo and he lives in Split") == {
        ("user", "relative", "Ivo", "+"),
        ("Ivo", "lives_in", "Split", "+"),
    }


def test_he_and_she_across_a_session_and_slips() -> None:
    found = extract(said("She works at Figma."), context=[said("My cousin visited us yesterday.")]).claims
    assert [short(claim) for claim in found] == [("my cousin", "works_at", "Figma", "+")]
    found = extract(said("Sorry, I meant Bergen."), context=[said("I live in Oslo.")]).claims
    assert [short(claim) for claim in found] == [("user", "lives_in", "Bergen", "+")]


@pytest.mark.parametrize(
    "text",
    [
        "If I move to Oslo, I'll need a coat.",
        "I would love to live in Rome.",
        "Maybe I like fennel.",
        "Tom said he hates figs.",
        "Where does my aunt live?",
        "Do you like figs?",
        "I wish I spoke Danish.",
        "People who live in Rome are lucky.",
        "I like it.",
        "I almost moved to Oslo.",
        "She lives in Rome.",
        "You live in Rome.",
        "I made a mistake.",
        "I'll try.",
        "I won't give up.",
        "I live in Rome?",
        "Write a story where I live on Mars.",
        'The sign said "I live in Rome".',
        "I had a great time.",
    ],
)
def test_what_is_not_stated_is_not_claimed(text: str) -> None:
    assert read(text) == set()


def test_fast_enough_and_a_port_like_any_other() -> None:
    extractor: Extractor = RulesExtractor()
    assert (extractor.name, extractor.version) == ("rules", "3")
    texts = [
        str(row["text"])
        for name in ("rules_zh", "rules_en")
        for half in ("dev", "held")
        for row in lines(name, half)
    ]
    for text in texts:
        claims(text)
    began = time.process_time()
    for text in texts:
        extract(said(text))
    rate = len(texts) / (time.process_time() - began)
    assert rate >= 1_000, (
        f"{rate:.0f} messages/s"
    )  # the bar is 3,000 on a quiet core; this guards against a collapse


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "，",
        "\x00",
        "。。。",
        "a" * 50_000,
        "我" * 30_000,
        "是" * 5_000,
        "I " * 9_000,
        "\ud800",
        "““““",
        "（" * 400,
    ],
)
def test_any_text_is_survived(text: str) -> None:
    extract(said(text))


@pytest.mark.parametrize(
    ("text", "predicate", "told"),
    [
        ("I have two parrots, Olive and Basil.", "owns", [("parrot", "name", "Olive"), ("parrot", "name", "Basil")]),
        ("I have a cat named Olive and a dog called Basil.", "owns", [("cat", "name", "Olive"), ("dog", "name", "Basil")]),
        ("Our three mice are called Salt, Pepper and Sage.", "owns", [("mouse", "name", n) for n in ("Salt", "Pepper", "Sage")]),
        ("We have two children, Otto and Wren.", "relative", [("Otto", "relation", "child"), ("Wren", "relation", "child")]),
        ("I have a son, Otto, and a niece, Wren.", "relative", [("Otto", "relation", "son"), ("Wren", "relation", "niece")]),
        ("I'm married to Otto.", "relative", [("Otto", "relation", "spouse")]),
    ],
)
def test_each_that_is_named_is_a_claim_of_its_own(text: str, predicate: str, told: list[tuple[str, str, str]]) -> None:
    found = [claim for claim in claims(text) if claim.predicate == predicate]
    assert [(claim.value, *item) for claim in found for item in claim.qualifiers.items()] == told
