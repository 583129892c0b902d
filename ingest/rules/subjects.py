"""Who or what a clause speaks of, and what its adverbs say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

SubjectKind = Literal["self", "relative", "person", "org", "thing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Who speaks. `owner` is the claim subject of the first person; `first_person` False: "I" is nobody to claim of.
    `about_user`: "the user" in these words is the user."""

    owner: str
    first_person: bool = True
    about_user: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`name` is the claim's subject. `relation` is set where the words call the person the speaker's brother and so on;
    `named` is that person's name where it stands beside the relation. `owner` is whose relative that is, if not the
    speaker's. `bare`: the words do not say whose."""

    kind: SubjectKind
    name: str
    relation: str | None = None
    named: str | None = None
    owner: str | None = None
    bare: bool = False


_SEVERAL: Final = re.compile(r"(?:parents|kids|children|twins|in-laws|brothers|sisters|sons|daughters|siblings|cousins)$|爸妈|父母|公婆|夫妻|们$")


def are_several(subject: Subject) -> bool:
    """Of whom one says "they", and of none of whom "he" or "she"."""
    return subject.relation is not None and _SEVERAL.search(subject.relation) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What stands before a trigger, read without rest. `subject` is None where nobody is named.

    `be`: a form of "to be" stands before the trigger, `was`: one of the past; `helped`: do, will, can or the like; `possessive`: it is "my" or
    "Anna's", which own what follows and do nothing.
    """

    subject: Subject | None
    negated: bool = False
    past: bool = False
    temporary: bool = False
    plan: bool = False
    also: bool = False
    perfect: bool = False
    done: bool = False
    be: bool = False
    was: bool = False
    helped: bool = False
    possessive: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A cleaned piece of a claim's value and what kind of thing it is."""

    text: str
    kind: str = ""
