"""What goes on with the statement before and leaves out all of it but what differs: "but not coffee", "now it's Orbis".

A clause that no row reads is held against the row of the clause just before: its own words must be a value of the very
kind that this row takes. So "I speak French but not German" denies German, and "I used to work at Fennec, but now I'm at
Orbis" says where one works. Nothing is read where the clause before was not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_EN_NOT: Final = re.compile(r"(?:(?:but|and|just|only|definitely|certainly|really|though) )*not (?P<o>(?!any ?more\b|any longer\b|really\b|so much\b|much\b|always\b|yet\b|sure\b|at all\b|that\b|(?:because|to|as|in|on|at|with|for|when|during|after|before|if|by|from|like|every|just|only|too|very|all)\b).{2,48})", re.I)
_EN_NOW: Final = re.compile(
    r"(?:(?:but|and|so|well) )*(?:(?:right )?now|these days|nowadays|currently|today),? "
    r"(?:(?:it's|it is|that's) (?:at |in |with |on )?|(?P<at>(?:i'm|i am|we're|we are|he's|she's|they're) (?:at|in|with|over at) ))?(?P<o>.{2,48})"
    r"|(?:(?:but|and|so) )*(?:(?:it's|it is)(?: at| in| with)?|(?P<be>(?:i'm|i am|we're|we are|he's|she's|they're)(?: now)? (?:at|in|with|over at))) (?:now )?"
    r"(?P<p>.{2,48}?)(?: (?:now|these days|nowadays|at the moment))?",
    re.I,
)
_ZH_NOT: Final = re.compile(r"(?:但|但是|可|而|不过)?(?:并?不是|不包括|除了|不算)(?P<o>[^，,是]{1,16})")
_ZH_NOW: Final = re.compile(
    r"(?:但|但是|可|而|不过)?(?:我)?(?:现在|如今|目前|后来|眼下|现在的话)(?:就)?(?:是|在|换成了?|换到了?|换了|换|改成了?|改用了?|变成了?|改为了?|去了|到了)(?P<o>[^，,]{1,16}?)(?:那边|了)?"
)


@dataclass(frozen=True, slots=True)
class Instead:
    """The value that is so now. `placed`: the words say where someone is, and no more."""

    value: str
    placed: bool


_EN_ENDED: Final = re.compile(
    r"(?:(?:but|and|then|so) )*(?:(?:i|we|he|she|they) )?(?:(?:later|soon|then|eventually|have|has|had|'ve|just|since) )*(?:gave (?:it |that |them )?up|given (?:it )?up|quit|stopped|dropped (?:it|out)|don't (?:any ?more|any longer))"
    r"(?: (?:it|that|them|since|after(?: .{1,30})?|soon|later|again|(?:last|this) \w+|in (?:\w+ )?\d{4}|(?:a|\w+) (?:days?|weeks?|months?|years?) (?:ago|later)))*", re.I)
_ZH_ENDED: Final = re.compile(r"(?:但是?|可是?|不过|后来|然后|最后|我|早就|已经|又|就)*(?:放弃了?|不[学练玩用做去]了|停了|没坚持(?:下来|住)?|半途而废了?|不再[学练玩用做]了)")


def is_ended(text: str, *, chinese: bool) -> bool:
    """Whether a clause says no more than that what the one before told has come to an end."""
    return (_ZH_ENDED if chinese else _EN_ENDED).fullmatch(text) is not None


def contrasted(text: str, *, chinese: bool) -> str | None:
    """The words of which a clause denies what the one before said of others; None for any other clause."""
    found = (_ZH_NOT if chinese else _EN_NOT).fullmatch(text)
    return None if found is None else found["o"].strip()


def instead(text: str, *, chinese: bool) -> Instead | None:
    """What a clause says to be so now, beside what used to be; None for any other clause."""
    found = (_ZH_NOW if chinese else _EN_NOW).fullmatch(text)
    if found is None:
        return None
    named = found.groupdict()
    value: str = named["o"] or named.get("p") or ""
    return Instead(value.strip(), bool(named.get("at") or named.get("be")))
