"""Echoes: words of others that say again what recall had just shown are no new evidence.

What recall showed lately is told by the log (`memory.recalled` names positions, never words), so that whether a text is
an echo follows from the log alone, whenever it is read. The user saying a recalled memory again is no echo.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from .admission import statement_of
from .envelope import CLAIM_TYPES, Event
from .instants import SECOND

OTHERS: Final = frozenset({"assistant", "tool", "external", "system"})
"""Origins whose words can be an echo."""
LATELY: Final = 1_800 * SECOND
RECALLS: Final = 8
"""Recalls of one namespace that are remembered, the last."""
SHOWN: Final = 10
"""Memories of one recall that are remembered, the best."""
SHARE: Final = 0.6
"""Of a text's characters: when recalled statements make up so much of it, it says nothing of its own."""
SHORTEST: Final = 4
"""Characters of a recalled statement that is looked for inside a longer text."""

Recalls = tuple[tuple[int, tuple[int, ...]], ...]
"""What the last recalls of a namespace showed: when, and the positions of the claims and raw events."""


def remembered(recalls: Recalls, event: Event) -> Recalls:
    """With one more `memory.recalled`. The first that were written name no positions."""
    shown = tuple(int(seq) for seq in event.facts["seqs"][:SHOWN])
    return (*recalls, (event.appended_at, shown))[-RECALLS:] if shown else recalls


def lately(recalls: Recalls, at: int) -> tuple[int, ...]:
    """Positions of what was shown within `LATELY` before that instant."""
    return tuple(sorted({seq for shown_at, seqs in recalls if shown_at >= at - LATELY for seq in seqs}))


def shown_words(events: Iterable[Event]) -> list[str]:
    """The words of memories: quotes of claims, texts of raw events; what was erased since has none."""
    said = []
    for event in events:
        if event.body is None:
            continue
        if event.type in CLAIM_TYPES:
            quote = event.body.get("quote")
            relation = event.body["predicate"].replace("_", " ")
            said.append(f"{event.body['subject']} {relation} {event.body['value']}" if quote is None else quote[3])
        elif event.body.get("text"):
            said.append(event.body["text"])
    return said


def repeats(text: str, origin: str, shown: Collection[str]) -> bool:
    """Whether a text of others says again, as a whole or for the most part, what had been shown."""
    if origin not in OTHERS or not shown:
        return False
    statement = statement_of(text)
    known = {statement_of(words) for words in shown}
    if len(statement) >= 2 and statement in known:
        return True
    left, repeated = statement, 0
    for words in sorted(known, key=lambda w: (-len(w), w)):
        if len(words) >= SHORTEST and words in left:
            repeated += len(words)
            left = left.replace(words, "\0", 1)
    return repeated >= SHARE * max(len(statement), 1)
