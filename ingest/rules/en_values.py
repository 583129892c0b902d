"""English: how a piece of a clause becomes a value, by class. None refuses it, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from .en import CAPITAL, LISTS, NAME, SETS, TABLES, any_of
from .places import is_place
from .subjects import Part

_TAIL: Final = re.compile(
    r"(?:^|[,\s]+)(?:now|anymore|any more|any longer|these days|nowadays|at the moment|right now|currently|too|as well|though|actually|already|"
    r"again|lately|so far|by the way|btw|lol|haha|you know|for now|at all|at present|after all|of course|instead|in fact|as of now|either|myself|anyway|already|for good|"
    r"thanks|for sure|to be honest|since then|yet|still|back then|at the time|in those days)$",
    re.I,
)


_TAIL_END: Final = frozenset("now anymore more longer days nowadays moment currently too well though actually already again lately far way btw lol haha know all present course instead fact either myself anyway good thanks sure honest then yet still time".split())
"""Last words of the closing adverbs."""


def tail_off(text: str, before: str) -> tuple[str, bool, bool]:
    """Text without closing adverbs; there is no mark of the perfect at an English end; whether the end leaves it open."""
    while text[text.rfind(" ") + 1 :].lower() in _TAIL_END and (found := _TAIL.search(text)) is not None:
        text = text[: found.start()]
    return text, False, False


_SEPARATOR: Final = re.compile(r",\s*(?:and|or)\s+|,\s*|\s+(?:and|or|nor)\s+|\s*&\s*", re.I)


_ATTACHED: Final = re.compile(r"\b(?:with|that|about|of|in|for|without|using|on|to|from|at|by|as|which|who)\b", re.I)


_ITEM_OF_ITS_OWN: Final = re.compile(r"(?:an?|my|our|one|two|three) (?!few\b|lot\b)", re.I)


def split_list(text: str) -> list[str]:
    """Items of an enumeration; the text itself where it is none or where one word may belong to both ("raw fish and meat")."""
    text = _AND_SO.sub("", text)
    items = [item.strip() for item in _SEPARATOR.split(text) if item and item.strip()]
    if len(items) < 2 or any(_ATTACHED.search(item) for item in items[:-1]):
        return [text]
    if len(items) == 2 and len(items[1].split()) > len(items[0].split()) and _ITEM_OF_ITS_OWN.match(items[1]) is None:
        return [text]
    return items


_AND_SO: Final = re.compile(r",?\s+(?:especially|including|particularly|such as|e\.g\.|mostly|mainly)\b.*$", re.I)
BAD_OBJECT: Final = re.compile(
    r"^(?:it|this|that|these|those|them|him|her|you|me|us|one|ones|everything|anything|something|nothing|everyone|someone|anyone|here|there|so|"
    r"what|how|when|where|who|why|if|whether|your|his|their|to|being|having|that (?:idea|one|part|way)|the idea|the way|the fact|the sound|"
    r"all of|both|most|more|not|no|more|better|less|well|a lot|very much|ideas?|not sure|a question|questions?|trouble|problems?|issues?|a problem|an issue|fun|time|sense|enough|the same)\b(?! (?:york|zealand|orleans))|\x00|\[redacted|\byou\b|\bi\b",
    re.I,
)
EDGE: Final = re.compile(r"^[\s\"“'‘]+|[\s\"”'’,.!]+$")
_LIKE_VERB: Final = re.compile(r"^(?:eating|drinking|watching|listening to|playing|reading|using|having|to (?:eat|drink|watch|listen to|play|read|use|have))\s+(?!at |out |in |with )(?=\S)", re.I)
_TO_VERB: Final = re.compile(r"^to (?=[a-z])", re.I)


def _plain(text: str, longest: int = 48) -> Part | None:
    text = EDGE.sub("", _AND_SO.sub("", text))
    text = re.sub(r"^(?:the|an?|some|any|my|our) (?=\S)", "", text, flags=re.I) if not re.match(r"The [A-Z]", text) else text
    if not text or text[0] in "*#`|-_~>" or "**" in text or '"' in text or re.match(r"(?:avoid|prefer|find|finds|feel|feels|will|would|can|cannot|can't|have|has|had|am|is|are|and|or|but|especially|including|such|like|due|do|don't|does)\b", text, re.I) or len(text) > longest or BAD_OBJECT.search(text):
        return None
    return Part(text)


MORE_CLAUSE: Final = re.compile(r"\b(?:because|which|who|when|if|but|so that|since|although|that (?:i|he|she|we|they|my)|whenever|while|than|unless|as long as)\b", re.I)


def _noun(text: str) -> Part | None:
    return None if MORE_CLAUSE.search(text) else _plain(text)


def _liking(text: str) -> Part | None:
    text = EDGE.sub("", text)
    text = _LIKE_VERB.sub("", re.sub(r"^(?:also |just |only |really |mostly )+", "", text))
    text = _TO_VERB.sub("", text)
    return _noun(re.sub(r"\s+(?:on (?:weekends|sundays|saturdays)|at night|in the (?:morning|evening|afternoon)|every (?:day|week))$", "", text, flags=re.I))


_SO_OFTEN: Final = re.compile(r" (?:sometimes|occasionally|often|regularly|from time to time|now and (?:then|again)|(?:every )?once in a while|once a week|every so often)$", re.I)


_WHY: Final = re.compile(r"(?<=\w) (?:for (?:\w+ ){0,2}reasons?|for health|due to .*|because of .*|on principle)$", re.I)


def _food(text: str) -> Part | None:
    part = _noun(_WHY.sub("", _SO_OFTEN.sub("", text)))
    if part is None or re.match(r"(?:out|at|in|with|before|after|too|so|dinner|lunch|breakfast|healthy|well|late|like|much|anything)\b", part.text, re.I) or len(part.text) > 28:
        return None
    return part


def _place(text: str) -> Part | None:
    text = EDGE.sub("", text)
    text = re.sub(r"^the (?=(?:[A-Z]))", "", text) if not re.match(r"the (?:Bay|Hague|Bronx)", text) else text
    if re.fullmatch(rf"(?:downtown |central |north(?:ern)? |south(?:ern)? |east(?:ern)? |west(?:ern)? )?{CAPITAL}[\w'.-]*(?:,? (?:{CAPITAL}[\w'.-]*|of|the|de|upon|and|la|area|city))*", text) and not re.match(
        r"(?:I|My|A|An|The|It|This|Fear|Python|Java|Rust|Go|JavaScript|TypeScript|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|June|July|August|September|October|November|December)\b", text) and _group(text) is None:
        return Part(text, "city" if is_place(text) else "place")
    return None


def _place_known(text: str) -> Part | None:
    part = _place(text)
    return part if part is not None and is_place(part.text) else None


_SITE: Final = re.compile(r"(?<=\w),? (?:based |located |headquartered |here )?in (?:the |downtown |central )?[A-Z].*$")
_CAME_OF_IT: Final = re.compile(r"(?<=\w),? (?:to|before|after|until|when|while|so|however|though) [a-z].*$")


def _bare_name(text: str) -> str:
    """A workplace without where it is, and a name without what came of the work there."""
    text = _SITE.sub("", EDGE.sub("", text))
    return _CAME_OF_IT.sub("", text) if text[:1].isupper() else text


def _workplace(text: str) -> Part | None:
    text = _bare_name(text)
    if text.lower() in ("home", "my home"):
        return Part("home", "site")
    if re.match(r"(?:progress|silence|a team|teams|groups|this|that|it|these|pairs|parallel|the (?:morning|evening|field|garden|afternoon|past|future)|my|your|his|her|their|here|there|night|nights|noon|weekends?|times|least|all|once|first|an? \w+ environment|what|which)\b", text, re.I):
        return None
    if is_place(text):
        return Part(text, "city")
    if MORE_CLAUSE.search(text) or re.search(r"\b(?:as|with|from|during)\b", text) or _group(text) is not None or len(text) > 40 or "\x00" in text:
        return None
    name = re.sub(r"^(?:the|an?) (?=\S)", "", text, flags=re.I)
    if re.search(r"\band [a-z]+(?!.*\b[A-Z])", name) is not None:
        return None
    if re.fullmatch(rf"{NAME}|{CAPITAL}[\w&.' -]+(?: (?:of|and|for) {CAPITAL}[\w&.' -]+)*", name):
        return Part(name, "company")
    if re.fullmatch(r"(?:[a-z-]+ ){0,3}(?:bakery|bank|hospital|school|university|college|startup|restaurant|cafe|café|law firm|firm|company|agency|lab|laboratory|library|museum|factory|clinic|hotel|shop|store|supermarket|bookstore|nonprofit|ngo|studio|newspaper|magazine|airline|airport|warehouse|farm|zoo|gym|pharmacy|office|charity|consultancy|bar|salon|garage|brewery|winery|nursery|council|theatre|theater|cinema|gallery|kindergarten|daycare|dental practice|gp practice|practice|call centre|call center|dealership|post office|town hall|radio station|depot|distillery|vineyard|shipyard|power plant|foundry|think tank|housing association|care home|nursing home|hospice|refinery|florist|co-op|cooperative|railway|railways|air force|fire brigade|fire service|civil service|coastguard|merchant navy|petrol station|gas station|garden centre|government|army|navy|police)", name):
        return Part(name, "company")
    if re.fullmatch(r"(?:finance|tech|technology|marketing|sales|it|healthcare|education|advertising|construction|real estate|publishing|logistics|retail|insurance|banking|hospitality|media|hr|consulting|journalism|academia|film|fashion|law|manufacturing|cybersecurity|biotech|gaming|accounting)", name, re.I):
        return Part(name, "field")
    return None


def _company(text: str) -> Part | None:
    part = _workplace(text)
    return part if part is not None and part.kind == "company" and not re.search(r"\b(?:club|team|project|band|choir|committee|gym|group|league|society|association|union|party)$", part.text, re.I) else None


def _company_name(text: str) -> Part | None:
    text = re.sub(r"^(?:the) (?=[A-Z])", "", _bare_name(text))
    if re.fullmatch(rf"{CAPITAL}[\w&.'-]*(?: (?:{CAPITAL}[\w&.'-]*|of|and|for|the|in))*", text) and not is_place(text):
        return Part(text, "company")
    part = _workplace(text)
    return part if part is not None and part.kind == "company" else None


_SCHOOL_END: Final = r"(?:University|College|School|Academy|Institute|Polytechnic|Conservatory|Kindergarten|High|Elementary|Preschool)"


def _school(text: str) -> Part | None:
    text = re.sub(r"^(?:the|an?) (?=\S)", "", EDGE.sub("", text), flags=re.I)
    if re.fullmatch(rf"(?:[A-Z][\w'.-]* )*{_SCHOOL_END}(?: of [A-Z]\w+(?: [A-Z]\w+)*)?|University of [A-Z]\w+(?: [A-Z]\w+)*|[A-Z]{{2,6}}|(?:Harvard|Stanford|Yale|Princeton|Oxford|Cambridge|Columbia|Cornell|Berkeley|Duke|Tsinghua|Peking|Fudan|Imperial|Caltech)(?: University)?", text):
        return Part(text, "school")
    return None


_GROUP: Final = re.compile(r"(?:the |our |a |an )?(?P<n>(?:project [A-Z0-9][\w-]*|[\w&/+.' -]{1,30}? (?P<end>team|squad|project|group|crew|department|division|unit|workstream|initiative)))(?: (?:now|at work))?$", re.I)
_CLUB: Final = re.compile(r"(?:the |our |a |an |my )?(?P<n>[\w&/+.' -]{1,30}? (?:club|band|choir|orchestra|league|society|association|committee|union|gym|community|board|party|book club|council|troupe|church))$", re.I)


def _group(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if re.match(r"(?:this|that|which|what|his|her|their|your|a (?:new|big|small|side|personal|school|great|different|fun|few)|my (?:side|own|personal)|side|big|new|same|the same|many|several|some|another)\b", text, re.I):
        return None
    found = _CLUB.match(text)
    if found is not None:
        return Part(found["n"], "club")
    found = _GROUP.match(text)
    if found is None or re.match(r"(?:a|an|the|my|our)$", found["n"].split()[0], re.I) or len(found["n"].split()) > 4:
        return None
    end = (found["end"] or "project").lower()
    return Part(found["n"], "project" if end in ("project", "workstream", "initiative") else "team")


_JOB: Final = re.compile(rf"(?:[\w/&,.'+-]+ ){{0,4}}{any_of('job_word')}(?: (?:of|for|in) (?:the )?[\w& ]{{2,24}})?$", re.I)


def _job(text: str) -> Part | None:
    text = re.sub(r"^(?:an?|the|our|new|now) (?=\S)", "", EDGE.sub("", text), flags=re.I)
    if _JOB.fullmatch(text) is None or MORE_CLAUSE.search(text) or len(text) > 48:
        return None
    if re.match(r"(?:good|great|bad|terrible|best|better|huge|big|fan|nice|slow|fast|early|heavy|light|only|very|really|so|such|too|my|your|his|her|same|person|kind)\b", text, re.I):
        return None
    return Part(text)


def _duty(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if re.search(r"\b(?:team|project|service|module|department|group|squad|system|platform|product|infrastructure|database|budget|website|app|pipeline|division|store|account|accounts|migration|release|releases|frontend|backend|billing|hiring|onboarding|marketing|sales|design|security|payroll|api|operations|program|programme|office|region|line|company|engineering|research|strategy|growth|communications|recruiting|partnerships|finance|support|analytics|delivery|logistics|procurement|operations)$", text, re.I) and not re.match(
        r"(?:this|that|it|them|my own)\b", text, re.I):
        return _noun(text)
    return None


def _own_name(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if not re.fullmatch(NAME, text) or text.split()[0].lower() in SETS["nobody"] or re.match(r"(?:I|Not|The|A|An|Back|Later|Crazy|Sick|Old|In)\b", text):
        return None
    return Part(text)


def _person_name(text: str) -> Part | None:
    text = re.sub(r"'s$", "", EDGE.sub("", text))
    if re.fullmatch(NAME, text) and not is_place(text) and text.split()[0].lower() not in SETS["nobody"] and not re.match(r"(?:I|Not|The|A|An|From|In)\b", text) and text not in SETS["languages"] and not re.search(
            r"(?:ish|ese|ian|ican)$", text):
        return Part(text)
    return None


_TOOL_BAD: Final = re.compile(r"^(?:it|this|that|them|these|those|to|a lot|the (?:same|word|term|phrase|bathroom|toilet|example|following|new)|my (?:time|own|brain|head|hands?)|time|more|less|your|some|you|too|all|any|public|force)\b|\b(?:you|i)\b|\x00|^(?:mon|tues|wednes|thurs|fri|satur|sun)days?$|^port \d", re.I)


def _tool(text: str) -> Part | None:
    text = re.sub(r"^(?:the|an?|my) (?=\S)", "", EDGE.sub("", text.replace("**", "").replace("`", "")), flags=re.I)
    if not text[:1].isalnum() or re.match(r"(?:following|variety|number|combination|above|below|right|wrong|previous|last|first|next)\b", text, re.I) or _TOOL_BAD.search(text) or MORE_CLAUSE.search(text) or not text or len(text.split()) > 4 or is_place(text) or text in SETS["languages"] or _group(text) is not None:
        return None
    return Part(text)


def _version(text: str) -> Part | None:
    text = EDGE.sub("", text)
    return Part(re.sub(r"^(?:version|release) ", "", text, flags=re.I)) if re.search(r"\d", text) and not re.search(r"%|percent|million|thousand|\$", text) else None


def _setting_value(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if not text or text.lower() in SETS["machine_state"] or len(text) > 40 or re.search(r"\b(?:wrong|not|broken|what|which|too|very|unknown|closed|open|busy|taken|fine|ok|available|missing|your|you)\b|^(?:in|on|at|under|behind|from|inside) |\x00|\[redacted", text, re.I):
        return None
    if not re.search(r"[\dA-Z._/-]", text) and len(text.split()) > 2:
        return None
    return Part(text)


def _illness(text: str) -> Part | None:
    text = re.sub(r"^(?:an?|the|my|some) (?=\S)", "", EDGE.sub("", text), flags=re.I)
    text = re.sub(r"(?<=\w) (?:on|in) (?:my|his|her|both|the) .*$", "", text)
    low = text.lower()
    words = low.split()
    if low.startswith(("rid of ", "over ", "through ")):
        return None
    if low in SETS["ill"] or len(words) <= 4 and any(len(end) > 3 and end in SETS["ill"] for n in (1, 2, 3) if (end := " ".join(words[n:]))):
        return Part(text)
    return None


_TONGUE: Final = {word.lower(): word for word in LISTS["languages"]}


def _tongue(text: str) -> Part | None:
    text = EDGE.sub("", re.sub(r"^(?:fluent|some|basic|a bit of|a little|native|both) ", "", EDGE.sub("", text), flags=re.I))
    return Part(_TONGUE[text.lower()]) if text.lower() in _TONGUE else None


def _study(text: str) -> Part | None:
    text = re.sub(r"\s+(?:classes|lessons)$", "", EDGE.sub("", text)) if not re.search(r"\b(?:a|an) ", text) else EDGE.sub("", text)
    text = re.sub(r"(?<=\w) with (?:an?|my|the|some|help) .*$", "", text)
    if re.match(r"(?:a (?:break|nap|walk|shower|look|bath|trip|vacation|photo|picture|bus|train|taxi|seat|chance|day|week|few|lot|test|exam|call|pill)|care|part|notes|it|that|time|medication|turns|over|off|on|the (?:bus|train|day|subway|week|lead|kids)|photos|pictures|my|his|her|about|from|that|to (?:the|my)|up|down|for|vitamins?|antibiotics|aspirin|more)\b", text, re.I):
        return None
    if re.match(r"an? ", text, re.I) and not re.search(r"\b(?:class|course|workshop|lesson)s?$", text, re.I):
        return None
    return _noun(re.sub(r"^(?:how )?to ", "", text))


def _aspect(text: str) -> Part | None:
    text = re.sub(r" (?:there|here|so far)$", "", text.strip().lower())
    if len(text.split()) > 3 or re.search(r"\b(?:part|thing|one|way|person|of|moment|memory|is|are)\b", text):
        return None
    return Part(TABLES.maps["aspect"].get(text, text.replace(" ", "_")))


def _mapped(name: str) -> Callable[[str], Part | None]:
    table = TABLES.maps[name]
    return lambda text: Part(table.get(text.lower().removeprefix("got ").removeprefix("happily "), text.lower()))


def _detail(text: str) -> Part | None:
    text = text.strip().lower()
    if re.search(r"\b(?:id|number|code|plate|badge|username|handle|seat|room|gate|phone|laptop|computer|car|bike|camera|tablet|watch|size|account|address|zip code|postcode|blood type|shoe size|license plate|locker|desk|apartment|extension|keyboard|monitor|gpu|router|timezone|time zone|ticket|reservation|confirmation|order|tracking|table|bus|flight|platform|deadline)\b(?: name)?$", text) and not re.search(
            r"\b(?:password|pin|secret|token|key|favou?rite|birthday|name|email|phone number)\b", text):
        return Part(text)
    return None


def _code_like(text: str) -> Part | None:
    text = EDGE.sub("", text)
    if re.search(r"\d|[A-Z]", text) and len(text.split()) <= 5 and not re.search(r"\b(?:broken|dead|not|very|too|so|what|in|at|from|old|new|better|slow|fast|stolen|gone|wrong|years?|running)\b|\[redacted|\x00", text, re.I):
        return Part(text)
    return None


_DEPARTMENT: Final = re.compile(r"(?:the )?(?P<n>finance|hr|human resources|marketing|sales|engineering|legal|product|design|support|customer support|operations|ops|it|r&d|qa|research|accounting|security|data|infra|infrastructure|platform|growth|mobile|backend|frontend)$", re.I)


def _department(text: str) -> Part | None:
    found = _DEPARTMENT.match(EDGE.sub("", text))
    return Part(found["n"], "team") if found is not None else _group(text)


_NOT_INTRODUCED: Final = re.compile(r"(?:ish|ese|ican|adian|alian|ussian|ndian|ristian|ynesian|rmenian|ranian|ptian|gian|vian|ssian|eek|ench|Dutch|German|Jewish|Muslim|Catholic|Buddhist|Hindu|Korean|Mexican|American|African|European|Asian|Latino|Latina|Aries|Taurus|Gemini|Cancer|Leo|Virgo|Libra|Scorpio|Sagittarius|Capricorn|Aquarius|Pisces|INTJ|INFP|INFJ|INTP|ENFP|ENTP|ENFJ|ENTJ|ISTJ|ISFJ|ISTP|ISFP|OK|Okay|Fine|Sorry|Good|Great|Done|Here|Back|Ready|Sure|Sick|Tired|Busy)$")


def _introduced(text: str) -> Part | None:
    part = _person_name(text)
    return None if part is None or _NOT_INTRODUCED.search(part.text) or _job(part.text) is not None or part.text.isupper() else part


def _no_article(text: str) -> Part | None:
    return Part(re.sub(r"^an? ", "", text.strip(), flags=re.I))


def _came(text: str) -> Part | None:
    return Part(TABLES.maps["came"][text.lower()])


CLEANERS: Final[Mapping[str, Callable[[str], Part | None]]] = {
    "noun": _noun, "came": _came, "liking": _liking, "food": _food, "place": _place, "place_name": _place, "known_place": _place_known,
    "workplace": _workplace, "company": _company, "company_name": _company_name, "school": _school, "group": _group, "job": _job,
    "duty": _duty, "own_name": _own_name, "person_name": _person_name, "tool": _tool, "version": _version,
    "setting_value": _setting_value, "illness": _illness, "tongue": _tongue, "study": _study, "aspect": _aspect,
    "setting": _mapped("setting"), "marital": _mapped("marital"), "diet": _mapped("diet"), "detail": _detail, "code_like": _code_like,
    "no_article": _no_article, "department": _department, "introduced": _introduced, "smoking": lambda text: Part("smoking" if text.lower().startswith("smok") else "vaping"),
}
