"""Which documents are scored at all: those that hold the question's rarest words, within a bound on the work.

Only as many rare words are matched on as a budget of postings allows. Of more documents than are scored, those are
taken whose words tell most together, the newer first. Where even the rarest word is too common, the newest documents
that hold it with the next rarest are taken. Words that are not matched on still count when the matches are scored.

What is taken depends on the documents up to the last that is asked of and on nothing else: FTS5's own rank weighs words
by all that the table holds, of other namespaces and of later on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from taishi.projections.analysis import QueryTerm, QueryTerms, base36
from taishi.projections.stopwords import STOP_WORDS

from .corpus import ALL, CorpusStatistics
from .reading import ReadModel

MATCHES: Final = 200
"""Documents that are scored."""
POSTINGS: Final = 4_000
"""Postings that one question may read, rarest words first."""
FEW: Final = 20
"""Phrases of single characters are tried where words find fewer documents than this, and in small namespaces."""
SMALL: Final = 1_000
"""Documents of a namespace in which everything is tried."""


def match(
    model: ReadModel,
    ns: int,
    terms: QueryTerms,
    frequency: Mapping[str, int],
    corpus: CorpusStatistics,
    *,
    last: int = ALL,
) -> set[int]:
    """Document ids, up to `last`. `frequency` tells in how many documents each token stands."""
    prefix = base36(ns) + "|"
    known = {t.token for t in terms.terms if frequency.get(t.token) and not only_stops(t)}
    present = sorted((frequency[token], token) for token in known)
    chosen: list[str] = []
    budget = POSTINGS
    for documents, token in present:
        if documents > budget:
            break
        budget -= documents
        chosen.append(_clause("words", prefix, [token]))
    found = _most_telling(model, chosen, corpus, last)
    if present and not chosen:
        common = [_clause("words", prefix, [token]) for _, token in present]
        found |= _newest(model, " AND ".join(common[:2]), last) | _newest(model, common[0], last)
    if corpus.documents <= SMALL or len(found) < FEW:
        found |= _by_characters(model, prefix, terms, frequency, corpus, last)
    return found


def _by_characters(
    model: ReadModel,
    prefix: str,
    terms: QueryTerms,
    frequency: Mapping[str, int],
    corpus: CorpusStatistics,
    last: int,
) -> set[int]:
    """Words that the segmenter cut otherwise there, and the characters of words that stand nowhere."""
    everything = corpus.documents <= SMALL
    phrases = [p for p in terms.phrases if everything or frequency.get("".join(p), 0) < FEW]
    phrases = [p for p in phrases if not all(c in STOP_WORDS for c in p)]
    longer = [p for p in phrases if len(p) > 1]
    wanted = [_clause("chars", prefix, p) for p in (phrases if everything else longer or phrases)]
    unseen = [t for t in terms.terms if not frequency.get(t.token) and not only_stops(t)]
    apart = [_clause("chars", prefix, [c]) for t in unseen for c in characters(t)]
    if everything:
        return _most_telling(model, wanted + apart, corpus, last)
    return _newest(model, " OR ".join(wanted), last) if wanted else set()


def only_stops(t: QueryTerm) -> bool:
    """Stop words that the segmenter left in one piece (`我要`)."""
    return t.kind == "word" and len(t.token) > 1 and all(c in STOP_WORDS for c in t.token)


def characters(t: QueryTerm) -> tuple[str, ...]:
    """Telling characters of a short Han word."""
    if t.kind != "word" or len(t.token) > 3:
        return ()
    return tuple(c for c in t.token if c not in STOP_WORDS)


def _clause(column: str, prefix: str, tokens: Sequence[str]) -> str:
    return f'{column} : "{" ".join(prefix + token for token in tokens)}"'


def _most_telling(model: ReadModel, clauses: Sequence[str], corpus: CorpusStatistics, last: int) -> set[int]:
    """Those that match any of the clauses: of too many, the ones whose clauses are the rarest together."""
    sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ? AND rowid <= ?"
    found = [rows for clause in clauses if (rows := model.rows(sql, clause, last))]
    if sum(map(len, found)) <= MATCHES:
        return {row[0] for rows in found for row in rows}
    weight = [corpus.idf(len(rows)) for rows in found]
    docs, place = np.unique(np.concatenate([np.array(rows)[:, 0] for rows in found]), return_inverse=True)
    total = np.bincount(place, weights=np.repeat(weight, [len(rows) for rows in found]))
    return set(docs[np.lexsort((-docs, -total))[:MATCHES]].tolist())


def _newest(model: ReadModel, expression: str, last: int) -> set[int]:
    sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?"
    return {row[0] for row in model.rows(sql, expression, last, MATCHES // 2)}
