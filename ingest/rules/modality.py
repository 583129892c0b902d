"""What is not stated, and what is stated against what was believed: questions, conditions, guesses, wishes, requests, other people's words. Data in `modality.toml`.

`unsaid` judges a sentence, clause by clause; a clause it names states nothing, whatever it says.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any, Final

from .clauses import Sentence

_DATA: Final[dict[str, Any]] = tomllib.loads(files(__package__).joinpath("modality.toml").read_text("utf-8"))


def _compiled(section: str) -> dict[str, re.Pattern[str]]:
    return {name: re.compile("|".join(f"(?:{p})" for p in patterns), re.I) for name, patterns in _DATA[section].items()}


_ZH: Final = _compiled("zh")
_EN: Final = _compiled("en")


def corrects(sentence: Sentence) -> bool:
    """Whether the words say that something believed so far was not so ("actually")."""
    return (_ZH if sentence.chinese else _EN)["corrects"].search(sentence.text) is not None


def unsaid(sentence: Sentence) -> list[str | None]:
    """For each clause the reason why it states nothing (`question`, `hypothetical`, `quoted`, `request`), else None."""
    rules = _ZH if sentence.chinese else _EN
    clauses = sentence.clauses
    if rules["whole_hypothetical"].search(sentence.text):
        return ["hypothetical"] * len(clauses)
    verdicts: list[str | None] = []
    rest: str | None = None
    for clause in clauses:
        verdict = rest or _clause_verdict(clause.text, rules)
        if rules["reports"].search(clause.text):
            rest = "quoted"
            verdict = verdict or ("quoted" if not rules["self_report"].search(clause.text) else None)
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


def _clause_verdict(text: str, rules: dict[str, re.Pattern[str]]) -> str | None:
    for reason in ("question", "hypothetical", "request"):
        if rules[reason].search(text):
            return reason
    return None
