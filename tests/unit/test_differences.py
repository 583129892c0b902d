"""What another generation would change, told from two read models of one history."""

from __future__ import annotations

from pathlib import Path

import pytest

from taishi.ingest.errors import Unavailable
from taishi.projections.analysis import Analyzer
from taishi.projections.store import ReadModelFile
from taishi.queries.differences import Differences, GridPoint, Pair, grid
from tests.support.history import History, claim_id

ANALYZER = Analyzer()


def pair(folder: Path, history: History) -> Pair:
    paths = []
    for generation in (1, 2):
        path = folder / f"g{generation}.db"
        model = ReadModelFile(path, ANALYZER, generation=generation)
        if fresh := history.events[model.checkpoint.seq :]:
            model.apply(fresh, stop_at_poison=True)
        model.close()
        paths.append(path)
    return Pair(paths[0], paths[1], 0)


def differences(folder: Path, history: History, *, most: int = 100) -> Differences:
    compared = pair(folder, history)
    try:
        return compared.differences(most=most)
    finally:
        compared.close()


@pytest.fixture
def history() -> History:
    """Three messages, read by two extractors: one claim alike, one lost, one changed, one gained."""
    h = History()
    home, work, tea = h.say("I live in Hangzhou"), h.say("I work at Acme"), h.say("I like tea")
    first = ((home, "lives_in", "Hangzhou"), (work, "works_at", "Acme"), (tea, "likes", "tea"))
    second = ((home, "lives_in", "Hangzhou"), (work, "works_at", "Acme Ltd"), (tea, "note", "tea"))
    for generation, read in ((1, first), (2, second)):
        for said, predicate, value in read:
            h.claim("user", predicate, value, said=said, generation=generation)
    return h


def test_claims_are_lost_gained_and_changed_each_with_its_words(tmp_path: Path, history: History) -> None:
    found = differences(tmp_path, history)
    told = sorted((c.kind, c.predicate, c.before, c.after, c.words) for c in found.changes)
    assert [(k, p, b and b.value, a and a.value, w) for k, p, b, a, w in told] == [
        ("changed", "works_at", "Acme", "Acme Ltd", "I work at Acme"),
        ("gained", "note", None, "tea", "I like tea"),
        ("lost", "likes", "tea", None, "I like tea"),
    ]
    assert {k: found.total(k) for k in ("same", "lost", "gained", "changed")} == {
        "same": 1, "lost": 1, "gained": 1, "changed": 1,
    }  # fmt: skip
    assert found.share == pytest.approx(2 / 3)
    assert len(differences(tmp_path, history, most=1).changes) == 1


def test_the_same_claim_with_other_facts_has_changed(tmp_path: Path) -> None:
    h = History()
    said = h.say("I will move to Hangzhou")
    for generation, modality in ((1, "fact"), (2, "plan")):
        h.claim("user", "lives_in", "Hangzhou", said=said, generation=generation, modality=modality)
    (change,) = differences(tmp_path, h).changes
    assert (change.kind, change.before and change.before.modality, change.after and change.after.modality) == (
        "changed", "fact", "plan",
    )  # fmt: skip


def test_what_callers_said_of_what_is_not_there_is_unbound(tmp_path: Path, history: History) -> None:
    kept, changed, lost = history.events[3:6]
    for claim in (kept, changed, lost):
        history.confirm(claim)
    history.add("claim.retracted", facts={"targets": [claim_id(changed)]})
    found = {(u.kind, u.memory_id) for u in differences(tmp_path, history).unbound}
    assert found == {
        ("confirmed", claim_id(changed)), ("confirmed", claim_id(lost)), ("retracted", claim_id(changed)),
    }  # fmt: skip


def test_what_was_forgotten_and_shows_again_is_named(tmp_path: Path, history: History) -> None:
    home, lives, again = history.events[0], history.events[3], history.events[6]
    history.forget(home, lives)
    assert differences(tmp_path, history).readable == [claim_id(lives)]
    history.forget(again)
    found = differences(tmp_path, history)
    assert (found.readable, found.tombstones) == ([], 2)


def test_beliefs_are_compared_at_moments(tmp_path: Path, history: History) -> None:
    compared = pair(tmp_path, history)
    assert compared.span() == (1_000_000, 3_000_000)
    now, then = compared.at(3_500_000), compared.at(1_500_000)
    compared.close()
    assert (now.same, now.only_before, now.only_after) == (1, 2, 2)
    assert (then.then_same, then.then_only_before, then.then_only_after) == (1, 0, 0)
    both = grid([now, now])
    assert isinstance(both, GridPoint)
    assert both.only_after == 4


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        Pair(tmp_path / "a.db", tmp_path / "b.db", 3)
