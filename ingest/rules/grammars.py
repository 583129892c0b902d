"""The two grammars as the reader takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from . import en, zh
from .frames import Tables
from .reading import Grammar
from .subjects import Left, Part, Subject, Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grammar:
    words: bool
    drops_subject: bool
    tables: Tables
    cleaners: Mapping[str, Callable[[str], Part | None]]
    read_left: Callable[[str, Voice], Left | None]
    without_pronoun: Callable[[str], str | None]
    mentioned: Callable[[str, Voice], Subject | None]
    leading_subject: Callable[[str, Voice], Subject | None | bool]
    tail_off: Callable[[str], tuple[str, bool, bool]]
    split_list: Callable[[str], list[str]]
    done: Callable[[str, str], bool]
    agrees: Callable[[str, Left, Subject, bool], bool]
    hands_on: Callable[[str], bool]


def _of(module: object, *, words: bool, drops_subject: bool) -> Grammar:
    names = ("read_left", "without_pronoun", "leading_subject", "mentioned", "tail_off", "split_list", "done", "agrees", "hands_on")
    given = {name: getattr(module, name) for name in names}
    return _Grammar(words=words, drops_subject=drops_subject, tables=getattr(module, "TABLES"), cleaners=getattr(module, "CLEANERS"), **given)  # type: ignore[return-value]


CHINESE: Final = _of(zh, words=False, drops_subject=True)
ENGLISH: Final = _of(en, words=True, drops_subject=False)
