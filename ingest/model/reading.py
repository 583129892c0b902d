"""From a model's answer to claims: what is not borne out by the words themselves is refused, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .. import provenance
from ..claims import Claim, Modality, Quote
from ..extractor import Utterance
from ..importance import as_said, rules
from ..normal import normal_value, normalise
from ..prelook import asks_to_remember
from ..registry import Registry
from .answer import Kind, Said
from .pieces import Piece
from .prompt import data
from .times import when

MISQUOTED: Final = "quote_not_in_source"
_PREDICATE: Final = re.compile(r"[a-z][a-z_]*(?:\.[\w一-鿿-]+)?")
_POSSESSIVE: Final = re.compile(r"^(?:my|our)\s+|^(?:我们的|我的|我们|我家|我)(?=\S)", re.I)
_SPACE: Final = re.compile(r"\s+")
_LONGEST_QUOTE: Final = 600
_CONFIDENCE: Final = 0.8
_MODALITIES: Final[Mapping[Kind, Modality]] = {
    "fact": "fact", "change": "fact", "preference": "preference", "plan": "plan", "happening": "happening",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What was said around: `words` are all texts that a value or a name may come from, normalised."""

    words: str
    speakers: frozenset[str]
    registry: Registry
    mode: provenance.Mode

    @classmethod
    def of(cls, utterances: Sequence[Utterance], *, registry: Registry, mode: provenance.Mode) -> Surroundings:
        return cls(
            words="\n".join(_bare(u.text) for u in utterances),
            speakers=frozenset(normal_value(u.speaker) for u in utterances),
            registry=registry,
            mode=mode,
        )


def claim_of(said: Said, piece: Piece, around: Surroundings) -> Claim | str:
    """The claim, or the reason why it is none."""
    utterance = piece.utterance
    place = _place(said.quote, piece)
    if place is None:
        return MISQUOTED
    quote = utterance.text[place[0] : place[1]]
    subject = _subject(said.subject, utterance, around)
    if subject is None:
        return "subject_not_in_source"
    if not _stands(said.value, quote, around):
        return "value_not_in_source"
    if said.negated and not _denies(quote):
        return "denial_not_in_source"
    timed = when(said, utterance, quoted=place)
    if timed is None:
        return "time_does_not_fit"
    kind, holds = timed
    predicate, value = _predicate(said, quote, around.registry)
    told = rules().remember if asks_to_remember(utterance.text) else 0.0
    return Claim(
        subject=subject,
        predicate=predicate,
        value=value,
        quote=Quote(event_id=utterance.event_id, start=place[0], end=place[1], text=quote),
        negated=said.negated,
        qualifiers=_qualifiers(said, predicate, around),
        modality=_MODALITIES[kind],
        valid_from=holds.valid_from,
        valid_to=holds.valid_to,
        to_inferred=holds.to_inferred,
        from_source=holds.from_source,
        grain=holds.grain,
        occurs_from=holds.occurs_from,
        occurs_to=holds.occurs_to,
        temporary=holds.temporary or said.temporary,
        transfer=kind == "change" and predicate == "member_of" and not said.negated,
        importance=max(as_said(around.registry.predicate(predicate)), told),
        confidence=_CONFIDENCE,
        rule=f"model.{kind}",
    )


def _bare(text: str) -> str:
    """For comparing: one form, without white space."""
    return _SPACE.sub("", normalise(text))


def _place(quote: str, piece: Piece) -> tuple[int, int] | None:
    """Where the quote stands in its event; white space and case may differ if only one place fits."""
    text, words = piece.utterance.text, quote.strip()
    if not words or len(words) > _LONGEST_QUOTE:
        return None
    start = text.find(words, piece.start, piece.end)
    if start >= 0:
        return start, start + len(words)
    loosely = r"\s*".join(re.escape(word) for word in words.split())
    found = list(re.compile(loosely, re.I).finditer(text, piece.start, piece.end))
    return found[0].span() if len(found) == 1 else None


def _subject(named: str, utterance: Utterance, around: Surroundings) -> str | None:
    verdict = provenance.gate(utterance.origin, utterance.session_kind, mode=around.mode)
    checks = data()["checks"]
    name = normalise(named).replace(" ", "-")
    if name in checks["speaker"].split():
        return utterance.speaker if verdict.first_person else None
    if name in checks["user"].split():
        if verdict.first_person:
            return utterance.speaker
        return "user" if verdict.about_user else None
    stripped = _POSSESSIVE.sub("", named.strip()) or named.strip()
    if normal_value(stripped) in around.speakers:
        own = normal_value(stripped) == normal_value(utterance.speaker)
        return stripped if verdict.first_person or not own else None
    return stripped if _bare(stripped) and _bare(stripped) in around.words else None


def _stands(value: str, quote: str, around: Surroundings) -> bool:
    bare = _bare(value)
    return bool(normal_value(value)) and (bare in _bare(quote) or bare in around.words)


@lru_cache(maxsize=1)
def _denial() -> re.Pattern[str]:
    words = [re.escape(word.replace("-", " ")) for word in data()["checks"]["denials"].split()]
    latin = [word for word in words if word.isascii()]
    rest = [word for word in words if not word.isascii()]
    return re.compile(rf"(?<![a-z])(?:{'|'.join(latin)})(?![a-z])|n't|n’t|{'|'.join(rest)}", re.I)


def _denies(quote: str) -> bool:
    return _denial().search(quote) is not None


def _predicate(said: Said, quote: str, registry: Registry) -> tuple[str, str]:
    """A known predicate with its value; what the registry does not know becomes a note of the whole quote."""
    name = said.predicate.strip().lower().replace("-", "_").replace(" ", "_")
    known = _PREDICATE.fullmatch(name) is not None and registry.knows(name)
    if not known:
        return "note", quote
    past = data()["checks"]["past"]
    return (past[name] if said.past and name in past else name), said.value.strip()


def _qualifiers(said: Said, predicate: str, around: Surroundings) -> dict[str, str]:
    """Those the predicate has a key for, as far as the words or the prompt know their value."""
    keys = around.registry.predicate(predicate).key or ()
    kinds = data()["checks"]["kinds"].split()
    given = {q.name.strip().lower(): q.value.strip() for q in said.qualifiers if q.value.strip()}
    return {
        name: value
        for name, value in given.items()
        if name in keys and (value in kinds if name == "kind" else _bare(value) in around.words)
    }
