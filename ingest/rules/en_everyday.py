"""English: classes of values that only the rows of `everyday_en.toml` use. None refuses a value, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from .en import NAME, SETS, TABLES, any_of
from .en_values import CLEANERS as _GENERAL
from .subjects import Part

_MOMENT: Final = re.compile(rf"\b{any_of('month_or_day')}\b|\b\d{{1,2}}(?::\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock)|\bnext (?:week|month|year)|\bend of|\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)\b|\d{{1,2}}[/.]\d{{1,2}}|\b\d{{1,2}}:\d\d\b", re.I)
_NO_MOMENT: Final = re.compile(r"\b(?:room|floor|building|office|hall|channel|link|zoom|what|when|which|your?)\b|\x00|\[redacted", re.I)
_NO_FEAR: Final = re.compile(r"^(?:what|the (?:answer|result|consequences|outcome|future)|losing|missing|breaking|asking|being wrong|making|that|this|it|getting)\b", re.I)
_NOT_COLLECTED: Final = re.compile(r"\b(?:data|feedback|information|info|evidence|metrics|logs|requirements|samples|dust|unemployment|benefits|payments?|taxes|rent|debts?|signatures|my|the|your|his|her|them|it|all|more|thoughts|kids|children|children)\b", re.I)
_STREET: Final = re.compile(r"\d.*[A-Za-z]{3}|[A-Za-z]{3}.*\d")
_NOT_STREET: Final = re.compile(r"@|https?:|\b\d{1,3}\.\d{1,3}\.|\b(?:wrong|not|what|your?|unknown|private|public|changed)\b|\[redacted|\x00", re.I)
_NO_ACT: Final = re.compile(r"\b(?:it|that|this|them|you|him|her|there|anything|so|know|care|why|what|how)\b|\x00|\[redacted", re.I)


def _feared(text: str) -> Part | None:
    return None if _NO_FEAR.search(text) else _GENERAL["noun"](text)


def _doing_less(text: str) -> Part | None:
    return Part(text.strip()) if not _NO_ACT.search(text) else None


def _gave_up(text: str) -> Part | None:
    text = re.sub(r"\s+(?:last|this) (?:week|month|year|summer|winter|spring|autumn|fall)$|\s+(?:because|since|when|after) .*$", "", text.strip(), flags=re.I)
    return None if _NO_ACT.search(text) or text.lower() in ("going", "playing", "taking", "practicing", "practising", "collecting", "wearing", "coaching", "subscribing to") else Part(text, _base(text))


_DAILY: Final = re.compile(r",?\s*\b(?:(?:almost |nearly )?every (?:day|morning|evening|night|single day)|daily|each (?:day|morning|evening|night)|in the (?:mornings?|evenings?)|before (?:work|breakfast|bed)|after (?:work|dinner|lunch))\b.*$", re.I)
_DRUNK: Final = re.compile(r"(?:drinks?|smokes?) (?:(?:an?|one|two|three|four|five|\d+|some|a lot of|too much) )?(?:(?:cups?|glass(?:es)?|cans?|bottles?|mugs?) of )?(?P<what>[a-z]+(?: [a-z]+)?)$", re.I)
_DOUBLED: Final = re.compile(r"([bdgmnpt])\1$")
_SHORT: Final = {"cycling": "cycle", "biking": "bike", "skating": "skate", "dancing": "dance", "hiking": "hike", "taking": "take", "practicing": "practice", "practising": "practise", "baking": "bake", "exercising": "exercise", "journaling": "journal", "gaming": "game", "driving": "drive", "commuting": "commute"}


def _base(act: str) -> str:
    """"Going to the gym" and "goes to the gym" are one act: "go to the gym"."""
    verb, space, rest = act.strip().lower().partition(" ")
    if verb.endswith("ing") and len(verb) > 4:
        verb = _SHORT.get(verb) or _DOUBLED.sub(r"\1", verb[:-3])
    elif verb in ("goes", "does"):
        verb = verb[:-2]
    elif verb.endswith("s") and not verb.endswith("ss"):
        verb = verb[:-1]
    return verb + space + rest


def _daily(text: str) -> Part | None:
    """What is done daily also says what the doing is: the act that "no longer" would end."""
    bare, times = _DAILY.subn("", text.strip())
    if not times or not bare or len(bare.split()) > 5:
        return Part(text.strip())
    drunk = _DRUNK.match(bare)
    return Part(text.strip(), drunk["what"].lower() if drunk is not None else _base(bare))


_HAD: Final = re.compile(r"(?:have|has) (?!(?:an? |my |some )?(?:breakfast|lunch|dinner|brunch|supper|coffee|tea|beer|wine|dessert|snacks?|seconds|meetings?|lie-in)\b)", re.I)
"""What one has and does not do."""


def _act(text: str) -> Part | None:
    """What is drunk is a habit's value by itself, as `_daily` says it."""
    if _HAD.match(text.strip()):
        return None
    drunk = _DRUNK.match(text.strip())
    return Part(text.strip(), _base(text) if drunk is None else drunk["what"].lower())


def _given_up(text: str) -> Part | None:
    return Part(re.sub(r"^eating | (?:completely|entirely|for good|altogether|for lent)$", "", text.strip(), flags=re.I))


def _collected(text: str) -> Part | None:
    return None if _NOT_COLLECTED.search(text) or len(text.split()) > 4 else _GENERAL["noun"](text)


def _business(text: str) -> Part | None:
    text = text.strip()
    return None if re.match(r"(?:same|whole|best|only|next|new version|school|local|test|nearby)\b", text, re.I) and " " not in text or re.search(r"\b(?:app|test|script|online)\b", text, re.I) else Part(text)


def _subject(text: str) -> Part | None:
    return None if re.match(r"(?:all|hard|abroad|together|the|a|an|my|it|late|there|for|in|about|up|that|this|something|every|with|books?)\b", text, re.I) else Part(text)


def _campus(text: str) -> Part | None:
    """A school by its own name or by its town's."""
    text = text.strip(" .,")
    return Part(text) if re.fullmatch(NAME, text) else _GENERAL["company_name"](text)


def _moment(text: str) -> Part | None:
    text = text.strip(" ,.")
    if not _MOMENT.search(text) or _NO_MOMENT.search(text) or len(text) > 40:
        return None
    return Part(re.sub(r"^(?:on|in|to) ", "", text, flags=re.I))


def _address(text: str) -> Part | None:
    text = text.strip(" ,.\"'")
    return Part(text) if _STREET.search(text) and not _NOT_STREET.search(text) and len(text) <= 60 and not re.fullmatch(r"[\w.-]+", text) else None


def _durable(text: str) -> Part | None:
    return Part(re.sub(r"^(?:new|used|second-hand|secondhand) ", "", text.strip(), flags=re.I))


def _mapped(name: str) -> Callable[[str], Part | None]:
    table = TABLES.maps[name]
    return lambda text: Part(table.get(text.lower(), text.lower()))


_CALLING: Final = re.compile(r"(?:[a-z-]+ ){0,2}[a-z]+(?:ologists?|ographer|ician|ineer|urist|emist|wright|alist|iatrist)", re.I)


def _calling(text: str) -> Part | None:
    """A job where the words say who one is, and therefore one by its mere ending too."""
    found = _GENERAL["job"](text)
    return Part(text.strip()) if found is None and _CALLING.fullmatch(text.strip()) is not None else found


_ONE_OF: Final = {"children": "child", "puppies": "puppy", "ponies": "pony", "mice": "mouse", "siblings": "sibling", "bunnies": "bunny"}


def _one_of(text: str) -> Part | None:
    """What one of several is: each of two cats is a cat."""
    low = text.strip().lower()
    return Part(_ONE_OF.get(low) or (low[:-1] if low.endswith("s") and not low.endswith("ss") else low))


_NO_THING: Final = re.compile(
    r"\b(?:ideas?|stor(?:y|ies)|vision|dreams?|plans?|shares?|stakes?|stocks?|rights|soul|games?|match|calls?|favou?rs?|e-?mails?|messages?|gestures?|compliments?|"
    r"money|cash|time|weight|hope|jobs?|work|energy|patience|appetite|strength|access|choice|chance|option|need|problems?|issues?|questions?|feelings?|pain|symptoms?|"
    r"fever|cold|cough|habit|urge|feeling|permission|information|details?|answers?|number|address|link|files?|data|code|contact|hours?|days?|weeks?|years?|minutes?|"
    r"meetings?|lessons?|class(?:es)?|right|excuse|faith|trust|interest|desire|space|room|budget|deadline|votes?|notice|word|best|heart|opinion|advice|point|speech|talk|"
    r"presentation|regards|consent|seat|blood|all|thing|things|stuff|strategy|feature|reports?|papers?|documents?|homework|ball|ending|age|secrets?|name|logic|project|support|lead|reins|baton|mind|temper|voice|way|fear|allergy|headaches?|migraines?|"
    r"tickets? available|luck|clue|reason|proof|control|power|attention|love|opportunity|friends?|family|parents|kids|children|boyfriend|girlfriend|husband|wife|partner|lunch|dinner|breakfast|food|snacks?|sandwich|bugs?|errors?|warnings?|ones?)\b|^\d|\x00|\[redacted",
    re.I,
)
_AND_THEN: Final = re.compile(r"(?<=\w),? (?:and|then|but) (?:then )?(?:got|bought|went|took|put|am|is|will|have|had|[a-z]+ed)\b.*$", re.I)
_LODGING: Final = re.compile(r"\b(?:place|house|flat|apartment|hotel|hostel|airbnb|parents|mum|mom|dad|friends?|sister|brother|aunt|uncle|cousin|cottage|cabin|bnb|motel|inn|sofa|couch|in-laws|folks|grandparents|home)(?:'s?)?(?: place| house| flat| apartment)?$", re.I)
_NO_DECISION: Final = re.compile(r"(?:do|use|it|that|this|say|answer|respond|reply|include|be|worry|bother|comment)\b", re.I)
_TIMES: Final = re.compile(r"\d|\b(?:midnight|noon|hour|hourly|day|daily|night|nightly|week|weekly|month|monthly|morning|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|minutes?)\b", re.I)


def _thing(text: str) -> Part | None:
    """What can be had, sold and lost; no idea, no time and nobody."""
    text = _AND_THEN.sub("", text)
    return None if _NO_THING.search(text) or text.lower() in SETS["relation"] or len(text.split()) > 5 else _GENERAL["noun"](text)


def _given_thing(text: str) -> Part | None:
    return None if text.lower().endswith(("present", "gift", "card", "letter", "hand", "keys", "key", "baby")) else _thing(text)


def _lodging(text: str) -> Part | None:
    """One stays at a place or with people; a name alone is a company as well."""
    return Part(text.strip()) if _LODGING.search(text.strip()) else None


def _decided(text: str) -> Part | None:
    return None if _NO_DECISION.match(text) or _NO_ACT.search(text) else Part(re.sub(r"\s+(?:after all|this time|because .*)$", "", text.strip(), flags=re.I))


_CLOCK: Final = re.compile(r"at \d{1,2}(?::\d\d)?(?: sharp)?", re.I)
_VAGUE_MOMENT: Final = re.compile(r"\b(?:track|time|hold|fire|fun|good|great|hard|the (?:roof|table|agenda|board|house|floor|wall|calendar|way|list)|risk|stake|me|us|it|course|best|all|order|person|progress|street|road|avenue|page|platform|early|late|soon)\b|\bmay (?:be|not)\b", re.I)


def _exact_moment(text: str) -> Part | None:
    """A day or an hour, and nothing else."""
    if _CLOCK.fullmatch(text.strip()) is not None:
        return Part(text.strip())
    return None if _VAGUE_MOMENT.search(text) or len(text.split()) > 7 else _moment(re.sub(r"^(?:on|from) ", "", text.strip(), flags=re.I))


def _taught_at(text: str) -> Part | None:
    part = _GENERAL["workplace"](text)
    return part if part is not None and part.kind == "company" else None


def _schedule(text: str) -> Part | None:
    return Part(text.strip()) if _TIMES.search(text) and not re.search(r"\b(?:on (?:linux|windows|kubernetes|port|aws|the)\b|fails?|failed|errors?)", text, re.I) else None


CLEANERS: Final[Mapping[str, Callable[[str], Part | None]]] = {
    "one_animal": _one_of, "calling": _calling, "one_relation": _one_of,
    "feared": _feared, "doing_less": _doing_less, "gave_up": _gave_up, "given_up": _given_up, "collected": _collected, "business": _business,
    "daily": _daily, "act": _act, "subject": _subject, "campus": _campus, "moment": _moment, "address": _address, "durable": _durable, "instrument": Part, "parted": _mapped("parted"),
    "died": _mapped("died"), "handed": _mapped("handed"), "thing": _thing, "given_thing": _given_thing, "lodging": _lodging, "decided": _decided,
    "schedule": _schedule, "exact_moment": _exact_moment, "made_so": _mapped("made_so"), "taught_at": _taught_at, "given": lambda text: Part(text.strip()), "event_said": lambda text: Part(text.strip(), "event"),
}
