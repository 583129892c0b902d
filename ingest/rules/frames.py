"""Frames: the data rows that say which words state which claim, and the index that finds them quickly.

A row of the tables (`*_zh.toml`, `*_en.toml`) has triggers (words that must stand in the clause) and a pattern:
`right` for what follows the trigger, or `whole` for the clause with a group `s` for what stands before. What stands
before must be read without rest as subject and adverbs, else the row claims nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final, Literal

from ..claims import Modality
from ..errors import ConfigurationError

Course = Literal["state", "change", "noted", "acquired", "always", "happening", "plan", "habit"]
"""How a claim meets time words: a state may be bounded by them, a change begins with them, what is acquired too (and its
day is when it came), `always` ignores them. What is noted of a day holds from then, of a longer time that is over: then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emit:
    """One claim of a row. Texts are templates over the pattern's groups: `{o}`, `{o.kind}`, `{vp}` (trigger to end).

    `each`: an enumeration in the value, or in one qualifier, is one claim an item.
    `past`: the predicate by which it is told that it used to be so; empty: where the words say that it is over, it is
    denied from now on, and no more. None: of the past nothing is claimed. `modality`: where it is not the row's.
    """

    predicate: str
    value: str = "{o}"
    subject: str | None = None
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    each: bool = False
    negated: bool | None = None
    when: str | None = None
    past: str | None = None
    succeeds: bool = False
    modality: Modality | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One row. `subjects` says who may stand before it (`attribution`): self, person, other (a person that is not the speaker's kin), thing, …

    `flip`: the words are themselves negative. `explicit`: the subject must stand in the clause. `timed`: only with time
    words of that sense (`future`; `scope`: a time with an end that is not over). `verbatim`: time words are part of the value. `holds`: only since and until are time words here, a season
    or a part of the day belongs to the value. `affirm`: a negated form claims nothing.
    `done`: only where the words say that it has come about. `late`: tried after all rows that are not.
    `ahead`: the words say that their date is still to come. `denied`: only where it is negated. `wish`: it is read out of requests. `again`: what the words
    leave out is what was last said of that predicate (`{that}`). `past`: the row's own words say that it is over.
    `brings_up`: a later clause that leaves out its subject may be about whom it brings up, and is nobody's for certain.
    """

    rule: str
    triggers: tuple[str, ...]
    emit: tuple[Emit, ...]
    right: re.Pattern[str] | None = None
    whole: re.Pattern[str] | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    subjects: str = "person"
    course: Course = "state"
    modality: Modality = "fact"
    flip: bool = False
    explicit: bool = False
    affirm: bool = False
    verbatim: bool = False
    holds: bool = False
    timed: str | None = None
    done: bool = False
    transfer: bool = False
    late: bool = False
    ahead: bool = False
    wish: bool = False
    again: str | None = None
    denied: bool = False
    past: bool = False
    brings_up: bool = False
    confidence: float = 0.9


_WORD: Final = re.compile(r"(?<![\w-])[^\W_]+|'[^\W_]+")
"""What a trigger of whole words begins with: a word, or what an apostrophe ties to one."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The frames of one trigger, in order: those tried at once, those tried late, and those that read requests."""

    prompt: tuple[Frame, ...]
    late: tuple[Frame, ...]
    wishes: tuple[Frame, ...]

    @classmethod
    def of(cls, frames: Sequence[Frame]) -> Rows:
        return cls(
            tuple(f for f in frames if not f.late), tuple(f for f in frames if f.late), tuple(f for f in frames if f.wish)
        )


Found = tuple[int, int, Rows]
"""Where a trigger stands, and its rows."""


class FrameIndex:
    """Frames by trigger. `found` yields (start, end, rows) in order of place, longer triggers first."""

    def __init__(self, frames: Sequence[Frame], *, not_after: Mapping[str, str], not_before: Mapping[str, str]) -> None:
        """`not_after`, `not_before`: characters beside which a trigger is part of another word."""
        self._not_after = dict(not_after)
        self._not_before = dict(not_before)
        by_trigger: dict[str, list[Frame]] = {}
        for frame in frames:
            for trigger in frame.triggers:
                by_trigger.setdefault(trigger, []).append(frame)
        self._by_pair: dict[str, list[tuple[str, Rows]]] = {}
        self._by_one: dict[str, list[tuple[str, Rows]]] = {}
        self._by_word: dict[str, list[tuple[str, Rows]]] = {}
        for trigger, frames_of in sorted(by_trigger.items(), key=lambda item: -len(item[0])):
            rows = Rows.of(frames_of)
            index, key = (self._by_pair, trigger[:2]) if len(trigger) > 1 else (self._by_one, trigger)
            index.setdefault(key, []).append((trigger, rows))
            word = _WORD.match(trigger)
            if word is not None:
                self._by_word.setdefault(word[0], []).append((trigger, rows))

    def found(self, text: str, *, words: bool) -> Iterator[Found]:
        """`text` is lower case. With `words`, a trigger must be bounded by non-letters."""
        return self._words_found(text) if words else self._found(text)

    def _words_found(self, text: str) -> Iterator[Found]:
        index = self._by_word
        for word in _WORD.finditer(text):
            called = index.get(word[0])
            if called is None:
                continue
            start = word.start()
            for trigger, rows in called:
                if text.startswith(trigger, start):
                    end = start + len(trigger)
                    after = text[end : end + 2]
                    if not (after and trigger[-1].isalnum() and (after[0].isalnum() or after[0] in "_-" or after == "'t")):
                        yield start, end, rows

    def _found(self, text: str) -> Iterator[Found]:
        pairs, ones = self._by_pair, self._by_one
        for start in range(len(text)):
            called = pairs.get(text[start : start + 2])
            single = ones.get(text[start])
            if called is None and single is None:
                continue
            before = text[start - 1] if start else ""
            for trigger, rows in (*(called or ()), *(single or ())):
                if not text.startswith(trigger, start):
                    continue
                if before and before in self._not_after.get(trigger, ""):
                    continue
                end = start + len(trigger)
                if end == len(text) or text[end] not in self._not_before.get(trigger, ""):
                    yield start, end, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """One language's data: frames, word lists (`lists`), word-to-word maps (`maps`)."""

    frames: FrameIndex
    lists: Mapping[str, tuple[str, ...]]
    maps: Mapping[str, Mapping[str, str]]


_MACRO: Final = re.compile(r"<<(\w+)>>")


def load_tables(*names: str) -> Tables:
    """Raises ConfigurationError that names the row."""
    lists: dict[str, tuple[str, ...]] = {}
    maps: dict[str, Mapping[str, str]] = {}
    macros: dict[str, str] = {}
    rows: list[Mapping[str, Any]] = []
    for name in names:
        data = tomllib.loads(files(__package__).joinpath(name).read_text("utf-8"))
        lists.update({k: tuple(v.split() if isinstance(v, str) else v) for k, v in data.get("lists", {}).items()})
        maps.update(data.get("maps", {}))
        macros.update(data.get("macros", {}))
        rows += data.get("frame", [])
    for key, words in (*lists.items(), *maps.items()):
        macros.setdefault(key, "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")")
    frames = [_frame(row, lists, maps, macros) for row in rows]
    return Tables(frames=FrameIndex(frames, not_after=maps.get("not_after", {}), not_before=maps.get("not_before", {})), lists=lists, maps=maps)


def _frame(row: Mapping[str, Any], lists: Mapping[str, Sequence[str]], maps: Mapping[str, Mapping[str, str]], macros: Mapping[str, str]) -> Frame:
    given = dict(row)
    try:
        triggers: list[str] = []
        for trigger in given.pop("triggers"):
            triggers += _expanded(trigger, lists, maps)
        patterns: dict[str, re.Pattern[str] | None] = {}
        for side in ("right", "whole"):
            source = given.pop(side, None)
            patterns[side] = None if source is None else re.compile(_with_macros(source, macros), re.I)
        emits = tuple(
            Emit(**e | {"when": _with_macros(e["when"], macros)} if "when" in e else e) for e in given.pop("emit")
        )
        return Frame(triggers=tuple(triggers), emit=emits, right=patterns["right"], whole=patterns["whole"], **given)
    except (KeyError, TypeError, re.error) as e:
        raise ConfigurationError(f"rules: row {row.get('rule')!r}: {e}") from e


def _with_macros(source: str, macros: Mapping[str, str]) -> str:
    while (found := _MACRO.search(source)) is not None:
        source = source[: found.start()] + macros[found[1]] + source[found.end() :]
    return source


def _expanded(trigger: str, lists: Mapping[str, Sequence[str]], maps: Mapping[str, Mapping[str, str]]) -> list[str]:
    """`@name` stands for every word of that list or every key of that map, anywhere in the trigger."""
    found = re.search(r"@(\w+)", trigger)
    if found is None:
        return [trigger]
    words = lists[found[1]] if found[1] in lists else list(maps[found[1]])
    return [trigger[: found.start()] + word + trigger[found.end() :] for word in words]
