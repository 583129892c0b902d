"""Whom a matched row speaks of: the subject before its trigger, the one carried on, or he and she of before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from .frames import Frame
from .grammar import Carry, Grammar, Place
from .subjects import Left, Subject, are_several
from .systems import Owner, is_system, with_owner

_SUITS: Final[Mapping[str, frozenset[str]]] = {
    "self": frozenset({"self"}),
    "person": frozenset({"self", "relative", "person", "org"}),
    "relative": frozenset({"relative"}),
    "other": frozenset({"person"}),
    "org": frozenset({"org"}),
    "living": frozenset({"self", "relative", "person"}),
    "thing": frozenset({"org", "thing", "person"}),
    "thing_or_speaker": frozenset({"org", "thing", "person", "self"}),
    "system": frozenset({"org", "thing", "person"}),
    "any": frozenset({"self", "relative", "person", "org", "thing"}),
    "thing_named": frozenset({"org", "thing", "person"}),
    "any_named": frozenset({"org", "thing", "person", "relative"}),
}


_IT: Final = re.compile(r"^\W*(?:(?:and|but|so|now|also|,)\s+)*its?(?:\s+|$)|^\W*(?:而|但|不过)?(?:它|其)的?\s*", re.I)


def _of_it(grammar: Grammar, before: str, place: Place, owner: Owner) -> Left | None:
    """What stands before a trigger, where it speaks of the system last spoken of as it, or of a part of it."""
    rest, count = _IT.subn("", before, count=1)
    left = grammar.read_left(rest, place.voice) if count else None
    if left is None:
        return None
    part = left.subject
    if part is not None and (named := with_owner(part, owner)) is part:
        return None
    return replace(left, subject=Subject(kind="thing", name=owner.name) if part is None else named)


def _another_told(carry: Carry) -> bool:
    """Was another person spoken of, whose wife or child a bare one may be?"""
    return carry.third is not None or isinstance(carry.subject, Subject) and carry.subject.kind in ("person", "relative")


def who(grammar: Grammar, frame: Frame, before: str, place: Place, carry: Carry) -> tuple[Left, Subject, bool] | None:
    """The left side, the subject, and whether the subject stands in an earlier clause. None: not certain who."""
    speaker = Subject(kind="self", name=place.voice.owner)
    if frame.subjects == "speaker":
        return (Left(subject=speaker), speaker, False) if place.voice.first_person else None
    left = grammar.read_left(before, place.voice)
    inherited = False
    if left is None and carry.owner is not None and frame.subjects.startswith(("thing", "system")):
        left = _of_it(grammar, before, place, carry.owner)
        if left is not None and left.subject is not None:
            carry.subject, carry.start = left.subject, carry.owner.start
            return left, left.subject, True
    if left is None:
        rest = None if carry.third is None else grammar.without_pronoun(before, are_several(carry.third))
        if carry.third is None or rest is None:
            return None
        left = grammar.read_left(rest, place.voice)
        if left is None or left.subject is not None:
            return None
        subject: Subject = carry.third
        inherited = True
    elif left.subject is not None and left.subject.bare and _another_told(carry):
        return None
    elif left.subject is not None:
        subject = with_owner(left.subject, carry.owner)
        if carry.owner is not None and subject is not left.subject:
            carry.subject = subject
            carry.start = carry.owner.start
            return left, subject, True
    elif frame.explicit:
        if not (frame.subjects in ("thing", "system") and isinstance(carry.subject, Subject) and carry.subject.kind in ("thing", "org")):
            return None
        subject, inherited = carry.subject, True
    elif frame.subjects == "thing_or_speaker" and isinstance(carry.subject, Subject) and carry.subject.kind == "thing":
        subject, inherited = carry.subject, True
    elif frame.subjects == "thing_or_speaker" and carry.owner is not None:
        subject, inherited = Subject(kind="thing", name=carry.owner.name), True
        carry.start = carry.owner.start
    elif frame.subjects == "thing_or_speaker" and place.voice.first_person:
        subject = speaker
    elif carry.subject is False:
        return None
    elif isinstance(carry.subject, Subject):
        if frame.course != "happening" and not grammar.hands_on(place.gap):
            return None
        subject, inherited = carry.subject, True
    elif not grammar.drops_subject or not place.voice.first_person:
        return None
    else:
        subject = speaker
    if frame.subjects == "system" and not is_system(subject.name):
        return None
    if subject.kind not in _SUITS[frame.subjects]:
        if not (frame.subjects == "thing" and left.subject is None and not inherited and not frame.explicit):
            return None
    if left.subject is not None:
        carry.subject, carry.start = subject, place.clause.start
        if subject.kind in ("person", "relative"):
            carry.third = subject
    return left, subject, inherited
