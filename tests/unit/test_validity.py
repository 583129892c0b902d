"""What holds when: statuses at points of both times, against read models folded from events."""

from __future__ import annotations

import pytest

from taishi.ingest.instants import FOREVER
from taishi.queries.point import Point
from taishi.queries.validity import judge
from tests.support.history import History, claim_id
from tests.support.read_side import NOW, ReadSide, at

JAN, MAR, MAY, AUG = (at(f"2026-{month}-01T00:00:00Z") for month in ("01", "03", "05", "08"))


def statuses(side: ReadSide, *events, valid_at: int = NOW, known_at: int | None = None, position: int | None = None):
    claims = side.model.claims(e.position.seq for e in events)
    known = NOW if known_at is None else known_at
    point = Point(valid_at=valid_at, known_at=known, past_knowledge=known < NOW, position=position)
    verdicts = judge(side.model, claims, point)
    return [verdicts[e.position.seq].status if e.position.seq in verdicts else None for e in events]


def test_a_move_told_late_at_every_point_of_both_times(tmp_path):
    h = History()
    old = h.claim("user", "works_at", "Nanjing office", valid_from=MAR, recorded_at=MAR)
    new = h.claim("user", "works_at", "Xi'an office", valid_from=MAY, recorded_at=AUG)
    side = ReadSide(tmp_path, h.events)
    april, june = at("2026-04-15T00:00:00Z"), at("2026-06-15T00:00:00Z")
    assert statuses(side, old, new, valid_at=april) == ["current", "planned"]
    assert statuses(side, old, new, valid_at=june, known_at=june) == ["current", None]
    assert statuses(side, old, new, valid_at=june) == ["superseded", "current"]
    assert statuses(side, old, new) == ["superseded", "current"]
    verdict = judge(side.model, side.model.claims([1]), Point(valid_at=NOW, known_at=NOW))[1]
    assert (verdict.valid_from, verdict.valid_to, verdict.known_from) == (MAR, MAY, AUG)


def test_an_end_that_was_stated_is_an_end_and_not_a_replacement(tmp_path):
    h = History()
    stay = h.claim("user", "lives_in", "Utrecht", valid_from=JAN, valid_to=MAR, to_inferred=False)
    side = ReadSide(tmp_path, h.events)
    assert statuses(side, stay) == ["ended"]
    assert statuses(side, stay, valid_at=JAN) == ["current"]
    assert statuses(side, stay, valid_at=JAN - 1) == ["planned"]
    assert statuses(side, stay, valid_at=MAR) == ["ended"]


def test_a_denial_ends_without_a_successor(tmp_path):
    h = History()
    yes = h.claim("user", "works_at", "Initrode", valid_from=JAN)
    no = h.claim("user", "works_at", "Initrode", negated=True, valid_from=MAY)
    side = ReadSide(tmp_path, h.events)
    assert statuses(side, yes, no) == ["ended", "current"]
    assert statuses(side, yes, no, valid_at=MAR) == ["current", "planned"]


def test_equal_right_is_contested_until_one_goes(tmp_path):
    h = History()
    a = h.claim("gateway", "config.port", "4100", valid_from=JAN, recorded_at=1_000_000)
    b = h.claim("gateway", "config.port", "4200", valid_from=JAN, recorded_at=1_000_000)
    side = ReadSide(tmp_path / "both", h.events)
    assert statuses(side, a, b) == ["contested", "contested"]
    h.forget(a)
    side = ReadSide(tmp_path / "one", h.after_erasure())
    assert statuses(side, a, b) == ["forgotten", "current"]


def test_found_wrong_is_not_believed_at_any_time_but_was(tmp_path):
    h = History()
    wrong = h.claim("user", "birthday", "04-05", valid_from=JAN, recorded_at=JAN)
    right = h.claim(
        "user", "birthday", "05-04", valid_from=JAN, recorded_at=MAY, correction=True, targets=(claim_id(wrong),),
        was="wrong", type_="claim.corrected",
    )  # fmt: skip
    side = ReadSide(tmp_path, h.events)
    assert statuses(side, wrong, right) == ["retracted", "current"]
    assert statuses(side, wrong, right, valid_at=MAR, known_at=MAR) == ["current", None]


def test_forgetting_leaves_an_opaque_rectangle_and_brings_the_old_back(tmp_path):
    h = History()
    old = h.claim("user", "lives_in", "Turku", valid_from=JAN)
    new = h.claim("user", "lives_in", "Vaasa", valid_from=MAR)
    gone = h.forget(new)
    for events in (h.events, h.after_erasure()):
        side = ReadSide(tmp_path / str(events is h.events), events)
        assert statuses(side, old, new) == ["current", "forgotten"]
        assert statuses(side, old, new, valid_at=MAY, known_at=gone.recorded_at - 1) == ["superseded", "forgotten"]


def test_equal_statements_lead_to_the_one_that_holds(tmp_path):
    h = History()
    first, second, third = (h.claim("user", "likes", value) for value in ("rye bread", "Rye  bread.", "rye bread"))
    side = ReadSide(tmp_path, h.events)
    verdicts = judge(side.model, side.model.claims([1, 2, 3]), Point(valid_at=NOW, known_at=NOW))
    assert [verdicts[e.position.seq].into for e in (first, second, third)] == [None, 1, 1]
    assert {v.status for v in verdicts.values()} == {"current"}


def test_equal_statements_that_ended_lead_to_the_one_with_the_rectangle(tmp_path):
    h = History()
    h.claim("user", "lives_in", "Ghent", valid_from=JAN)
    h.claim("user", "lives_in", "Ghent", valid_from=JAN)
    h.claim("user", "lives_in", "Bruges", valid_from=MAR)
    side = ReadSide(tmp_path, h.events)
    verdicts = judge(side.model, side.model.claims([1, 2]), Point(valid_at=NOW, known_at=NOW))
    assert [(v.status, v.into) for v in verdicts.values()] == [("superseded", None), ("superseded", 1)]


@pytest.mark.parametrize("with_removal", [False, True])
def test_a_position_shows_what_had_been_read_by_then(tmp_path, with_removal):
    h = History()
    old = h.claim("user", "lives_in", "Lund", valid_from=JAN)
    new = h.claim("user", "lives_in", "Malmö", valid_from=MAR)
    if with_removal:
        h.add("claim.retracted", facts={"targets": [claim_id(new)], "was": "retracted"})
    side = ReadSide(tmp_path, h.events)
    assert statuses(side, old, new, position=1) == ["current", None]
    assert statuses(side, old, new, position=2) == ["superseded", "current"]
    last = ["current", "retracted"] if with_removal else ["superseded", "current"]
    assert statuses(side, old, new, position=9) == last


def test_open_ends_are_forever(tmp_path):
    h = History()
    h.claim("user", "speaks", "Finnish", valid_from=JAN)
    side = ReadSide(tmp_path, h.events)
    verdict = judge(side.model, side.model.claims([1]), Point(valid_at=NOW, known_at=NOW))[1]
    assert verdict.holds
    assert (verdict.valid_to, verdict.known_to) == (FOREVER, FOREVER)


def contested_ports(h: History):
    return [h.claim("gateway", "config.port", port, valid_from=JAN, recorded_at=MAR) for port in ("4100", "4200")]


def test_a_settled_conflict_has_a_winner_from_then_on(tmp_path):
    h = History()
    a, b = contested_ports(h)
    h.resolve(a, b, winner=b, recorded_at=MAY)
    side = ReadSide(tmp_path, h.events)
    assert statuses(side, a, b) == ["superseded", "current"]
    assert statuses(side, a, b, known_at=MAY - 1) == ["contested", "contested"]
    assert statuses(side, a, b, position=2) == ["contested", "contested"]
    assert statuses(side, a, b, position=3) == ["superseded", "current"]


def test_what_may_coexist_is_current_and_not_contested(tmp_path):
    h = History()
    a, b = contested_ports(h)
    h.resolve(a, b, recorded_at=MAY)
    side = ReadSide(tmp_path, h.events)
    assert statuses(side, a, b) == ["current", "current"]
    assert statuses(side, a, b, position=3) == ["current", "current"]
    assert statuses(side, a, b, known_at=MAY - 1) == ["contested", "contested"]
    assert statuses(side, a, b, position=2) == ["contested", "contested"]
