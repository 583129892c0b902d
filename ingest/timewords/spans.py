"""What the time grammar hands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..claims import Grain

Kind = Literal["when", "since", "until", "during", "before", "after", "vague", "frequency"]
Tense = Literal["past", "future"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpan:
    """Words `text[start:end]` that name the half-open interval [begins, ends) of instants.

    An open side is `BEGINNING` or `FOREVER`. `kind` says how the interval is meant: `when` something happens in it;
    `since` it holds from `begins` on; `until` up to `ends` (a deadline too); `during` it holds in this bounded
    period; `before`/`after` it lies on that side; `vague` the bounds are a guess; `frequency` it comes again and again.
    `confidence` is 0..1 and ordinal: compare it, do not multiply it.
    """

    start: int
    end: int
    begins: int
    ends: int
    grain: Grain
    kind: Kind
    confidence: float
