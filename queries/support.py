"""What a memory answers for: whose it is, which words of the question it explains, and whether it may support at all.

A memory of another one explains nothing to a question about oneself. Words that were refused as orders to the reader,
words of a tool or of the outside about the user, and words whose secret was taken out never make an answer `supported`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from taishi.ingest.admission import PROMPT
from taishi.ingest.normal import normalise
from taishi.ingest.registry import default_registry
from taishi.projections.stopwords import STOP_WORDS

from .asking import OWNS, POSSESSIONS, RELATIVE
from .fence import Fence, names_it, normal_name
from .naming import named_system, speaks_of
from .rows import ClaimRow, EventRow
from .synonyms import mentions
from .understand import Question
from .validity import GONE, Status, Verdict

READ: Final = 160
"""Characters of the longest raw event in which asking words are looked for: a long one holds some by chance."""
HEARD: Final = 0.1
"""Lift below which a message is not looked through for asking words."""
NEAR: Final = 0.35
"""Lift from which on a memory may be of the asked sort of thing without naming it (an editor, a dish)."""
_REFUSED: Final = frozenset({PROMPT, "gate.injection"})
_TAKEN_OUT: Final = "[redacted:"
_SECRET: Final = re.compile(
    r"密码|口令|密钥|秘钥|私钥|令牌|验证码|卡号|pin ?码|凭证|凭据"
    r"|\b(?:pass(?:word|code|phrase)s?|pin|secrets?|keys?|tokens?|credentials?|card numbers?|verification codes?)\b"
)
_OWN_WORDS: Final = re.compile(r"[我咱俺]|\b(?:i|i'm|i've|my|mine|we|our|us)\b")
_UNSAID: Final = frozenset({"quoted", "hypothetical", "question", "request", "required"})
"""Why the words of a message state nothing of how things are."""
_REPORTING: Final = re.compile(
    r"\b(?:my|our) (?:[\w-]+ ){1,3}?(?:told|tells|said|says|mentioned|thinks|thought|heard|claims|claimed)\b"
    r"(?: to)?(?: (?:me|us))?|\b(?:told|tells|asked|asks) (?:me|us)\b"
    r"|我们?的?[\u4e00-\u9fff]{1,5}?(?:告诉我|(?:跟|和|对|同)我(?:讲|说)|说|觉得|认为)|(?:告诉|跟|和|对)我(?:讲|说)?"
)
"""Who says it, and to whom: the reporter's own "my" and "me" make it nothing of his."""
_QUOTATION: Final = re.compile(r"[“「『][^”」』]*[”」』]?|\"[^\"]*\"?")
_MORE_SENTENCES: Final = re.compile(r"[.!?。！？…;；][”\"'’」』)]*\s*[^\W_]")
_VERSION: Final = re.compile(r"\d|[一二三四五六七八九十](?:点|代|版)|\b(?:alpha|beta|nightly|canary|lts)\b")
_NAMES: Final = frozenset({RELATIVE, OWNS, "name", "nickname", "surname"})
_NAMING: Final = re.compile(r"叫|名|\b(?:called|named|names?)\b|(?<=[a-z],) [A-Z][a-z]|(?<=[a-z]) [A-Z][a-z]+\b")
"""In words of which no claim was read: what may be a name."""
_COUNTED: Final = re.compile(
    r"^(?:\d|[一两二三四五六七八九十几]个?"
    r"|(?:an?|one|two|three|four|five|six|some|several)\b)"
)
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_GUESS: Final = re.compile(
    r"可能|也许|或许|大概|说不定|估计|我猜|我想|应该|恐怕|看来|似乎|好像|可以(?:试|推荐|建议|考虑)|要不"
    r"|\b(?:maybe|perhaps|probably|possibly|presumably|likely|might|may|could|would|should|guess|suspect|suppose|imagine"
    r"|assume|seems?|sounds? like|looks? like)\b|\bi(?:['’]d| would) say\b|\bi(?: |['’]d )(?:think|bet)\b"
)
_TO_ASSISTANT: Final = re.compile(r"[你您]|助[手理]|\byou(?:r|rs|['’]\w+)?\b|\bassistant")
_GROWS: Final = frozenset({"age"})
"""Predicates whose value at one time tells that at any other."""
_LAPSED: Final = frozenset({"ended", "superseded"})


class Support:
    """Of one question, behind one fence."""

    def __init__(self, question: Question, fence: Fence) -> None:
        self._question = question
        self._asking = question.asking
        others = tuple(name for name in fence.names if name != question.subject)
        self._fence = replace(fence, names=others) if question.first_person else fence
        self._asks_state = question.asks_state
        self._polar = question.polar
        self._named = named_system(question.text) if self._asks_state else None
        self.asks_of_relative = bool(question.asks.keys() - {RELATIVE, "name"}) and bool(question.asking.kin)
        self._asks_secret = _SECRET.search(question.text) is not None

    def owns(self, subject: str) -> bool:
        """The subject is the one whose memory is asked."""
        return subject == self._question.subject

    def asked_about(self, claim: ClaimRow) -> bool:
        """The claim is about the one that the question is about. "My aunt's job" is not about me, save that she is my
        aunt."""
        subject = claim.subject_key or ""
        if subject in self._fence.names:
            return True
        if not self.owns(subject):
            return False
        if self._asking.kin:
            return claim.predicate == RELATIVE and self._asking.relation_fits(qualifiers_of(claim))
        predicate = claim.predicate or ""
        if predicate in self._asking.implied:
            told = normalise(_told(claim))
            return self._asking.implies(predicate, qualifiers=qualifiers_of(claim), text=told)
        if self._asking.things and predicate in POSSESSIONS:
            told = normalise(_told(claim))
            if not self._asking.may_tell(predicate=predicate, qualifiers=qualifiers_of(claim), text=told):
                return False
        return self._question.first_person or not self._fence.names

    def is_anothers(self, claim: ClaimRow) -> bool:
        """About someone else than the one who asks about himself."""
        return self._question.first_person and not self._fence and not self.owns(claim.subject_key or "")

    def explained(self, claim: ClaimRow, *, lift: float) -> tuple[str, ...]:
        """Words of the question that the claim answers for, whatever its quote repeats. `lift` is its nearness in
        meaning."""
        if self.is_anothers(claim):
            return ()
        predicate = claim.predicate or ""
        asked = words = self._asking.for_predicate(predicate)
        if words or self._asking.meant:
            told = normalise(_told(claim)) if self._asking.meant or self._asking.implied else ""
            words = self._asking.explained_by(predicate=predicate, qualifiers=qualifiers_of(claim), text=told)
        if predicate in self._asking.implied and not words:
            return ()
        if lift >= NEAR and asked and not (self._asking.things and predicate in POSSESSIONS):
            words = (*words, *self._asking.sort)
        if claim.subject_key in self._fence.names:
            words = (*words, *self._fence.names, *self._asking.telling)
        return words

    def explained_by_event(self, event: EventRow, claims: Sequence[ClaimRow], *, lift: float) -> tuple[str, ...]:
        """As `explained`, for a raw event and the claims that were drawn from it."""
        words = [word for claim in claims for word in self.explained(claim, lift=lift)]
        if lift >= HEARD and (not claims or words) and (text := self._readable(event)) is not None:
            words += self._asking.said_in(text)
        return tuple(words)

    def _readable(self, event: EventRow) -> str | None:
        """A short message about the one who is asked about, normalised; None for any other."""
        if not (self._asking.asks or self._asking.meant) or event.role != "user":
            return None
        said = event.text or ""
        if len(said) > READ:
            return None
        if self._fence.names:
            text = normalise(said)
            return text if self._fence.mentions(text) or self._names_relative(text) else None
        return normalise(said) if _OWN_WORDS.search(said.lower()) is not None else None

    def _names_relative(self, text: str) -> bool:
        """A (normalised) text speaks of a relative whom the question names."""
        kin = {m.words for m in self._asking.kin}
        return bool(kin) and not kin.isdisjoint(self._asking.named_in(text))

    def bars_claim(self, claim: ClaimRow, origins: Iterable[str]) -> bool:
        """Whether the claim can never support. `origins` are those of its evidence."""
        if self._fence.passes_over(normalise(_told(claim)), of=claim.subject_key or ""):
            return True
        if self._names_nobody([claim], claim.text):
            return True
        if self._is_of_another(claim) or self._is_only_planned(claim) or self._states_none(claim.text, [claim]):
            return True
        said_by = set(origins)
        outside = bool(said_by) and said_by <= {"tool", "external"} and self._question.first_person
        return outside or self._is_taken_out(claim.text)

    def bars_event(self, event: EventRow, claims: Sequence[ClaimRow]) -> bool:
        if event.decision in _REFUSED or self._is_taken_out(event.text):
            return True
        speaker = "" if event.speaker is None else normal_name(event.speaker)
        if self._fence.passes_over(normalise(event.text or ""), of=speaker) or self._names_nobody(claims, event.text):
            return True
        if event.role == "assistant" and self._is_mere_reply(event.text or ""):
            return True
        if event.origin in ("tool", "external") and self._question.first_person:
            return True
        if not claims and self._leaves_open(event):
            return True
        if self._states_none(event.text, claims):
            return True
        return self.is_of_another(claims)

    def _names_nobody(self, claims: Sequence[ClaimRow], text: str | None) -> bool:
        """Whether nothing but the name of a relative is asked for, and the words, with these claims, tell none."""
        asking = self._asking
        if not asking.naming or not asking.kin or asking.asks.keys() - _NAMES or self._question.intent != "current":
            return False
        for claim in claims:
            if claim.predicate in ("name", "nickname") or "name" in qualifiers_of(claim):
                return False
            if claim.predicate == RELATIVE and _is_name(claim.value or ""):
                return False
        return bool(claims) or _NAMING.search(text or "") is None

    def _is_mere_reply(self, text: str) -> bool:
        """Whether an assistant's words tell what is asked only in what he guesses, offers or asks back himself."""
        if self._question.intent == "open" or _TO_ASSISTANT.search(self._question.text):
            return False
        sentences = _SENTENCE.findall(normalise(text))
        stated = " ".join(s for s in sentences if not (_GUESS.search(s) or s.rstrip().endswith(("?", "？"))))
        if len(stated) == sum(map(len, sentences)) + len(sentences) - 1:
            return False
        told = set(_words(stated))
        asked = {w for w in _words(self._question.text) if w not in STOP_WORDS}
        if any(w in told or not w.isascii() and w[-2:] in stated for w in asked):
            return self._fence.names != () and not self._fence.mentions(stated)
        return True

    def is_of_another(self, claims: Sequence[ClaimRow]) -> bool:
        """Whether words with these claims say of someone else what is asked of one."""
        asked = [c for c in claims if self._asking.for_predicate(c.predicate or "") or self._is_of_another(c)]
        return bool(asked) and all(self._is_of_another(c) for c in asked)

    def _leaves_open(self, event: EventRow) -> bool:
        """Whether a present fact is asked for and the words, of which no claim was read, say none: what if, whether, or
        what somebody else says of himself."""
        if event.decision not in _UNSAID:
            return False
        if self._asks_state:
            return True
        if self._question.intent != "current" or self._question.advice or not self._question.first_person:
            return False
        said = event.text or ""
        if event.decision == "quoted":
            return _OWN_WORDS.search(_REPORTING.sub("", _QUOTATION.sub("", said).lower())) is None
        return event.decision in ("hypothetical", "question") and _MORE_SENTENCES.search(said) is None

    def _is_only_planned(self, claim: ClaimRow) -> bool:
        """Whether it is asked if something is so, or was, and the claim says that it is meant to be."""
        asked = self._polar and self._question.intent not in ("plan", "when", "open")
        return asked and claim.modality == "plan" and not self._asking.for_predicate(claim.predicate or "")

    def _states_none(self, text: str | None, claims: Sequence[ClaimRow]) -> bool:
        """Whether a system's present state is asked for and words with these claims cannot say it: they speak of
        another system, plan another state, or tell no value of the kind."""
        if not self._asks_state:
            return False
        words = normalise(" ".join((text or "", *(c.subject or "" for c in claims))))
        if self._named is not None and not (speaks_of(words, self._named) or self._fence.mentions(words)):
            return True
        told = _words(words)
        if any(self._asking.for_predicate(c.predicate or "") for c in claims):
            return False
        if claims and all(c.modality == "plan" for c in claims):
            return True
        asked = set(_words(self._question.text))
        return set(self._asking.asks) == {"version"} and not any(_VERSION.search(w) for w in told if w not in asked)

    def _is_of_another(self, claim: ClaimRow) -> bool:
        """Says of someone or something else what is asked of one: where they live, how they are called."""
        if claim.predicate in (RELATIVE, OWNS) and "name" in self._asking.asks and self._question.first_person:
            return True
        if claim.predicate == RELATIVE and self._asks_only_of_oneself() or self._is_own_beside_named(claim):
            return True
        return bool(self._asking.for_predicate(claim.predicate or "")) and self.is_anothers(claim)

    def _is_own_beside_named(self, claim: ClaimRow) -> bool:
        """Which car I drive is not which one my brother drives: about the one whose memory this is, without a word of
        the others who are asked about."""
        if self._question.first_person or not self._fence.names or not self.owns(claim.subject_key or ""):
            return False
        told = normalise(_told(claim))
        return not (self._fence.mentions(told) or self._names_relative(told))

    def _asks_only_of_oneself(self) -> bool:
        """Where *I* work is not where my brother does, though the words that tell of him say "my" and "works"."""
        asking = self._asking
        if not self._question.first_person or not asking.asks:
            return False
        return not asking.kin and not asking.for_predicate(RELATIVE)

    def status_of_event(
        self,
        event: EventRow,
        claims: Sequence[int],
        judged: Mapping[int, ClaimRow],
        verdicts: Mapping[int, Verdict],
        still: Collection[int] = (),
    ) -> Status | None:
        """The status an event is shown with; None where it is left out: none of its claims holds and the question is
        about what does: it asks for their predicate, or of a point in time, or they tell a state and no happening. What
        is looked for by its own words is not left out."""
        if not claims:
            return "current"
        asked = [c for c in claims if self._asking.for_predicate(judged[c].predicate or "")]
        deciding = asked or claims
        for c in deciding:
            if verdicts[c].holds:
                return verdicts[c].status
        statuses = [verdicts[c].status for c in deciding]
        shown = next((s for s in statuses if s not in GONE), None)
        if shown is None:
            return None
        if shown == "planned" and self._question.intent in ("plan", "when"):
            return shown
        about_state = asked or self._question.pointed or any(_tells_state(judged[c]) for c in deciding)
        past = self._question.shows_past or normalise(event.text or "") == self._question.text
        return shown if past or not about_state or any(c in still for c in deciding) else None

    def _is_taken_out(self, text: str | None) -> bool:
        return self._asks_secret and text is not None and _TAKEN_OUT in text

    def still_telling(
        self, claims: Mapping[int, ClaimRow], verdicts: Mapping[int, Verdict], holders: Collection[int]
    ) -> frozenset[int]:
        """Claims that are over and tell what is asked all the same, where their slot has nothing that holds
        (`holders`): how old somebody was in a year says how old they are now."""
        return frozenset(
            seq
            for seq, claim in claims.items()
            if claim.predicate in _GROWS
            and (self._asking.for_predicate(claim.predicate) or self._names_value(claim))
            and claim.slot not in holders
            and (verdict := verdicts.get(seq)) is not None
            and verdict.status == "ended"
        )

    def _names_value(self, claim: ClaimRow) -> bool:
        """Whether the question describes somebody by the claim's value."""
        value = normalise(claim.value or "")
        return bool(value) and names_it(self._question.text, value)

    def lapsed(self, claims: Mapping[int, ClaimRow], verdicts: Mapping[int, Verdict]) -> bool:
        """Whether the present state is asked for and there is none: what was, is over, and nothing took its place."""
        if self._question.intent != "current":
            return False
        over = False
        for seq, claim in claims.items():
            verdict, predicate = verdicts.get(seq), claim.predicate or ""
            if verdict is None or not self._asking.for_predicate(predicate):
                continue
            if predicate == RELATIVE and self.asks_of_relative or not self.asked_about(claim):
                continue
            if not verdict.holds:
                over = over or verdict.status in _LAPSED
            elif not claim.negated or self._is_asked(claim):
                return False
            else:
                over = True
        return over

    def _is_asked(self, claim: ClaimRow) -> bool:
        """Whether what is denied is an answer: "Do I still live in Bath?", or what is not eaten."""
        single = default_registry().predicate(claim.predicate or "").single(qualifiers_of(claim))
        return not single or normalise(claim.value or "") in self._question.text


def _is_name(value: str) -> bool:
    """And not who else it is ("two kids")."""
    words = normalise(value)
    return bool(words) and _COUNTED.match(words) is None and not any(m.words == words for m in mentions(words))


def _told(claim: ClaimRow) -> str:
    return f"{claim.text or ''} {claim.value or ''}"


def _tells_state(claim: ClaimRow) -> bool:
    """Something that holds for a while, and no happening or plan, which stays worth telling when its time is over."""
    return claim.occurs_from is None or bool(claim.temporary) or bool(claim.negated)


_WORD: Final = re.compile(r"[a-z0-9]+(?:[._+-][a-z0-9]+)*|[\u4e00-\u9fff]+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def qualifiers_of(claim: ClaimRow) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(claim.qualifiers) if claim.qualifiers else {}
    return found
