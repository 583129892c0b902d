"""Passages: words that are no question put to the memory, such as a dialogue that calls something up.

Nothing in them asks for a slot, a subject or a time. A memory that one turn of a dialogue calls up may be far from the
whole, which speaks of much; so each turn is looked for by itself besides.
"""

from __future__ import annotations

import re
from typing import Final

PASSAGE: Final = 60
"""Words (two Han characters count as one) from which on a query is no question but a passage."""
TURNS: Final = 3
"""Labelled turns, one of the speakers twice among them, that make a dialogue of a shorter text, too."""
PARTS: Final = 8
"""The last so many turns are looked for by themselves."""
END: Final = 2
"""Turns at its end that are looked for together: what is being spoken of now."""
SHORTEST: Final = 4
"""Words of such a turn: `Yes, please` calls nothing up."""

_LINE: Final = re.compile(r"[^\n]*\S[^\n]*")
_TURN: Final = re.compile(r"^\s*[<\[【(（]?(?P<who>[^\W\d][^\n:：<>\[\]【】()（）]{0,30})[>\]】)）]?\s*[:：]+")
_MACHINE: Final = re.compile(r"(?i:assistant|ai|(?:chat)?bot|system|model|tool|助手|助理|机器人|系统|模型)")
_LATIN_WORD: Final = re.compile(r"[a-z0-9][a-z0-9'’-]*", re.IGNORECASE)
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")


def length(words: str) -> float:
    """Words; two Han characters count as one."""
    return len(_LATIN_WORD.findall(words)) + len(_HAN.findall(words)) / 2


def is_passage(text: str) -> bool:
    return length(text) >= PASSAGE or is_dialogue(text)


def is_dialogue(text: str) -> bool:
    return bool(_dialogue(text))


def parts_of(text: str) -> tuple[str, ...]:
    """What is looked for by itself: the turns of a dialogue that people say (an assistant repeats what it was told),
    and last its end. Empty where it is none."""
    said = [(who, words.strip(" \t\"“”")) for who, words in _dialogue(text)]
    turns = [words for who, words in said if length(words) >= SHORTEST and not _MACHINE.fullmatch(who)]
    return (*turns[-PARTS:], " ".join(words for _, words in said[-END:])) if said else ()


def _dialogue(text: str) -> list[tuple[str, str]]:
    """(who, what) of the turns, a line each; a line without a label goes on with what was said."""
    turns: list[tuple[str, str]] = []
    for line in _LINE.findall(text):
        labelled = _TURN.match(line)
        if labelled is not None:
            turns.append((labelled["who"].strip().lower(), line[labelled.end() :]))
        elif turns:
            who, said = turns[-1]
            turns[-1] = (who, f"{said} {line}")
    speakers = {who for who, _ in turns}
    return turns if len(turns) >= TURNS and 1 < len(speakers) < len(turns) else []
