"""What a question asks for: about whom, as of when, and in which way. By rules; `why` names the one that decided.

The intent says what may answer:

- `current`: what holds at the asked point (the default);
- `history`: what held before; superseded and ended claims may stand beside current ones;
- `when`, `past`: happenings and their times; what no longer holds is marked and ranks lower;
- `plan`: what has not begun may answer too;
- `list`: many items that hold;
- `open`: nothing is asked, the words are a statement: what no longer holds is marked and ranks lower.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Final, Literal

from taishi.ingest.instants import BEGINNING, DAY, FOREVER, to_datetime
from taishi.ingest.normal import normalise
from taishi.ingest.timewords import read_times

from .asking import Asking, asking
from .naming import named_in_capitals, named_person, named_system
from .passages import is_dialogue, is_passage, length

QUESTION: Final = 400
"""Characters of a question in which times are looked for."""
SURE: Final = 0.5
Intent = Literal["current", "history", "when", "past", "plan", "list", "open"]

SHOWS_PAST: Final = frozenset({"history", "when", "past", "open"})
"""Intents for which what no longer holds may be returned, marked."""

_FIRST_PERSON: Final = re.compile(r"[我咱俺]|\b(?:i|me|my|mine|myself|we|us|our|ours)\b")
_USER: Final = re.compile(
    r"(?:该|此|本)?用户(?!名|数|群|量|体验|反馈|手册|协议|界面)"
    r"|\bthe user\b(?! (?:interface|name|guide|experience|manual))|\buser(?=['’]s\b)"
    r"|^user (?=(?:is|has|does|do|likes?|loves?|prefers?|lives?|works?|wants?|can|profile|info\w*|details|bio\w*"
    r"|background|location|city|address|home|job|occupation|profession|career|role|employer|company|age|birth\w*|gender"
    r"|hobb\w+|interests?|pets?|diet\w*|food|allerg\w+|prefer\w+|contacts?|phone|e-?mail|languages?|family|partner"
    r"|spouse|wife|husband|children|kids|plans?|travel|car|education|nationality|health|medical|goals?|habits?)\b)"
)
_NOW: Final = re.compile(
    r"现在|目前|当前|如今|眼下|现今|最新"
    r"|\b(?:now|current(?:ly)?|nowadays|at the moment|these days|at present|present(?= \w)|latest|newest|today)\b"
)
_POINTING: Final = re.compile(
    r"那[天时年月]|当[天时年]|那会儿|\b(?:that day|at the time|at that time|as of|back then)\b"
)
_HISTORY: Final = re.compile(
    r"(?<![\d天周月年时点号日分秒前饭睡出])(?:之前|以前)(?!先|要|得)|从前|原来|原先|曾经|曾(?=[在用住是叫])|过去(?!了)|先前|早先|起初|最初|一开始"
    r"|历史|换过|变过|改过|变更|沿革|上一[个任版]|前一[个任版]"
    r"|\b(?:used? to(?= \w+)|previous(?:ly)?|before|former(?:ly)?|in the past|originally|historically|history|earlier"
    r"|prior)\b"
    r"|\bchanged\b|\bno longer\b"
)
_WHEN: Final = re.compile(
    r"什么时候|啥时候|何时|什么时间|(?<!持续)时间(?:是|定)?在?(?:什么|啥|哪|几)|哪[天年月]|哪一[天年]|几[号点月](?![人个种次])|星期几|周几|多久"
    r"|\b(?:when (?:did|was|were|is|are|will|do|does|have|has|had)|what (?:time|date|day|year|month))\b"
    r"|\b(?:how long|since when)\b"
)
_LIST: Final = re.compile(
    r"哪些|所有|全部|列出|列举|清单|有几[个种只]|多少[个种次只]|一共"
    r"|\b(?:list|all (?:the|my|of)|how many|which \w+s|what are (?:my|the))\b"
)
_PLAN: Final = re.compile(
    r"打算|计划|准备(?!了)|将要|即将|要去|会去|想去|接下来|未来|(?:明|后)[天年]|下(?:周|个?月|次|星期)"
    r"|\b(?:plan(?:s|ning)?|going to|will|upcoming|next|intend|tomorrow|future)\b"
)
_PAST: Final = re.compile(
    r"[^\W\d_a-z不通经超难]过(?![敏去程年节期来于分])|了什么|了哪"
    r"|\b(?:did|have .{0,20}ever|has .{0,20}ever|was|were|had)\b"
)
_YEAR: Final = re.compile(r"\b(?:from|between|in|during|since|until|by|to) (?:\w+ )?((?:1[5-9]|20)\d\d)\b")
_STATE_ASKED: Final = re.compile(
    r"是什么|是多少|是谁|是哪|在哪|多少|叫什么|哪个|吗|什么版本"
    r"|\b(?:live|lived|work|worked|was|were|is|are|as of|had|version|used?)\b"
)

_FRAME: Final = (_USER, _NOW, _POINTING, _HISTORY, _WHEN, _PLAN)
"""Say of whom and of which time something is asked, and not what."""

SENTENCE: Final = 4
"""Words (two Han characters count as one) of the shortest statement."""
_ASKING: Final = re.compile(
    r"[?？][^.!。！?？]*$|[吗呢么][。！.!\s]*$"
    r"|什么|甚么|啥|谁|哪|怎么|怎样|如何|多少|几[个岁号点月次]|多大|多久|是否|是不是|有没有|能不能|会不会|为何|何时|列出|列举|告诉我|请问"
    r"|^(?:who|whom|whose|what|which|when|where|why|how)\b|^(?:tell|list|show|give|remind|find|search|recall|name)\b"
    r"|^(?:is|are|am|was|were|do|does|did|have|has|had|can|could|should|would|will|may)\b"
)
_ADVICE: Final = re.compile(
    r"推荐|建议|出个主意|怎么办|适合我|帮我(?:想|挑|选|规划|安排)"
    r"|(?:有什么|有哪些)(?:[^，。]{0,6}的)?(?:好|值得|适合)|值得(?:去|看|买|试|一)"
    r"|(?:怎么|怎样|如何)(?:才能|提高|提升|改善|更)"
    r"|\b(?:recommend\w*|suggest\w*|advice|advise|tips|ideas|options?|should i|i should|must-\w+|how (?:can|could) i"
    r"|what are some|what(?: is|'s|’s| are) (?:the |a |my )?(?:best|good)(?! friend)"
    r"|worth (?:a visit|\w+ing)|help me (?:plan|find|choose|with))\b"
)
_POLAR: Final = re.compile(
    r"^(?:is|are|am|was|were|do|does|did|have|has|had)\b|(?:吗|(?<![什甚怎多这那])么)[。！.!?？\s]*$|是否|是不是|有没有|会不会"
)
_STOPPED: Final = re.compile(r"[.!。！…]\s*$|[。！]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`subject` is whose words "I" stands for. `span` is the time that the words name, [from, to). `frame` are words
    that say how is asked (before, now, in March), `telling` those that say which one is meant (sister, not brother):
    the first need not stand in an answer, the second must.

    `fence_words` are those that may name whom or what it is about: none in a passage. `called` are names, known or
    not, of others of whom alone it asks.
    `valid_at` is the point of valid time that the words ask about; None: the request's own, or now. `pointed`: the
    request has one. `recounts`: how something went over time is to be told (`recounting`).
    """

    text: str
    intent: Intent
    why: str
    subject: str
    first_person: bool
    asking: Asking
    frame: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    valid_at: int | None = None
    fence_words: str = ""
    called: tuple[str, ...] = ()
    pointed: bool = False
    recounts: bool = False

    def as_recounting(self) -> Question:
        """What was said of it over time is asked: no state of things, and no slot."""
        return replace(self, intent="history", why="recounts", asking=asking(""), recounts=True)

    @property
    def advice(self) -> bool:
        """No fact is asked for: whatever is known of the one who asks may serve."""
        return _ADVICE.search(self.text) is not None

    @property
    def dialogue(self) -> bool:
        """The words of several people, who ask each other."""
        return self.why == "dialogue"

    @property
    def polar(self) -> bool:
        """It is answered by yes or no."""
        return _POLAR.search(self.text) is not None

    @property
    def shows_past(self) -> bool:
        return self.intent in SHOWS_PAST

    @property
    def period(self) -> tuple[int, int] | None:
        """More than a day that the question is about: what held in a part of it may answer, too."""
        return self.span if self.valid_at is not None and self.span and self.span[1] - self.span[0] > DAY else None

    @property
    def asks(self) -> Mapping[str, tuple[str, ...]]:
        """Predicates with the words that ask for them."""
        return self.asking.asks

    @property
    def asks_state(self) -> bool:
        """Nothing is asked for but which version, setting or state a system has. Whose state is asked must be named:
        people and plans have one too."""
        states = (p in ("version", "status") or p.startswith("config.") for p in self.asks)
        if self.intent != "current" or not self.asks or not all(states):
            return False
        return "status" not in self.asks or named_system(self.text) is not None

    @property
    def telling(self) -> tuple[str, ...]:
        named = named_person(self.text)
        return self.asking.telling if named is None else (*self.asking.telling, named)

    def asks_for(self, predicate: str) -> tuple[str, ...]:
        """The words by which the question asks for this predicate; none if it does not."""
        return self.asking.for_predicate(predicate)


def understand(
    text: str,
    *,
    now: int,
    zone: tzinfo,
    asker: str | None = None,
    valid_at_given: bool = False,
) -> Question:
    """`zone` is the namespace's. `asker` is the claim subject of the one who asks or is asked for, where he goes by a
    name: "I" and "the user" are both he."""
    words = normalise(text)
    first = of_asker(words)
    subject = asker if asker is not None and first else "user"
    if is_passage(text):
        return Question(
            text=words,
            intent="current" if valid_at_given else "open",
            why="dialogue" if is_dialogue(text) else "passage",
            subject=subject,
            first_person=False,
            asking=asking(""),
            fence_words="",
            pointed=valid_at_given,
        )
    span, span_words = _named_time(text, now=now, zone=zone)
    intent, why = _intent(words, span=span, now=now, valid_at_given=valid_at_given)
    valid_at = None
    if span is not None and intent in ("current", "plan") and not valid_at_given:
        valid_at = max(now, span[0]) if intent == "plan" or span[0] <= now < span[1] else _point_in(span)
    frame = [m[0].strip() for pattern in _FRAME for m in pattern.finditer(words)]
    if span is not None:
        frame.append(normalise(span_words))
    return Question(
        text=words,
        intent=intent,
        why=why,
        subject=subject,
        first_person=first,
        asking=asking(words),
        frame=tuple(dict.fromkeys(frame)),
        span=span,
        valid_at=valid_at,
        fence_words=words,
        called=() if first else named_in_capitals(text[:QUESTION]),
        pointed=valid_at_given,
    )


def of_asker(words: str) -> bool:
    """Whether (normalised) words speak of the one who asks, in the first person or as the user."""
    return in_own_name(words) or _USER.search(words) is not None


def in_own_name(words: str) -> bool:
    """Whether (normalised) words are in the first person."""
    return _FIRST_PERSON.search(words) is not None


_OF_USER: Final = (
    (re.compile(r"\bdoes the user\b(?!['’])", re.I), "do I"),
    (re.compile(r"\bis the user\b(?!['’])", re.I), "am I"),
    (re.compile(r"\bhas the user\b(?!['’])", re.I), "have I"),
    (re.compile(r"\b(did|was|can|will|should|would) the user\b(?!['’])", re.I), r"\1 I"),
)


def in_first_person(query: str) -> str:
    """A whole question of the user as he would ask it himself: so he spoke, and so it is nearest to what he said."""
    for pattern, own in _OF_USER:
        query = pattern.sub(own, query)
    return query


def states(words: str) -> bool:
    """Whether the (normalised) words say something and ask nothing: whole sentences, the last of which is no question.
    A few bare words ("coffee maker model") are taken for a question."""
    if _ASKING.search(words) or not _FIRST_PERSON.search(words) and not _STOPPED.search(words):
        return False
    return length(words) >= SENTENCE


def _named_time(text: str, *, now: int, zone: tzinfo) -> tuple[tuple[int, int] | None, str]:
    """The first time that the question names with some certainty, and the words that name it."""
    for found in read_times(text[:QUESTION], said_at=to_datetime(now, zone)):
        if found.kind in ("when", "during", "until", "since") and found.confidence >= SURE:
            return (found.begins, found.ends), text[found.start : found.end]
    return None, ""


def _point_in(span: tuple[int, int]) -> int:
    """A day is asked about as it ended, a longer time as it was in the middle."""
    begin, end = max(span[0], BEGINNING), min(span[1], FOREVER)
    return end - 1 if end - begin <= DAY or span[0] <= BEGINNING or span[1] >= FOREVER else (begin + end) // 2


def _intent(words: str, *, span: tuple[int, int] | None, now: int, valid_at_given: bool) -> tuple[Intent, str]:
    if states(words) and not valid_at_given:
        return "open", "statement"
    said_now = _NOW.search(words)
    history = _HISTORY.search(words)
    if history and not (said_now and not re.search(r"[和与]|\band\b", words)):
        return "history", f"history:{history[0].strip()}"
    if valid_at_given:
        return "current", "valid_at"
    if when := _WHEN.search(words):
        return "when", f"when:{when[0].strip()}"
    if span is not None and span[1] - span[0] < 400 * DAY and span[1] <= now:
        return ("current", "as_of") if _STATE_ASKED.search(words) else ("past", "span")
    if span is not None and span[0] > now:
        return "plan", "span"
    if said_now:
        return "current", f"now:{said_now[0].strip()}"
    if listed := _LIST.search(words):
        return "list", f"list:{listed[0].strip()}"
    if plan := _PLAN.search(words):
        return "plan", f"plan:{plan[0].strip()}"
    if past := _PAST.search(words):
        return "past", f"past:{past[0].strip()}"
    if any(int(year) < to_datetime(now, UTC).year for year in _YEAR.findall(words)):
        return "past", "year"
    return "current", "default"
