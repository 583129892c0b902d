"""What the ledger of model calls comes to: sums and latencies by day, namespace and model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .budget import decimal
from .sqlalchemy_budget import Call, Refusal


@dataclass(slots=True, kw_only=True)
class Spending:
    """`failures` counts calls that brought no usable answer, by code; `refused` those that were not made, by cap.

    `under_way` are calls not settled yet; what is put aside for them counts as cost, in pico-units.
    """

    calls: int = 0
    under_way: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    milliseconds: list[int] = field(default_factory=list)

    def add(self, call: Call) -> None:
        self.calls += 1
        self.tokens_in += call.tokens_in
        self.tokens_out += call.tokens_out
        self.cost += call.amount
        if call.outcome is None:
            self.under_way += 1
        else:
            self.milliseconds.append(call.milliseconds)
            if call.outcome != "ok":
                self.failures[call.outcome] += 1

    def to_json(self) -> dict[str, Any]:
        """`cost` is exact decimal text; latencies in milliseconds, None where no call has ended."""
        shown = {**asdict(self), "cost": decimal(self.cost)}
        del shown["milliseconds"]
        ordered = sorted(self.milliseconds)
        latency = {f"p{q}": percentile(ordered, q) for q in (50, 95, 99)}
        return {
            **shown, "failures": dict(self.failures), "refused": dict(self.refused), "failed": self.failures.total(),
            "latency_ms": latency,
        }


def percentile(ordered: Sequence[int], q: int) -> int | None:
    """The nearest-rank percentile of ascending numbers."""
    return ordered[max(0, -(-q * len(ordered) // 100) - 1)] if ordered else None


def spending(calls: Sequence[Call], refusals: Sequence[Refusal]) -> dict[tuple[str, str, str], Spending]:
    """By (day, namespace, model), in that order."""
    found: dict[tuple[str, str, str], Spending] = {}
    for call in calls:
        found.setdefault((call.day, call.namespace, call.model), Spending()).add(call)
    for refusal in refusals:
        row = found.setdefault((refusal.day, refusal.namespace, refusal.model), Spending())
        row.refused[refusal.cap] += refusal.times
    return dict(sorted(found.items()))


def total(calls: Sequence[Call], refusals: Sequence[Refusal]) -> Spending:
    whole = Spending()
    for call in calls:
        whole.add(call)
    for refusal in refusals:
        whole.refused[refusal.cap] += refusal.times
    return whole
