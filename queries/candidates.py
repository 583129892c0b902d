"""Candidates by full text: match few rare terms, then score every match with the namespace's own statistics.

A term that stands in a large part of a big namespace is not matched on (bm25 costs about a microsecond per posting) but
still counts when the matches are scored. Scores are BM25 per piece of the question (a word and its shorter words count
once), divided by what a perfect match would get, so that they mean the same in every namespace.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from taishi.projections.analysis import QueryTerm, QueryTerms, base36
from taishi.projections.stopwords import STOP_WORDS

from .reading import ReadModel

K1: Final = 1.2
B: Final = 0.5
"""Softer than the usual .75: memories are short, and a long turn that states the fact should not sink."""
KIND_WEIGHT: Final[Mapping[str, float]] = {"raw": 0.9}
"""A raw form beside its stem adds nothing of its own; every other kind weighs 1."""
MATCHES: Final = 200
"""Documents that are scored; 90% of the true top 20 stand within the top 200 of a capped match."""
FREE_DOCUMENTS: Final = 4_000
"""Namespaces up to this many documents match on every term."""
POSTINGS: Final = 6_000
"""Postings that one question may touch in a bigger namespace: rarest terms first, at least one."""
PHRASE_BELOW: Final = 20
"""Single-character phrases are tried in a big namespace when words find fewer documents than this, for words that
stand in fewer documents than this."""
LARGE: Final = 1_000
"""Documents a namespace is taken to have, at least, when it is judged how telling a word is: in a namespace of two
every word is common."""
PART_OF_CODE: Final = 0.35
"""A part of a code with digits (`zx` of `zx-7707-ql`) is not the code."""
PHRASE_WORTH: Final = 0.85
"""Of a whole word: found in the text, but not as a word of its own."""
SCATTERED_WORTH: Final = 0.6
"""Of a word that stands nowhere (`猫叫` of `我的猫叫什么`): its characters, found apart from each other."""


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Of one namespace's documents: how many, and how many tokens they have together."""

    documents: int
    tokens: int

    @property
    def mean_length(self) -> float:
        return max(self.tokens / self.documents, 1.0) if self.documents else 1.0


@dataclass(frozen=True, slots=True)
class LexicalMatch:
    """`score` in 0..1 of a perfect match; `met` says how much of each piece of the question the document speaks of,
    in 0..1."""

    score: float
    met: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One thing to look for: as a token of `words`, and (or) as a phrase of `chars`. `share` is how much of its group
    it stands for. `scattered` are the characters of a word that stands nowhere as such: each of them is a hint."""

    token: str | None
    phrase: str | None
    group: int
    idf: float
    weight: float
    share: float
    scattered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lexical:
    """Matches by document id, and each piece of the question: its `weight` (how telling it is, whatever the size of
    the namespace) and its `words`."""

    matches: Mapping[int, LexicalMatch]
    weight: Mapping[int, float]
    words: Mapping[int, tuple[str, ...]]
    pieces: Sequence[_Piece] = ()
    perfect: float = 1.0
    mean_length: float = 1.0

    def score(self, model: ReadModel, documents: Iterable[int]) -> dict[int, LexicalMatch]:
        """Further documents by the same measure; those without a match are left out."""
        rows = model.rows_in(_TOKENS, documents) if self.pieces else []
        return self.score_rows(rows)

    def score_rows(self, rows: Sequence[tuple[Any, ...]]) -> dict[int, LexicalMatch]:
        matches: dict[int, LexicalMatch] = {}
        for doc, length, stored_words, stored_chars in rows:
            padded, chars = f" {stored_words} ", f" {stored_chars} "
            norm = K1 * (1 - B + B * length / self.mean_length)
            gains: dict[int, float] = {}
            met: dict[int, float] = {}
            for piece in self.pieces:
                count = 0 if piece.token is None else padded.count(piece.token)
                worth = 1.0
                if not count and piece.phrase is not None:
                    count, worth = chars.count(piece.phrase), PHRASE_WORTH
                if not count and piece.scattered:
                    there = sum(c in chars for c in piece.scattered)
                    count, worth = there > 0, SCATTERED_WORTH * there / len(piece.scattered)
                if count:
                    group = piece.group
                    gain = worth * piece.idf * count * (K1 + 1) / (count + norm)
                    gains[group] = max(gain, gains.get(group, 0.0))
                    part = piece.share * worth * piece.weight / self.weight[group]
                    met[group] = max(part, met.get(group, 0.0))
            if gains:
                matches[doc] = LexicalMatch(sum(gains.values()) / self.perfect, met)
        return matches


_TOKENS: Final = "SELECT doc, length, words, chars FROM tokens WHERE doc IN carray(?)"


class Statistics:
    """The namespaces' corpus statistics, kept up to date by reading only what was added since."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int, int], tuple[int, int, CorpusStatistics]] = {}

    def of(self, model: ReadModel, ns: int) -> CorpusStatistics:
        key = (model.generation, model.partition, ns)
        gone = model.one("SELECT count(*) FROM tombstones WHERE ns = ?", ns)
        removals = int(gone[0]) if gone else 0
        last, known_removals, sums = self._seen.get(key, (-1, removals, CorpusStatistics(0, 0)))
        if known_removals != removals:
            last, sums = -1, CorpusStatistics(0, 0)
        added = model.one("SELECT count(*), sum(length), max(doc) FROM tokens WHERE ns = ? AND doc > ?", ns, last)
        if added is not None and added[0]:
            sums = CorpusStatistics(sums.documents + added[0], sums.tokens + added[1])
            last = added[2]
        if len(self._seen) > 50_000:
            self._seen.clear()
        self._seen[key] = (last, removals, sums)
        return sums


def search(
    model: ReadModel, ns: int, terms: QueryTerms, corpus: CorpusStatistics, *, also: Collection[int] = ()
) -> Lexical:
    """Scores the best matches, and the documents in `also` (found by other channels) by the same measure."""
    if not terms or not corpus.documents:
        return Lexical({}, {}, {})
    frequency = _frequencies(model, ns, terms)
    found = _match(model, ns, terms, frequency, corpus)
    return _score(model, terms, frequency, corpus, {*found, *also})


def _frequencies(model: ReadModel, ns: int, terms: QueryTerms) -> dict[str, int]:
    """In how many documents each token stands."""
    prefix = base36(ns) + "|"
    found = model.rows_named(
        "SELECT term, doc FROM terms WHERE term IN carray(?) AND col = 'words'", [prefix + t.token for t in terms.terms]
    )
    cut = len(prefix)
    return {token[cut:]: documents for token, documents in found}


def _quoted(prefix: str, tokens: Sequence[str]) -> str:
    return '"' + " ".join(prefix + token for token in tokens) + '"'


def _match(
    model: ReadModel, ns: int, terms: QueryTerms, frequency: Mapping[str, int], corpus: CorpusStatistics
) -> set[int]:
    prefix = base36(ns) + "|"
    present = sorted((frequency[t.token], t.token) for t in terms.terms if frequency.get(t.token))
    chosen: list[str] = []
    budget = corpus.documents * len(present) if corpus.documents <= FREE_DOCUMENTS else POSTINGS
    for documents, token in present:
        if chosen and documents > budget:
            break
        budget -= documents
        chosen.append(token)
    clauses = [f"words : {_quoted(prefix, [token])}" for token in chosen]
    unseen = [t for t in terms.terms if not frequency.get(t.token) and not _only_stops(t)]
    scattered = [_phrase(prefix, [c.strip()]) for t in unseen for c in _characters(t)]
    if corpus.documents <= FREE_DOCUMENTS:
        return _documents(model, clauses + [_phrase(prefix, phrase) for phrase in terms.phrases] + scattered)
    found = _documents(model, clauses)
    if len(found) < PHRASE_BELOW:
        rare = [p for p in terms.phrases if frequency.get("".join(p), 0) < PHRASE_BELOW]
        longer = [p for p in rare if len(p) > 1]
        found |= _documents(model, [_phrase(prefix, phrase) for phrase in longer or rare])
    return found


def _phrase(prefix: str, phrase: Sequence[str]) -> str:
    return f"chars : {_quoted(prefix, phrase)}"


def _documents(model: ReadModel, clauses: Sequence[str]) -> set[int]:
    if not clauses:
        return set()
    sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ? ORDER BY rank LIMIT ?"
    return {row[0] for row in model.rows(sql, " OR ".join(clauses), MATCHES)}


def _idf(known: int, documents: int) -> float:
    known = min(known, documents)
    return math.log(1 + (documents - known + 0.5) / (known + 0.5))


def _pieces(
    terms: QueryTerms, frequency: Mapping[str, int], by_phrase: Mapping[str, int], corpus: CorpusStatistics
) -> list[_Piece]:
    said = [t for t in terms.terms if not _only_stops(t)]
    numbered = {t.group for t in terms.terms if t.kind == "code" and any(c.isdigit() for c in t.token)}
    spelled = _spelled(terms)
    pieces = []
    for t in said:
        known = max(frequency.get(t.token, 0), by_phrase.get(t.token, 0))
        share = PART_OF_CODE if t.group in numbered and t.kind != "code" else 1.0
        pieces.append(
            _Piece(
                f" {t.token} ",
                spelled.get(t.token),
                t.group,
                KIND_WEIGHT.get(t.kind, 1.0) * _idf(known, corpus.documents),
                _idf(known, max(corpus.documents, LARGE)),
                share,
                () if known else _characters(t),
            )
        )
    group = max((t.group for t in terms.terms), default=0)
    tokens = {t.token for t in terms.terms}
    for word, phrase in spelled.items():
        known = by_phrase.get(word, 0)
        if word not in tokens and known:  # single characters side by side: a name that the dictionary lacks
            group += 1
            idf = _idf(known, corpus.documents)
            pieces.append(_Piece(None, phrase, group, idf, _idf(known, max(corpus.documents, LARGE)), 1.0))
    return pieces


def _spelled(terms: QueryTerms) -> dict[str, str]:
    """Han words, and runs of single characters, as they stand in `chars`."""
    spelled = {"".join(p): f" {' '.join(p)} " for p in terms.phrases if not all(c in STOP_WORDS for c in p)}
    return spelled | {t.token: f" {t.token} " for t in terms.terms if t.kind == "word" and len(t.token) == 1}


def _only_stops(t: QueryTerm) -> bool:
    """Stop words that the segmenter left in one piece (`我要`)."""
    return t.kind == "word" and len(t.token) > 1 and all(c in STOP_WORDS for c in t.token)


def _characters(t: QueryTerm) -> tuple[str, ...]:
    """Telling characters of a short Han word, as they stand in `chars`."""
    if t.kind != "word" or len(t.token) > 3:
        return ()
    return tuple(f" {c} " for c in t.token if c not in STOP_WORDS)


def _score(
    model: ReadModel,
    terms: QueryTerms,
    frequency: Mapping[str, int],
    corpus: CorpusStatistics,
    documents: Collection[int],
) -> Lexical:
    rows = model.rows_in(_TOKENS, documents)
    by_phrase = {word: sum(1 for row in rows if phrase in f" {row[3]} ") for word, phrase in _spelled(terms).items()}
    pieces = _pieces(terms, frequency, by_phrase, corpus)
    idf: dict[int, float] = {}
    weight: dict[int, float] = {}
    for piece in pieces:
        idf[piece.group] = max(idf.get(piece.group, 0.0), piece.idf)
        weight[piece.group] = max(weight.get(piece.group, 0.0), piece.weight)
    words: dict[int, tuple[str, ...]] = {}
    for t in terms.terms:
        if t.group in weight:
            words[t.group] = (*words.get(t.group, ()), t.token.lstrip("="))
    blank = Lexical(
        matches={},
        weight=weight,
        words=words,
        pieces=pieces,
        perfect=sum(idf.values()) * (K1 + 1) / (1 + K1 * (1 - B)) or 1.0,
        mean_length=corpus.mean_length,
    )
    return replace(blank, matches=blank.score_rows(rows))
