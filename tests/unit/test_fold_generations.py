"""Extraction generations in the fold: each reads its own claims, and what callers said of a claim binds in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.ingest.envelope import Event
from taishi.projections.analysis import Analyzer
from taishi.projections.closure import Closures
from taishi.projections.lookup import Lookup
from taishi.projections.store import ReadModelFile
from tests.support.history import History, claim_id

ANALYZER = Analyzer()
VALUES = ("Hangzhou", "Beijing", "Xi'an")


def folded(folder: Path, events: Sequence[Event], *, generation: int = 1, batch: int = 50) -> ReadModelFile:
    model = ReadModelFile(folder / "claims-p0.db", ANALYZER, generation=generation)
    for at in range(0, len(events), batch):
        model.apply(events[at : at + batch], stop_at_poison=True)
    return model


def rows(model: ReadModelFile, sql: str) -> list[tuple[Any, ...]]:
    return model._connection.execute(sql).fetchall()


BELIEFS = (
    "SELECT s.fingerprint, c.claim_id, b.valid_from, b.valid_to, b.known_from, {until} FROM {table} b"
    " JOIN slots s ON s.slot = b.slot JOIN claims c ON c.seq = b.claim ORDER BY 1, 2, 3, 4, 5, 6"
)
CLAIMS = (
    "SELECT claim_id, value, removed_at, removed_why, erased_at IS NULL, importance, known_from, valid_from, valid_to"
    " FROM claims ORDER BY 1, 2, 3"
)


def meaning(model: ReadModelFile) -> list[list[tuple[Any, ...]]]:
    """What is believed, was believed and is said: without positions and events."""
    return [
        rows(model, BELIEFS.format(table="beliefs", until="0")),
        rows(model, BELIEFS.format(table="history", until="b.known_to")),
        rows(model, CLAIMS),
        rows(model, "SELECT memory_id, confirmations, helpful, unhelpful FROM standing ORDER BY 1"),
    ]


class Upgraded(History):
    """A history whose extracted claims are of generation 1, and that can be read again."""

    def extract(self, said: Event, predicate: str, value: str) -> Event:
        return self.claim("user", predicate, value, said=said, generation=1)

    def read_again(self, *, gone: dict[int, tuple[int, int]], erased: set[int]) -> None:
        """As a second generation with the very same extractor reads it. `gone`: tombstones by claim event."""
        for event in [e for e in self.events if e.type == "claim.extracted"]:
            source = next(e for e in self.events if e.event_id == event.evidence[0])
            facts: dict[str, Any] = {"claim": event.facts["claim"]}
            body = event.body or {}
            if source.position.seq in erased:
                facts["carried"] = list(event.evidence)
                if event.position.seq in gone:
                    facts["forgotten"], body = list(gone[event.position.seq]), {}
            evidence = [event.event_id] if "carried" in facts else event.evidence
            self.add("claim.extracted", facts=facts, body=body, evidence=evidence, generation=2)


def test_a_claim_of_another_generation_is_in_no_slot(tmp_path: Path) -> None:
    h = Upgraded()
    said = h.say("I live in Hangzhou")
    h.extract(said, "lives_in", "Hangzhou")
    h.claim("user", "lives_in", "Beijing", said=said, generation=2)
    h.extracted(said)
    model = folded(tmp_path, h.events, generation=1)
    assert [r[1] for r in rows(model, CLAIMS)] == ["Hangzhou"]
    assert rows(model, "SELECT generation, subject_key FROM foreign_claims") == [(2, "user")]
    assert rows(model, "SELECT event, start, stop FROM foreign_evidence") == [(1, 0, 18)]


def test_a_forget_takes_what_every_generation_made_of_the_words(tmp_path: Path) -> None:
    h = Upgraded()
    said = h.say("I live in Hangzhou and work at Acme")
    one = h.extract(said, "lives_in", "Hangzhou")
    other = h.claim("user", "note", "lives in Hangzhou", said=said, generation=2)
    elsewhere = h.claim("user", "note", "else", said=h.say("something else"), generation=2)
    folded(tmp_path, h.events).close()
    lookup = Lookup(lambda: tmp_path)
    (claim,) = lookup.claims(0, 1, claim_id(one))
    taken = Closures(lookup, 0, 1).of_claim(claim, upto=10**9)
    assert [name for name, _ in taken.foreign] == [claim_id(other)]
    assert [name for name, _ in taken.claims] == [claim_id(one)]
    everything = Closures(lookup, 0, 1).of_namespace(upto=10**9)
    assert {name for name, _ in everything.foreign} == {claim_id(other), claim_id(elsewhere)}


def test_a_forget_takes_what_a_command_repeated_though_this_generation_read_other_words(tmp_path: Path) -> None:
    h = Upgraded()
    said = h.say("I work at Acme")
    first = h.extract(said, "works_at", "Acme")
    ended = h.claim(
        "user", "works_at", "Acme", targets=(claim_id(first),), was="true_until", type_="claim.corrected", valid_to=99
    )
    h.events[-1] = replace(ended, evidence=(first.event_id,))
    again = h.claim("user", "works_at", "Acme Ltd", said=said, generation=2)
    folded(tmp_path, h.events, generation=2).close()
    lookup = Lookup(lambda: tmp_path)
    (claim,) = lookup.claims(0, 1, claim_id(again))
    taken = Closures(lookup, 0, 1).of_claim(claim, upto=10**9)
    assert {name for name, _ in taken.claims} == {claim_id(again), claim_id(ended)}
    assert [name for name, _ in taken.foreign] == [claim_id(first)]


@pytest.mark.parametrize("ruling", ["retracted", "corrected"])
def test_a_verdict_binds_a_claim_that_is_read_later(tmp_path: Path, ruling: str) -> None:
    h = Upgraded()
    said = h.say("I live in Hangzhou")
    first = h.extract(said, "lives_in", "Hangzhou")
    h.confirm(first)
    if ruling == "retracted":
        h.add("claim.retracted", facts={"targets": [claim_id(first)]})
    else:
        h.claim(
            "user", "lives_in", "Ningbo", correction=True, targets=(claim_id(first),), was="wrong",
            type_="claim.corrected",
        )  # fmt: skip
    h.read_again(gone={}, erased=set())
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    assert meaning(folded(tmp_path / "2", h.events, generation=2)) == meaning(folded(tmp_path / "1", h.events))


def _says(claim: Event) -> tuple[str, str]:
    return claim.facts["claim"]["slot"], claim.facts["claim"]["value"]


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["say", "say", "say", "correct", "retract", "confirm", "forget", "resolve"]),
        st.integers(0, 5),
        st.sampled_from(VALUES),
        st.sampled_from(["lives_in", "likes", "works_at"]),
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=30, deadline=None)
@given(operations=OPERATIONS, batch=st.integers(1, 7))
def test_the_same_reading_in_another_generation_means_the_same(
    tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, int, str, str]], batch: int
) -> None:
    h = Upgraded()
    claims: list[Event] = []
    gone: dict[int, tuple[int, int]] = {}
    erased: set[int] = set()
    for what, which, value, predicate in operations:
        alive = [c for c in claims if c.position.seq not in gone]
        target = alive[which % len(alive)] if alive else None
        equals = [c for c in alive if target is not None and _says(c) == _says(target)]
        names = tuple(claim_id(c) for c in equals)
        if what == "say":
            said = h.say(f"{predicate} {value}")
            claims.append(h.extract(said, predicate, value))
            h.add("extraction.completed", facts={"window": "w", "events": [said.event_id]}, generation=1)
        elif target is None:
            continue
        elif what == "correct":
            h.claim(
                "user", (target.body or {})["predicate"], value, correction=True, targets=names, was="wrong",
                type_="claim.corrected",
            )  # fmt: skip
        elif what == "retract":
            h.add("claim.retracted", facts={"targets": list(names)})
        elif what == "confirm":
            h.confirm(target)
        elif what == "resolve":
            h.resolve(target, winner=target)
        else:
            sources = [next(e for e in h.events if e.event_id == c.evidence[0]) for c in equals]
            tombstone = h.forget(*equals, *sources)
            gone |= {c.position.seq: (tombstone.position.seq, tombstone.recorded_at) for c in equals}
            erased |= {source.position.seq for source in sources}
    h.read_again(gone=gone, erased=erased)
    folder = tmp_path_factory.mktemp("models")
    for name in ("one", "two", "again", "replayed"):
        (folder / name).mkdir()
    one, two = folded(folder / "one", h.events), folded(folder / "two", h.events, generation=2)
    assert meaning(two) == meaning(one)
    assert folded(folder / "again", h.events, generation=2, batch=batch).digest() == two.digest()
    replayed = [replace(e, body=None) if e.position.seq in {*gone, *erased} else e for e in h.events]
    assert folded(folder / "replayed", replayed, generation=2).digest() == two.digest()
