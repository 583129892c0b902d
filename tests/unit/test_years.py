"""Years in questions and in what answers them."""

from __future__ import annotations

import pytest

from taishi.queries.fusion import Signals, parts
from taishi.queries.years import asked_years, years_in
from tests.support.history import History
from tests.support.read_side import ReadSide


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("The mill closed in 1874.", {1874}),
        ("the 1974–75 season", {1974, 1975}),
        ("the 1999-00 season", {1999, 2000}),
        ("on 2001-02-15", {2001}),
        ("from 1931-1934", {1931, 1934}),
        ("invoice 120011 of 2150", set()),
    ],
)
def test_years_of_a_text(text, years):
    assert years_in(text) == years


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The ferry took over in 1931.", "begins"),
        ("From 1931 to 1934 the ferry ran twice a day.", "both"),
        ("In 1932 the pier burnt down.", "within"),
        ("The ferry was sold in 1934.", "within"),
        ("A bridge was planned in 1929 and opened in 1940.", None),
        ("Nobody remembers the ferry.", None),
    ],
)
def test_what_a_text_tells_of_the_asked_years(text, told):
    asked = asked_years("which boat crossed the strait from 1931 to 1934?")
    assert asked is not None
    assert asked.told_by(text) == told


def test_one_asked_year_begins_and_does_not_end():
    asked = asked_years("which boat crossed the strait in 1931?")
    assert asked is not None
    assert asked.told_by("It ran in 1931.") == "begins"
    assert asked_years("which boat crossed the strait?") is None


def test_a_title_says_nothing_besides_the_question():
    asked = asked_years("which boat crossed the strait in 1931?")
    assert asked is not None
    assert asked.is_title("The Strait ( 1931 )")
    assert not asked.is_title("The strait of 1931, and the boat that everybody took to cross it in the last years")
    assert not asked.is_title("The Ferries")


def test_the_first_year_weighs_more_than_one_within_and_both_ends_most():
    def weight(**given):
        return parts(Signals(**given)).get("time", 0.0)

    assert 0 < weight(years="within") == weight(in_span=True) < weight(years="begins") < weight(years="both") < 0.5
    assert weight(in_span=True, years="both") == weight(years="both")


def test_how_it_began_comes_before_what_else_happened_then(tmp_path):
    h = History()
    h.say("In 1931 the Heron crossed in the rain.")
    h.say("In 1934 the Plover crossed in the fog.")
    (first, *_) = ReadSide(tmp_path, h.events).texts("Which boat crossed the strait from 1931 to 1934?")
    assert "Heron" in first
