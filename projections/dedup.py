"""What says the same in other words: a funnel from exact to normalised to near, and no further.

Exact and normalised sameness is the slot itself: claims of one slot with one value fingerprint. This module is about
the next step: values of a many-valued predicate that differ in hyphens, articles, a plural or a 的 alone. `near_form`
maps a value to one form for all of its near copies, so that sameness is an equivalence by construction: it cannot
depend on which came first. Whatever could change the meaning is a *protected atom* and stays in the form as it stands:
numbers, versions, dates, paths, codes, quotes, names, words of denial. What is left over is the grey zone
(`is_grey`), which is not judged here: a verdict on it is an event (`dedup.judged`), folded as one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from taishi.ingest.claims import Claim
from taishi.ingest.normal import normal_value, normalise
from taishi.ingest.registry import Registry
from taishi.ingest.slots import is_single, slot_parts

ARTICLES: Final = frozenset({"a", "an", "the", "some"})
"""Words that carry no meaning of their own at the beginning of a value (`vitamin a` keeps its a)."""
SINGULAR: Final = frozenset(
    "news series species lens glasses goods arms customs works clothes jeans always perhaps mars christmas canvas "
    "atlas gas bus yes this his its hers theirs ours yours as is was has does plus us pants shorts headphones "
    "thanks".split()
)
"""Words whose last s is no plural, or whose plural is another thing."""
_LINK: Final = re.compile(r"(?<=[\u3400-\u9fff])(?<![不没无非别未勿莫否禁忌目有是])的(?![确士])")
_PARTICLES: Final = re.compile(r"[啊呀呢哦啦嘛吧]+$")
_TOKEN: Final = re.compile(
    r"""(?P<quote>"[^"]*"|“[^”]*”|‘[^’]*’|「[^」]*」|『[^』]*』|《[^》]*》|`[^`]*`|(?<!\w)'[^']*'(?!\w))
    |(?P<code>[+\-−]?[^\s,;，；。！？、\u3400-\u9fff]*[0-9/\\_@#~+&=:.%$€£¥][^\s,;，；。！？、\u3400-\u9fff]*)
    |(?P<word>[^\W\d_\u3400-\u9fff]+(?:['’\-][^\W\d_\u3400-\u9fff]+)*)
    |(?P<han>[\u3400-\u9fff]+)
    |(?P<other>\S)""",
    re.VERBOSE,
)


@lru_cache(maxsize=8_192)
def near_form(value: str) -> str:
    """The form that a value shares with its near copies."""
    parts: list[str] = []
    for found in _TOKEN.finditer(unicodedata.normalize("NFKC", value)):
        text = found[0]
        match found.lastgroup:
            case "word":
                parts += _words(text)
            case "han":
                han = normalise(text)
                parts.append(_LINK.sub("", _PARTICLES.sub("", han)) or han)
            case "quote":
                parts.append("\u2039" + normalise(text[1:-1]) + "\u203a")
            case "code":
                parts.append(normalise(text).rstrip(".:") or normalise(text))
            case _:
                if text.isalnum() or unicodedata.category(text)[0] == "S":
                    parts.append(normalise(text))
    if len(parts) > 1 and parts[0] in ARTICLES:
        del parts[0]
    return _joined(parts) or normal_value(value)


def _words(text: str) -> list[str]:
    """A word without its plural, or the words that hyphens join; a name (it has a capital) as it stands."""
    text = text.replace("’", "'")
    if text != text.lower():
        return [normalise(text)]
    return [_singular(word) for word in text.split("-")]


def _singular(word: str) -> str:
    if len(word) < 4 or not word.isascii() or word in SINGULAR or word.endswith(("ss", "us", "is", "ics", "'s", "ous")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zzes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def _joined(parts: list[str]) -> str:
    """Words apart, Han without a gap."""
    out = ""
    for part in parts:
        gap = " " if out and not (_is_han(out[-1]) and _is_han(part[0])) else ""
        out += gap + part
    return out


def _is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff"


GREY: Final = 0.5
"""Of the words of two values, the share that both must have (Jaccard) to be worth a question."""
_DENIALS: Final = frozenset("no not never none nor neither without except non cannot less".split())
_DENIALS_HAN: Final = frozenset("不没无非别未勿莫否禁忌")
_NUMERALS_HAN: Final = frozenset("零一二三四五六七八九十百千万亿两半几")


def is_grey(one: str, other: str) -> bool:
    """Whether two values that are no near copies might mean the same: every protected atom of one is in the other, and
    at least half of their words are (of Han text: its characters)."""
    if near_form(one) == near_form(other):
        return False
    (atoms_a, words_a), (atoms_b, words_b) = _anatomy(one), _anatomy(other)
    if atoms_a != atoms_b:
        return False
    together = words_a | words_b
    return bool(together) and len(words_a & words_b) >= GREY * len(together)


@lru_cache(maxsize=8_192)
def _anatomy(value: str) -> tuple[frozenset[tuple[str, int]], frozenset[str]]:
    """The protected atoms of a value with how often each stands there, and its other words."""
    atoms: Counter[str] = Counter()
    words: set[str] = set()
    for found in _TOKEN.finditer(unicodedata.normalize("NFKC", value)):
        text = found[0].replace("’", "'")
        match found.lastgroup:
            case "word" if text == text.lower():
                for word in text.split("-"):
                    if word in _DENIALS or word.endswith("n't"):
                        atoms[word] += 1
                    elif word not in ARTICLES:
                        words.add(_singular(word))
            case "han":
                protected = _DENIALS_HAN | _NUMERALS_HAN
                atoms.update(c for c in normalise(text) if c in protected)
                words.update(c for c in normalise(text) if c not in protected and c != "的")
            case "other" if not (text.isalnum() or unicodedata.category(text)[0] == "S"):
                continue
            case _:
                atoms[normalise(text)] += 1
    return frozenset(atoms.items()), frozenset(words)


OBJECT: Final = "\x1f="
"""In a joint key: what follows is the near form of a many-valued claim's object."""


def joint_key(claim: Claim, registry: Registry) -> tuple[str, str]:
    """(subject, rest): slots that share `rest` and whose subjects are one are about the same thing."""
    _, _, subject, *rest = slot_parts("", claim, registry)
    if is_single(claim, registry):
        return subject, "\x1f".join(rest)
    return subject, "\x1f".join(rest[:-1]) + OBJECT + near_form(claim.value)


def most_protected(one: str | None, other: str) -> str:
    """Of two keys of one slot (its claims may write the object with or without capitals): the one that keeps more, so
    that the key is a function of the set of claims."""
    return other if one is None else max(one, other, key=lambda key: (len(key), key))


def rest_of(head: str, values: Iterable[str]) -> str | None:
    """The joint key's rest of a slot whose live claims have these values; `head` is the rest as it was."""
    before, marked, _ = head.partition(OBJECT)
    kept: str | None = None
    for value in values:
        kept = most_protected(kept, before + OBJECT + near_form(value)) if marked else head
    return kept


def classes(
    members: Iterable[int], same: Iterable[tuple[int, int]], apart: Iterable[tuple[int, int]]
) -> Mapping[int, tuple[int, ...]]:
    """Slots by the class they are in, where that has others, too. Pairs in `same` are joined, transitively; in a class
    that holds a pair of `apart`, both of the pair stand alone and the others stay together."""
    lead = {m: m for m in members}

    def find(m: int) -> int:
        while lead[m] != m:
            lead[m] = lead[lead[m]]
            m = lead[m]
        return m

    for a, b in same:
        lead.setdefault(a, a)
        lead.setdefault(b, b)
        one, other = sorted((find(a), find(b)))
        lead[other] = one
    alone = {m for a, b in apart if a in lead and b in lead and find(a) == find(b) for m in (a, b)}
    grouped: dict[int, list[int]] = {}
    for m in lead:
        if m not in alone:
            grouped.setdefault(find(m), []).append(m)
    return {m: tuple(sorted(group)) for group in grouped.values() if len(group) > 1 for m in group}
