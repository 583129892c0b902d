"""The time grammar: which words of a text name a time, and which interval each means.

A pure function of the words, the time of speech and the tense; Chinese and English; no clock, no network. Relative dates
are read in the zone of `said_at`, at their own grain (DESIGN §3).

How it hangs together: `written` (one form, same length) → `grammar` (patterns of the `zh*`, `en*` and `numeric` modules;
longest match wins) → `glue` and `affixes` (date + clock, ranges, since/until) → instants. Words are data in `lexicon` and
`holidays`; a new word is a row there, a new form a `pattern` with its reader.

Where people differ, it reads: weeks from Monday; 下周五 and "next Friday" in the next calendar week, "last Friday" the
latest one before today; winter of the year its December lies in; "until" a day to its end, "until" a month or year to its
beginning, 月底前 to the month's end; 1 to 6 o'clock without a part of the day in the afternoon; a month without a year by
tense, else the latest begun; a day without a year by tense, else a coming one within 60 days, else the latest begun;
"since … until now" (至今) ends at the moment of speech, plain "since" is open.

It does not read: times that hang on an event (毕业后, after the wedding) or on another text (当天, the next day), ages,
bare seasons in Chinese, bare month names in English without a preposition, day or year ("June called").
"""

from __future__ import annotations

from .reader import read_times
from .spans import Tense, TimeSpan
from .tense import tense_of

__all__ = ["Tense", "TimeSpan", "read_times", "tense_of"]
