"""Candidates by full text: what was matched is scored with the namespace's own statistics.

Scores are BM25 per piece of the question (a word and its shorter words count once), divided by what a perfect match
would get, so that they mean the same in every namespace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from taishi.projections.analysis import QueryTerms
from taishi.projections.stopwords import STOP_WORDS

from .corpus import ALL, Corpora, CorpusStatistics, inverse_frequency
from .forms import forms_of, with_forms
from .horizon import Horizon
from .matching import characters, match, only_stops
from .reading import ReadModel

K1: Final = 1.2
B: Final = 0.5
"""Softer than the usual .75: memories are short, and a long turn that states the fact should not sink."""
KIND_WEIGHT: Final[Mapping[str, float]] = {"raw": 0.9}
"""A raw form beside its stem adds nothing of its own; every other kind weighs 1."""
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
class LexicalMatch:
    """`score` in 0..1 of a perfect match; `met` says how much of each piece of the question the document speaks of,
    in 0..1."""

    score: float
    met: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One thing to look for: as a token of `words`, and (or) as a phrase of `chars`. `share` is how much of its group
    it stands for. `scattered` are the characters of a word that stands nowhere as such: each of them is a hint, and the
    less of one (0..1) the more often it stands anywhere."""

    token: str | None
    phrase: str | None
    group: int
    idf: float
    weight: float
    share: float
    scattered: tuple[tuple[str, float], ...] = ()


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
        looked_for = [(piece, piece.token, piece.phrase, piece.scattered) for piece in self.pieces]
        for doc, length, stored_words, stored_chars in rows:
            padded, chars = f" {stored_words} ", f" {stored_chars} "
            norm = K1 * (1 - B + B * length / self.mean_length)
            gains: dict[int, float] = {}
            met: dict[int, float] = {}
            for piece, token, phrase, scattered in looked_for:
                count, worth = 0, 1.0
                if token is not None and token in padded:
                    count = padded.count(token)
                elif phrase is not None and phrase in chars:
                    count, worth = chars.count(phrase), PHRASE_WORTH
                elif scattered:
                    there = sum(hint for c, hint in scattered if c in chars)
                    count, worth = there > 0, SCATTERED_WORTH * there / len(scattered)
                if count:
                    group = piece.group
                    gain = piece.share * worth * piece.idf * count * (K1 + 1) / (count + norm)
                    gains[group] = max(gain, gains.get(group, 0.0))
                    part = piece.share * worth * piece.weight / self.weight[group]
                    met[group] = max(part, met.get(group, 0.0))
            if gains:
                matches[doc] = LexicalMatch(sum(gains.values()) / self.perfect, met)
        return matches


_TOKENS: Final = "SELECT doc, length, words, chars FROM tokens WHERE doc IN carray(?)"


def search(
    model: ReadModel,
    ns: int,
    terms: QueryTerms,
    corpora: Corpora,
    *,
    also: Collection[int] = (),
    horizon: Horizon | None = None,
) -> Lexical:
    """Scores the best matches, and the documents in `also` (found by other channels) by the same measure."""
    corpus = corpora.of(model, ns) if horizon is None else horizon.corpus
    last = None if horizon is None else horizon.last
    if not terms or not corpus.documents:
        return Lexical({}, {}, {})
    forms = forms_of(terms)
    frequency = corpora.frequencies(model, ns, [t.token for t in (*terms.terms, *forms)], corpus, last=last)
    if forms:
        terms, frequency = with_forms(terms, forms, frequency)
    found = match(model, ns, terms, frequency, corpus, last=ALL if last is None else last)
    return _score(model, terms, frequency, corpus, {*found, *also})


def _pieces(
    terms: QueryTerms,
    frequency: Mapping[str, int],
    by_phrase: Mapping[str, int],
    corpus: CorpusStatistics,
    texts: Sequence[str],
) -> list[_Piece]:
    """`texts` are the `chars` of the documents that may match."""
    said = [t for t in terms.terms if not only_stops(t)]
    numbered = {t.group for t in terms.terms if t.kind == "code" and any(c.isdigit() for c in t.token)}
    spelled = _spelled(terms)
    hints: dict[str, float] = {}
    pieces = []
    for t in said:
        known = max(frequency.get(t.token, 0), by_phrase.get(t.token, 0))
        share = PART_OF_CODE if t.group in numbered and t.kind != "code" else 1.0
        pieces.append(
            _Piece(
                f" {t.token} ",
                spelled.get(t.token),
                t.group,
                KIND_WEIGHT.get(t.kind, 1.0) * corpus.idf(known),
                inverse_frequency(known, max(corpus.documents, LARGE)),
                share,
                () if known else tuple(_hints(characters(t), texts, corpus, hints)),
            )
        )
    group = max((t.group for t in terms.terms), default=0)
    tokens = {t.token for t in terms.terms}
    for word, phrase in spelled.items():
        known = by_phrase.get(word, 0)
        if word not in tokens and known:  # single characters side by side: a name that the dictionary lacks
            group += 1
            rarity = inverse_frequency(known, max(corpus.documents, LARGE))
            pieces.append(_Piece(None, phrase, group, corpus.idf(known), rarity, 1.0))
    return pieces


ONCE: Final = 2
"""Documents that one memory is at most: its words and the claim that was read from them."""


def _hints(
    han: Sequence[str], texts: Sequence[str], corpus: CorpusStatistics, known: dict[str, float]
) -> Iterable[tuple[str, float]]:
    """Characters as they stand in `texts`, and how telling each is beside one that stands nowhere, or in one memory:
    among a few, one is many, and tells as much."""
    for c in han:
        padded = f" {c} "
        if padded not in known:
            count = sum(padded in text for text in texts)
            known[padded] = corpus.idf(max(count - ONCE, 0)) / corpus.idf(0)
        yield padded, known[padded]


def _spelled(terms: QueryTerms) -> dict[str, str]:
    """Han words, and runs of single characters, as they stand in `chars`."""
    spelled = {"".join(p): f" {' '.join(p)} " for p in terms.phrases if not all(c in STOP_WORDS for c in p)}
    return spelled | {t.token: f" {t.token} " for t in terms.terms if t.kind == "word" and len(t.token) == 1}


def _score(
    model: ReadModel,
    terms: QueryTerms,
    frequency: Mapping[str, int],
    corpus: CorpusStatistics,
    documents: Collection[int],
) -> Lexical:
    rows = model.rows_in(_TOKENS, documents)
    spelled = _spelled(terms)
    chars = [f" {row[3]} " for row in rows] if spelled else []
    by_phrase = {word: sum(phrase in those for those in chars) for word, phrase in spelled.items()}
    pieces = _pieces(terms, frequency, by_phrase, corpus, chars)
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
