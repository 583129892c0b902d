"""The ledger of model calls in one SQLite file: every call with what was put aside for it and what it cost.

A reservation is committed, with the sum it is checked against, in one immediate transaction before its call is made. It
counts in full until it is settled; one whose process died is never settled by it, and is written off at its full price
once no call can last so long. The file names namespaces and models, no words.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    func,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError

from .budget import Caps, Clock, OverBudget, Reservation, Spent, decimal
from .errors import Unavailable
from .instants import SECOND

_META: Final = MetaData()
CALLS: Final = Table(
    "calls", _META,
    Column("call_id", Integer, primary_key=True),
    Column("day", String(10), nullable=False),
    Column("namespace", String, nullable=False),
    Column("model", String, nullable=False),
    Column("began_at", BigInteger, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("outcome", String),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("milliseconds", BigInteger, nullable=False),
    Index("calls_by_day", "day", "namespace", "amount"),
    Index("calls_unsettled", "outcome", "began_at"),
)  # fmt: skip
"""`amount` in pico-units: what is put aside while `outcome` is null, what it cost after."""
REFUSALS: Final = Table(
    "refusals", _META,
    Column("day", String(10), primary_key=True),
    Column("namespace", String, primary_key=True),
    Column("model", String, primary_key=True),
    Column("cap", String, primary_key=True),
    Column("times", BigInteger, nullable=False),
)  # fmt: skip
"""Calls that were not made, and why."""

ABANDONED: Final = "abandoned"
LEASE: Final = 900 * SECOND
"""No call lasts so long: a reservation this old is one whose process died."""
_LOCK_WAIT_SECONDS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call as the ledger knows it. `outcome` None: it is under way. `amount` in pico-units."""

    day: str
    namespace: str
    model: str
    amount: int
    outcome: str | None
    tokens_in: int
    tokens_out: int
    milliseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    day: str
    namespace: str
    model: str
    cap: str
    times: int


def _now() -> int:
    return time.time_ns() // 1_000


class SqlAlchemyBudget:
    """Implements `budget.Budget`. `path` is made where it does not exist."""

    def __init__(self, path: Path, caps: Caps, *, clock: Clock = _now) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _LOCK_WAIT_SECONDS})
        event.listen(self._engine, "connect", _prepare)
        event.listen(self._engine, "begin", _begin)
        self._caps = caps
        self._clock = clock
        with self._transaction() as connection:
            _META.create_all(connection)

    def close(self) -> None:
        self._engine.dispose()

    def reserve(self, *, namespace: str, model: str, most: int | None) -> Reservation:
        now = self._clock()
        day = _day(now)
        with self._transaction() as connection:
            _write_off(connection, now)
            cap = self._passed(connection, day, namespace, most)
            if cap is None and most is not None:
                row = {
                    "day": day, "namespace": namespace, "model": model, "began_at": now, "amount": most,
                    "tokens_in": 0, "tokens_out": 0, "milliseconds": 0,
                }
                made = connection.execute(insert(CALLS).values(row)).inserted_primary_key
                assert made is not None
                return Reservation(call_id=made[0], most=most)
            _refuse(connection, {"day": day, "namespace": namespace, "model": model, "cap": cap})
        if cap == "price":
            raise OverBudget("no price is known for the model: set its prices, 0 where it is free", cap=cap)
        raise OverBudget(f"the {cap} cap of the day ({self._limit(cap)}) does not cover another call", cap=cap)

    def settle(self, reservation: Reservation, spent: Spent) -> int:
        cost = reservation.most if spent.cost is None else spent.cost
        settled = {
            "amount": cost, "outcome": spent.outcome, "tokens_in": spent.tokens_in, "tokens_out": spent.tokens_out,
            "milliseconds": spent.milliseconds,
        }
        with self._transaction() as connection:
            connection.execute(update(CALLS).where(CALLS.c.call_id == reservation.call_id).values(settled))
        return cost

    def spent(self, *, day: str, namespace: str | None = None) -> int:
        """What the calls of a day cost, and what is put aside for those under way, in pico-units."""
        with self._transaction() as connection:
            return _spent(connection, day, namespace)

    def calls(self, *, since: date, namespace: str | None = None) -> list[Call]:
        """Calls that began on that day or later, oldest first. Those of dead processes are written off first."""
        c = CALLS.c
        wanted = select(
            c.day, c.namespace, c.model, c.amount, c.outcome, c.tokens_in, c.tokens_out, c.milliseconds
        ).where(c.day >= since.isoformat(), *_within(CALLS, namespace))
        with self._transaction() as connection:
            _write_off(connection, self._clock())
            return [Call(**row._mapping) for row in connection.execute(wanted.order_by(c.call_id))]

    def refusals(self, *, since: date, namespace: str | None = None) -> list[Refusal]:
        wanted = select(REFUSALS).where(REFUSALS.c.day >= since.isoformat(), *_within(REFUSALS, namespace))
        with self._transaction() as connection:
            return [Refusal(**row._mapping) for row in connection.execute(wanted)]

    def _passed(self, connection: Connection, day: str, namespace: str, most: int | None) -> str | None:
        """The cap that a call would pass."""
        if most is None:
            return "price"
        caps = self._caps
        if caps.daily is not None and _spent(connection, day, None) + most > caps.daily:
            return "daily"
        if caps.per_namespace is not None and _spent(connection, day, namespace) + most > caps.per_namespace:
            return "namespace"
        return None

    def _limit(self, cap: str | None) -> str:
        limit = self._caps.per_namespace if cap == "namespace" else self._caps.daily
        return decimal(limit or 0)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except DBAPIError as e:
            raise Unavailable(f"the ledger of model calls cannot be used ({type(e.orig).__name__})") from None


def _spent(connection: Connection, day: str, namespace: str | None) -> int:
    wanted = select(func.sum(CALLS.c.amount)).where(CALLS.c.day == day, *_within(CALLS, namespace))
    return int(connection.execute(wanted).scalar() or 0)


def _write_off(connection: Connection, now: int) -> None:
    dead = (CALLS.c.outcome.is_(None), CALLS.c.began_at < now - LEASE)
    connection.execute(update(CALLS).where(*dead).values(outcome=ABANDONED))


def _refuse(connection: Connection, row: dict[str, Any]) -> None:
    again = insert(REFUSALS).values(**row, times=1)
    keys: Sequence[str] = ("day", "namespace", "model", "cap")
    connection.execute(again.on_conflict_do_update(index_elements=keys, set_={"times": REFUSALS.c.times + 1}))


def _within(table: Table, namespace: str | None) -> tuple[Any, ...]:
    return () if namespace is None else (table.c.namespace == namespace,)


def _day(instant: int) -> str:
    return datetime.fromtimestamp(instant / SECOND, UTC).date().isoformat()


def _prepare(connection: Any, _: Any) -> None:
    """A reservation must outlive a power cut: it is on the disk before its call is made."""
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
