"""Which documents are scored at all: those that hold the question's rarest words, within a bound on the work.

Ranking by bm25 costs about a microsecond per posting, so that only as many rare words are matched on as a budget of
postings allows. Where even the rarest is too common, the newest documents that hold it with the next rarest are taken:
those are found without ranking. Words that are not matched on still count when the matches are scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from taishi.projections.analysis import QueryTerm, QueryTerms, base36
from taishi.projections.stopwords import STOP_WORDS

from .corpus import CorpusStatistics
from .reading import ReadModel

MATCHES: Final = 200
"""Documents that are scored; 90% of the true top 20 stand within the top 200 of a capped match."""
POSTINGS: Final = 4_000
"""Postings that one question may rank, rarest words first."""
FEW: Final = 20
"""Phrases of single characters are tried where words find fewer documents than this, and in small namespaces."""
ALL: Final = 2**63 - 1
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
    found = _ranked(model, chosen, last)
    if present and not chosen:
        common = [_clause("words", prefix, [token]) for _, token in present]
        found |= _newest(model, " AND ".join(common[:2]), last) | _newest(model, common[0], last)
    if corpus.documents <= SMALL or len(found) < FEW:
        found |= _by_characters(model, prefix, terms, frequency, last, everything=corpus.documents <= SMALL)
    return found


def _by_characters(
    model: ReadModel, prefix: str, terms: QueryTerms, frequency: Mapping[str, int], last: int, *, everything: bool
) -> set[int]:
    """Words that the segmenter cut otherwise there, and the characters of words that stand nowhere."""
    phrases = [p for p in terms.phrases if everything or frequency.get("".join(p), 0) < FEW]
    phrases = [p for p in phrases if not all(c in STOP_WORDS for c in p)]
    longer = [p for p in phrases if len(p) > 1]
    wanted = [_clause("chars", prefix, p) for p in (phrases if everything else longer or phrases)]
    unseen = [t for t in terms.terms if not frequency.get(t.token) and not only_stops(t)]
    apart = [_clause("chars", prefix, [c]) for t in unseen for c in characters(t)]
    if everything:
        return _ranked(model, wanted + apart, last)
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


def _ranked(model: ReadModel, clauses: Sequence[str], last: int) -> set[int]:
    if not clauses:
        return set()
    sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ? AND rowid <= ? ORDER BY rank LIMIT ?"
    return {row[0] for row in model.rows(sql, " OR ".join(clauses), last, MATCHES)}


def _newest(model: ReadModel, expression: str, last: int) -> set[int]:
    sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?"
    return {row[0] for row in model.rows(sql, expression, last, MATCHES // 2)}
