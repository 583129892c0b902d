"""What a namespace's dictionary does to its index: the documents in which a word that came or went is written are
indexed anew, in the transaction that folds the setting. All others have the same tokens with it and without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import orjson

from taishi.ingest.dictionary import dictionary_words

from .analysis import prefixed
from .model import Model
from .rendering import searchable, spoken

_AT_ONCE: Final = 100
"""Words looked for at a time."""


def redefine(model: Model, ns: int, seq: int, given: Sequence[str]) -> None:
    """`given` takes the place of all words set before; none end the dictionary. `seq` is the event that sets them."""
    words = dictionary_words(given, most=len(given))
    before = model.dictionary(ns)
    if words:
        model.execute(
            "INSERT OR REPLACE INTO dictionaries (ns, seq, words) VALUES (?, ?, ?)",
            (ns, seq, orjson.dumps(words).decode()),
        )
    else:
        model.execute("DELETE FROM dictionaries WHERE ns = ?", (ns,))
    model.forget_analyzer(ns)
    for doc in sorted(_holding(model, ns, set(before).symmetric_difference(words))):
        model.unindex(doc, ns)
        model.index(doc, ns, _text(model, doc))


def _holding(model: Model, ns: int, words: Collection[str]) -> set[int]:
    found: set[int] = set()
    for clause in _clauses(ns, words):
        found.update(row[0] for row in model.rows("SELECT rowid FROM fulltext WHERE fulltext MATCH ?", (clause,)))
    return found


def _clauses(ns: int, words: Collection[str]) -> Iterator[str]:
    phrases = [f'chars : "{prefixed(" ".join(word), ns)}"' for word in sorted(words)]
    for at in range(0, len(phrases), _AT_ONCE):
        yield " OR ".join(phrases[at : at + _AT_ONCE])


def _text(model: Model, doc: int) -> str:
    """The words that a living document is found by."""
    if doc % 2:
        text, subject, value = model.execute("SELECT text, subject, value FROM claims WHERE seq = ?", (doc // 2,)).get
        return searchable(text, subject, value)
    text, speaker = model.execute("SELECT text, speaker FROM events WHERE seq = ?", (doc // 2,)).get
    return spoken(text, speaker)
