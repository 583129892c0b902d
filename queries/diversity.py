"""Not the same thing over and over: lists in which values differ, and more memories than anyone reads told by a few.

Likeness is a share of common character pairs, of both texts' together, hashed into a few hundred bits: the same for
Chinese and English, exact for equal texts, and cheap enough to compare hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from zlib import crc32

from taishi.ingest.normal import normalise

from .folding import Ranked

SUMMAND: Final = "diversity"
"""How `why` calls what an answer to a list question loses for saying what a better one says."""
PENALTY: Final = 0.2
"""Of a copy, at most: less than one rare word is worth, so that it orders near-equals and brings up nothing else."""
ALIKE: Final = 0.5
"""Likeness from which on it counts."""
POOL: Final = 3
"""Memories looked at for each that is wanted."""
MOST_POOL: Final = 120
REPRESENTED: Final = 100
"""Memories in a context that are all told."""
_THRESHOLDS: Final = (0.8, 0.65, 0.5, 0.35, 0.2)
_BITS: Final = 1_021
_READ: Final = 300


def signature(text: str) -> int:
    """Bits of the character pairs of a text (its first few hundred characters)."""
    words = f" {' '.join(normalise(text[:_READ]).split())} "
    bits = 0
    for pair in {words[i : i + 2] for i in range(len(words) - 1)}:
        bits |= 1 << crc32(pair.encode("utf-8", "replace")) % _BITS
    return bits


def likeness(one: int, other: int) -> float:
    """0..1, of two signatures."""
    both = (one | other).bit_count()
    return (one & other).bit_count() / both if both else 1.0


def pool_of(limit: int) -> int:
    """How many ranked memories to choose `limit` from."""
    return min(POOL * limit, max(MOST_POOL, limit))


def diverse(ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """The best `limit` by score less what they repeat of those before them (maximal marginal relevance), the best one
    first. Scores go down, never up."""
    left = [(entry, signature(_told(entry))) for entry in ranked]
    chosen: list[Ranked] = []
    lost = [0.0] * len(left)
    while left and len(chosen) < limit:
        best = max(range(len(left)), key=lambda n: (left[n][0].score - lost[n], -n))
        (entry, bits), penalty = left.pop(best), lost.pop(best)
        chosen.append(_less(entry, penalty) if penalty else entry)
        for n, (_, other) in enumerate(left):
            over = (likeness(bits, other) - ALIKE) / (1 - ALIKE)
            lost[n] = max(lost[n], PENALTY * over)
    return chosen


def _told(entry: Ranked) -> str:
    """What distinguishes a memory in a list: the value of a claim, the words of an event."""
    if entry.claim is not None:
        return entry.claim.value or entry.claim.text or ""
    return "" if entry.event is None else entry.event.text or ""


def _less(entry: Ranked, penalty: float) -> Ranked:
    return replace(entry, score=entry.score - penalty, parts={**entry.parts, SUMMAND: -penalty})


@dataclass(frozen=True, slots=True)
class Cluster:
    """`first` and `others` are indexes of texts: the one that stands for all, and those that say much the same."""

    first: int
    others: tuple[int, ...] = ()


def clusters(texts: Sequence[str], *, most: int = REPRESENTED) -> list[Cluster]:
    """All texts where they are at most `most`; else so many representatives, each the best ranked of its cluster, in
    rank order. Where even unlike texts are too many, the last are left out."""
    if len(texts) <= most:
        return [Cluster(n) for n in range(len(texts))]
    signatures = [signature(text) for text in texts]
    found: list[list[int]] = []
    for threshold in _THRESHOLDS:
        found = []
        for n, bits in enumerate(signatures):
            near = next((c for c in found if likeness(signatures[c[0]], bits) >= threshold), None)
            if near is None:
                found.append([n])
            else:
                near.append(n)
        if len(found) <= most:
            break
    return [Cluster(first, tuple(others)) for first, *others in found[:most]]
