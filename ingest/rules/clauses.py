"""Sentences and clauses: the pieces of a text in which one thing is said, with where they stand.

Every piece is a span of the source: `source[start:end]`. Quoted sentences are blanked before anything is read, so that
words put into someone's mouth cannot become claims.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

BLANK: Final = "\x00"
"""Stands for one character of quoted speech. No rule matches it."""

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_SENTENCE_END: Final = re.compile(
    r"[。！？!?；;\n\r.](?:(?<!\.)[。！？!?；;\n\r]*[”’\"')）」』]*|(?<=\.)(?<![A-Z]\.)(?<!\b[A-Z][a-z]\.)(?<!Prof\.)(?<!Mrs\.)\.*(?=\s|$|[\"”’)]))"
)
"""One class of characters first, here and below: it is looked for at the speed of C."""
_QUOTED: Final = re.compile(r"[“「『]([^“”「」『』]{2,400})[”」』]|\"([^\"]{2,400})\"|(?<![\w])'([^'\n]{4,400})'(?!\w)")
_QUOTE_MARK: Final = re.compile(r"[“\"「『']" + r"(?<!\w')")
_SAYS_SOMETHING: Final = re.compile(r"[我你您咱]|(?<![A-Za-z])(?:I|I'm|my|you|your|we|he|she|is|are|was)(?![A-Za-z])|[。！？!?，,]")
_CODE_BLOCK: Final = re.compile(r"```.*?(?:```|\Z)", re.S)
_ZH_CUT: Final = re.compile(r"[，：](?<!版本：)(?<!本号：)(?<!状态：)(?<!端口：)|,(?!\d)|(?<!\d):(?!\d|/)(?<!版本:)(?<!状态:)(?<!端口:)|—+|(?<!\s)\s+[-–]\s+|(?<=[^\s。，不])(?=但(?=[是不没我也在从对很现会]))|(?<=[^\s。，])(?=不过(?![敏了去来期是瘾关问分错])|可是|而且|并且|然后|所以|因为)")
"""Of a run of white space only the first character is tried: each would read to the end of the run, and find the same."""
_ZH_JOIN: Final = re.compile(r"\s*[他她它]?们?的?(?:名字)?(?:分别)?(?:叫|名叫)")
_ZH_HAS_SOME: Final = re.compile(r"(?:有|养了?|养着)(?:了?双胞胎|一对|[一两二三四五六七八九十几\d]+[个位只条匹头])[\u4e00-\u9fff]{1,6}(?:[，,]\S{1,3}叫\S{1,6})?$")
_ZH_NAMES: Final = re.compile(r"\s*(?:(?:分别)?是)?(?![喜爱想要用做吃喝去来学教养住让给能可对把被从和跟与为没性特非平经常每都一还在也他她它但很不是有会就最正已刚各今])[\u4e00-\u9fff·]{1,4}(?:[、和跟][\u4e00-\u9fff·]{1,4})+\s*$|\s*(?:另?一[个只条]|大的|小的|老[大二])叫\S{1,6}$")
"""What tells the names of those that the piece before says one has: 我有两个孩子，米娅和乐乐."""
_ZH_I_AM: Final = re.compile(r"(?:^|[，,！! ])我是[\u4e00-\u9fff]{2,4}$")
_ZH_CALLING: Final = re.compile(r"\s*(?![我在今来也做喜不有还从都很住想就正最])(?:是?一[名位个])?\S{2,24}(?:师|员|生|理|监|管|长|任|授|工|士|者|老板|总|编|护|医|顾问|CEO|CTO)$")
"""What tells the calling of one who says his name just before."""
_EN_CUT: Final = re.compile(
    r"[,:—\s](?:(?<=,)(?!\d)\s*(?:and\s+|but\s+|so\s+)?|(?<=:)(?:(?<!\d:)|(?<=[-_]\d:)|(?<=[-_]\d\d:))(?<!version:)(?<!status:)(?<!port:)(?!\d|/| it's (?:now )?\d)|(?<=\s)(?<!\s\s)\s*[-–—]+\s+|(?<=—)"
    r"|(?<=\s)(?<!\s\s)\s*(?:but|because|so|although|though|while|whereas)\s+(?=[A-Za-z])"
    r"|(?<=\s)(?<!\s\s)\s*and\s+(?=(?:I|he|she|we|they|it|my|his|her|our|their|now|then)(?:'|\s)|(?:(?:also|now|currently|mainly|mostly|"
    r"usually|just|really|don't|no longer)\s+)?(?:live|lives|work|works|use|uses|speak|speaks|love|loves|like|likes|hate|hates|"
    r"have|has|prefer|prefers|avoid|avoids|enjoy|enjoys|dislike|dislikes|eat|eats|drink|drinks|take|takes|want|need|will|would|can|can't|cannot|try|plan|study|studies|manage|manages|lead|leads|play|plays|own|owns|am|is|went|bought|met|visited|saw|moved|joined|quit|quits|gave|stopped|started|sold|lost|adopted|left|drive|drives|drove|run|runs|replaced|swapped|ditched|teach|teaches|taught|swim|swims|get|gets|goes|carry|carries|weigh|weighs|wear|wears)\s))",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """`text == source[start:end]`, but for blanks and for corrections ("not A but B", which reads as B)."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """`asks` is True where it ends in a question mark. `clauses` are in order and never empty."""

    text: str
    start: int
    end: int
    chinese: bool
    asks: bool
    clauses: tuple[Clause, ...]


def _blank(match: re.Match[str]) -> str:
    inner = match[1] or match[2] or match[3] or ""
    return BLANK * len(match[0]) if _SAYS_SOMETHING.search(inner) else match[0]


def _clause(source: str, start: int, end: int) -> Clause | None:
    while start < end and source[start] in " \t\u3000,，.。、":
        start += 1
    while end > start and source[end - 1] in " \t\u3000,，.。!！?？;；、~～…":
        end -= 1
    return Clause(source[start:end], start, end) if start < end else None


_EN_ITEM: Final = re.compile(r"(?:(?:and|or)\s+)?(?:(?:Dr|Mr|Mrs|Ms|Prof)\.\s+)?[\w'-]+(?:\s+[\w'-]+){0,2}(?:\s+and\s+[\w'-]+(?:\s+[\w'-]+){0,2})?\s*$", re.I)
_EN_OWN: Final = re.compile(
    r"(?:I|I'm|I've|you|he|she|it|it's|we|they|my|his|her|our|their|this|that|what|which|who|how|not|no|just|only|except|right|ok|okay|thanks|"
    r"please|actually|sorry|now|so|but|too|though|yes|yeah|well|by|isn't|don't|am|is|are|was|were|do|does|did|have|has|had|can|"
    r"born|named|called|also|live|lives|work|works|then|because|really|correct)\b",
    re.I,
)
_EN_INTRODUCED: Final = re.compile(r"\b(?:I'm|I am)\s+[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)?(?:,\s+\d{1,3}\b)?,\s+(?:an?|the|\d{1,3})\b")
"""Who says his name and, behind a comma, what he is."""
_EN_APPOSED: Final = re.compile(r"\b(?:my|our)\s+[\w-]+(?:(?:\s+[\w-]+)?,\s+[A-Z][\w-]+,|,?\s+(?-i:[A-Z])[\w-]+,?\s+and\s+I\s+(?:\w+\s+)?live\b)", re.I)
_EN_COUNTED: Final = re.compile(
    r"\b(?:have|has|got|own|are)\s[^,.:;]{0,30}?\b(?:kids|children|sons|daughters|brothers|sisters|siblings|boys|girls|twins|cats|dogs|pets|kittens|rabbits|horses|grandchildren|nephews|nieces|cousins|flatmates|roommates):\s+(?-i:[A-Z])", re.I)
"""Who counts those whose names stand behind a colon."""


def _cuts(text: str, chinese: bool) -> list[tuple[int, int]]:
    """Where clauses stand in a sentence's text."""
    kept_whole = [] if chinese else [m.span() for m in _EN_APPOSED.finditer(text)]
    if not chinese and ("I'm " in text or "I am " in text):
        kept_whole += [m.span() for m in _EN_INTRODUCED.finditer(text)]
    if not chinese and ": " in text:
        kept_whole += [m.span() for m in _EN_COUNTED.finditer(text)]
    pieces: list[tuple[int, int]] = []
    at = 0
    for cut in (_ZH_CUT if chinese else _EN_CUT).finditer(text):
        if not any(a <= cut.start() < b for a, b in kept_whole):
            pieces.append((at, cut.start()))
            at = cut.end() if cut.end() > cut.start() else cut.start()
    pieces.append((at, len(text)))
    if chinese and ("也" in text or "不" in text):
        pieces = [part for piece in pieces for part in _parallel(text, *piece)]
    return _joined(text, pieces, chinese)


_ALSO: Final = re.compile(
    r"(?:而且|并且|同时)?也(?:不|都不|从不|不再|很|挺|特别|最|非常)*(?P<verb>吃|喝|抽|吸|喜欢|爱|讨厌|会|碰|用|养)"
    r"|(?<![吃喝抽欢爱会用养住在玩看听能得])(?:而|但|却)?(?:不|并不|从不|从来不)(?P<denied>喜欢|吃|喝|抽|爱|会|用|养|住|在|玩|看|听)(?![不了])"
)
_VERB: Final = re.compile(r"吃|喝|抽|吸|喜欢|爱|讨厌|会|碰|用|养")


def _told(text: str, verb: str, start: int, end: int) -> int | None:
    """Where in `text[start:end]` the verb is told of something else."""
    at = text.rfind(verb, start, end)
    return at if at >= 0 and end - at - len(verb) > 0 and text[at - 1 : at] not in ("不", "没") else None


def _parallel(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """"不吃牛肉也不吃羊肉" and "喝茶不喝咖啡" say two things: it is cut before 也 where a verb of the kind stands before, and
    before a denial of the verb that stands before, with an object between."""
    pieces: list[tuple[int, int]] = []
    for also in _ALSO.finditer(text, start, end):
        denied = also["denied"]
        told = _VERB.search(text, start, also.start()) if denied is None else _told(text, denied, start, also.start())
        if told is not None and also.end() < end:
            pieces.append((start, also.start()))
            start = also.start()
    return [*pieces, (start, end)]


def _joined(text: str, pieces: list[tuple[int, int]], chinese: bool) -> list[tuple[int, int]]:
    """What belongs to the piece before it is put back: "a cat, called X" and the later items of a list."""
    kept: list[tuple[int, int]] = []
    for start, end in pieces:
        if kept and (_goes_with(text, *kept[-1], start, end) if chinese else _is_item(text, kept[-1][1], start, end)):
            kept[-1] = (kept[-1][0], end)
        else:
            kept.append((start, end))
    return kept


def _goes_with(text: str, begin: int, stop: int, start: int, end: int) -> bool:
    """Does `text[start:end]` name those, or tell the calling of the one, whom `text[begin:stop]` is about?"""
    if _ZH_JOIN.match(text, start) is not None:
        return True
    before = text[begin:stop]
    if "我是" in before:
        return _ZH_I_AM.search(before) is not None and _ZH_CALLING.match(text[:end], start) is not None
    if "有" in before or "养" in before:
        return _ZH_HAS_SOME.search(before) is not None and _ZH_NAMES.match(text[:end], start) is not None
    return False


def _is_item(text: str, before: int, start: int, end: int) -> bool:
    """Is `text[start:end]` a further item of the list that ended at `before`?"""
    piece = text[start:end].strip()
    return "," in text[before:start] and bool(piece) and not _EN_OWN.match(piece) and _EN_ITEM.match(piece) is not None


_ZH_NOT: Final = re.compile(r"^(?P<x>.{1,20}?)不是(?P<a>[^是]{1,20})$")
_ZH_BUT: Final = re.compile(r"^(?:而|应该|其实)?是(?P<b>.{1,24})$")
_EN_NOT: Final = re.compile(r"^(?P<x>.{2,30}? is|.{2,30}?'s)(?: not|n't) (?P<a>.{1,30})$|^(?P<x2>.{2,30}? is)n't (?P<a2>.{1,30})$", re.I)
_EN_BUT: Final = re.compile(r"^(?:it's|it is|but|rather|he's|she's)? ?(?P<b>[^ ].{0,30})$", re.I)


def _corrected(clauses: tuple[Clause, ...], chinese: bool) -> tuple[Clause, ...]:
    """"X is not A, it is B" reads as "X is B"; the clause still spans both. Its text is then no longer the source's."""
    kept: list[Clause] = []
    for clause in clauses:
        if kept and ("不是" in kept[-1].text if chinese else clause.text[:4].lower() in ("it's", "it i", "but ")):
            against = (_ZH_NOT if chinese else _EN_NOT).match(kept[-1].text)
            instead = (_ZH_BUT if chinese else _EN_BUT).match(clause.text)
            if against is not None and instead is not None and (chinese or clause.text.lower().startswith(("it's", "it is", "but "))):
                head = against["x"] + "是" if chinese else f"{against['x'] or against['x2']} "
                kept[-1] = Clause(head + instead["b"], kept[-1].start, clause.end)
                continue
        kept.append(clause)
    return tuple(kept)


_ZH_STANDING: Final = re.compile(r"我(?:问|提到|说到|聊到|谈到|讲到|让你|请你).*(?:都|总是|始终|一律|一定|务必|必须|永远|绝不|千万别|不要|别)")
_EN_ASKED: Final = re.compile(r"\bi (?:ask|mention|talk|bring up|want|request)\b", re.I)
_EN_ALWAYS: Final = re.compile(r"\b(?:always|never)\b", re.I)


def _is_standing(body: str, chinese: bool) -> bool:
    """Does it say what is to be done whenever something is asked? Its topic and its order are one thing."""
    if chinese:
        return _ZH_STANDING.search(body) is not None
    return _EN_ASKED.search(body) is not None and _EN_ALWAYS.search(body) is not None


def sentences(source: str) -> list[Sentence]:
    """The sentences of `source`, in order."""
    text = _CODE_BLOCK.sub(lambda m: BLANK * len(m[0]), source) if "```" in source else source
    if _QUOTE_MARK.search(text) is not None:
        text = _QUOTED.sub(_blank, text)
    found: list[Sentence] = []
    at = 0
    for stop in _SENTENCE_END.finditer(text):
        _add(found, text, at, stop.start(), stop[0])
        at = stop.end()
    _add(found, text, at, len(text), "")
    return found


def _add(found: list[Sentence], text: str, start: int, end: int, stop: str) -> None:
    body = text[start:end]
    if not body.strip():
        return
    chinese = _HAN.search(body) is not None
    pieces = [(0, len(body))] if _is_standing(body, chinese) else _cuts(body, chinese)
    clauses = tuple(
        clause
        for a, b in pieces
        if (clause := _clause(text, start + a, start + b)) is not None
    )
    if clauses:
        clauses = _corrected(clauses, chinese)
        found.append(Sentence(body, start, end, chinese, "?" in stop or "？" in stop, clauses))
