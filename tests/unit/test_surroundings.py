"""What turns beside a turn, and its session, add to it."""

from __future__ import annotations

import pytest

from taishi.queries.point import Point
from taishi.queries.surroundings import AFTER, BEFORE, SESSION, surroundings


class Talk:
    """A read model that knows sessions of (speaker, role) turns, positions from 1 on."""

    def __init__(self, *turns: tuple[str, str | None, str]) -> None:
        self._turns = list(enumerate(turns, 1))

    def rows_in(self, _sql, seqs, _at, upto):
        return [(seq, *turn) for seq, turn in self._turns if seq in set(seqs) and seq <= upto]

    def rows(self, sql, seq, limit, _at=0, upto=0):
        session = dict(self._turns)[seq][0]
        same = [(n, speaker, role) for n, (of, speaker, role) in self._turns if of == session]
        if "DESC" in sql:
            return [row for row in reversed(same) if row[0] < seq][:limit]
        return [row for row in same if seq <= row[0] <= upto][:limit]


NOW = Point(valid_at=0, known_at=0)


def test_in_a_dialogue_an_answer_gains_from_the_turn_before_it():
    talk = Talk(("s", "Ann", "user"), ("s", "Ben", "user"), ("s", "Ann", "user"))
    found = surroundings(talk, {1: 1.0}, NOW)  # type: ignore[arg-type]
    assert found.around == {2: AFTER[0], 3: AFTER[1]}
    assert found.turns == {1, 2, 3}
    assert surroundings(talk, {2: 1.0}, NOW).around == {1: BEFORE[0], 3: AFTER[0]}  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_one_speaker_and_an_assistant_make_no_dialogue(role):
    for talk in (Talk(("s", None, "user"), ("s", None, "user")), Talk(("s", None, "user"), ("s", "Bot", role))):
        assert not surroundings(talk, {1: 1.0}, NOW).around  # type: ignore[arg-type]


def test_what_was_read_later_is_not_beside():
    talk = Talk(("s", "Ann", "user"), ("s", "Ben", "user"))
    upto = Point(valid_at=0, known_at=0, position=1)
    assert not surroundings(talk, {1: 1.0}, upto).around  # type: ignore[arg-type]


def test_a_session_stands_back_by_its_best_and_what_has_none_does_not():
    talk = Talk(("s", None, "user"), ("s", None, "user"), ("t", None, "user"), (None, None, "user"))
    found = surroundings(talk, {1: 1.0, 2: 0.1, 3: 0.6, 4: 0.2}, NOW)  # type: ignore[arg-type]
    assert found.session == {1: 0.0, 2: 0.0, 3: pytest.approx(-0.4 * SESSION)}
