"""The two grammars as the reader takes them."""

from __future__ import annotations

import re
from typing import Final

from . import en, en_acts, en_everyday, en_values, zh, zh_acts, zh_everyday, zh_names, zh_values, zh_work
from .grammar import Grammar

_ZH_ALONE: Final = re.compile(rf"(?:[\s,，、：:]|{zh.any_of('discourse')}|(?:历史|存档|旧|事实|变更)?(?:记录|档案|日志|回顾|补记|补录)(?=[：:])|在|于|到|截至|截止|时|从|自|大约|大概)*")
_ZH_ONCE: Final = re.compile(
    rf"(?:{zh.any_of('discourse')}|我)?(?:{zh.any_of('past')}|那时候?|那会儿|当时|早些年|前些年|(?:年轻|小|上学|读书|单身|刚毕业|大学|高中|初中|小学)(?:的)?时候?|很久以前|好多年前)(?:啊|呢|嘛)?"
)
_ZH_SINCE: Final = re.compile(r"现在|如今|目前|后来|今年|眼下|不再|已经|再后来|这两年|最近")
_EN_ALONE: Final = re.compile(rf"(?:[\s,:]|\b(?:{en.any_of('discourse')}|(?:historical )?(?:record|backfill|backfilled|history|log|entry|fact|changelog)(?=\s*:)|in|on|at|as of|of|by|back|around|about|early|late|the|since|from|during|starting|just)\b)*", re.I)
_EN_LEAD_IN: Final = re.compile(
    r"(?:(?:and|but|so|well|also|oh|hey|hi|hello|ok|okay|yes|yeah|yep|no|nope|actually|anyway|btw|by the way|fyi|i meant to say(?: that)?|i meant|sorry|just so you know|"
    r"for the record|note that|remember(?: that)?|please (?:note|remember)(?: that)?|as i said|like i said),? )+", re.I)

CHINESE: Final = Grammar(
    words=False, drops_subject=True, alone=_ZH_ALONE, lead_in=None, once=_ZH_ONCE, since=_ZH_SINCE,
    tables=zh.TABLES, cleaners={
        **zh_values.CLEANERS, **zh_work.CLEANERS, **zh_names.CLEANERS, **zh_acts.CLEANERS, **zh_everyday.CLEANERS,
    }, read_left=zh.read_left,
    without_pronoun=zh.without_pronoun, mentioned=zh.mentioned, leading_subject=zh.leading_subject,
    tail_off=zh_values.tail_off, split_list=zh_values.split_list, done=zh.done, agrees=zh.agrees, hands_on=zh.hands_on,
)
ENGLISH: Final = Grammar(
    words=True, drops_subject=False, alone=_EN_ALONE, lead_in=_EN_LEAD_IN, once=None, since=None,
    tables=en.TABLES, cleaners={**en_values.CLEANERS, **en_acts.CLEANERS, **en_everyday.CLEANERS}, read_left=en.read_left,
    without_pronoun=en.without_pronoun, mentioned=en.mentioned, leading_subject=en.leading_subject,
    tail_off=en_values.tail_off, split_list=en_values.split_list, done=en.done, agrees=en.agrees, hands_on=en.hands_on,
)
