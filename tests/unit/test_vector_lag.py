"""Vectors that do not come are noticed after a while, and those that follow a steady stream are not taken for late."""

from __future__ import annotations

from taishi.queries.vector_lag import VectorLag


class Place:
    now = 0.0
    embedded: int | None = 0

    def lag(self) -> VectorLag:
        return VectorLag(lambda _: self.embedded, clock=lambda: self.now)


def test_a_steady_stream_is_not_behind() -> None:
    here = Place()
    lag = here.lag()
    for second in range(60):
        here.now = float(second)
        here.embedded = second * 20
        assert not lag.behind(0, second * 20 + 40)


def test_what_stands_still_is_behind_until_it_comes() -> None:
    here = Place()
    lag = here.lag()
    told = []
    for second in range(12):
        here.now = float(second)
        told.append(lag.behind(0, 100 + second))
    assert told[:6] == [False] * 6 and told[-1]
    here.embedded, here.now = 200, 13.0
    assert not lag.behind(0, 200)
    assert not lag.behind(1, 0)


def test_without_vectors_there_is_nothing_to_wait_for() -> None:
    here = Place()
    here.embedded = None
    lag = here.lag()
    for second in range(20):
        here.now = float(second)
        assert not lag.behind(0, 100)
