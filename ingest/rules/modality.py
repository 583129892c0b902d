"""What is not stated, and what is stated against what was believed: questions, conditions, guesses, wishes, requests, other people's words. Data in `modality.toml`.

`unsaid` judges a sentence, clause by clause; a clause it names states nothing, whatever it says.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from .clauses import Sentence

_DATA: Final[dict[str, Any]] = tomllib.loads(files(__package__).joinpath("modality.toml").read_text("utf-8"))


_CASED: Final = re.compile(r"(?<!\\)[A-Z]")


def _alternatives(patterns: Sequence[str]) -> str:
    """One pattern of many; where they begin alike (at a word's edge) that is tried once for all."""
    edge = [p.removeprefix("\\b") for p in patterns if p.startswith("\\b")]
    rest = [p for p in patterns if not p.startswith("\\b")]
    return "|".join(([rf"\b(?:{'|'.join(f'(?:{p})' for p in edge)})"] if edge else []) + [f"(?:{p})" for p in rest])


class _Cues:
    """Patterns of one section. Those that know no capitals are held against the text in small letters, since matching
    that ignores case is slow, and those that stand at the beginning are tried there alone."""

    def __init__(self, patterns: Sequence[str]) -> None:
        cased = [p for p in patterns if _CASED.search(p) is not None]
        small = [p for p in patterns if p not in cased]
        head = [p for p in small if p.startswith("^")]
        tail = [p for p in small if not p.startswith("^")]
        self._head: Final = re.compile(_alternatives(head)) if head else None
        self._tail: Final = re.compile(_alternatives(tail)) if tail else None
        self._cased: Final = re.compile(_alternatives(cased), re.I) if cased else None
        self._whole: Final = re.compile(_alternatives(patterns), re.I)

    def search(self, text: str, low: str | None = None) -> bool:
        """`low`: the text in small letters, where it is at hand."""
        low = text.lower() if low is None else low
        return (
            self._head is not None and self._head.match(low) is not None
            or self._tail is not None and self._tail.search(low) is not None
            or self._cased is not None and self._cased.search(text) is not None
        )

    def match(self, text: str) -> bool:
        return self._whole.match(text) is not None

    def fullmatch(self, text: str) -> bool:
        return self._whole.fullmatch(text) is not None


_ZH: Final = {name: _Cues(patterns) for name, patterns in _DATA["zh"].items()}
_EN: Final = {name: _Cues(patterns) for name, patterns in _DATA["en"].items()}
_REASONS: Final = ("question", "hypothetical", "request")
_ANY_ZH, _ANY_EN = (
    _Cues([pattern for name in (*_REASONS, "reports") for pattern in _DATA[language][name]]) for language in ("zh", "en")
)
"""What most clauses have nothing of: looked for once, before each reason for itself."""


def corrects(sentence: Sentence) -> bool:
    """Whether the words say that something believed so far was not so ("actually")."""
    return (_ZH if sentence.chinese else _EN)["corrects"].search(sentence.text)


def is_required(text: str, *, chinese: bool) -> bool:
    """Whether the words say how something has to be, which is not how it is."""
    return (_ZH if chinese else _EN)["required"].search(text)


def unsaid(sentence: Sentence) -> list[str | None]:
    """For each clause the reason why it states nothing (`question`, `hypothetical`, `quoted`, `request`), else None."""
    rules, cues = (_ZH, _ANY_ZH) if sentence.chinese else (_EN, _ANY_EN)
    clauses = sentence.clauses
    if rules["whole_hypothetical"].search(sentence.text):
        return ["hypothetical"] * len(clauses)
    verdicts: list[str | None] = []
    rest: str | None = None
    for clause in clauses:
        low = clause.text.lower()
        if not cues.search(clause.text, low):
            verdicts.append(rest)
            continue
        verdict = rest or _clause_verdict(clause.text, low, rules)
        if rules["reports"].search(clause.text, low):
            rest = "quoted"
            verdict = verdict or ("quoted" if not rules["self_report"].search(clause.text, low) else None)
            if verdict is None:
                rest = None
        elif verdict in ("request", "question") and verdict != "question":
            rest = verdict
        verdicts.append(verdict)
    if sentence.asks:
        if len(clauses) == 1 or rules["tag"].fullmatch(clauses[-1].text) or rules["opens_question"].match(clauses[0].text):
            return ["question"] * len(clauses)
        verdicts[-1] = "question"
    elif len(clauses) > 1 and rules["tag"].fullmatch(clauses[-1].text):
        return ["question"] * len(clauses)
    return verdicts


def _clause_verdict(text: str, low: str, rules: Mapping[str, _Cues]) -> str | None:
    for reason in _REASONS:
        if rules[reason].search(text, low):
            return reason
    return None
