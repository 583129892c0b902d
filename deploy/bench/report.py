"""What a run found: as JSON, as tables, and beside a run that was saved. No text of a data set is in any of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson
from rich.table import Table

from taishi.ingest.errors import InvalidInput

from .bootstrap import Interval, auroc_interval, interval
from .measures import MEASURES, SEPARATIONS, Outcome, separated, values_of

VERSION: Final = 1
_BY_TYPE: Final = ("r@5", "r@10", "r@20", "mrr", "stale_first", "no_on_unanswerable", "no_on_answerable")


_HEADS: Final = {
    "questions": "of",
    "stale_first": "stale",
    "no_on_unanswerable": "no:un",
    "no_on_answerable": "no:ans",
    "tokens": "tok",
    "ms_p50": "p50",
    "ms_p95": "p95",
    "auroc": "auc",
    "auroc_strength": "auc:str",
}
"""Short heads, so that a row of all measures fits."""
WIDTH: Final = 118
"""What the widest table takes."""


@dataclass(frozen=True, slots=True)
class SetResult:
    """One set's outcomes; `degraded` counts answers without all channels, `failures` what could not be read; `seconds`
    is what feeding and asking took."""

    name: str
    outcomes: Sequence[Outcome]
    degraded: int
    failures: int
    seconds: float

    def measures(self) -> dict[str, Interval]:
        """Those that apply to the set."""
        found: dict[str, Interval | None] = {
            name: interval(list(values_of(measure, self.outcomes).values()), measure.reduction)
            for name, measure in MEASURES.items()
        }
        found |= {name: auroc_interval(*separated(of, self.outcomes)) for name, of in SEPARATIONS.items()}
        return {name: one for name, one in found.items() if one is not None}

    def types(self) -> dict[str, dict[str, float]]:
        """By type of question, plain values."""
        kinds = dict.fromkeys(outcome.type for outcome in self.outcomes)
        return {kind: _means([o for o in self.outcomes if o.type == kind]) for kind in kinds}


def _means(outcomes: Sequence[Outcome]) -> dict[str, float]:
    found: dict[str, float] = {"questions": len(outcomes)}
    for name in _BY_TYPE:
        if values := values_of(MEASURES[name], outcomes):
            found[name] = sum(values.values()) / len(values)
    return found


# JSON


def document(results: Sequence[SetResult], *, ablated: Sequence[str], with_questions: bool) -> dict[str, Any]:
    """`with_questions` adds every question's labels and answer, by ids: what `compared` needs."""
    sets: dict[str, Any] = {}
    for result in results:
        sets[result.name] = {
            "questions": len(result.outcomes),
            "degraded": result.degraded,
            "failures": result.failures,
            "seconds": round(result.seconds, 1),
            "measures": {name: asdict(one) for name, one in result.measures().items()},
            "types": result.types(),
        }
        if with_questions:
            sets[result.name]["outcomes"] = [_written(outcome) for outcome in result.outcomes]
    return {"version": VERSION, "ablated": sorted(ablated), "sets": sets}


def read_saved(path: Path) -> dict[str, list[Outcome]]:
    """Outcomes by set. Raises InvalidInput."""
    try:
        saved = orjson.loads(path.read_bytes())
        if saved["version"] != VERSION:
            raise InvalidInput(f"{path} was saved in another form")
        return {name: [_read(row) for row in one["outcomes"]] for name, one in saved["sets"].items()}
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise InvalidInput(f"{path} is no saved run: {e}") from None


def _written(outcome: Outcome) -> dict[str, Any]:
    row = asdict(outcome)
    return row | {
        "gold": sorted(outcome.gold),
        "stale": sorted(outcome.stale),
        "ranked": [sorted(those) for those in outcome.ranked],
    }


def _read(row: Mapping[str, Any]) -> Outcome:
    return Outcome(
        **{
            **row,
            "gold": frozenset(row["gold"]),
            "stale": frozenset(row["stale"]),
            "ranked": tuple(frozenset(those) for those in row["ranked"]),
        }
    )


# comparison


def compared(before: Sequence[Outcome], after: Sequence[Outcome]) -> dict[str, Interval]:
    """By measure, how much more it is now: means over the questions of both runs, drawn again in pairs."""
    found: dict[str, Interval] = {}
    for name, measure in MEASURES.items():
        if measure.reduction != "mean":
            continue
        old, new = values_of(measure, before), values_of(measure, after)
        change = interval([new[question] - old[question] for question in new if question in old])
        if change is not None:
            found[name] = change
    return found


# tables


def tables(results: Sequence[SetResult], saved: Mapping[str, Sequence[Outcome]]) -> Iterator[Table]:
    """One for each set, with intervals; its types; its change from `saved`; and one of all sets."""
    measured = {result.name: result.measures() for result in results}
    for result in results:
        yield _set_table(result, measured[result.name], saved.get(result.name))
        types = result.types()
        if len(types) > 1:
            yield _type_table(types)
    yield _total_table(results, measured)


def _set_table(result: SetResult, measures: Mapping[str, Interval], before: Sequence[Outcome] | None) -> Table:
    title = f"{result.name}: {len(result.outcomes)} questions, {result.seconds:.0f} s"
    if result.degraded:
        title += f", {result.degraded} ANSWERS DEGRADED"
    if result.failures:
        title += f", {result.failures} WINDOWS OR EVENTS NOT READ"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("measure", "value", "95%", "of"):
        table.add_column(column, justify="left" if column == "measure" else "right")
    changes = {} if before is None else compared(before, result.outcomes)
    if before is not None:
        table.add_column("change", justify="right")
    for name, one in measures.items():
        cells = [name, _number(one.value), f"{_number(one.low)} to {_number(one.high)}", str(one.n)]
        if before is not None:
            cells.append(_change(changes.get(name)))
        table.add_row(*cells)
    return table


def _type_table(types: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("type", no_wrap=True)
    for name in ("questions", *_BY_TYPE):
        table.add_column(_HEADS.get(name, name), justify="right", no_wrap=True)
    for kind, values in types.items():
        cells = (_number(values[name]) if name in values else "" for name in _BY_TYPE)
        table.add_row(kind, str(int(values["questions"])), *cells)
    return table


def _total_table(results: Sequence[SetResult], measured: Mapping[str, Mapping[str, Interval]]) -> Table:
    names = [*MEASURES, *SEPARATIONS]
    table = Table(title="all sets", title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("set", no_wrap=True)
    for name in ("questions", *names):
        table.add_column(_HEADS.get(name, name), justify="right", no_wrap=True)
    for result in results:
        found = measured[result.name]
        cells = (_number(found[name].value) if name in found else "" for name in names)
        table.add_row(result.name, str(len(result.outcomes)), *cells)
    return table


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) <= 1.5 else f"{value:.1f}"


def _change(change: Interval | None) -> str:
    if change is None:
        return ""
    sure = "" if change.low <= 0 <= change.high else " *"
    return f"{change.value:+.3f} ({change.low:+.3f} to {change.high:+.3f}){sure}"
