"""The entity fence: a question that names a subject is not answered with another one's memories.

Names are the subjects that the namespace's claims speak of, found in the question as they stand. The longest match
counts; letters and digits must end where the name ends, so that `项目A` is not found in `项目AB`. A bare name that
several qualified subjects share (`财务的张伟`, `研发的张伟`) is ambiguous: reported, and not fenced.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import orjson

from taishi.ingest.normal import normal_value, normalise
from taishi.projections.stopwords import STOP_WORDS

from .joint import has_names, names_in, names_of
from .point import Point, stood_then
from .reading import ReadModel
from .subjects import known_among, subjects_of
from .synonyms import Mention, mentions

LONGEST_HAN: Final = 14
"""Characters of a name that begins with a Han character."""
LONGEST_WORDS: Final = 4
"""Words of a name in a script with spaces."""
READ: Final = 160
"""Characters of a question in which names are looked for."""
FEW_SUBJECTS: Final = 500
"""Rivals and shared bare names are looked for in namespaces that know at most so many subjects."""
NOT_NAMES: Final = STOP_WORDS | {"user", "用户", "the user", "项目", "公司", "名字", "project", "name", "today", "今天"}

_UNIT: Final = re.compile(r"[a-z0-9\u00df-\u024f]+(?:[._+\-/@#:'’][a-z0-9\u00df-\u024f]+)*|\s+|.", re.DOTALL)
_POSSESSIVE: Final = re.compile(r"['’]s?$")


class Side(Enum):
    """Where a memory stands: it is about a named subject, about another one, or about none in particular. `BESIDE`:
    about another relative than the one whom the question names."""

    INSIDE = "inside"
    BESIDE = "beside"
    NEUTRAL = "neutral"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Fence:
    """`names` the question speaks of (normalised), `rivals` that are easily taken for one of them, and `ambiguous`
    bare names with the subjects they may mean. `unknown` are names by which nobody is known of whom it asks: only what
    speaks of him may answer for him."""

    names: tuple[str, ...] = ()
    rivals: frozenset[str] = frozenset()
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unknown: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.names)

    def mentions(self, text: str) -> bool:
        return any(names_it(text, name) for name in self.names)

    def passes_over(self, text: str, *, of: str) -> bool:
        """Whether one is asked about of whom nothing is known by name, and a (normalised) text of or by someone (`of`)
        does not speak of him either."""
        return bool(self.unknown) and of not in self.unknown and not any(names_it(text, one) for one in self.unknown)

    def side_of_claim(self, *, subject: str, own: bool, text: str) -> Side:
        """`subject` is normalised; `own` tells that it is the one whose memory this is; `text` as shown."""
        if not self.names or subject in self.names:
            return Side.INSIDE
        words = normalise(text)
        if self.mentions(words):
            return Side.INSIDE
        if own:
            return Side.OUTSIDE if any(names_it(words, rival) for rival in self.rivals) else Side.NEUTRAL
        return Side.OUTSIDE

    def side_of_event(self, *, speaker: str, subjects: Collection[str], text: str) -> Side:
        """`speaker` is normalised, empty for the user's own words; `subjects` are those that the event's claims speak
        of (normalised)."""
        if not self.names or speaker in self.names or any(subject in self.names for subject in subjects):
            return Side.INSIDE
        words = normalise(text[:4_000])
        if self.mentions(words):
            return Side.INSIDE
        if any(names_it(words, rival) for rival in self.rivals):
            return Side.OUTSIDE
        others = [subject for subject in subjects if subject != "user"]
        return Side.OUTSIDE if others and len(others) == len(subjects) else Side.NEUTRAL


def normal_name(name: str) -> str:
    return normal_value(name)


def side_of_kin(kin: Sequence[Mention], text: str) -> Side | None:
    """Where words stand that name relatives, if the question names some (`kin`); None where either names none."""
    if not kin or len(text) > READ:
        return None
    told = {m.kind.name for m in mentions(normalise(text)) if m.kind.kin}
    if not told:
        return None
    return Side.INSIDE if any(told & m.kind.fits for m in kin) else Side.BESIDE


def fence(
    model: ReadModel,
    ns: int,
    words: str,
    *,
    point: Point,
    own: str,
    kin: Sequence[Mention] = (),
    called: Sequence[str] = (),
) -> Fence:
    """By the names that were known at the point. `words` is the normalised question, `own` the subject that "I" stands
    for, `kin` the relatives that it names, `called` those by name of whom it asks: where nobody goes by it, only what
    speaks of it may answer."""
    spans = _spans(words[:READ])
    if not spans:
        return Fence()
    found = known_among(model, ns, spans, point)
    aliased = has_names(model, ns)
    if aliased:
        found += names_in(model, ns, spans, point=point)
    names = _longest([name for name in found if name != own and name not in NOT_NAMES], words)
    unknown = tuple(called) if called and not names and not _is_own(model, ns, called, own, point) else ()
    if kin:
        names = tuple(dict.fromkeys([*names, *_relatives(model, ns, kin, names or unknown, own, point)]))
    if aliased:
        alike = (one for name in names for one in names_of(model, ns, name, point=point))
        names = tuple(dict.fromkeys([*names, *alike]))
    everyone = subjects_of(model, ns, point, most=FEW_SUBJECTS)
    if everyone is None:
        return Fence(names, unknown=unknown)
    rivals = {one for one in everyone for name in names if _rivals(one, name)}
    shared: dict[str, list[str]] = {}
    for one in everyone:
        head, of, tail = one.rpartition("的")
        if of and head and len(tail) >= 2 and tail in words and one not in words:
            shared.setdefault(tail, []).append(one)
    ambiguous = tuple((bare, tuple(sorted(those))) for bare, those in sorted(shared.items()) if len(those) > 1)
    ambiguous = tuple((bare, those) for bare, those in ambiguous if not any(bare in name for name in names))
    return Fence(names, frozenset(rivals), ambiguous, unknown)


def _is_own(model: ReadModel, ns: int, called: Sequence[str], own: str, point: Point) -> bool:
    """Whether the one whose memory this is goes by one of the names."""
    own_names = [normal_name(row[0]) for row in model.rows(_OWN_NAMES, ns, *point.bounds, own) if row[0]]
    return any(names_it(known, name) for known in own_names for name in called)


_OWN_NAMES: Final = f"""SELECT value FROM claims c WHERE ns = ?1 AND subject_key = ?4
    AND predicate IN ('name', 'nickname') AND {stood_then('c')} AND erased_at IS NULL ORDER BY seq DESC LIMIT 20"""


def _relatives(
    model: ReadModel, ns: int, kin: Sequence[Mention], names: Sequence[str], own: str, point: Point
) -> Iterable[str]:
    """Subjects that the named relatives go by: under other words (`我太太` for `我妻子`), and by their names. Whose
    they are is who is named, else the one who asks."""
    owners = [name for name in names if not mentions(name)] or [own]
    titles = []
    for owner in owners:
        zh, en = ("我", "my ") if owner == "user" else (owner, f"{owner}'s ")
        for mention in kin:
            titles += [form for word in mention.kind.zh for form in (f"{zh}{word}", f"{zh}的{word}")]
            titles += [en + word for word in mention.kind.en]
    known = known_among(model, ns, titles, point)
    fits = frozenset(kind for mention in kin for kind in mention.kind.fits)
    for owner in owners:
        for value, qualifiers in model.rows(_RELATIVES, ns, *point.bounds, owner):
            relation = normalise(str(orjson.loads(qualifiers or "{}").get("relation", "")))
            if value and any(m.kind.name in fits for m in mentions(relation)):
                known.append(normal_name(value))
    return [name for name in known if len(name) >= 2]


_RELATIVES: Final = f"""SELECT value, qualifiers FROM claims c WHERE ns = ?1 AND subject_key = ?4
    AND predicate = 'relative' AND {stood_then('c')} AND erased_at IS NULL ORDER BY seq DESC LIMIT 40"""


def _spans(words: str) -> list[str]:
    """Every stretch of the question that could be a name."""
    units = [m[0] for m in _UNIT.finditer(words)]
    spans: dict[str, None] = {}
    for i, first in enumerate(units):
        if not first[0].isalnum():
            continue
        latin = first[0].isascii() or len(first) > 1
        span, count = "", 0
        for unit in units[i:]:
            if not unit.isspace():
                count += 1
            span += unit
            if len(span) > (60 if latin else LONGEST_HAN) or (latin and count > LONGEST_WORDS):
                break
            if unit[-1].isalnum() and len(span) >= 2:
                spans[span] = None
                if (owner := _POSSESSIVE.sub("", span)) != span and len(owner) >= 2:
                    spans[owner] = None
    return list(spans)


def _longest(found: Iterable[str], words: str) -> tuple[str, ...]:
    """Names that stand in the question outside a longer one, in the order in which they stand."""
    left = words
    kept: list[str] = []
    for name in sorted(set(found), key=lambda n: (-len(n), n)):
        if name in left:
            kept.append(name)
            left = left.replace(name, "\0" * len(name))
    return tuple(sorted(kept, key=words.index))


def names_it(words: str, name: str) -> bool:
    """Whether a name stands in (normalised) words as such, and not within a longer Latin word or number."""
    start = words.find(name)
    while start >= 0:
        end = start + len(name)
        if not (_runs_on(words[start - 1 : start], name[0]) or _runs_on(name[-1], words[end : end + 1])):
            return True
        start = words.find(name, start + 1)
    return False


def _runs_on(left: str, right: str) -> bool:
    """Whether two neighbouring characters are of one Latin word or number; "" stands for none."""
    return all(c.isascii() and c.isalnum() for c in (left, right)) if left and right else False


def _rivals(one: str, name: str) -> bool:
    """Whether two names differ in one character, in their number, or only in the qualifier before `的`."""
    if one == name:
        return False
    if len(one) == len(name) >= 2:
        return sum(a != b for a, b in zip(one, name, strict=True)) == 1
    tails: Sequence[str] = [part.rpartition("的")[2] for part in (one, name) if "的" in part]
    return len(tails) == 2 and tails[0] == tails[1]
