"""What was and is no more said to be; and everyday kinds: things had, skills, studies, occasions, papers, how systems are run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.support.rules_cases import claims, read

SAID = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I was living in Turku.", {("user", "lived_in", "Turku", "+")}),
        ("I was working at Halden back then.", {("user", "worked_at", "Halden", "+")}),
        ("My dad was a roofer.", {("my dad", "had_role", "roofer", "+")}),
        ("I was a midwife once.", {("user", "had_role", "midwife", "+")}),
        ("I was reading Emma.", set()),
        ("We were using Bazaar.", set()),
        ("I was vegan.", set()),
        ("I wasn't vegan.", set()),
        ("I was allergic to eggs.", set()),
        ("I was married.", set()),
        ("I was going to buy a kayak but didn't.", set()),
        ("We were planning to move to Turku.", set()),
        ("I was diagnosed with asthma.", {("user", "health", "asthma", "+")}),
        ("I was born in Turku.", {("user", "hometown", "Turku", "+")}),
    ],
)
def test_what_was_is_not_told_of_the_present(text: str, wanted: set[tuple[str, str, str, str]]) -> None:
    assert read(text) == wanted


def test_what_one_switched_to_at_a_dated_time_goes_on() -> None:
    [claim] = claims("I switched to oat milk last year.", said_at=SAID)
    assert (claim.predicate, claim.valid_to) == ("uses", None)


def test_what_was_at_a_dated_time_held_then() -> None:
    [claim] = claims("In 2019 I was living in Turku.", said_at=SAID)
    assert (claim.predicate, claim.valid_to is not None) == ("lives_in", True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I have a harp.", {("user", "owns", "harp", "+")}),
        ("We have a trailer and a wetsuit.", {("user", "owns", "trailer", "+"), ("user", "owns", "wetsuit", "+")}),
        ("I drive an old pickup.", {("user", "uses", "old pickup", "+")}),
        ("I can't swim.", {("user", "knows", "swim", "-")}),
        ("My aunt can weld.", {("my aunt", "knows", "weld", "+")}),
        ("I can't have fructose.", {("user", "diet", "fructose", "-")}),
        ("I've been vegan since school.", {("user", "diet", "vegan", "+")}),
        ("I usually have toast for breakfast.", {("user", "habit", "have toast for breakfast", "+")}),
        ("I haven't smoked in years.", {("user", "habit", "smoking", "-")}),
        ("My uncle is on dialysis.", {("my uncle", "health", "on dialysis", "+")}),
        ("I'm self-employed.", {("user", "role", "self-employed", "+")}),
        ("I'm doing a PhD in botany at Lund.", {("user", "studies_at", "Lund", "+"), ("user", "major", "botany", "+")}),
        ("Signe reports to Aksel.", {("Signe", "relative", "Aksel", "+")}),
        ("My commute is 40 minutes.", {("user", "attribute.commute", "40 minutes", "+")}),
        ("I turned 30 last week.", {("user", "age", "30", "+")}),
        ("My aunt died when I was nine.", {("my aunt", "status", "passed away", "+")}),
        ("I've just got back from Crete.", {("user", "did", "came back from Crete", "+")}),
        ("The christening is on Sunday at 11am.", {("christening", "attribute.time", "Sunday at 11am", "+")}),
        ("We pushed the inspection to 9 June.", {("inspection", "attribute.time", "9 June", "+")}),
        ("The wildcard certificate expires on 12 June.", {("wildcard certificate", "attribute.expiry", "12 June", "+")}),
        ("The payments team uses Svelte.", {("payments team", "uses", "Svelte", "+")}),
        ("The ledger service depends on Kafka.", {("ledger service", "uses", "Kafka", "+")}),
        ("We host everything on Hetzner.", {("user", "uses", "Hetzner", "+")}),
        ("Access logs are kept for 30 days.", {("Access logs", "config.retention", "30 days", "+")}),
        ("We decommissioned the legacy cluster in January.", {("legacy cluster", "status", "decommissioned", "+")}),
        ("The nightly import job runs at 2am UTC.", {("nightly import job", "config.schedule", "at 2am UTC", "+")}),
        ("We share a flat in Turku with two others.", {("user", "lives_in", "Turku", "+")}),
        ("I teach botany at a secondary school in Lund.", {("user", "role", "botany teacher", "+"), ("user", "works_at", "secondary school", "+")}),
        ("I've never liked beetroot.", {("user", "likes", "beetroot", "-")}),
        ("I've always loved fog.", {("user", "likes", "fog", "+")}),
        ("Leaf blowers drive me mad.", {("user", "likes", "Leaf blowers", "-")}),
        ("I don't eat pork for religious reasons.", {("user", "diet", "pork", "-")}),
        ("I've been off sugar since Easter.", {("user", "habit", "sugar", "-")}),
        ("I was put on statins in March.", {("user", "health", "on statins", "+")}),
        ("I tore my hamstring playing netball.", {("user", "health", "tore my hamstring playing netball", "+")}),
        ("I see my physio every other Thursday.", {("user", "habit", "see my physio every other Thursday", "+")}),
        ("I've given up on learning Welsh.", {("user", "learning", "Welsh", "-")}),
        ("I'm no longer on Mastodon.", {("user", "uses", "Mastodon", "-")}),
        ("My Kobo packed up, so I replaced it with a tablet.", {("user", "owns", "tablet", "+")}),
        ("We named the baby Signe.", {("user", "relative", "Signe", "+")}),
        ("I took my goat Nettle to the vet.", {("user", "owns", "goat", "+")}),
        ("We had to put our goat down.", {("user", "owns", "goat", "-")}),
        ("The EU cluster moved to Frankfurt.", {("EU cluster", "located_in", "Frankfurt", "+")}),
        ("The ledger webhook times out after 15 seconds.", {("ledger webhook", "config.timeout", "15 seconds", "+")}),
        ("Prod is pinned to version 4.2.1 until the audit is over.", {("Prod", "version", "4.2.1", "+")}),
        ("The review is at 4, not 3.", {("review", "attribute.time", "at 4", "+")}),
        ("I live in Ålesund and my sister Åse works at Ørsted.", {("user", "lives_in", "Ålesund", "+"), ("Åse", "works_at", "Ørsted", "+"), ("user", "relative", "Åse", "+")}),
        ("We live on a narrowboat near Bath.", {("user", "lives_in", "Bath", "+")}),
        ("I work three days a week at a bakery.", {("user", "works_at", "bakery", "+")}),
        ("My aunt teaches pilates.", {("my aunt", "role", "pilates teacher", "+")}),
        ("I did my master's in Leuven.", {("user", "studied_at", "Leuven", "+")}),
        ("We adopted a gerbil and named her Nettle.", {("user", "owns", "gerbil", "+")}),
        ("I have migraines and take sumatriptan.", {("user", "health", "migraines", "+"), ("user", "habit", "take sumatriptan", "+")}),
        ("I've been sober for four years.", {("user", "habit", "alcohol", "-")}),
        ("My hip has been killing me all week.", {("user", "health", "hip pain", "+")}),
        ("I'm on a gluten-free diet.", {("user", "diet", "gluten-free", "+")}),
        ("Every Sunday I call my aunt.", {("user", "habit", "call my aunt Every Sunday", "+")}),
        ("I'm away until Wednesday.", {("user", "status", "away", "+")}),
        ("My kayak is in for repair.", {("My kayak", "status", "in for repair", "+")}),
        ("The ledger server was shut down in February.", {("ledger server", "status", "shut down", "+")}),
        ("The ledger server has 32 GB of RAM.", {("ledger server", "config.memory", "32 GB", "+")}),
        ("I booked a cabin in Lapland for August.", {("user", "plans", "booked a cabin in Lapland for August", "+")}),
        ("My aunt left me her harp.", {("user", "owns", "harp", "+")}),
        ("I upgraded my phone to a Fairphone 5.", {("user", "attribute.phone", "Fairphone 5", "+")}),
        ("Signe took over from Aksel as tech lead.", {("Signe", "role", "tech lead", "+"), ("Aksel", "role", "tech lead", "-")}),
        ("I spent my childhood in Turku.", {("user", "lived_in", "Turku", "+")}),
        ("My aunt is in the navy.", {("my aunt", "works_at", "navy", "+")}),
        ("I've got eczema on my hands.", {("user", "health", "eczema", "+")}),
        ("My flight lands at 18:40.", {("My flight", "attribute.time", "at 18:40", "+")}),
        ("I'm in hospital until Monday.", {("user", "status", "in hospital", "+")}),
        ("Our main branch is called trunk.", {("main", "config.branch", "trunk", "+")}),
    ],
)
def test_kinds_of_everyday_statements(text: str, wanted: set[tuple[str, str, str, str]]) -> None:
    assert {(c.subject, c.predicate, c.value, "-" if c.negated else "+") for c in claims(text, said_at=SAID)} == wanted


@pytest.mark.parametrize(
    "text",
    [
        "I replaced it with a comma.", "I always have time for dinner.", "We deploy our app to Production.", "I got rid of a headache.", "The party is on 5th street.", "My rent is due.", "The importer app is written in English.",
        "I haven't smoked anything this good.", "I can't have coffee after five.", "I have a phone call.", "I have a garden party.", "I can drive.", "The release is on track.", "The party is on me.", "The backup runs on Linux.",
        "Been in Turku, originally from Lund.", "I put the dog down on the sofa.", "I'm off.", "Every time I call, it hurts.", "The lid is out.", "I take the bus.", "The lid is off.", "It drives me mad.", "I rent a car in Turku.", "I see this error every day.",
        "The news reports to us that Signe left.", "The production database is in eu-west-1.",
    ],
)  # fmt: skip
def test_words_that_look_alike_claim_nothing(text: str) -> None:
    assert claims(text) == []
