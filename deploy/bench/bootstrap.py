"""Bootstrap 95% intervals: questions are drawn again with replacement, by a seed, so that a run gives the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .measures import Reduction, auroc

RESAMPLES: Final = 1_000
AUROC_RESAMPLES: Final = 300
SEED: Final = 8_460
_CHUNK: Final = 2_000_000
_OUTER: Final = (2.5, 97.5)
_Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """`value` is of the questions themselves, `low` and `high` hold 95% of the resamples; `n` questions."""

    value: float
    low: float
    high: float
    n: int


def interval(values: Sequence[float], reduction: Reduction = "mean") -> Interval | None:
    """None of no values."""
    if not values:
        return None
    given = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(SEED)
    size = max(_CHUNK // len(given), 1)
    drawn = [
        _reduced(given[random.integers(0, len(given), (min(size, RESAMPLES - done), len(given)))], reduction)
        for done in range(0, RESAMPLES, size)
    ]
    low, high = np.percentile(np.concatenate(drawn), _OUTER)
    return Interval(float(_reduced(given[None, :], reduction)[0]), float(low), float(high), len(given))


def auroc_interval(positives: Sequence[float], negatives: Sequence[float]) -> Interval | None:
    """None where there are none of either. Both sides are drawn again, each by itself."""
    value = auroc(positives, negatives)
    if value is None:
        return None
    random = np.random.default_rng(SEED)
    above, below = np.asarray(positives), np.asarray(negatives)
    drawn = [
        auroc(random.choice(above, len(above)).tolist(), random.choice(below, len(below)).tolist())
        for _ in range(AUROC_RESAMPLES)
    ]
    low, high = np.percentile([one for one in drawn if one is not None], _OUTER)
    return Interval(value, float(low), float(high), len(positives) + len(negatives))


def _reduced(rows: _Numbers, reduction: Reduction) -> _Numbers:
    """One value for each row."""
    if reduction == "mean":
        return np.asarray(rows.mean(axis=1), dtype=np.float64)
    return np.asarray(np.percentile(rows, 50 if reduction == "p50" else 95, axis=1), dtype=np.float64)
