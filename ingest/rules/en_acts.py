"""English: classes of what is done, planned and happens. None refuses a value, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from .en import LISTS, any_of
from .en_values import BAD_OBJECT, EDGE, MORE_CLAUSE
from .subjects import Part

_PLAN_VERB: Final = re.compile(rf"(?:also |probably |finally |start )?{any_of('plan_verb')}\b", re.I)


def _plan_act(text: str) -> Part | None:
    text = EDGE.sub("", text)
    text = re.sub(r"^be (?=\w+ing\b)", "", text)
    if len(text.split()) < 2 and text.lower() not in ("retire", "graduate", "quit", "resign", "move", "divorce"):
        return None
    if (_PLAN_VERB.match(text) or re.match(r"\w+ing\b", text)) and not re.search(r"\x00|\byou(?:r)?\b|\bit\b|^getting (?:ready|to|there|started)\b", text, re.I) and not re.match(
            r"(?:be|have to|do (?:it|that|this)|get back|see you|try (?:it|that)|take a look|make sure|have (?:a look|no))\b(?!\s+(?:in|at|on) [A-Z])", text, re.I) and not re.match(r"(?:need|let|check|look|think|wait|miss|love|like|always|never)\b", text, re.I):
        return Part(text)
    return None


_EVENT: Final = re.compile(any_of("event") + r"(?: (?:with|at|for|in|to|about) .+)?$", re.I)


def _event(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if _EVENT.search(text) and not re.search(r"\x00", text):
        return Part(text)
    return None


def _rest(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if "\x00" in text or "[redacted" in text or re.match(r"(?:it|that|this|you|wrong|lost|tired|bored|hungry|a (?:question|problem|feeling)|used to|to know|confused|stuck|back to you|the (?:idea|feeling|point|joke)|what|how|why)\b", text, re.I) or re.search(r"\byour?\b", text, re.I):
        return None
    return Part(text)


_TRIVIAL: Final = re.compile(
    r"(?:had|made|got|found|saw|took|gave|did|read|tried|sent|opened|closed|fixed|cut|set|shared|called)\s+(?:an? |the |my |some |it)?\s*(?:(?:great|good|nice|bad|long|quick|small|few|little|lot of) )*(?:time|mistakes?|bugs?|error|fun|look|day|night|it|idea|question|thought|chance|feeling|sense|message|email|code|file|problem|issue|link|window|tab|point|news|one|typo|that|this|way|break|nap|shower|deal|response|reply|answer)(?: (?:with|in|on|at) .*)?$",
    re.I,
)
_POINTING: Final = re.compile(
    r"\w+(?: \w+)? (?:it|them|this|that|these|those|here|there|him|her|one|myself|ahead|through)\b|had (?:a |an |some |such |to )?(?:\w+ )?(?:time|blast|setback|day|conversation|chat|look|fun|feeling|dream|hard|rough|problem|shuffle)\b|had (?:been|to)\b|moved on (?:to|from|with)\b|got (?:to|through|with|a no|hurt)\b|.*\byour?\b",
    re.I,
)
_EVENTFUL: Final = re.compile(rf"(?:{'|'.join(map(re.escape, LISTS['event_verb']))})\b", re.I)
_ALONE: Final = frozenset({"retired", "graduated", "resigned", "proposed", "gave birth", "got fired", "broke up"})


def _happening(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if len(text.split()) < 2 and text.lower() not in _ALONE or _TRIVIAL.match(text) or _POINTING.match(text):
        return None
    return Part(text, "event" if _EVENTFUL.match(text) else "")


def _routine_tail(text: str) -> Part | None:
    if re.search(r"\b(?:every|each|daily|weekly|monthly|nightly|once a|twice a|times a|three times|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|on weekends|(?:at|around|by) \d+(?::\d+)?\s*(?:am|pm)?|in the mornings|in the evenings|before (?:bed|breakfast|work)|after (?:work|dinner|lunch))\b", text, re.I) and "\x00" not in text and not re.search(
            r"\b(?:you|every time|at all|every (?:single )?(?:minute|second|bit|one|thing))\b", text, re.I):
        return Part(text.strip())
    return None


def _doing_tail(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if re.search(r"\b(?:helps?|makes?|is|are|was|were|keeps?|feels?|gives?|gets?|takes?|can|will)\b", text) or text in ("a book", "a project", "a lot", "the news", "code", "some code", "an email", "the docs") or BAD_OBJECT.search(text) or re.match(r"(?:a (?:reply|response|comment|message)|to (?:you|ask)|this|that|it)\b", text, re.I) or "\x00" in text or MORE_CLAUSE.search(text):
        return None
    return Part(text)


CLEANERS: Final[Mapping[str, Callable[[str], Part | None]]] = {
    "plan_act": _plan_act, "event": _event, "rest": _rest, "happening": _happening, "routine_tail": _routine_tail, "doing_tail": _doing_tail,
}
