"""What was before leads where it is asked; what another one replaced, and what is denied, does not."""

from __future__ import annotations

from datetime import UTC

import pytest

from taishi.ingest.instants import FOREVER
from taishi.queries.folding import Ranked
from taishi.queries.former import denials_last, former_first, holding_first
from taishi.queries.understand import understand
from taishi.queries.validity import Status, Verdict


class Claim:
    """What the order looks at of a claim."""

    def __init__(self, value: str, slot: int, *, negated: bool = False) -> None:
        self.value = value
        self.slot = slot
        self.negated = int(negated)


def one(
    value: str,
    status: Status,
    since: int,
    until: int = FOREVER,
    *,
    slot: int = 1,
    score: float = 1.0,
    negated: bool = False,
) -> Ranked:
    verdict = Verdict(status, since, until, since, FOREVER)
    claim = Claim(value, slot, negated=negated)
    return Ranked(
        doc=since, score=score, parts={}, status=status, met={}, dense=0.0, slot=True, claim=claim, verdict=verdict  # type: ignore[arg-type]
    )


def asked(text: str):
    return understand(text, now=1_750_000_000_000_000, zone=UTC)


HOMES = [one("Udine", "current", 30), one("Bari", "superseded", 10, 20), one("Trento", "superseded", 20, 30)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where did I live before?", ["Trento", "Bari", "Udine"]),
        ("Where did I use to live?", ["Trento", "Bari", "Udine"]),
        ("我以前住在哪里？", ["Trento", "Bari", "Udine"]),
        ("Where did I live before Udine?", ["Trento", "Bari", "Udine"]),
        ("Where did I live before Trento?", ["Bari", "Trento", "Udine"]),
    ],
)
def test_what_was_before_leads_the_latest_first(question: str, expected: list[str]) -> None:
    found = asked(question)
    assert found.intent == "history"
    assert [r.claim.value for r in former_first(HOMES, found) if r.claim] == expected


def test_nothing_moves_where_nothing_is_over() -> None:
    kept = [one("Udine", "current", 30), one("Bari", "current", 10, slot=2)]
    assert former_first(kept, asked("Where did I live before?")) == kept


def test_what_holds_leads_what_it_replaced_but_for_one_that_is_named() -> None:
    days = [one("may 4", "superseded", 0, 5), one("may 14", "current", 5)]
    assert [r.status for r in holding_first(days, asked("When is my birthday?"))] == ["current", "superseded"]
    homes = [one("bari", "superseded", 0, 5), one("udine", "current", 5)]
    assert holding_first(homes, asked("When did I move to Bari?")) == homes
    others = [one("may 4", "superseded", 0, 5), one("may 14", "current", 5, slot=2)]
    assert holding_first(others, asked("When is my birthday?")) == others


def test_denials_stand_behind_what_is_so_and_near() -> None:
    jazz = one("jazz", "current", 5, slot=1, negated=True, score=1.0)
    near, far = one("techno", "current", 5, slot=2, score=0.9), one("tea", "current", 5, slot=3, score=0.5)
    assert denials_last([jazz, near, far], asked("What music do I like?")) == [near, jazz, far]
    for question in ("Do I like jazz?", "What don't I like?", "我不喜欢什么？"):
        assert denials_last([jazz, near, far], asked(question)) == [jazz, near, far]
    assert denials_last([jazz, near], asked("我喜欢什么？")) == [near, jazz]
