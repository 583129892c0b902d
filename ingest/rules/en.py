"""English: who stands before a trigger, with which adverbs.

What cannot be read without rest is None, and its row claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from .frames import Tables, load_tables
from .subjects import Left, Subject, Voice
from .systems import LABEL

TABLES: Final[Tables] = load_tables("words_en.toml", "people_en.toml", "systems_en.toml", "changes_en.toml", "life_en.toml", "everyday_en.toml", "frames_en.toml")
LISTS: Final = TABLES.lists
SETS: Final = {name: frozenset(words) for name, words in LISTS.items()}
_ADVERBS: Final[Mapping[str, str]] = {
    word: name for name in ("plain", "perfect", "past", "temporary", "plan", "negative") for word in LISTS[name]
} | {"also": "also", "too": "also"}


def any_of(name: str) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, LISTS[name]), key=len, reverse=True)) + ")"


CAPITAL: Final = "[A-ZÀ-ÖØ-ÞČĐĞİŁŃŐŘŚŞŠŤŰŹŻŽ]"
"""Names begin with one, in whatever European tongue."""
NAME: Final = rf"{CAPITAL}[\w'.-]*(?: (?:{CAPITAL}[\w'.-]*|von|van|de|da|la|al))*"
_RELATIVE: Final = re.compile(rf"(?i:(?P<own>my|our) (?:(?:dear|lovely|beautiful|old|new|elderly|late) )?(?P<rel>{any_of('relation')}))(?:'s)?,?(?: (?P<name>{NAME}),?)?$")
_THEIR_RELATIVE: Final = re.compile(rf"(?P<who>{NAME})'s? (?P<rel>{any_of('relation')})$")
_PERSON: Final = re.compile(rf"(?:(?P<title>Mr\.?|Mrs\.?|Ms\.?|Dr\.?|Prof\.?|Professor) )?{NAME}(?: (?:from|in|of) (?:the )?[A-Za-z][\w ]{{1,24}})?$")
_ORG: Final = re.compile(rf"(?:my|our)(?: [a-z][\w-]*){{0,2}} {any_of('orgs')}$", re.I)
_THING: Final = re.compile(r"(?:(?:the|our|my|project|this) )?[\w'./ +#-]{2,40}$", re.I)
_NOT_A_THING: Final = re.compile(
    r"^(?:new|old|current|latest|same|other|next|own|first|last|i|you|he|she|it|they|we|this|that|these|those|there|here|who|what|which|everything|something|nothing|someone|people|"
    r"build|task|test|tests|job|deploy|deployment|loading|upload|download|it all|all|the task|the build|the job|the test|the tests|the work|my work|work)$|"
    r"\b(?:i|you|he|she|they|we|that|which|who|said|says|think|thinks|know|hope|if|when|because|is|are|was|were|do|does|did|would|could|should|can|will)\b|^(?:and|but|or|so)\b",
    re.I,
)
_ARTICLE: Final = re.compile(r"^(?:the|our|an?|this)\s+(?=\S)", re.I)


_NO_PERSON: Final = re.compile(r"(?:Project|Team|The)\b")
_NO_SUBJECT: Final = re.compile(
    r"(?:this|that|these|those|\w\.|when|whenever|while|once|until|since|after|before|however|therefore|thus|moreover|although|though|because|as|if|unless|whether|whichever|"
    r"whatever|every|each|any|no|all|most|many|some|few|several|both|either|neither|your|his|her|their|its) "
)


_OWN_ELDERS: Final = frozenset({"mum", "mom", "mommy", "mummy", "dad", "daddy", "grandma", "grandpa", "granny"})
"""Whom one calls so is one's own, without "my"."""


def _subject(text: str, voice: Voice) -> Subject | None:
    """The subject that `text` is, whole."""
    text = text.strip(" ,")
    low = text.lower()
    if voice.about_user and low in ("the user", "user", "this user", "the user's", "user's"):
        return Subject(kind="self", name="user")
    if not voice.first_person and re.match(r"(?:i|we|my|our|me)\b", low):
        return None
    if voice.first_person and (elder := low.removesuffix("'s")) in _OWN_ELDERS:
        own = f"my {elder}" if voice.owner == "user" else f"{voice.owner}'s {elder}"
        return Subject(kind="relative", name=own, relation=elder)
    if low in SETS["self"]:
        return Subject(kind="self", name=voice.owner)
    if low in SETS["nobody"] or not text or len(text) < 2 or _NO_SUBJECT.match(low):
        return None
    found = _RELATIVE.match(text)
    if found is not None:
        relation, named = found["rel"].lower(), found["name"]
        if named is not None and named.endswith("'s"):
            named = named[:-2]
        own = f"my {relation}" if voice.owner == "user" else f"{voice.owner}'s {relation}"
        return Subject(kind="relative", name=named or own, relation=relation, named=named)
    found = _THEIR_RELATIVE.match(text)
    if found is not None:
        return Subject(kind="relative", name=text, relation=found["rel"], owner=found["who"])
    if _ORG.match(text):
        name = low if voice.owner == "user" else re.sub(r"^(?:my|our)\b", f"{voice.owner}'s", low)
        return Subject(kind="org", name=name)
    if text.endswith(("'s", "s'")):
        text = text[:-2] if text.endswith("'s") else text[:-1]
    if _PERSON.match(text) and text.split()[0].lower() not in SETS["nobody"] and not _NO_PERSON.match(text):
        return Subject(kind="person", name=text)
    name = _ARTICLE.sub("", text)
    if _THING.match(text) and _NOT_A_THING.search(text) is None and _NOT_A_THING.match(name) is None:
        return Subject(kind="thing", name=name)
    return None


_CONTRACTED: Final = re.compile(r"(?<=[A-Za-z])('(?:m|re|ve|ll|d|s))(?=\s|$)")


def _tokens(text: str) -> list[str]:
    """Words, with contracted verbs as words of their own."""
    return (_CONTRACTED.sub(r" \1", text) if "'" in text else text).split()


_HELPING: Final = frozenset("do does did don't doesn't didn't will won't can can't cannot would could never used".split())


def _reach(phrases: Iterable[str], place: int) -> dict[str, int]:
    """By a phrase's first (0) or last (-1) word the most words that such a phrase has."""
    reach: dict[str, int] = {}
    for phrase in phrases:
        words = phrase.split()
        reach[words[place]] = max(reach.get(words[place], 0), len(words))
    return reach


_POSSESSIVE: Final = re.compile(r"(?:'s|s'|\bmy|\bour)\s*$", re.I)
_ADVERB_REACH: Final = _reach(_ADVERBS, -1)
_DISCOURSE_REACH: Final = _reach(LISTS["discourse"], 0)
_TIED: Final = re.compile(r" ('s|'m|'re|'ve|'ll|'d)\b")
_WAS: Final = frozenset(("was", "were", "wasn't", "weren't"))
_BE: Final = _WAS | {"am", "'m", "is", "are", "'re", "'s", "be", "isn't", "aren't"}


def read_left(text: str, voice: Voice) -> Left | None:
    """Subject and adverbs; None where something is left over that this grammar does not know."""
    flags: set[str] = set()
    odd = False
    possessive = _POSSESSIVE.search(text) is not None
    words = text.strip(" ,").split() if possessive else _tokens(text.strip(" ,"))
    words = [w.strip(",") for w in words if w.strip(",")]
    while words and not possessive:
        for size in range(min(_ADVERB_REACH.get(words[-1].lower(), 0), len(words)), 0, -1):
            phrase = " ".join(words[-size:]).lower()
            kind = _ADVERBS.get(phrase)
            if kind is not None:
                words = words[:-size]
                break
        else:
            break
        flags.add(kind)
        if kind == "negative":
            odd = not odd
        parts = phrase.split()
        if parts[0] in _BE or "been" in parts:
            flags |= {"be", "was"} if parts[0] in _WAS else {"be"}
        if parts[0] in _HELPING:
            flags.add("helped")
        if phrase in ("already", "finally", "have just", "has just", "'ve just", "successfully", "officially", "just"):
            flags.add("done")
    while words:
        for size in range(min(_DISCOURSE_REACH.get(words[0].lower(), 0), len(words)), 0, -1):
            phrase = " ".join(words[:size]).lower()
            if phrase in SETS["discourse"] and not (size == len(words) and phrase in SETS["self"]):
                flags |= {"temporary"} if phrase in SETS["temporary"] else set()
                words = words[size:]
                break
        else:
            break
    subject = None
    if words:
        joined = " ".join(words)
        joined = _TIED.sub(r"\1", joined) if "'" in joined else joined
        subject = _subject(joined, voice)
        if subject is None:
            return None
    return Left(
        subject=subject, negated=odd, past="past" in flags, temporary="temporary" in flags, plan="plan" in flags,
        also="also" in flags, perfect="perfect" in flags, done="done" in flags or "perfect" in flags, be="be" in flags, was="was" in flags,
        helped="helped" in flags, possessive=possessive,
    )


_PRONOUN: Final = re.compile(r"^((?:(?:and|but|so|now|also|well),? )*)s?he(?='s|'ll|'d|\s|$)", re.I)
_THEY: Final = re.compile(r"^((?:(?:and|but|so|now|also|well),? )*)they(?='re|'ve|'ll|'d|\s|$)", re.I)


def without_pronoun(text: str, several: bool) -> str | None:
    """The text before a trigger without the he or she (they, of `several`) it begins with; None where it does not."""
    rest, count = (_THEY if several else _PRONOUN).subn(r"\1", text.strip(" ,"))
    return rest if count else None


_MENTION: Final = re.compile(rf"\b(?:my|our) (?P<rel>{any_of('relation')})\b(?!'s)", re.I)


def mentioned(text: str, voice: Voice) -> Subject | None:
    """The one relative a clause speaks of beside its subject, for a later he or she."""
    low = text.lower()
    if "my " not in low and "our " not in low:
        return None
    found = {m["rel"].lower() for m in _MENTION.finditer(text)}
    return _subject("my " + found.pop(), voice) if len(found) == 1 else None


_LEADING: Final = re.compile(
    rf"(?:(?:and|but|so|well|now|also|yesterday|today),? )?(?P<s>I\b|we\b|(?:my|our) {any_of('relation')}\b(?: {NAME})?|he\b|she\b|they\b|you\b|it\b|{NAME}(?= (?:is|was|has|lives|works|likes|loves|went|moved|bought|said)))",
    re.I,
)


_LEADING_THING: Final = re.compile(
    r"(?:(?:and|but|so|well|now|also|yesterday|today),? )?(?P<s>(?:(?:the|our|my) )?[\w.+-]+(?:(?:'s)? [\w.+-]+){0,2}?)"
    r"(?: has been| have been| was| were| is| got|'s been)(?: just| now| already| successfully)?"
    r" (?:upgraded|updated|downgraded|rolled back|reverted|bumped|redeployed|restarted|patched|migrated|released|deployed)\b", re.I)


def leading_subject(text: str, voice: Voice) -> Subject | None | bool:
    """Who an unread clause seems to speak of: a subject, False for someone who may not be carried on, None for nobody."""
    found = _LEADING.match(text)
    if found is None:
        thing = _LEADING_THING.match(text) or LABEL.fullmatch(text)
        return None if thing is None else _subject(thing["s"], voice)
    return _subject(found["s"], voice) or False


_BASE: Final = frozenset(
    "like love enjoy adore prefer hate dislike despise detest loathe use live reside work have own manage lead oversee run head speak study go attend plan intend eat drink smoke vape weigh avoid rely know "
    "keep belong come hail care suffer".split()
) | {
    word for verb in LISTS["routine_verb"] if not (word := verb.split()[0]).endswith("s")
}
_PLURAL: Final = re.compile(r"(?:parents|kids|children|s|twins|in-laws)$")


def agrees(trigger: str, left: Left, subject: Subject, inherited: bool) -> bool:
    """Does the verb's form suit who does it? "Sounds like a plan" is nobody's liking, "is like" no liking at all."""
    verb = trigger.split()[0]
    if left.perfect and verb in ("worked", "lived", "got"):
        return False
    if verb.endswith("ing") and len(verb) > 4:
        return left.be
    if verb not in _BASE:
        return True
    if left.be:
        return False
    if subject.kind == "self" or left.helped:
        return True
    return subject.kind in ("relative", "org") and _PLURAL.search(subject.name) is not None and subject.named is None


def hands_on(gap: str) -> bool:
    """Is a clause without a subject tied by "and" or "but" to the one before?"""
    return re.search(r"\b(?:and|but)\s*$", gap) is not None


def done(trigger: str, right: str) -> bool:
    """The past verbs that are triggers say so themselves."""
    return True
