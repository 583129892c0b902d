"""The rules extractor: everyday Chinese and English read into claims, with no model and no network.

How it hangs together: `clauses` (sentences, clauses, quoted speech blanked) → `modality` (what is not stated) →
`reading` (frames of `frames_zh.toml`/`frames_en.toml` found by their triggers; the left side read without rest by `zh`/`en`)
→ `times` (since when, until when). Whatever is not read with certainty gives no claim: the raw event stays recallable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from .. import admission, provenance
from ..claims import Claim
from ..extractor import Decision, Extraction, Utterance, Window
from ..importance import as_said
from ..registry import Registry, default_registry
from .amendments import amended, may_amend, retold, taken_back, takes_back
from .clauses import sentences
from .grammar import Carry
from .grammars import CHINESE, ENGLISH
from .modality import is_required, unsaid
from .reading import read_sentence
from .shadow import restored, shadowed
from .subjects import Subject, Voice
from .zh import NOT_A_NAME, PERSON_NAME

__all__ = ["NOT_A_NAME", "PERSON_NAME", "RulesExtractor"]

REQUIRED: Final = "required"
"""Why words give no claim that say how something has to be."""
_LONGEST: Final = 100_000
"""Characters that are read of one text; what follows is recallable as it stands."""
_BACK: Final = 3
_LONGEST_BACK: Final = 500
"""How many earlier utterances, and how much of each, is looked at for whom he and she are."""
_NOTE: Final = re.compile(
    r"\s*(?:(?:该|本|这位)?用户(?:更|比较|一直|非常|明确|不|最)*(?:偏好|偏爱|偏向)|(?:the |this )?user (?:\w+ly |now |always |doesn't |does not )?prefers?\b)", re.I
)
"""How a note about the user begins that an assistant wrote into the memory in the user's name. One who speaks of the
users of his product may say of them that they like or want something; a note says what *the* user prefers."""
_PRONOUN: Final = re.compile(r"[他她]|(?<![A-Za-z])(?:s?he|they)(?![A-Za-z])", re.I)


class RulesExtractor:
    """Pure and deterministic: a function of the window alone. `version` goes up when other claims are read from the
    same words: it is recorded with what was read, and tells what a reading anew would change."""

    name: Final = "rules"
    version: Final = "3"

    def __init__(self, *, registry: Registry | None = None, mode: provenance.Mode = "enforce") -> None:
        self._registry = default_registry() if registry is None else registry
        self._mode: provenance.Mode = mode

    def extract(self, window: Window) -> Extraction:
        """Claims in order of place. An utterance without a claim has a decision that says why."""
        claims: list[Claim] = []
        decisions: list[Decision] = []
        earlier: list[Utterance] = [shadowed(before) for before in window.context]
        pairs = [(after.text, before.text) for after, before in zip(earlier, window.context, strict=True) if after is not before]
        for spoken in window.utterances:
            utterance = shadowed(spoken)
            found, reason = self._admitted(utterance, earlier)
            if pairs or utterance is not spoken:
                pairs.insert(0, (utterance.text, spoken.text))
                found = [restored(claim, pairs) for claim in found]
            claims += found
            if not found:
                decisions.append(Decision(event_id=utterance.event_id, reason=reason))
            earlier.append(utterance)
        return Extraction(claims=claims, decisions=decisions)

    def _admitted(self, utterance: Utterance, earlier: Sequence[Utterance]) -> tuple[list[Claim], str]:
        """What is read of an utterance, and why nothing is."""
        text = utterance.text
        verdict = provenance.gate(utterance.origin, utterance.session_kind, text, mode=self._mode)
        refused = verdict.reason or admission.refusal(text)
        if refused is None and admission.is_echo(utterance, earlier):
            refused = admission.ECHO
        if refused is not None:
            return [], refused
        about_user = verdict.about_user or (verdict.first_person and _NOTE.match(text) is not None)
        voice = Voice(owner=utterance.speaker, first_person=verdict.first_person, about_user=about_user)
        claims, reason = self._read(utterance, voice, earlier)
        if verdict.first_person:
            claims = self._set_right(claims, utterance, voice, earlier)
        if not claims and "[redacted:" in text:
            reason = admission.SECRET
        return self._distinct(claims), reason

    def _read(self, utterance: Utterance, voice: Voice, earlier: Sequence[Utterance]) -> tuple[list[Claim], str]:
        text = utterance.text[:_LONGEST]
        carry = Carry(
            third=_spoken_of(earlier, voice) if _PRONOUN.search(text) else None,
            before=lambda predicate: self._told_before(predicate, utterance, voice, earlier),
        )
        reason = admission.NOTHING_READ
        claims: list[Claim] = []
        found = sentences(text)
        for sentence in found:
            verdicts = unsaid(sentence)
            reason = next((verdict for verdict in verdicts if verdict is not None), reason)
            grammar = CHINESE if sentence.chinese else ENGLISH
            for claim in read_sentence(grammar, sentence, verdicts, utterance, carry, voice):
                predicate = self._registry.predicate(claim.predicate)
                claims.append(replace(claim, importance=as_said(predicate, sentence.text, correction=claim.corrects)))
        if not claims and reason == admission.NOTHING_READ:
            if any(is_required(sentence.text, chinese=sentence.chinese) for sentence in found):
                reason = REQUIRED
        return claims, reason

    def _told_before(self, predicate: str, utterance: Utterance, voice: Voice, earlier: Sequence[Utterance]) -> str | None:
        """What the same speaker last said of a predicate, in the few utterances before."""
        for before in reversed(earlier[-_BACK:]):
            if (before.speaker, before.origin) == (utterance.speaker, utterance.origin):
                carry = Carry()
                for sentence in sentences(before.text[:_LONGEST_BACK]):
                    grammar = CHINESE if sentence.chinese else ENGLISH
                    for _ in read_sentence(grammar, sentence, unsaid(sentence), before, carry, voice):
                        pass
                if predicate in carry.told:
                    return carry.told[predicate][0]
        return None

    def _set_right(
        self, claims: list[Claim], utterance: Utterance, voice: Voice, earlier: Sequence[Utterance]
    ) -> list[Claim]:
        """"I meant Thursday": against what stands before in the same text, else what the same speaker claimed last."""
        text = utterance.text
        if claims and (at := taken_back(text) if may_amend(text) else None) is not None:
            before = [claim for claim in claims if claim.quote is not None and claim.quote.end <= at]
            meant = amended(text, utterance, before, self._registry)
            return [claim for claim in claims if claim not in before] + meant[-1:] if meant else claims
        if not (takes_back(text) if claims else may_amend(text)):
            return claims
        own = next((before for before in reversed(earlier) if before.speaker == utterance.speaker), None)
        if own is None or own.origin != utterance.origin:
            return claims
        said = self._read(own, voice, ())[0]
        return [*claims, *retold(claims, said)] if claims else amended(text, utterance, said, self._registry)

    def _distinct(self, claims: Sequence[Claim]) -> list[Claim]:
        """Each statement once, and no denial beside the truth that takes its place ("not in Rome, in Pisa")."""
        seen: dict[tuple[object, ...], Claim] = {}
        told = {_slot(claim) for claim in claims if not claim.negated}
        for claim in claims:
            if not (claim.negated and self._single(claim) and _slot(claim) in told):
                key = _slot(claim), claim.value, claim.negated
                known = seen.get(key)
                better = known is None or _within(known, claim) or claim.confidence > known.confidence
                seen[key] = claim if better else seen[key]
        return list(seen.values())

    def _single(self, claim: Claim) -> bool:
        return claim.transfer or self._registry.predicate(claim.predicate).single(claim.qualifiers)


def _within(short: Claim, long: Claim) -> bool:
    """Does the quote of one hold that of the other, and more?"""
    if short.quote is None or long.quote is None or short.quote.event_id != long.quote.event_id:
        return False
    return long.quote.start <= short.quote.start and short.quote.end <= long.quote.end and short.quote.text != long.quote.text


def _slot(claim: Claim) -> tuple[object, ...]:
    return claim.subject, claim.predicate, tuple(sorted(claim.qualifiers.items()))


def _spoken_of(earlier: Sequence[Utterance], voice: Voice) -> Subject | None:
    """The third person that was last spoken of in the session, for he and she."""
    for utterance in reversed(earlier[-_BACK:]):
        for sentence in reversed(sentences(utterance.text[:_LONGEST_BACK])):
            grammar = CHINESE if sentence.chinese else ENGLISH
            for clause in reversed(sentence.clauses):
                for named in (grammar.leading_subject(clause.text, voice), grammar.mentioned(clause.text, voice)):
                    if isinstance(named, Subject) and named.kind in ("person", "relative"):
                        return named
    return None
