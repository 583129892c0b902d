"""What a question points at without naming it ("那个接口", "that restaurant", "my last order"), by the asking session.

The newest event of the session that speaks of such a thing and names one says which is meant: an identifier, a quoted
or capitalised name, what is said to be called so, or the subject of a claim drawn from it, whichever stands nearest to
the word. The name is put beside the pointing words, and the question is asked with both; where nothing is found, it is
asked as it stands. By rules alone; the reply says what was taken for what, and from which words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from taishi.ingest.normal import normalise
from taishi.projections.analysis import Analyzer
from taishi.projections.stopwords import STOP_WORDS

from .reading import ReadModel

RECENT: Final = 30
"""Events of the session that are looked through, the newest."""
READ: Final = 2_000
"""Characters of one of them."""
ASKED: Final = 400
"""Characters of a question in which pointing words are looked for."""
FAR: Final = 40
"""Characters between the word and the name of what it stands for."""
LONGEST: Final = 40

CLASSIFIERS: Final = "个家条位本部款次张台间件份种篇道首场门只辆套项支座所名幅块段批版"
"""What stands between a pointing word and the thing."""
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_ZH: Final = re.compile(
    rf"(?:(?:刚才|刚刚|前面|上面|上次)(?:说|提|聊|讲)?(?:到|过)?的?(?:那|这)?[{CLASSIFIERS}]?|[那这][{CLASSIFIERS}]|(?:^|(?<=[，。,;；对于在和与]))该|上一[{CLASSIFIERS}])"
    rf"(?P<noun>[{_HAN}]{{2,8}})"
)
_ZH_TIMES: Final = re.compile(r"月|星期|周|礼拜|时候|小时|年|天|学期|季度|世纪|阶段|时期")
_EN: Final = re.compile(
    r"\b(?:that|this|those|these|(?:the|my|our) (?:last|latest|previous|same|most recent))"
    r"(?P<noun>(?: [a-z][a-z'’-]+){1,3})"
)
_EN_TIMES: Final = frozenset(
    {
        "day", "days", "time", "times", "week", "weeks", "weekend", "month", "months", "year", "years", "morning",
        "afternoon", "evening", "night", "moment", "summer", "winter", "spring", "autumn", "fall", "century",
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march",
        "april", "may", "june", "july", "august", "september", "october", "november", "december", "season", "hour",
    }
)  # fmt: skip
_POSSESSIVE: Final = re.compile("['’]s?$")

_CODE: Final = re.compile(
    r"(?<![\w/])(?:[/#]?[A-Za-z0-9]+(?:[-_./:#][A-Za-z0-9]+)+|#\d{2,}|/[A-Za-z0-9][\w./-]+|[A-Z]{1,5}\d{2,}|\d{5,})"
)
_QUOTED: Final = re.compile(r"[“\"「『《`‘]([^”\"」』》`’\n]{2,40})[”\"」』》`’]")
_CALLED: Final = re.compile(
    rf"(?:叫做?|名为|名叫|名字是|称为)([{_HAN}A-Za-z0-9·]{{2,12}}?)(?=的|这|那|，|。|,|、|！|；|\s|$|在|很|是)"
    r"|\b(?:called|named)\s+([A-Z][\w'’&-]*(?:\s+(?:[A-Z][\w'’&-]*|of|the|de|la|di))*)"
)
_BEFORE: Final = re.compile(rf"([{_HAN}]{{2,6}})(?:这|那)[{CLASSIFIERS}]")
_CAPITALS: Final = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w'’&-]+(?:\s+(?:of|the|de|la|di)?\s*[A-Z][\w'’&-]+)*")


@dataclass(frozen=True, slots=True)
class Pointed:
    """`words` of the question stand for `name`, which the event at position `event` gives."""

    words: str
    name: str
    event: int

    def asked(self, question: str) -> str:
        """The question with the name beside the pointing words."""
        return f"{question.strip()} ({self.name})"


@dataclass(frozen=True, slots=True)
class Pointing:
    """Words that point, and those of them that say at what sort of thing (normalised), the telling ones first."""

    words: str
    nouns: tuple[str, ...]


def pointing(question: str, analyzer: Analyzer) -> Pointing | None:
    """The first words of the question that point at something; None where none do."""
    text = normalise(question[-ASKED:])
    for match in _ZH.finditer(text):
        terms = analyzer.query(match["noun"]).terms
        first = [t.token for t in terms if t.group == terms[0].group and len(t.token) >= 2]
        noun = max(first, key=len, default="")
        if noun and match["noun"].startswith(noun) and not _ZH_TIMES.match(noun):
            return Pointing(match[0][: match.start("noun") - match.start()] + noun, (noun, *first[:-1]))
    for match in _EN.finditer(text):
        nouns: list[str] = []
        for word in match["noun"].split():
            if word in STOP_WORDS or _POSSESSIVE.sub("", word) in _EN_TIMES:
                break
            nouns.append(word)
        if nouns:
            said = match[0][: match.start("noun") - match.start()]
            return Pointing(f"{said} {' '.join(nouns)}", tuple(nouns))
    return None


def resolved(
    model: ReadModel, ns: int, session: str, asked: Pointing, *, known_at: int, upto: int | None
) -> Pointed | None:
    """By what the session had said up to `upto`, as known then. None where nothing there is named so."""
    last = 1 << 62 if upto is None else upto
    rows = model.rows(_RECENT, ns, session, last, known_at, RECENT)
    for seq, text in rows:
        name = _named(text[:READ], asked.nouns, _subjects(model, seq, last))
        if name is not None:
            return Pointed(asked.words, name, seq)
    return None


_RECENT: Final = """SELECT seq, text FROM events WHERE ns = ? AND session = ? AND seq <= ? AND recorded_at <= ?
    AND text IS NOT NULL AND origin <> 'external' ORDER BY seq DESC LIMIT ?"""


def _named(text: str, nouns: Sequence[str], subjects: Sequence[str]) -> str | None:
    """The name that stands nearest to the first of `nouns` that the text speaks of."""
    folded = text.casefold()
    for noun in nouns:
        places = [m.start() for m in re.finditer(_whole(noun), folded)]
        if not places:
            continue
        found = [
            (min(_distance(begin, begin + len(name), place, len(noun)) for place in places), begin, name)
            for begin, name in _names(text, subjects)
            if noun not in name.casefold() or len(name) > len(noun) + 1
        ]
        near = [one for one in found if one[0] <= FAR]
        if near:
            return min(near)[2]
    return None


def _whole(noun: str) -> str:
    """The noun as a word of its own, or its plural; Chinese wherever it stands."""
    escaped = re.escape(noun.removesuffix("s") if noun.isascii() and len(noun) > 4 else noun)
    return rf"\b{escaped}(?:e?s)?\b" if noun.isascii() else escaped


def _distance(begin: int, end: int, place: int, length: int) -> int:
    return max(begin - (place + length), place - end, 0)


def _names(text: str, subjects: Sequence[str]) -> list[tuple[int, str]]:
    """What the text names, with where it does."""
    found = [(m.start(), m[0]) for m in _CODE.finditer(text)]
    found += [(m.start(1), m[1]) for m in _QUOTED.finditer(text)]
    found += [(m.start(n), m[n]) for m in _CALLED.finditer(text) for n in (1, 2) if m[n]]
    found += [(m.start(1), m[1]) for m in _BEFORE.finditer(text)]
    found += [(m.start(), m[0]) for m in _CAPITALS.finditer(text) if normalise(m[0]) not in STOP_WORDS]
    found += [(text.find(one), one) for one in subjects if one in text]
    return [(begin, name.strip()) for begin, name in found if 2 <= len(name.strip()) <= LONGEST]


def _subjects(model: ReadModel, event: int, last: int) -> list[str]:
    """Whom and what the claims drawn from an event, by the position `last`, are about, besides the user."""
    claims = model.claims(row.claim for row in model.evidence_from([event]) if row.claim <= last)
    return [c.subject for c in claims.values() if c.subject is not None and c.subject_key != "user"]
