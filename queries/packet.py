"""The context packet: what a caller pastes before its own model's prompt, within a budget of tokens.

One line a memory: a mark of time, the words, a mark of evidence. What holds comes first, then what no longer does. The
order and the cut are functions of the items alone. A long memory is cut at sentence bounds around the question's words.
Something is always in it while one sentence fits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from taishi.ingest.instants import render

LONGEST: Final = 600
"""Characters of one memory in the packet."""
SHORTEST: Final = 24
"""Characters below which a cut memory says nothing: it is left out instead."""

_SENTENCE: Final = re.compile(r"[^。！？!?\n；;]*[。！？!?\n；;]+|[^。！？!?\n；;]+$")
_ENGLISH: Final = re.compile(r"(?<=[.!?])\s+")
_WIDE: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\U0001f000-\U0003ffff]")
_WORD: Final = re.compile(r"[^\W_]+|[^\s\w]|_")


class TokenCounter(Protocol):
    def __call__(self, text: str) -> int: ...


def estimated_tokens(text: str) -> int:
    """A bound for common tokenizers: one token for a wide character, one per four letters of a word, one for a mark."""
    if text.isascii():
        return sum(math.ceil(len(word) / 4) for word in _WORD.findall(text))
    wide = len(_WIDE.findall(text))
    return wide + sum(math.ceil(len(word) / 4) for word in _WORD.findall(_WIDE.sub(" ", text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One memory for the packet. Interval in instants; `marks` are short evidence references such as `p0:17`."""

    text: str
    status: str
    holds: bool
    valid_from: int
    valid_to: int
    said_at: int | None = None
    marks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Packet:
    text: str
    tokens: int
    truncated: bool


def pack(
    lines: Sequence[Line], *, budget: int, words: Sequence[str] = (), count: TokenCounter = estimated_tokens
) -> Packet:
    """At most `budget` tokens. `words` are the question's, to cut around. `lines` come in rank order."""
    ordered = [line for line in lines if line.holds] + [line for line in lines if not line.holds]
    kept: list[str] = []
    used, truncated = 0, False
    for line in ordered:
        head, tail = _time(line), _evidence(line)
        marks = count(head + tail) + (1 if kept else 0)
        room = budget - used - marks
        if room <= 0:
            truncated = True
            break
        body = excerpt(line.text, words, LONGEST)
        truncated = truncated or len(body) < len(line.text.strip())
        cost = count(body)
        if cost > room:
            truncated = True
            body = _fit(line.text, words, room, count)
            if not body:
                continue
            cost = count(body)
        used += marks + cost
        kept.append(f"{head}{body}{tail}")
    return Packet("\n".join(kept), used, truncated)


def _fit(text: str, words: Sequence[str], room: int, count: TokenCounter) -> str:
    """The longest excerpt that fits, or nothing."""
    size = min(len(text), LONGEST, max(room, 0) * 4)
    while size >= min(SHORTEST, len(text)):
        body = excerpt(text, words, size)
        if body and count(body) <= room:
            return body
        size = size * 3 // 4
    return ""


def excerpt(text: str, words: Sequence[str], size: int) -> str:
    """At most `size` characters of `text`: whole sentences around the one that speaks of most of `words`, with `…`
    where something is left out."""
    text = text.strip()
    if len(text) <= size:
        return text
    sentences = _sentences(text)
    folded = [sentence.casefold() for sentence in sentences]
    weight = [sum(word in sentence for word in words) for sentence in folded]
    best = max(range(len(sentences)), key=lambda i: (weight[i], -i))
    first = last = best
    length = len(sentences[best])
    while True:
        after = last + 1 < len(sentences) and length + len(sentences[last + 1]) <= size - 2
        before = first > 0 and length + len(sentences[first - 1]) <= size - 2
        if after:
            last += 1
            length += len(sentences[last])
        elif before:
            first -= 1
            length += len(sentences[first])
        else:
            break
    body = "".join(sentences[first : last + 1]).strip()
    if len(body) > size - 2:
        body = _around(body, words, size - 2)
    return ("…" if first else "") + body + ("…" if last + 1 < len(sentences) else "")


def _sentences(text: str) -> list[str]:
    pieces: list[str] = []
    for match in _SENTENCE.finditer(text):
        parts = _ENGLISH.split(match[0])
        pieces += [part + " " for part in parts[:-1]] + [parts[-1]]
    return [piece for piece in pieces if piece]


def _around(sentence: str, words: Sequence[str], size: int) -> str:
    """A stretch of one sentence that is longer than `size`, around the first of `words`."""
    folded = sentence.casefold()
    at = min((folded.find(word) for word in words if word in folded), default=0)
    begin = min(max(at - size // 3, 0), max(len(sentence) - size, 0))
    return sentence[begin : begin + size].strip()


def _time(line: Line) -> str:
    since, until = _day(line.valid_from), _day(line.valid_to)
    if since and until:
        span = f"{since} → {until}"
    elif since:
        span = f"since {since}"
    elif until:
        span = f"until {until}"
    else:
        span = _day(line.said_at) or ""
    mark = "; ".join(part for part in ("" if line.status == "current" else line.status, span) if part)
    return f"- [{mark}] " if mark else "- "


def _day(instant: int | None) -> str | None:
    shown = render(instant)
    return None if shown is None else shown[:10]


def _evidence(line: Line) -> str:
    return f" ({', '.join(line.marks[:3])})" if line.marks else ""
