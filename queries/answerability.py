"""Whether the memory answers the question: `supported`, `low_confidence`, or `no_evidence`, a hard no.

A small explicit model over named signals, and no cosine threshold: no plain top score tells "no answer" (its AUROC
is .45 to .71). How likely it is that something is known is a logistic of `Signals`; its weights, and how little is a
hard no, stand in `answerability.toml`, one table for each kind of vectors. `tests/bench/answerability.py` fits them.
What is certain is decided before it: a state or an attribute that nothing tells, a slot that is known.
`supported` asks for more: a memory that speaks of nearly all that the question is about, each word by how telling it
is. Words that only ask for a predicate ("live", "版本") are explained by a memory of that predicate. The namespace's
size does not enter: word weights have a floor, and what is near is measured by itself, or beside the background.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

Answerability = Literal["supported", "low_confidence", "no_evidence"]
Vectors = Literal["calibrated", "other", "none"]
"""Of a model whose cosines are known (the local one), of any other (the hashed ones), or not to be had."""

COVERED: Final = 0.625
DENSE: Final = 0.375
"""Five to three, in the strength of one memory, by which the best is chosen and is `supported`: a logistic fit on the
dev halves. It takes nothing from adding the question's length or the count of telling words."""
SLOT: Final = 0.20
SUPPORTED_AT: Final = 0.56
LEAST_COVERED: Final = 0.40
"""Below this share of the question's words nothing is `supported`, however near in meaning."""
NO_VECTORS: Final = 0.3
"""Taken for the similarity where there are no vectors, or not yet: unrelated memories have about so much."""
SAID: Final = 0.8
"""From this much of a piece on, a memory holds the word itself and not only characters of it."""
MISSING_MOST: Final = 0.45
"""A single piece that weighs so much of the question and stands nowhere keeps the answer from being `supported`."""

UNTOLD: Final = 0.5
"""Of the likelihood, where what is asked of something is told by no memory of it."""

FAR_ABOVE: Final = 0.9
"""Lift from which on a model of which no more is known may mean what no word tells."""

_PRONOUNS: Final = "我你您他她咱俺家"
"""Cut into one piece with the word that asks (`我住`)."""
_PARTS: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Signals of one ranked memory. `covered` and `dense` in 0..1; `missing` is the greatest share of the question that
    one unmet piece of it has."""

    covered: float
    missing: float
    dense: float
    slot: bool
    external: bool = False

    @property
    def strength(self) -> float:
        return COVERED * self.covered + DENSE * self.dense + SLOT * self.slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What tells whether anything is known, of all the best memories together.

    The first score's margin over the next, coverage by several memories together, and whether words and meaning agree
    on the first one were fitted too: held-out halves gain nothing from them.
    """

    vectors: Vectors
    covered: float
    """Share of what the question is about of which the best memory speaks, rare words counting more; 0..1."""
    missing: float
    """Greatest share of a single piece that is not spoken of, in the memory where it is least; 0..1."""
    nearest: float = 0.0
    """Greatest cosine of any memory, by a model whose cosines are known; else 0."""
    lift: float = 0.0
    """The best memory's similarity above the namespace's background, in four of its deviations; at most 1."""
    named: float = 0.0
    """1 where the question names someone or something that the memory knows."""


@dataclass(frozen=True, slots=True)
class Likelihood:
    """A logistic of the signals. Below `least` nothing is known."""

    least: float
    bias: float
    weights: Mapping[str, float]

    def of(self, signals: Signals) -> float:
        told = asdict(signals)
        return 1 / (1 + math.exp(-self.bias - sum(weight * told[name] for name, weight in self.weights.items())))


@lru_cache(maxsize=1)
def likelihoods() -> Mapping[str, Likelihood]:
    """By the kind of vectors."""
    data = tomllib.loads(files(__package__).joinpath("answerability.toml").read_text("utf-8"))
    return {kind: Likelihood(row["least"], row["bias"], row["weights"]) for kind, row in data.items()}


def coverage(
    weight: Mapping[int, float],
    words: Mapping[int, tuple[str, ...]],
    met: Mapping[int, float],
    explained: Sequence[str] = (),
    frame: Sequence[str] = (),
    telling: Sequence[str] = (),
) -> tuple[float, float]:
    """(share of the question that a memory speaks of, greatest share of one piece it does not speak of).

    `explained` are words of the question that ask for the memory's predicate: they count as spoken of. Words of `frame`
    count only where they are. Where one of `telling` is not spoken of, all is missing: it is another one.
    """
    covered = missing = total = 0.0
    another = False
    for group, w in weight.items():
        part = met.get(group, 0.0)
        if part < SAID:
            tokens = words.get(group, ())
            if frame and _any_asks(tokens, frame):
                continue
            if _any_asks(tokens, explained):
                part = 1.0
            another = another or (part < SAID and _any_asks(tokens, telling))
        total += w
        covered += w * part
        missing = max(missing, w * (1.0 - part))
    if not total:
        return 0.0, 0.0
    return covered / total, 1.0 if another else missing / total


def unsaid(
    weight: Mapping[int, float],
    words: Mapping[int, tuple[str, ...]],
    met: Mapping[int, float],
    explained: Sequence[str],
) -> float:
    """Share of the question that a memory answers for without saying it."""
    if not explained:
        return 0.0
    total = sum(weight.values())
    if not total:  # nothing but words that ask
        return 1.0
    left = {group: w for group, w in weight.items() if met.get(group, 0.0) < SAID}
    return sum(w for group, w in left.items() if _any_asks(words.get(group, ()), explained)) / total


def _any_asks(tokens: Sequence[str], asking: Sequence[str]) -> bool:
    return any(_asks(piece, word) for token in tokens for piece in _pieces(token, asking) for word in asking)


def _pieces(token: str, asking: Sequence[str]) -> tuple[str, ...]:
    """A piece of Chinese may be cut across words that ask (`狗叫` of `狗` and `叫什么`): also without the first one."""
    if token.isascii():
        return (token,)
    return (token, *(token.removeprefix(word) for word in asking if token != word and token.startswith(word)))


def _asks(token: str, word: str) -> bool:
    """Whether a piece of the question is (part of) the words that ask, or the stem of one of them."""
    if not token.isascii():
        return (token.lstrip(_PRONOUNS) or token) in word
    return any(part.startswith(token) or token.startswith(part) for part in _PARTS.split(word) if part)


def judge(
    ranked: Sequence[Evidence],
    signals: Signals,
    *,
    about_user: bool,
    first_person: bool = True,
    lapsed: bool = False,
    state: bool = False,
    asked: bool = True,
    untold: bool = False,
) -> tuple[Answerability, float]:
    """The verdict on the best memories, and how likely it is that they tell what is asked (0..1).

    `about_user`: the question is about the one whose memory this is; external words alone never support that.
    `first_person`: of oneself; where somebody else is named, what is known of the one who asks tells nothing of him.
    `untold`: an attribute of something is asked for that no memory tells of it.
    `asked`: a fact is; a statement, or a wish for advice, has no answer that could be lacking, only memories that it
    calls up.
    `state`: a system's present state is asked for, which is not known where nothing that speaks of it states one.
    `lapsed`: the asked state is known to be over, with nothing in its place, which nothing else can support.
    """
    if not ranked:
        return "no_evidence", 0.0
    model = likelihoods()[signals.vectors]
    likely = model.of(signals)
    if untold and not lapsed:
        return "no_evidence", likely * UNTOLD
    meant = signals.vectors == "other" and signals.lift >= FAR_ABOVE
    slot = any(e.slot for e in ranked)
    if asked and likely < model.least and not meant and not slot:
        return "no_evidence", likely
    if slot and not first_person and not signals.named and all(e.missing >= MISSING_MOST for e in ranked):
        return "no_evidence", likely * UNTOLD
    if state and all(e.missing >= MISSING_MOST for e in ranked):
        return "no_evidence", likely
    own = [] if lapsed else [e for e in ranked if not (e.external and about_user)]
    for e in own:
        if e.strength >= SUPPORTED_AT and e.covered >= LEAST_COVERED and e.missing < MISSING_MOST:
            return "supported", likely
    return "low_confidence", likely


def joined(verdicts: Sequence[Answerability]) -> Answerability:
    """Of several questions in one: a hard no where each is, `supported` where each is."""
    kinds = set(verdicts)
    return verdicts[0] if len(kinds) == 1 else "low_confidence"
