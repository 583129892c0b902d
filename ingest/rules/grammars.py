"""The two grammars as the reader takes them."""

from __future__ import annotations

from typing import Final

from . import en, en_acts, en_everyday, en_values, zh, zh_acts, zh_everyday, zh_values
from .grammar import Grammar

CHINESE: Final = Grammar(
    words=False, drops_subject=True, tables=zh.TABLES, cleaners={**zh_values.CLEANERS, **zh_acts.CLEANERS, **zh_everyday.CLEANERS}, read_left=zh.read_left,
    without_pronoun=zh.without_pronoun, mentioned=zh.mentioned, leading_subject=zh.leading_subject,
    tail_off=zh_values.tail_off, split_list=zh_values.split_list, done=zh.done, agrees=zh.agrees, hands_on=zh.hands_on,
)
ENGLISH: Final = Grammar(
    words=True, drops_subject=False, tables=en.TABLES, cleaners={**en_values.CLEANERS, **en_acts.CLEANERS, **en_everyday.CLEANERS}, read_left=en.read_left,
    without_pronoun=en.without_pronoun, mentioned=en.mentioned, leading_subject=en.leading_subject,
    tail_off=en_values.tail_off, split_list=en_values.split_list, done=en.done, agrees=en.agrees, hands_on=en.hands_on,
)
