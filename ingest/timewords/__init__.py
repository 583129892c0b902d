"""The time grammar: which words of a text name a time, and which interval each means.

A pure function of the words, the time of speech and the tense; Chinese and English; no clock, no network. Relative dates
are read in the offset of `said_at`, at their own grain (DESIGN §3).

How it hangs together: `written` (one form, same length) → `grammar.found` (patterns of `zh`, `zh_clock`, `en`, `numeric`;
longest match wins) → `glue.joined` (date + clock, ranges, since/until) → instants. Words are data in `lexicon` and `holidays`.
"""

from __future__ import annotations

from .reader import read_times
from .spans import Tense, TimeSpan
from .tense import tense_of

__all__ = ["Tense", "TimeSpan", "read_times", "tense_of"]
