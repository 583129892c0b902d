"""Words said before a forgetting and read after it; claims that slip in between a command's look and its tombstone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from taishi.ingest.envelope import Event
from taishi.ingest.owed import tombstone_of
from taishi.projections.analysis import Analyzer
from taishi.projections.closure import Closures, owed_of
from taishi.projections.lookup import Lookup
from taishi.projections.store import ReadModelFile, open_connection
from taishi.projections.worker import model_path
from tests.support.history import History, claim_id

ANALYZER = Analyzer()


class Fold:
    """A read model that follows a history; `pay` adds the tombstones that are owed."""

    def __init__(self, folder: Path, history: History) -> None:
        self.history = history
        self.path = model_path(folder, 0)
        self.model = ReadModelFile(self.path, ANALYZER)
        self.lookup = Lookup(lambda: folder)

    def follow(self) -> None:
        events = self.history.events[self.model.checkpoint.seq :]
        if events:
            self.model.apply(events)

    def rows(self, sql: str) -> list[tuple]:
        self.follow()
        connection = open_connection(self.path, read_only=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def values(self) -> list[str]:
        return [
            row[0] for row in self.rows("SELECT DISTINCT c.value FROM beliefs b JOIN claims c ON c.seq = b.claim")
        ]

    def pay(self) -> list[Event]:
        self.follow()
        owed = owed_of(self.lookup, 0)
        return [self.history.add("claim.forgotten", facts=dict(tombstone_of(one).facts)) for one in owed]


def forget(h: History, *gone: Event, kind: str = "claim", seen: int | None = None, **facts: object) -> Event:
    """As the command would, of what it saw at `seen` (default: now)."""
    claims = [e for e in gone if "claim" in e.facts]
    at = len(h.events) if seen is None else seen
    said = [e.facts["claim"] for e in claims]
    return h.add(
        "claim.forgotten",
        facts={
            "kind": kind,
            "claims": [[claim_id(e), e.position.seq] for e in claims],
            "events": [[e.event_id, e.position.seq] for e in gone],
            "keys": [e.key_id for e in gone],
            "seen": at,
            "upto": at,
            **({"values": [[s["slot"], s["value"], s.get("negates", False)] for s in said]} if kind == "claim" else {}),
            **facts,
        },
    )


def after_erasure(h: History) -> list[Event]:
    erased = {seq for e in h.events if e.type.endswith(".forgotten") for _, seq in e.facts["events"]}
    return [replace(e, body=None) if e.position.seq in erased else e for e in h.events]


def assert_like_a_rebuild(fold: Fold, folder: Path) -> None:
    fold.follow()
    again = ReadModelFile(folder / "again.db", ANALYZER)
    again.apply(after_erasure(fold.history))
    assert again.digest() == fold.model.digest()
    again.close()


def test_what_is_read_late_of_older_words_is_forgotten_and_owed(tmp_path: Path) -> None:
    h = History()
    fold = Fold(tmp_path, h)
    first, second = h.say("I like figs"), h.say("I like figs, I live in Lund")
    claim = h.claim("user", "likes", "figs", said=first)
    h.extracted(first)
    forget(h, first, claim)
    late = h.claim("user", "likes", "figs", said=second)
    beside = h.claim("user", "lives_in", "Lund", said=second)
    h.extracted(second)
    assert fold.values() == ["Lund"]
    assert fold.rows("SELECT text FROM events WHERE text IS NOT NULL") == []
    assert fold.rows("SELECT pending FROM namespaces") == [(0,)]
    (paid,) = fold.pay()
    named = {seq for _, seq in paid.facts["events"]}
    assert {late.position.seq, second.position.seq, beside.position.seq} == named, "their quotes overlap"
    assert set(paid.facts["keys"]) == {late.key_id, second.key_id, beside.key_id}
    assert fold.values() == [] and fold.pay() == []
    again = h.say("I like figs")
    h.claim("user", "likes", "figs", said=again)
    assert fold.values() == ["figs"], "said later: new evidence"
    assert_like_a_rebuild(fold, tmp_path)


def test_what_was_said_after_the_dry_run_stays(tmp_path: Path) -> None:
    h = History()
    fold = Fold(tmp_path, h)
    first = h.say("I like figs")
    claim = h.claim("user", "likes", "figs", said=first)
    later = h.say("I like figs")
    forget(h, first, claim, upto=2)
    h.claim("user", "likes", "figs", said=later)
    assert fold.values() == ["figs"] and fold.pay() == []


def test_a_claim_that_slips_in_before_the_tombstone_goes_with_its_words(tmp_path: Path) -> None:
    h = History()
    fold = Fold(tmp_path, h)
    words = h.say("I like figs")
    slipped = h.claim("user", "likes", "figs", said=words)
    forget(h, words, kind="session", seen=1)
    assert fold.values() == []
    (paid,) = fold.pay()
    assert [claim_id(slipped), slipped.position.seq] in paid.facts["claims"]
    assert_like_a_rebuild(fold, tmp_path)


def test_an_equal_claim_that_slips_in_goes_too(tmp_path: Path) -> None:
    h = History()
    fold = Fold(tmp_path, h)
    first, second = h.say("I like figs"), h.say("figs are what I like")
    claim = h.claim("user", "likes", "figs", said=first)
    seen = len(h.events)
    h.claim("user", "likes", "figs", said=second)
    h.claim("user", "likes", "plums", said=h.say("I like plums"))
    forget(h, first, claim, seen=seen)
    assert fold.values() == ["plums"]
    assert len(fold.pay()) == 1 and fold.pay() == []
    assert fold.rows("SELECT text FROM events WHERE text IS NOT NULL") == [("I like plums",)]
    assert_like_a_rebuild(fold, tmp_path)


def test_a_forgotten_subject_does_not_come_back_by_older_words(tmp_path: Path) -> None:
    h = History()
    fold = Fold(tmp_path, h)
    about, other = h.say("she likes figs"), h.say("he likes plums")
    known = h.claim("Ada", "lives_in", "Lund")
    forget(h, known, kind="subject", subjects=[known.facts["claim"]["subject"]])
    h.claim("Ada", "likes", "figs", said=about)
    h.claim("Bob", "likes", "plums", said=other)
    assert fold.values() == ["plums"]
    (paid,) = fold.pay()
    assert [seq for _, seq in paid.facts["events"] if seq == about.position.seq]
    assert_like_a_rebuild(fold, tmp_path)


def test_reasons_go_with_what_they_are_about(tmp_path: Path) -> None:
    h = History()
    fold = Fold(tmp_path, h)
    claim, other = h.claim("user", "likes", "figs"), h.claim("user", "likes", "plums")
    reason = h.add("claim.retracted", facts={"targets": [claim_id(claim)]}, body={"reason": "figs were never mine"})
    h.add("claim.retracted", facts={"targets": [claim_id(other)]}, body={})
    fold.follow()
    found = fold.lookup.claims(0, 1, claim_id(claim))[0]
    closures = Closures(fold.lookup, 0, 1)
    taken = closures.of_claim(found, upto=10**9)
    assert [seq for _, seq, _ in taken.remarks] == [reason.position.seq]
    assert [seq for _, seq, _ in closures.of_namespace(upto=10**9).remarks] == [reason.position.seq]
    forget(h, claim, reason)
    assert fold.rows("SELECT * FROM remarks") == []
    assert_like_a_rebuild(fold, tmp_path)


def test_a_subject_is_named_by_whole_words_and_by_the_claims_that_repeat_it(tmp_path: Path) -> None:
    h = History()
    fold = Fold(tmp_path, h)
    h.say("an annual report")
    named = h.say("Ann's bike, and 李明的车")
    knows = h.claim("user", "knows", "Ann")
    about = h.claim("Ann", "likes", "figs")
    fold.follow()
    closures = Closures(fold.lookup, 0, 1)
    taken = closures.of_subject("ann", upto=10**9)
    assert [seq for _, seq, _ in taken.raw_events] == [named.position.seq]
    assert {seq for _, seq in taken.claims} == {knows.position.seq, about.position.seq}
    assert [seq for _, seq, _ in closures.of_subject("李明", upto=10**9).raw_events] == [named.position.seq]
