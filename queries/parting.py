"""Things parted with: who sold "the Skoda" has no red Skoda Octavia any more, though the words are not the same.

The log and the slots keep each claim under the words it was said in. Where a thing that someone has is judged, the
denials of a having of his that go by one of its names are folded into its slot, as if they had been said of it there.
A denial goes to what he had when it was said, and to nothing where two things of the kind went by that name: which of
them is gone is not known. Whose denial it is is a function of the set of claims, in their order (known instant,
position of the words), and of nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Final

import orjson

from taishi.projections.dedup import OBJECT, near_form

from .point import WHOLE, Point, stood_then
from .reading import ReadModel
from .rows import CLAIM_COLUMNS, ClaimRow

_ATTRIBUTE: Final = "attribute."
_OWNS: Final = "owns"
_USES: Final = "uses"
_DENIABLE: Final = (_OWNS, _USES)
"""Predicates of which a denial may speak of what is had in other words, in the order of `_Names`."""
_LONGEST_NAME: Final = 3
"""Words of a shortened form of a thing's name, at most."""
_LOOKED_AT: Final = 6
"""Words of a thing's name, counted from its end, among which shortened forms are looked for."""
_LONGEST_HAN: Final = 6
"""Characters of a shortened form of a Chinese name, at most; one alone (`车` of `自行车`) is none."""
_HAN_END: Final = re.compile(r"[\u4e00-\u9fff]+$")
_WORD: Final = re.compile(r"[^\s,]+")
_ATTACHED: Final = re.compile(r"\s(?:with|from|in|on|of|for|at|by|that|which)\s.*$", re.I)
_ANY_TOOL: Final = frozenset(
    "app tool service software system thing account version library framework editor site website program api "
    "server database language plugin extension package client platform".split()
)
"""Words for what one uses many of, so that one of them alone is the name of none."""
_KIND_SAID: Final[Mapping[str, tuple[str, ...]]] = {"car": ("车", "汽车")}
"""What a thing of a kind is called in Chinese, where the kind itself is written in English."""


def _is_had(claim: ClaimRow) -> bool:
    predicate = claim.predicate or ""
    return claim.value is not None and (predicate in _DENIABLE or predicate.startswith(_ATTRIBUTE))


def _heads(value: str) -> list[str]:
    """The last words of a thing's name, without what is said of it behind: `piano` and `upright piano`."""
    words = _WORD.findall(_ATTACHED.sub("", value))
    ends = [" ".join(words[-n:]) for n in range(1, min(_LONGEST_NAME, len(words)) + 1)]
    han = _HAN_END.search(value)
    return ends if han is None else [*ends, *(han[0][-n:] for n in range(2, min(_LONGEST_HAN, len(han[0])) + 1))]


def _makes(value: str) -> list[str]:
    """The first names of a thing whose name ends in names: `Skoda` of `a red Skoda Octavia`."""
    words = _WORD.findall(_ATTACHED.sub("", value))[-_LOOKED_AT:]
    at = len(words)
    while at and (words[at - 1][0].isupper() or words[at - 1][0].isdigit()):
        at -= 1
    return [" ".join(words[at : at + n]) for n in range(1, min(len(words) - at, _LONGEST_NAME + 1))]


_Names = tuple[frozenset[str], frozenset[str]]


def _names(claim: ClaimRow) -> _Names:
    """By which names a denial of having it ends it, and by which a denial of using it does (near forms)."""
    return _names_of(claim.predicate or "", claim.value or "", claim.qualifiers)


@lru_cache(maxsize=4_096)
def _names_of(predicate: str, value: str, qualifiers: str | None) -> _Names:
    if predicate.startswith(_ATTRIBUTE):
        return frozenset({near_form(predicate.removeprefix(_ATTRIBUTE))}), frozenset()
    given = orjson.loads(qualifiers) if qualifiers else {}
    called = [value, *_heads(value), *_makes(value), *(given[q] for q in ("name", "kind") if given.get(q))]
    called += _KIND_SAID.get(given.get("kind", ""), ())
    names = frozenset(map(near_form, called))
    if predicate == _OWNS:
        return names, frozenset()
    return names - _ANY_TOOL, frozenset(map(near_form, [value, *_heads(value)])) - _ANY_TOOL


@lru_cache(maxsize=4_096)
def _denied_as(predicate: str, value: str, qualifiers: str | None) -> tuple[str, ...]:
    """Joint keys of whatever denials may speak of it, in whatever letters it is written."""
    words = _WORD.findall(value)[-_LOOKED_AT:]
    ends = ((a, b) for a in range(len(words)) for b in range(a + 1, min(a + _LONGEST_NAME, len(words)) + 1))
    sold, used = _names_of(predicate, value, qualifiers)
    phrases = {near_form(" ".join(words[a:b])) for a, b in ends} | sold | used
    deniable = _DENIABLE if predicate == _USES else (_OWNS,)
    return tuple(f"{denied}{OBJECT}{phrase}" for denied in deniable for phrase in phrases)


def _order(claim: ClaimRow) -> tuple[int, int, int]:
    return claim.known_from, claim.source, claim.seq


_WHOSE: Final = "SELECT slot, ns, subject FROM slots WHERE slot IN carray(?) AND rest IS NOT NULL"
_DENIED: Final = """SELECT 1 FROM slots s CROSS JOIN claims c ON c.slot = s.slot AND c.negated = 1
    WHERE s.rest IN carray(?) AND s.rest IS NOT NULL AND s.ns = ? AND s.subject = ? LIMIT 1"""
_HAVINGS: Final = f"""SELECT {CLAIM_COLUMNS} FROM claims c WHERE ns = ?1 AND subject_key = ?4
    AND (predicate IN {_DENIABLE} OR (predicate > '{_ATTRIBUTE}' AND predicate < '{_ATTRIBUTE[:-1]}/'))
    AND {stood_then('c')} AND value IS NOT NULL"""


def partings(model: ReadModel, claims: Iterable[ClaimRow], point: Point | None = None) -> dict[int, list[ClaimRow]]:
    """By slot of `claims` in which things are had: denials in other words that are to be folded there, of what was
    known and had been read at the point (None: of all there is). Of a model in which nobody parted with anything it
    asks two things and no more."""
    had = {c.slot: c for c in claims if _is_had(c)}
    if not had:
        return {}
    by_subject: dict[tuple[int, str], list[ClaimRow]] = {}
    for slot, ns, subject in model.rows_in(_WHOSE, had):
        by_subject.setdefault((ns, subject), []).append(had[slot])
    found: dict[int, list[ClaimRow]] = {}
    for (ns, subject), things in by_subject.items():
        rests = {rest for c in things for rest in _denied_as(c.predicate or "", c.value or "", c.qualifiers)}
        if model.rows_named(_DENIED, rests, ns, subject):
            bounds = WHOLE if point is None else point.bounds
            found |= _assigned([ClaimRow._make(row) for row in model.rows(_HAVINGS, ns, *bounds, subject)])
    return {slot: denials for slot, denials in found.items() if slot in had}


def _assigned(havings: Collection[ClaimRow]) -> dict[int, list[ClaimRow]]:
    """What someone had and denied to have, told in order: to which slots each denial goes beside its own."""
    held: dict[int, ClaimRow] = {}
    called: dict[int, _Names] = {}
    denials: dict[int, list[ClaimRow]] = {}
    for claim in sorted(havings, key=_order):
        if not claim.negated:
            held[claim.slot] = claim
            continue
        held.pop(claim.slot, None)
        if claim.predicate not in _DENIABLE:
            continue
        for gone in _meant(claim, held, called):
            denials.setdefault(gone.slot, []).append(claim)
            del held[gone.slot]
    return denials


def _meant(denial: ClaimRow, held: Mapping[int, ClaimRow], called: dict[int, _Names]) -> list[ClaimRow]:
    """Those of the things held that the denial speaks of: of each way of having, one thing, however often told of.
    `called` keeps the names of claims that were looked at."""
    name, place = near_form(denial.value or ""), _DENIABLE.index(denial.predicate or "")
    by_way: dict[str, list[ClaimRow]] = {}
    for claim in held.values():
        if claim.seq not in called:
            called[claim.seq] = _names(claim)
        if name in called[claim.seq][place]:
            by_way.setdefault((claim.predicate or "").partition(".")[0], []).append(claim)
    meant: list[ClaimRow] = []
    for things in by_way.values():
        plain = [c for c in things if near_form(c.value or "") == name and '"name"' not in (c.qualifiers or "")]
        others = [c for c in things if c not in plain]
        one = len({(near_form(c.value or ""), c.qualifiers) for c in others}) <= 1
        meant += things if one else plain
    return meant
