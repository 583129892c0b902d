"""The pre-look: is a window worth a model's call? Deterministic, from the words and what stood before them alone.

Worth it are words that are asked to be remembered, and sentences that ask nothing and speak of a preference, a change
of state, a happening, a person, an attribute or a thing not named before. A window goes as a whole: one such utterance
takes the others with it. What is passed over stays recallable as it was said.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

from .extractor import Utterance
from .rules.clauses import sentences

PRELOOK: Final = "prelook"
_LONG: Final = 2_000
"""So long a text is worth a call by itself."""
_NAME: Final = re.compile(r"(?<![.!?]\s)(?<!^)(?<![\w'])[A-Z][\w'’-]+|(?<=[\u4e00-\u9fff])[A-Za-z][\w.+-]+")
_HAN: Final = r"\u3400-\u9fff"
_WORDS: Final = re.compile(rf"[{_HAN}]|[A-Za-z]+")
_FEWEST_WORDS: Final = 4
_TELLING: Final = 15
"""Words from which on a question tells something too ("... now that I have moved to ...")."""
_OWN: Final = frozenset({"I", "I'm", "I've", "I'll", "I'd", "OK", "Wow", "Hey", "Yeah", "Thanks", "Haha", "LOL"})


@lru_cache(maxsize=1)
def _signals() -> dict[str, re.Pattern[str]]:
    data = tomllib.loads(files(__package__).joinpath("prelook.toml").read_text("utf-8"))
    return {
        name: re.compile("|".join(f"(?:{p})" for p in patterns).replace(r"\p{Han}", _HAN), re.I)
        for name, patterns in data.items()
    }


def asks_to_remember(text: str) -> bool:
    return _signals()["remember"].search(text) is not None


def signals(utterance: Utterance, earlier: Sequence[Utterance] = ()) -> frozenset[str]:
    """All that speaks for a call: names of `prelook.toml`, `long`, or `name` for one not heard before."""
    text = utterance.text
    if asks_to_remember(text):
        return frozenset({"remember"})
    if len(text) > _LONG:
        return frozenset({"long"})
    stated = [s.text for s in sentences(text) if len(_WORDS.findall(s.text)) >= (_TELLING if s.asks else _FEWEST_WORDS)]
    found = {
        name
        for name, pattern in _signals().items()
        if name != "remember" and any(pattern.search(sentence) for sentence in stated)
    }
    heard = "\n".join([utterance.speaker, *(part for before in earlier for part in (before.speaker, before.text))])
    names = (name for sentence in stated for name in _NAME.findall(sentence))
    if any(name not in _OWN and name not in heard for name in names):
        found.add("name")
    return frozenset(found)


def worth(utterance: Utterance, earlier: Sequence[Utterance] = (), *, least: int = 1) -> bool:
    """Do at least so many signals speak for a call? Being asked to remember is enough by itself, and so is length."""
    found = signals(utterance, earlier)
    return len(found) >= least or bool(found & {"remember", "long"})
