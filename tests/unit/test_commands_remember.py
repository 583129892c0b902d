"""Remembering and correcting: which claim, in which slot, over which time, and with which verdict on what was there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from taishi.ingest.access import ApiKey
from taishi.ingest.claims import Claim, ClaimFacts
from taishi.ingest.envelope import Event, NewEvent
from taishi.ingest.extractor import Extraction, Window
from taishi.ingest.ids import new_id
from taishi.ingest.instants import BEGINNING, FOREVER, from_datetime, parse
from taishi.ingest.log import Batch
from tests.support.write_side import SECRET, WriteSide, write_side

JUNE = "2025-06-01T00:00:00Z"
JULY = "2025-07-01T00:00:00Z"


@pytest.fixture
def side() -> Iterator[WriteSide]:
    with write_side() as side:
        yield side


def at(text: str) -> int:
    return from_datetime(parse(text))


def stated(event: Event) -> tuple[Claim, ClaimFacts]:
    assert event.body is not None
    return Claim.from_body(event.body), ClaimFacts.from_header(event.facts["claim"])


def memory(**more: Any) -> dict[str, Any]:
    return {"namespace": "n", "subject": "user", "predicate": "lives_in", "value": "Ghent", **more}


def test_a_structured_memory_is_a_claim_known_from_its_own_recorded_time(side: WriteSide) -> None:
    reply = side.post("/v1/memories", memory(qualifiers={"season": "winter"}, importance=0.75, session="s"))
    (event,) = side.log.events
    claim, facts = stated(event)
    assert reply == {"memory_id": facts.claim_id, "event_id": event.event_id, "position": "p0:1"}
    assert (event.type, event.session, event.origin, event.evidence) == ("claim.asserted", "s", "user_direct", ())
    assert (claim.subject, claim.predicate, claim.value, claim.negated) == ("user", "lives_in", "Ghent", False)
    assert (claim.qualifiers, claim.importance) == ({"season": "winter"}, 0.75)
    assert facts.valid_from is None and facts.known_from is None and facts.valid_to == FOREVER and facts.to_inferred
    assert "Ghent" not in str(event.facts)


def test_facts_survive_the_header(side: WriteSide) -> None:
    side.post("/v1/memories", memory())
    side.post("/v1/memories", memory(valid_from=JUNE, valid_to=JULY))
    for event in side.log.events:
        facts = ClaimFacts.from_header(event.facts["claim"])
        assert ClaimFacts.from_header(facts.to_header()) == facts


def test_a_stated_interval_is_kept_and_its_end_is_no_inference(side: WriteSide) -> None:
    side.post("/v1/memories", memory(valid_from=JUNE, valid_to=JULY))
    claim, facts = stated(side.log.events[0])
    assert (facts.valid_from, facts.valid_to, facts.to_inferred) == (at(JUNE), at(JULY), False)
    assert claim.from_source == "stated"


def test_an_end_alone_begins_now_or_where_nobody_knows(side: WriteSide) -> None:
    side.post("/v1/memories", memory(valid_to="2990-01-01T00:00:00Z"))
    side.post("/v1/memories", memory(valid_to=JULY))
    ahead, behind = (stated(event)[1] for event in side.log.events)
    assert ahead.valid_from is not None and at(JULY) < ahead.valid_from < ahead.valid_to
    assert (behind.valid_from, behind.valid_to) == (BEGINNING, at(JULY))


@pytest.mark.parametrize(
    ("polarity", "negated"), [("negative", True), ("-", True), ("positive", False), ("+", False), (None, False)]
)
def test_polarity(side: WriteSide, polarity: str | None, negated: bool) -> None:
    side.post("/v1/memories", memory(predicate="likes", value="tea", polarity=polarity))
    assert stated(side.log.events[0])[0].negated is negated


def test_spelling_of_known_predicates_does_not_make_another_slot(side: WriteSide) -> None:
    for spelling in ("lives_in", "Lives In", "ＬＩＶＥＳ＿ＩＮ"):
        side.post("/v1/memories", memory(predicate=spelling))
    assert len({stated(event)[1].slot for event in side.log.events}) == 1
    side.post("/v1/memories", memory(predicate="Pet Peeve"))
    assert stated(side.log.events[-1])[0].predicate == "Pet Peeve", "unknown ones stay as they were written"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"namespace": "n"}, "text"),
        ({"namespace": "n", "subject": "user"}, "predicate"),
        ({"namespace": "n", "subject": "user", "predicate": "likes"}, "value"),
        ({"namespace": "n", "predicate": "likes", "value": "tea"}, "subject"),
        ({"namespace": "n", "text": "I like tea", "subject": "user"}, "predicate"),
        ({"subject": "user", "predicate": "likes", "value": "tea"}, "namespace"),
        (memory(value=" "), "value"),
        (memory(polarity="maybe"), "polarity"),
        (memory(qualifiers={"a": ""}), "qualifiers"),
        (memory(qualifiers={"a": 1}), "qualifiers.a"),
        (memory(importance=1.5), "importance"),
        (memory(importance="high"), "importance"),
        (memory(valid_from="someday"), "valid_from"),
        (memory(valid_from=JULY, valid_to=JUNE), "valid_to"),
        (memory(valid_from=JUNE, valid_to=JUNE), "valid_to"),
        (memory(recorded_at="2990-01-01T00:00:00Z"), "recorded_at"),
        (memory(confidence=1), "confidence"),
    ],
)
def test_a_refusal_names_the_field_and_writes_nothing(side: WriteSide, body: Any, field: str) -> None:
    assert side.post("/v1/memories", body, 422)["field"] == field
    assert not side.log.events


def test_recorded_at_needs_the_right_to_import() -> None:
    keys = [ApiKey.of(name="agent", key="a" * 16, rights=["command"], namespaces=["n"])]
    with write_side(api_keys=keys) as side:
        head = {"authorization": "Bearer " + "a" * 16}
        assert side.http.post("/v1/memories", json=memory(), headers=head).status_code == 202
        old = memory(recorded_at=JUNE)
        assert side.http.post("/v1/memories", json=old, headers=head).status_code == 403
        assert len(side.log.events) == 1


def test_secrets_are_taken_out_of_memories_too(side: WriteSide) -> None:
    reply = side.post("/v1/memories", memory(predicate="wifi", value=SECRET))
    side.post("/v1/memories", memory(predicate="wifi", value=SECRET, sensitive=True))
    assert reply["redacted"] == ["password"]
    assert [stated(event)[0].value for event in side.log.events] == ["[secret]", SECRET]


@dataclass(frozen=True)
class Reader:
    """Reads one claim from what begins with `live`, two from what begins with `both`, nothing else."""

    name: str = "stub"
    version: str = "1"

    def extract(self, window: Window) -> Extraction:
        (said,) = window.utterances
        claim = Claim(
            subject=said.speaker,
            predicate="lives_in",
            value=said.text.split()[-1],
            valid_from=from_datetime(said.said_at),
        )
        return Extraction(claims=[claim] * {"live": 1, "both": 2}.get(said.text.split()[0], 0))


def test_words_are_read_where_they_say_exactly_one_thing_else_kept_as_a_note() -> None:
    with write_side(reader=Reader()) as side:
        for text in ("live in Riga", "both in Riga", "hum a tune"):
            side.post("/v1/memories", {"namespace": "n", "text": text})
        read, both, neither = (stated(event) for event in side.log.events)
        assert (read[0].subject, read[0].predicate, read[0].value) == ("user", "lives_in", "Riga")
        assert read[1].valid_from is None, "what is said to hold now holds from when it is recorded"
        assert {c.predicate for c, _ in (both, neither)} == {"note"}
        assert [c.value for c, _ in (both, neither)] == ["both in Riga", "hum a tune"]
        quotes = [claim.quote for claim, _ in (read, both, neither)]
        assert [q.text for q in quotes if q] == ["live in Riga", "both in Riga", "hum a tune"]
        assert [q.event_id for q in quotes if q] == [event.event_id for event in side.log.events]


# correcting


def correct(side: WriteSide, memory_id: str, status: int = 202, **body: Any) -> dict[str, Any]:
    return side.post(f"/v1/memories/{memory_id}/correct", {"namespace": "n", **body}, status)


def test_wrong_with_a_value_takes_over_the_interval(side: WriteSide) -> None:
    first = side.post("/v1/memories", memory(valid_from=JUNE))["memory_id"]
    reply = correct(side, first, was="wrong", value="Lund", reason="misheard")
    event = side.log.events[-1]
    claim, facts = stated(event)
    assert reply == {"memory_id": facts.claim_id, "position": "p0:2"}
    assert (event.type, claim.value, event.body and event.body["reason"]) == ("claim.corrected", "Lund", "misheard")
    assert (facts.valid_from, facts.valid_to, facts.to_inferred) == (at(JUNE), FOREVER, True)
    assert (facts.correction, facts.targets, facts.was) == (True, (first,), "wrong")
    assert facts.slot == stated(side.log.events[0])[1].slot


def test_wrong_may_give_another_interval_alone(side: WriteSide) -> None:
    first = side.post("/v1/memories", memory(valid_from=JUNE))["memory_id"]
    correct(side, first, was="wrong", valid_from=JULY)
    claim, facts = stated(side.log.events[-1])
    assert (claim.value, facts.valid_from) == ("Ghent", at(JULY))


def test_wrong_without_anything_takes_it_back_with_its_equals(side: WriteSide) -> None:
    ids = [side.post("/v1/memories", memory(value=v))["memory_id"] for v in ("Ghent", "ghent.", "Lund")]
    assert correct(side, ids[0], was="wrong") == {"memory_id": ids[0], "position": "p0:4"}
    event = side.log.events[-1]
    assert (event.type, event.facts) == ("claim.retracted", {"targets": ids[:2], "was": "wrong"})
    correct(side, ids[1], 409, was="wrong", value="Lund")


def test_true_until_in_a_single_slot_begins_the_new_value_there(side: WriteSide) -> None:
    first = side.post("/v1/memories", memory(valid_from=JUNE))["memory_id"]
    correct(side, first, was="true_until", value="Lund", valid_from=JULY)
    _, facts = stated(side.log.events[-1])
    assert len(side.log.events) == 2
    assert (facts.valid_from, facts.to_inferred, facts.was) == (at(JULY), True, "true_until")


def test_true_until_without_a_value_negates_it_from_then(side: WriteSide) -> None:
    first = side.post("/v1/memories", memory(valid_from=JUNE))["memory_id"]
    correct(side, first, was="true_until")
    correct(side, first, was="true_until", valid_to=JULY)
    now, then = (stated(event) for event in side.log.events[1:])
    for claim, facts in (now, then):
        assert claim.negated and claim.value == "Ghent" and facts.negates
    assert now[1].valid_from is None and then[1].valid_from == at(JULY)
    assert then[1].valid_to == FOREVER


def test_true_until_in_a_many_valued_slot_ends_the_old_one_in_the_same_batch(side: WriteSide) -> None:
    first = side.post("/v1/memories", memory(predicate="uses", value="vim", valid_from=JUNE))["memory_id"]
    reply = correct(side, first, was="true_until", value="helix", valid_from=JULY)
    ended, new = (stated(event) for event in side.log.events[1:])
    old = stated(side.log.events[0])
    assert side.log.exchanges == [1, 1], "one batch"
    assert ended[0].negated and ended[0].value == "vim" and ended[1].slot == old[1].slot
    assert not new[0].negated and new[0].value == "helix" and new[1].slot != old[1].slot
    assert {ended[1].valid_from, new[1].valid_from} == {at(JULY)}
    assert reply["memory_id"] == new[1].claim_id
    assert side.log.events[1].evidence == (side.log.events[0].event_id,), "it repeats the words of that event"


def test_a_target_that_says_transfer_keeps_its_slot(side: WriteSide) -> None:
    with write_side(reader=Transfer()) as other:
        first = other.post("/v1/memories", {"namespace": "n", "text": "moved to the roof team"})["memory_id"]
        old = stated(other.log.events[0])
        correct(other, first, was="wrong", value="wall team")
        new = stated(other.log.events[-1])
        assert old[1].slot == new[1].slot and new[0].transfer


class Transfer(Reader):
    def extract(self, window: Window) -> Extraction:
        return Extraction(claims=[Claim(subject="user", predicate="member_of", value="roof team", transfer=True)])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "was"),
        ({"was": "never"}, "was"),
        ({"was": "wrong", "text": "a", "value": "b"}, "text"),
        ({"was": "wrong", "valid_to": "2020-01-01T00:00:00Z"}, "valid_to"),
        ({"was": "wrong", "valid_from": JULY, "valid_to": JUNE}, "valid_to"),
        ({"was": "true_until", "valid_from": "2020-01-01T00:00:00Z"}, "valid_from"),
        ({"was": "true_until", "valid_to": "2020-01-01T00:00:00Z"}, "valid_to"),
        ({"was": "true_until", "value": "Lund", "valid_to": JULY}, "valid_from"),
    ],
)
def test_a_correction_that_cannot_be_is_refused(side: WriteSide, body: Any, field: str) -> None:
    first = side.post("/v1/memories", memory(valid_from=JUNE))["memory_id"]
    assert correct(side, first, 422, **body)["field"] == field
    assert len(side.log.events) == 1


def test_only_a_claim_of_this_namespace_can_be_corrected(side: WriteSide) -> None:
    other = side.post("/v1/memories", memory(namespace="m"))["memory_id"]
    said = side.post("/v1/events", {"events": [{"namespace": "n", "content": "hello there"}]})["accepted"][0][
        "event_id"
    ]
    for unknown in (other, "0" * 32, "0198c0de-7a11-7000-8000-00000000002a", "nonsense", "%00", "🦊"):
        correct(side, unknown, 404, was="wrong")
    problem = correct(side, said, 422, was="wrong")
    assert "DELETE" in problem["detail"]
    assert len(side.log.events) == 2


def test_a_claim_forgotten_in_the_meantime_is_not_brought_back_by_its_own_negation(side: WriteSide) -> None:
    first = side.post("/v1/memories", memory())
    original = side.directory.claim

    def claim(namespace: str, memory_id: str) -> Any:
        known = original(namespace, memory_id)
        side.log.append(Batch(events=[gone]))  # between the question and the append
        return known

    facts = {"kind": "claim", "claims": [[first["memory_id"], 1]], "events": [[first["event_id"], 1]], "keys": [1]}
    gone = NewEvent(
        event_id=new_id(), type="claim.forgotten", namespace="n", body={}, facts=facts, erases=(first["event_id"],)
    )
    side.directory.claim = claim  # type: ignore[method-assign]
    correct(side, first["memory_id"], 410, was="true_until")
    assert len(side.log.events) == 2
