"""The rules extractor: everyday Chinese and English read into claims, with no model and no network.

How it hangs together: `clauses` (sentences, clauses, quoted speech blanked) → `modality` (what is not stated) →
`reading` (frames of `frames_zh.toml`/`frames_en.toml` found by their triggers; the left side read without rest by `zh`/`en`)
→ `times` (since when, until when). Whatever is not read with certainty gives no claim: the raw event stays recallable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from .. import admission, provenance
from ..claims import Claim
from ..extractor import Decision, Extraction, Extractor, Utterance, Window
from ..registry import Registry, default_registry
from .clauses import Sentence, sentences
from .grammars import CHINESE, ENGLISH
from .modality import unsaid
from .reading import Carry, read_sentence
from .subjects import Voice

__all__ = ["RulesExtractor"]

_LONGEST: Final = 20_000
"""Characters that are read of one text; what follows is recallable as it stands."""


class RulesExtractor:
    """Pure and deterministic. `recalled` texts are not known to a window, so that echoes are judged by its own words."""

    name: Final = "rules"
    version: Final = "1"

    def __init__(self, *, registry: Registry | None = None, mode: provenance.Mode = "enforce") -> None:
        self._registry = default_registry() if registry is None else registry
        self._mode: provenance.Mode = mode

    def extract(self, window: Window) -> Extraction:
        """Claims in order of place. An utterance without a claim has a decision that says why."""
        claims: list[Claim] = []
        decisions: list[Decision] = []
        earlier: list[Utterance] = list(window.context)
        for utterance in window.utterances:
            found, reason = self._read(utterance, earlier)
            claims += found
            if not found:
                decisions.append(Decision(event_id=utterance.event_id, reason=reason))
            earlier.append(utterance)
        return Extraction(claims=claims, decisions=decisions)

    def _read(self, utterance: Utterance, earlier: Sequence[Utterance]) -> tuple[list[Claim], str]:
        text = utterance.text
        verdict = provenance.gate(utterance.origin, utterance.session_kind, text, mode=self._mode)
        if verdict.reason is not None:
            return [], verdict.reason
        refused = admission.refusal(text)
        if refused is None and admission.is_echo(utterance, earlier):
            refused = admission.ECHO
        if refused is not None:
            return [], refused
        reason = admission.NOTHING_READ
        claims: list[Claim] = []
        carry = Carry()
        for sentence in sentences(text[:_LONGEST]):
            verdicts = unsaid(sentence)
            reason = next((v for v in verdicts if v is not None), reason)
            claims += self._sentence(sentence, verdicts, utterance, carry, verdict)
        if not claims and "[redacted:" in text:
            reason = admission.SECRET
        return self._distinct(claims), reason

    def _sentence(
        self, sentence: Sentence, verdicts: Sequence[str | None], utterance: Utterance, carry: Carry, verdict: provenance.Verdict
    ) -> list[Claim]:
        grammar = CHINESE if sentence.chinese else ENGLISH
        voice = Voice(owner=utterance.speaker, first_person=verdict.first_person, about_user=verdict.about_user)
        read = read_sentence(grammar, sentence, verdicts, utterance, carry, voice)
        return [self._weighed(claim) for claim in read]

    def _weighed(self, claim: Claim) -> Claim:
        return replace(claim, importance=self._registry.predicate(claim.predicate).importance)

    def _distinct(self, claims: Sequence[Claim]) -> list[Claim]:
        """Each statement once, and no denial beside the truth that takes its place ("not in Rome, in Pisa")."""
        seen: dict[tuple[object, ...], Claim] = {}
        told = {self._slot(claim) for claim in claims if not claim.negated}
        for claim in claims:
            if not (claim.negated and self._single(claim) and self._slot(claim) in told):
                seen.setdefault((self._slot(claim), claim.value, claim.negated), claim)
        return list(seen.values())

    def _single(self, claim: Claim) -> bool:
        return claim.transfer or self._registry.predicate(claim.predicate).single(claim.qualifiers)

    @staticmethod
    def _slot(claim: Claim) -> tuple[object, ...]:
        return claim.subject, claim.predicate, tuple(sorted(claim.qualifiers.items()))
