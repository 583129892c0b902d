"""Irregular forms (`buy`, `bought`): data that a stemmer lacks. All forms of a word are one thing to look for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files

from taishi.projections.analysis import QueryTerm, QueryTerms


@lru_cache(maxsize=1)
def _others() -> Mapping[str, tuple[str, ...]]:
    rows: str = tomllib.loads(files(__package__).joinpath("forms.toml").read_text("utf-8"))["rows"]
    words = [row.split() for row in rows.strip().splitlines()]
    return {form: tuple(other for other in row if other != form) for row in words for form in row}


def forms_of(terms: QueryTerms) -> list[QueryTerm]:
    """Further forms of the words in `terms`, each in the group of its word. Stems are marked `=`."""
    others = _others()
    asked = {t.token for t in terms.terms}
    return [
        replace(t, token=f"={form}")
        for t in terms.terms
        if t.token[0] == "="
        for form in others.get(t.token[1:], ())
        if f"={form}" not in asked
    ]


def with_forms(
    terms: QueryTerms, forms: list[QueryTerm], frequency: Mapping[str, int]
) -> tuple[QueryTerms, dict[str, int]]:
    """`terms` with those of `forms` that stand somewhere, and how often each token stands, the forms of one word
    counting together: to have seen one is to have seen the word."""
    seen = [t for t in forms if frequency.get(t.token)]
    if not seen:
        return terms, dict(frequency)
    groups = {t.group for t in seen}
    kept = [t for t in terms.terms if t.group not in groups or frequency.get(t.token)]
    joint = dict(frequency)
    for group in groups:
        tokens = {t.token for t in (*kept, *seen) if t.group == group}
        together = sum(frequency.get(token, 0) for token in tokens)
        joint |= dict.fromkeys(tokens, together)
    return replace(terms, terms=(*kept, *dict.fromkeys(seen))), joint
