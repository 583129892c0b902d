"""What is over and what took its place: things parted with, jobs left and begun, works read to the end, states that pass."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from taishi.ingest.instants import render
from tests.support.rules_cases import claims, read

SAID = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("I sold the caravan.", "caravan"),
        ("We finally sold our old boat to a friend.", "boat"),
        ("We gave away the harmonium.", "harmonium"),
        ("I gave my cello to my niece.", "cello"),
        ("I got rid of the treadmill.", "treadmill"),
        ("We had to sell the cottage.", "cottage"),
        ("I lost my earbuds on the train.", "earbuds"),
        ("My scooter was stolen last night.", "scooter"),
        ("Someone stole our kayak.", "kayak"),
        ("I don't have the moped any more.", "moped"),
        ("We no longer have a garden shed.", "garden shed"),
        ("I don't have a telescope.", "telescope"),
        ("I crashed my Vespa.", "Vespa"),
        ("I flogged my old caravan and got lost.", "caravan"),
    ],
)
def test_who_parts_with_a_thing_has_it_no_more(text: str, thing: str) -> None:
    assert read(text) == {("user", "owns", thing, "-")}


@pytest.mark.parametrize(
    "text",
    [
        "I sold 40 tickets.", "I sold the idea to the board.", "I lost my temper.", "I lost my keys again.", "I gave my notice to HR.",
        "I gave the key to Jonas.", "I gave the report to my boss.", "I gave away the ending.", "I handed the phone to my sister.", "I lent out the van to a friend.", "My van was sold to me by a friend.", "I don't have the patience any more.", "I no longer have access to the wiki.", "We got rid of the bug.",
        "I gave my son to the childminder.", "My sandwich got stolen.", "I would have sold the van.", "I want to sell the van.", "Did I sell the van?",
    ],
)  # fmt: skip
def test_what_is_no_thing_or_not_given_up_ends_no_having(text: str) -> None:
    assert not [claim for claim in read(text) if claim[1] == "owns"]


@pytest.mark.parametrize(
    ("text", "predicate", "old", "new"),
    [
        ("I traded my tuba for a trombone.", "owns", "tuba", "trombone"),
        ("I swapped our van for a new camper.", "owns", "van", "camper"),
        ("We replaced Travis with Buildkite.", "uses", "Travis", "Buildkite"),
        ("I finished reading Emma and started Persuasion.", "doing", "reading Emma", "reading Persuasion"),
    ],
)
def test_one_thing_in_the_place_of_another(text: str, predicate: str, old: str, new: str) -> None:
    assert {("user", predicate, old, "-"), ("user", predicate, new, "+")} <= read(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I switched jobs, I'm now at Halden as a welder.", {("works_at", "Halden"), ("role", "welder")}),
        ("I changed jobs and I'm at Halden now.", {("works_at", "Halden")}),
        ("I left Brandt and I'm now at Halden.", {("works_at", "Halden")}),
        ("I left my bag, I'm at Halden.", set()),
        ("I have to let go.", set()),
        ("I've been at Halden since Friday.", set()),
        ("I've been at Halden for two weeks.", set()),
        ("I've worked at Halden for two weeks.", {("works_at", "Halden")}),
        ("I've worked at Halden for three years.", {("works_at", "Halden")}),
        ("I've been at Halden since 2019.", {("works_at", "Halden")}),
        ("I got laid off in January.", {("works_at", "none")}),
        ("I'm between jobs.", {("works_at", "none")}),
        ("I retired in 2020.", {("role", "retired")}),
        ("I start at Halden next month.", {("plans", "start at Halden")}),
        ("I finished my traineeship and started working at Halden.", {("did", "finished my traineeship"), ("works_at", "Halden")}),
        ("I graduated from Lund with a degree in botany.", {("studied_at", "Lund"), ("major", "botany")}),
        ("I was at Halden as a guest.", set()),
        ("I'm at Halden now.", set()),
        ("I've been at home for two weeks.", set()),
    ],
)
def test_jobs_are_left_and_begun(text: str, wanted: set[tuple[str, str]]) -> None:
    assert {(c.predicate, c.value) for c in claims(text, said_at=SAID)} - {("did", "switched jobs")} == wanted


@pytest.mark.parametrize(
    ("text", "predicate", "begins", "ends"),
    [
        ("I've been living in Turku for the last six years.", "lives_in", "2020-03-04", None),
        ("I've lived in Turku for the past six years.", "lives_in", "2020-03-04", None),
        ("I've worked at Halden for the last two years.", "works_at", "2024-03-04", None),
        ("I'm in Turku this week for a trade fair.", "attribute.location", "2026-03-02", "2026-03-09"),
        ("I'm in Turku until Friday.", "attribute.location", "2026-03-04", "2026-03-07"),
        ("I'm on parental leave until June.", "status", "2026-03-04", "2026-06-01"),
        ("I've had a cough since Monday.", "health", "2026-03-02", None),
        ("The batch cluster is down until Friday.", "status", "2026-03-04", "2026-03-07"),
    ],
)
def test_what_is_told_up_to_now_goes_on_and_what_passes_ends(text: str, predicate: str, begins: str, ends: str | None) -> None:
    [claim] = claims(text, said_at=SAID)
    assert claim.predicate == predicate
    assert render(claim.valid_from or 0)[:10] == begins
    assert (None if claim.valid_to is None else render(claim.valid_to)[:10]) == ends


@pytest.mark.parametrize("text", ["I'm in Turku.", "I'm in Turku on Friday.", "I'm in March already.", "The data was stolen.", "I'm deaf to criticism."])
def test_what_says_no_such_thing_claims_nothing(text: str) -> None:
    assert claims(text, said_at=SAID) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Also our goat is called Nettle.", ("owns", "goat")),
        ("Yeah my brother's name is Aksel.", ("relative", "Aksel")),
        ("Hi I'm Signe, a welder from Turku.", ("name", "Signe")),
        ("And we upgraded Kafka to 3.7.", ("version", "3.7")),
        ("Sorry, I meant to say my goat is called Nettle.", ("owns", "goat")),
    ],
)
def test_words_that_lead_in_are_none_of_the_statement(text: str, wanted: tuple[str, str]) -> None:
    assert wanted in {(c.predicate, c.value) for c in claims(text)}


def test_those_who_are_counted_are_named_behind_a_colon() -> None:
    assert {c[2] for c in read("I have three kids: Signe, Aksel and Rune.")} == {"Signe", "Aksel", "Rune"}
    assert read("I have one rule: I never eat meat.") == {("user", "diet", "meat", "-")}
