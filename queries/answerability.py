"""Whether the memory answers the question: `supported`, `low_confidence`, or `no_evidence`, a hard no.

A small explicit model over named signals, and no cosine threshold: no plain top score tells "no answer" (its AUROC
is .45 to .71). What counts most is how much of what the question is about stands in one memory, each word by how
telling it is. Words that only ask for a predicate ("live", "版本") are explained by a memory of that predicate. The
namespace's size does not enter: word weights have a floor, and similarity is measured against the namespace's own
background.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Answerability = Literal["supported", "low_confidence", "no_evidence"]

COVERED: Final = 0.625
DENSE: Final = 0.375
"""Five to three: a logistic fit on the dev halves, answerable questions against those of other namespaces. It takes
nothing from adding the question's length or the count of telling words."""
SLOT: Final = 0.20
NO_EVIDENCE_BELOW: Final = 0.20
"""Without a calibrated similarity. Refuses about 45% of what belongs elsewhere, and 3% of what is answerable."""
NEAREST_BELOW: Final = 0.25
SPOKEN_OF: Final = 0.21
FAINT_BELOW: Final = 0.18
"""With one: nothing is known where the greatest similarity, with so much of the coverage, stays below, or the best
memory is as faint as that. A logistic fit on the dev halves. Refuses 60% of what belongs elsewhere, and 1.8% of what is
answerable (nearly all of it in sets that share next to no words with their memories)."""
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
"""Of the strength, where what is asked of something, or a system's state, is told by no memory of it."""

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
    return any(_asks(token, word) for token in tokens for word in asking)


def _asks(token: str, word: str) -> bool:
    """Whether a piece of the question is (part of) the words that ask, or the stem of one of them."""
    if not token.isascii():
        return (token.lstrip(_PRONOUNS) or token) in word
    return any(part.startswith(token) or token.startswith(part) for part in _PARTS.split(word) if part)


def judge(
    ranked: Sequence[Evidence],
    *,
    about_user: bool,
    lapsed: bool = False,
    state: bool = False,
    asked: bool = True,
    untold: bool = False,
    nearest: float | None = None,
) -> tuple[Answerability, float]:
    """The verdict on the best memories, and the strength it rests on (0..1.2).

    `about_user`: the question is about the one whose memory this is; external words alone never support that.
    `nearest`: the greatest similarity of any memory, by a calibrated model.
    `untold`: an attribute of something is asked for that no memory tells of it.
    `asked`: a fact is; a statement, or a wish for advice, has no answer that could be lacking, only memories that it
    calls up.
    `state`: a system's present state is asked for, which is not known where nothing that speaks of it states one.
    `lapsed`: the asked state is known to be over, with nothing in its place, which nothing else can support.
    """
    if not ranked:
        return "no_evidence", 0.0
    own = [] if lapsed else [e for e in ranked if not (e.external and about_user)]
    best = max(ranked, key=lambda e: e.strength)
    if asked and _unrelated(best, nearest) and not any(e.slot for e in ranked):
        return "no_evidence", best.strength
    if untold:
        return "no_evidence", best.strength * UNTOLD
    if state and all(e.missing >= MISSING_MOST for e in ranked):
        return "no_evidence", best.strength * UNTOLD
    for e in own:
        if e.strength >= SUPPORTED_AT and e.covered >= LEAST_COVERED and e.missing < MISSING_MOST:
            return "supported", e.strength
    return "low_confidence", best.strength


def joined(verdicts: Sequence[Answerability]) -> Answerability:
    """Of several questions in one: a hard no where each is, `supported` where each is."""
    kinds = set(verdicts)
    return verdicts[0] if len(kinds) == 1 else "low_confidence"


def _unrelated(best: Evidence, nearest: float | None) -> bool:
    if nearest is None:
        return best.strength < NO_EVIDENCE_BELOW
    return nearest + SPOKEN_OF * best.covered < NEAREST_BELOW or best.strength < FAINT_BELOW
