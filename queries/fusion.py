"""Fusion: one score from what each channel says of a memory.

A weighted sum of normalised scores, not of ranks: equal-weight rank fusion let a weak channel drown a strong one. The
lexical score is a share of a perfect match, taken half in proportion to the best match there is (long questions match
nothing perfectly), and the dense one a lift over the namespace's background, so that both mean the same in every
namespace and one set of weights serves all. Everything else is bounded well below what one rare word is worth, so that
it orders near-equals and never overrules what the question says.

What fades and what callers think of it are two of these small terms. Of a memory that was just brought in, imported or
not, and that nobody has confirmed, judged, or been shown on a second day, both are exactly zero: sets that measure
ranking are not touched by them, and weights can be tuned without them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from taishi.ingest.instants import DAY

from .fence import Side
from .years import Told

SUMMANDS: Final = (
    "lexical", "dense", "slot", "subject", "fence", "importance", "kind", "status", "time", "role", "newer", "recency",
    "activation", "feedback", "around", "session", "form", "speaker", "standing",
)  # fmt: skip
"""Names of the score's summands. The first three also find candidates."""
CHANNELS: Final = (*SUMMANDS, "attribute", "thread", "spread")
"""What can be done without, to see what it is worth. The last are judged over all memories of an answer together."""
LEXICAL: Final = 1.0
DENSE: Final = 0.4
"""Below the lexical weight: the local embedder is small. Tuned on the dev halves of dialogue and note sets together:
dialogues are best at .3, short preferences at 1."""
DENSE_FOR_ADVICE: Final = 1.0
"""What bears on advice shares few words with the question. Dev halves: prefeval R@5 .752 at .45, .767 at .7 and at 1;
beam R@10 .645 and .651."""
DENSE_FOR_DIALOGUE: Final = 0.75
"""Nor does what a dialogue calls up. Dev halves, dialogues, R@5: .689 and .726 (zh, en) at .6, .689 and .730 at .7,
.693 and .728 at .75, .693 and .724 at .8; at .45 R@10 is .02 lower in Chinese."""
RELATIVE: Final = 0.5
RELATIVE_TO_A_STATEMENT: Final = 0.9
"""Dev halves, dialogues that call something up: R@5 .65 at .5, .67 at .9 (zh), .68 and .71 (en)."""
LEAST_BEST: Final = 0.2
SLOT: Final = 0.22
"""The asked predicate of the asked subject: what a state question is about, whatever words state it."""
ANSWERS: Final = 0.8
"""Times the share of the question that asks for the predicate and that the claim does not repeat: "what am I called"
is answered by "my name is", and not by whoever is called something."""
EVENT_ANSWERS: Final = 0.5
"""The same of a raw event, whose words speak of what is asked in other words."""
SECOND: Final = 0.5
"""Of it, where another predicate is asked for more closely: a favourite before what is merely liked."""
SUBJECT: Final = 0.08
"""About the one the question is about."""
NAMED: Final = 0.05
"""Inside the fence: the name itself counts as a word already. Dev halves: three times as much, with a malus for what
names nobody, costs memdaily R@5 .02 and timeqa .02 (a text goes on with "he")."""
OUTSIDE_FENCE: Final = -0.35
ANOTHER_RELATIVE: Final = -0.25
"""Names another relative than the one who is asked about, whatever else it says in the question's words."""
SPOKEN: Final = 0.25
"""A turn of a dialogue, by the one who is named. Dev halves: locomo MRR .51 without, .54 at .15, .56 at .3."""
RECENCY: Final = 0.01
RECENCY_HALF_LIFE: Final = 90 * DAY
NEWER: Final = 0.06
"""For what is asked of the present state: the newest of all that was found, the oldest getting none of it. Two
statements that differ by a word and a day are a change, though a day is nothing to the half-life."""
IMPORTANCE: Final = 0.06
"""Times (importance - .5), where the question asks for a predicate: at most ±.03. Advice and lists are not answered by
what is important in itself: without that condition prefeval R@5 loses .01."""
CLAIM: Final = 0.03
"""A claim before a raw event that says the same, where the question asks for a predicate."""
DENIES: Final = 0.1
"""A claim that denies, where yes or no is asked of the present: it was said of what held before."""
FADED: Final = 0.06
"""Taken away from what has faded wholly."""
USED: Final = 0.04
"""Added for what is confirmed, helps and is read often, as far as it has not faded."""
FEEDBACK: Final = 0.12
"""Times the verdicts for it less those against, of that and FEW more: bounded however many there are."""
FEW: Final = 2
NOT_HOLDING: Final = -0.20
"""Marked as superseded or ended, in an answer that may show it."""
IN_SPAN: Final = 0.24
"""Said, happened or planned for within the time the question names, or telling of a year within it. Dev halves, timeqa
R@5: .682 without years in the words, .730 with them at .12, .740 at .22, .742 at .24."""
BEGINS: Final = 0.16
"""Besides, where the words name the year in which that time begins: how it began tells what was. Dev halves, timeqa
R@5 .727 without, .737 at .08, .742 at .12 to .2, MRR .57 and .60; twice IN_SPAN for all has R@10 fall by .02."""
BOTH_ENDS: Final = 0.06
"""Besides, where they name the last year as well. R@5 .742 and .745, MRR .598 and .605."""
ASSISTANT: Final = -0.18
"""An assistant's turns are long and repeat the question's words; the user's own should not drown in them. Dev halves:
realmem R@20 .39 without, .41 with -.1; later .445 and, with -.18, .453."""
TITLE: Final = -0.25
"""Says nothing that the question does not. Dev halves: timeqa R@5 .727 without, .730 with it, MRR .505 and .525."""
STANDING: Final = (0.5, 0.35, 0.3)
"""What is always to be done when such a thing is asked, the nearest and the next ones: it is wanted beside the answer,
whatever words it has."""
ASKS_BACK: Final = -0.15
"""A turn of a dialogue that ends on a question: the answer stands in the next one. Dev halves: locomo MRR +.015."""


class Signals(NamedTuple):
    """What is known of one candidate. `lexical` is in 0..1, `dense` at most 1; `age` in microseconds, 0 or more;
    `newness` from 0 (the oldest that was found) to 1; `second`: another predicate is asked for more closely; `kind` is
    a claim's bonus. `around` and `session` as `surroundings` has them; `asks_back`: a turn of a dialogue that ends on a
    question, `by_named`: one by someone whom the question names. `advice`: the question asks for it, and for no fact;
    `dialogue`: the question is one. `years`: what the words tell of the years that the question names (`years.Told`).
    `title`: it says nothing besides the question's words. `standing`: it says what is always to be done when this is
    asked, 0 the nearest of those.
    `activation` and `practice` as in `projections.activation`; `verdicts` are those that it helped less the others."""

    lexical: float = 0.0
    dense: float = 0.0
    slot: bool = False
    answers: float = 0.0
    second: bool = False
    subject: bool = False
    side: Side | None = None
    age: int = 0
    newness: float = 0.0
    importance: float = 0.5
    activation: float = 1.0
    practice: float = 0.0
    verdicts: int = 0
    claim: bool = False
    kind: float = 0.0
    holds: bool = True
    in_span: bool = False
    years: Told | None = None
    assistant: bool = False
    around: float = 0.0
    session: float = 0.0
    asks_back: bool = False
    title: bool = False
    by_named: bool = False
    advice: bool = False
    standing: int | None = None
    dialogue: bool = False


def parts(s: Signals, *, ablated: Collection[str] = ()) -> dict[str, float]:
    """The score's summands by channel, zeros and those of `ablated` channels left out."""
    found: dict[str, float] = {}
    if s.lexical:
        found["lexical"] = LEXICAL * s.lexical
    if s.dense:
        found["dense"] = dense_weight(advice=s.advice, dialogue=s.dialogue) * s.dense
    if s.slot or s.answers:
        slot = 0.0 if not s.slot else SECOND * SLOT if s.second else SLOT
        found["slot"] = slot + (ANSWERS if s.claim else EVENT_ANSWERS) * s.answers
    if s.subject:
        found["subject"] = SUBJECT
    if s.side is not None:
        found["fence"] = _SIDES[s.side]
    if s.importance != 0.5:
        found["importance"] = IMPORTANCE * (s.importance - 0.5)
    if not s.holds:
        found["status"] = NOT_HOLDING
    if s.in_span or s.years is not None:
        found["time"] = IN_SPAN if s.years is None else _YEARS[s.years]
    if s.assistant:
        found["role"] = ASSISTANT
    if s.newness:
        found["newer"] = NEWER * s.newness
    if s.kind:
        found["kind"] = s.kind
    if s.around:
        found["around"] = s.around
    if s.session:
        found["session"] = s.session
    if s.asks_back or s.title:
        found["form"] = TITLE if s.title else ASKS_BACK
    if s.by_named:
        found["speaker"] = SPOKEN
    if s.standing is not None:
        found["standing"] = STANDING[s.standing]
    if vivid := USED * s.practice * s.activation - FADED * (1.0 - s.activation):
        found["activation"] = vivid
    if s.verdicts:
        found["feedback"] = FEEDBACK * s.verdicts / (abs(s.verdicts) + FEW)
    found["recency"] = RECENCY * 0.5 ** (s.age / RECENCY_HALF_LIFE)
    return {name: value for name, value in found.items() if name not in ablated} if ablated else found


def dense_weight(*, advice: bool, dialogue: bool) -> float:
    return DENSE_FOR_ADVICE if advice else DENSE_FOR_DIALOGUE if dialogue else DENSE


_YEARS: Final[Mapping[Told, float]] = {
    "within": IN_SPAN,
    "begins": IN_SPAN + BEGINS,
    "both": IN_SPAN + BEGINS + BOTH_ENDS,
}
_SIDES: Final = {Side.INSIDE: NAMED, Side.NEUTRAL: 0.0, Side.OUTSIDE: OUTSIDE_FENCE, Side.BESIDE: ANOTHER_RELATIVE}


def lexical_level(score: float, *, best: float, statement: bool = False) -> float:
    """A lexical score seen half by itself, half beside the best one. A `statement` (nothing is asked) matches nothing
    perfectly, however well: there it is what is beside the best that counts."""
    relative = RELATIVE_TO_A_STATEMENT if statement else RELATIVE
    return score / (relative * max(best, LEAST_BEST) + 1 - relative)


def dense_lift(similarity: float, *, mean: float, deviation: float) -> float:
    """How far a similarity stands above the namespace's background: 0 at its mean (less below), 1 at four deviations
    and more."""
    return min((similarity - mean) / (4 * max(deviation, 0.02)), 1.0)
