"""What every adapter of `taishi.ingest.log.EventLog` must do: subclass `EventLogContract` beside its fixtures."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taishi.ingest.envelope import Actor, NewEvent, Position
from taishi.ingest.errors import (
    EventIdConflict,
    EvidenceErased,
    Gone,
    InvalidInput,
    NotFound,
    RecordedBehind,
    WrongExpectedVersion,
)
from taishi.ingest.ids import derived_id, new_id
from taishi.ingest.instants import SECOND
from taishi.ingest.keys import KeyStore
from taishi.ingest.log import Appended, Batch, EventLog


def message(text: str = "the lift is broken", **given: Any) -> NewEvent:
    fields: dict[str, Any] = {
        "event_id": new_id(),
        "type": "message.recorded",
        "namespace": "house",
        "body": {"text": text},
        **given,
    }
    return NewEvent(**fields)


def now() -> int:
    return time.time_ns() // 1000


def seqs(appended: Appended) -> list[int]:
    return [recorded.position.seq for recorded in appended.recorded]


class EventLogContract:
    """Needs the fixtures `log`, an empty EventLog, and `keys`, the KeyStore it seals with."""

    # -- appending and reading back

    def test_an_event_comes_back_as_it_was_given(self, log: EventLog) -> None:
        given = message(
            "我下周去南京出差 🚄",
            session="s1",
            actor=Actor("u-17", "assistant"),
            origin="tool",
            session_kind="task",
            occurred_at=-5 * SECOND,
            occurred_offset=-210,
            generation=3,
            correlation_id=new_id(),
            causation_id=new_id(),
            evidence=(new_id(), new_id()),
            facts={"claim": {"slot": "ab", "valid_from": -62_135_596_800_000_000, "negates": True}},
        )
        before = now()
        (recorded,) = log.append(Batch(events=[given])).recorded
        partition = log.partition_of("house")
        assert recorded.position == Position(partition, 1) and not recorded.duplicate
        (event,) = log.read(partition, after=0)
        for name in NewEvent.__dataclass_fields__.keys() - {"recorded_at", "erases"}:
            assert getattr(event, name) == getattr(given, name), name
        assert event.position == recorded.position
        assert before <= event.appended_at == event.recorded_at <= now()
        assert len(event.digest) == 32
        assert log.fetch(recorded.position) == event

    def test_positions_are_gapless_and_times_never_decrease(self, log: EventLog) -> None:
        assert seqs(log.append(Batch(events=[message() for _ in range(3)]))) == [1, 2, 3]
        twin = message()
        with pytest.raises(EventIdConflict):
            log.append(Batch(events=[twin, replace(twin, body={"text": "other"})]))
        with pytest.raises(WrongExpectedVersion):
            log.append(Batch(events=[message()], expected=1))
        assert seqs(log.append(Batch(events=[message(), message()]))) == [4, 5]
        events = log.read(log.partition_of("house"), after=0)
        assert [e.position.seq for e in events] == [1, 2, 3, 4, 5]
        times = [e.appended_at for e in events]
        assert times == sorted(times)

    def test_reading_goes_on_behind_a_position(self, log: EventLog) -> None:
        ids = [new_id() for _ in range(7)]
        log.append(Batch(events=[message(event_id=i) for i in ids]))
        partition = log.partition_of("house")
        assert [e.event_id for e in log.read(partition, after=0, limit=3)] == ids[:3]
        assert [e.event_id for e in log.read(partition, after=3, limit=3)] == ids[3:6]
        assert [e.event_id for e in log.read(partition, after=6)] == ids[6:]
        assert log.read(partition, after=7) == []

    def test_heads_and_places(self, log: EventLog) -> None:
        partition = log.partition_of("house")
        assert log.head(partition) == 0
        empty = log.namespace_head("house")
        assert (empty.position, empty.raw_seq, empty.recorded_at) == (Position(partition, 0), 0, 0)
        first, second = message(), message(type="claim.confirmed", body={}, facts={"claim": "ab"})
        log.append(Batch(events=[first, second]))
        head = log.namespace_head("house")
        assert log.head(partition) == 2
        assert (head.position, head.raw_seq) == (Position(partition, 2), 1)
        assert head.recorded_at == log.fetch(Position(partition, 2)).recorded_at
        assert log.locate("house", [second.event_id, new_id(), first.event_id]) == [
            Position(partition, 2), None, Position(partition, 1),
        ]
        assert log.locate("hous", [first.event_id]) == [None]
        for seq in (0, 3):
            with pytest.raises(NotFound):
                log.fetch(Position(partition, seq))
        with pytest.raises(NotFound):
            log.fetch(Position(log.partitions + 3, 1))

    def test_namespaces_that_look_alike_are_apart(self, log: EventLog) -> None:
        names = ["u1", "u_1", "u%", "U1", "\uff551", "u1 ", "u1\0", "u*", "u\n1", "用户一", "🙂", "u1 5 5"]
        given = {name: message(namespace=name, event_id=derived_id("shared"), body={"of": name}) for name in names}
        for event in given.values():
            assert not log.append(Batch(events=[event])).recorded[0].duplicate
        for name in names:
            (place,) = log.locate(name, [derived_id("shared")])
            assert place is not None
            event = log.fetch(place)
            assert (event.namespace, event.body) == (name, {"of": name})
            assert log.namespace_head(name).position == place

    def test_a_namespace_stays_in_its_partition(self, log: EventLog) -> None:
        used = {log.partition_of(f"tenant {i}") for i in range(200)}
        assert used == set(range(log.partitions))

    # -- idempotence

    def test_a_retry_writes_nothing_and_tells_the_positions(self, log: EventLog) -> None:
        batch = Batch(events=[message("a"), message("b")])
        first = log.append(batch)
        again = log.append(batch)
        assert seqs(again) == seqs(first) and all(r.duplicate for r in again.recorded)
        assert log.head(log.partition_of("house")) == 2

    def test_what_is_new_in_a_retried_batch_is_written(self, log: EventLog) -> None:
        known = message("known")
        log.append(Batch(events=[known]))
        appended = log.append(Batch(events=[message("x"), known, message("y")]))
        assert seqs(appended) == [2, 1, 3]
        assert [r.duplicate for r in appended.recorded] == [False, True, False]

    def test_an_id_twice_in_one_batch_is_one_event(self, log: EventLog) -> None:
        twin = message("twin")
        appended = log.append(Batch(events=[twin, message("z"), twin]))
        assert seqs(appended) == [1, 2, 1]
        assert [r.duplicate for r in appended.recorded] == [False, False, True]

    @pytest.mark.parametrize(
        "change",
        [
            {"body": {"text": "no"}},
            {"type": "tool.called"},
            {"session": "s2"},
            {"actor": Actor("eve", "user")},
            {"origin": "external"},
            {"session_kind": "task"},
            {"occurred_at": 5},
            {"occurred_offset": 60},
            {"facts": {"x": True}},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_a_known_id_with_other_content_is_refused_whole(self, log: EventLog, change: dict[str, Any]) -> None:
        known = message("yes", facts={"x": 1})
        log.append(Batch(events=[known]))
        with pytest.raises(EventIdConflict) as refused:
            log.append(Batch(events=[message("fresh"), replace(known, **change)]))
        assert refused.value.field == "events.1.event_id"
        assert "yes" not in str(refused.value)
        assert log.head(log.partition_of("house")) == 1

    def test_a_guarded_batch_enters_once(self, log: EventLog) -> None:
        closing = derived_id("house", "w1", "g1")

        def batch() -> Batch:
            completed = message(event_id=closing, type="extraction.completed", body={}, facts={"claims": 1})
            claim = message(type="claim.extracted", body={"value": new_id()}, facts={"claim": {}})
            return Batch(events=[claim, completed], guard=closing)

        assert not log.append(batch()).dropped
        second = log.append(batch())
        assert second.dropped and list(second.recorded) == []
        assert log.head(log.partition_of("house")) == 2

    # -- expected version

    def test_expected_versions(self, log: EventLog) -> None:
        with pytest.raises(WrongExpectedVersion):
            log.append(Batch(events=[message()], expected="stream_exists"))
        log.append(Batch(events=[message()], expected="no_stream"))
        with pytest.raises(WrongExpectedVersion) as refused:
            log.append(Batch(events=[message()], expected="no_stream"))
        assert refused.value.details["actual"] == 1
        log.append(Batch(events=[message()], expected="stream_exists"))
        log.append(Batch(events=[message()], expected=2))
        with pytest.raises(WrongExpectedVersion):
            log.append(Batch(events=[message()], expected=2))
        last = message()
        log.append(Batch(events=[last], expected=3))
        again = log.append(Batch(events=[last], expected=3))
        assert again.recorded[0].duplicate, "a retry is answered before the version is looked at"

    # -- forgetting

    def forget(self, log: EventLog, keys: KeyStore, *event_ids: str) -> None:
        places = [place for place in log.locate("house", event_ids) if place is not None]
        key_ids = [log.fetch(place).key_id for place in places]
        tombstone = message(
            type="claim.forgotten", body={}, facts={"kind": "event", "keys": key_ids}, erases=tuple(event_ids)
        )
        log.append(Batch(events=[tombstone]))
        keys.destroy([key_id for key_id in key_ids if key_id], at=now())

    def test_an_erased_event_is_read_without_its_body(self, log: EventLog, keys: KeyStore) -> None:
        gone, kept = message("gone", facts={"n": 1}), message("kept")
        log.append(Batch(events=[gone, kept]))
        partition = log.partition_of("house")
        before = log.read(partition, after=0)
        self.forget(log, keys, gone.event_id)
        first, second, _ = log.read(partition, after=0)
        assert first == replace(before[0], body=None) and first.erased and first.facts == {"n": 1}
        assert second == before[1]

    def test_an_erased_event_does_not_come_back(self, log: EventLog, keys: KeyStore) -> None:
        gone = message("gone")
        log.append(Batch(events=[gone]))
        self.forget(log, keys, gone.event_id)
        with pytest.raises(Gone) as refused:
            log.append(Batch(events=[message(), gone]))
        assert refused.value.field == "events.1.event_id"
        assert log.head(log.partition_of("house")) == 2
        assert log.append(Batch(events=[message("gone")])).recorded[0].position.seq == 3, "said again is new evidence"

    def test_an_event_erased_before_it_arrives_is_refused(self, log: EventLog) -> None:
        late = message("late")
        log.append(Batch(events=[message(type="claim.forgotten", body={}, erases=(late.event_id,))]))
        with pytest.raises(Gone):
            log.append(Batch(events=[late]))
        elsewhere = replace(late, namespace="garden")
        assert not log.append(Batch(events=[elsewhere])).recorded[0].duplicate

    def test_what_rests_on_erased_evidence_is_refused(self, log: EventLog, keys: KeyStore) -> None:
        sources = [message(f"said {i}") for i in range(3)]
        log.append(Batch(events=sources))
        self.forget(log, keys, sources[1].event_id)

        def claim(*evidence: NewEvent) -> NewEvent:
            return message(type="claim.extracted", body={"value": "x"}, evidence=tuple(e.event_id for e in evidence))

        batch = [claim(sources[0]), claim(sources[0], sources[1]), claim(sources[2]), claim(sources[1])]
        with pytest.raises(EvidenceErased) as refused:
            log.append(Batch(events=batch))
        assert refused.value.refused == (1, 3)
        assert log.head(log.partition_of("house")) == 4
        log.append(Batch(events=[batch[0], batch[2]]))

    def test_many_events_are_erased_by_one(self, log: EventLog) -> None:
        ids = [new_id() for _ in range(2500)]
        log.append(Batch(events=[message(type="scope.forgotten", body={}, erases=tuple(ids))]))
        for event_id in (ids[0], ids[999], ids[1000], ids[-1]):
            with pytest.raises(Gone):
                log.append(Batch(events=[message(event_id=event_id)]))

    # -- imported history

    def test_imported_history_keeps_its_times_in_order(self, log: EventLog) -> None:
        log.append(Batch(events=[message(recorded_at=100), message(recorded_at=100), message(recorded_at=200)]))
        with pytest.raises(RecordedBehind) as refused:
            log.append(Batch(events=[message(recorded_at=250), message(recorded_at=249)]))
        assert refused.value.field == "events.1.recorded_at"
        assert refused.value.details["earliest"] == "1970-01-01T00:00:00.000250Z"
        with pytest.raises(RecordedBehind) as refused:
            log.append(Batch(events=[message(recorded_at=199)]))
        assert refused.value.details["earliest"] == "1970-01-01T00:00:00.000200Z"
        log.append(Batch(events=[message(recorded_at=200, namespace="house")]))
        log.append(Batch(events=[message(recorded_at=3, namespace="other")]))
        partition = log.partition_of("house")
        events = [e for e in log.read(partition, after=0) if e.namespace == "house"]
        assert [e.recorded_at for e in events] == [100, 100, 200, 200]
        assert all(e.appended_at > 10**15 for e in events)
        assert log.namespace_head("house").recorded_at == 200

    def test_history_from_before_1970(self, log: EventLog) -> None:
        log.append(Batch(events=[message(recorded_at=-(10**12)), message(recorded_at=-(10**12) + 1)]))
        assert log.namespace_head("house").recorded_at == -(10**12) + 1
        with pytest.raises(RecordedBehind):
            log.append(Batch(events=[message(recorded_at=-(10**12))]))

    def test_an_import_is_not_behind_what_was_recorded_live(self, log: EventLog) -> None:
        log.append(Batch(events=[message()]))
        with pytest.raises(RecordedBehind):
            log.append(Batch(events=[message(recorded_at=now() - 60 * SECOND)]))

    def test_the_future_is_not_imported(self, log: EventLog) -> None:
        with pytest.raises(InvalidInput) as refused:
            log.append(Batch(events=[message(), message(recorded_at=now() + 3600 * SECOND)]))
        assert refused.value.field == "events.1.recorded_at"
        assert log.head(log.partition_of("house")) == 0

    @pytest.mark.parametrize(
        "kind", ["claim.extracted", "extraction.completed", "memory.recalled", "namespace.configured"]
    )
    def test_what_taishi_derives_does_not_stop_an_import(self, log: EventLog, kind: str) -> None:
        log.append(Batch(events=[message(recorded_at=100)]))
        log.append(Batch(events=[message(type=kind, body={})]))
        log.append(Batch(events=[message(recorded_at=101)]))
        assert log.namespace_head("house").recorded_at == 101

    # -- many batches, many writers

    def test_batches_of_one_exchange_are_independent(self, log: EventLog) -> None:
        known = message("known")
        log.append(Batch(events=[known]))
        outcomes = log.append_many(
            [
                Batch(events=[message("a"), message("b")]),
                Batch(events=[replace(known, body={"text": "else"})]),
                Batch(events=[message("c")], expected=1),
                Batch(events=[message("d"), message(namespace="garden")]),
                Batch(events=[known]),
                Batch(events=[message(namespace="garden")]),
            ]
        )
        assert isinstance(outcomes[0], Appended) and seqs(outcomes[0]) == [2, 3]
        assert isinstance(outcomes[1], EventIdConflict)
        assert isinstance(outcomes[2], WrongExpectedVersion)
        assert isinstance(outcomes[3], InvalidInput) and outcomes[3].field == "events.1.namespace"
        assert isinstance(outcomes[4], Appended) and outcomes[4].recorded[0].duplicate
        assert isinstance(outcomes[5], Appended)
        assert log.namespace_head("house").position.seq == 3
        assert log.append_many([]) == []

    def test_the_same_event_in_two_batches_of_one_exchange(self, log: EventLog) -> None:
        twin = message("twin")
        first, second = log.append_many([Batch(events=[twin]), Batch(events=[twin, message("more")])])
        assert isinstance(first, Appended) and isinstance(second, Appended)
        assert seqs(first) == [1] and seqs(second) == [1, 2]
        assert [r.duplicate for r in second.recorded] == [True, False]

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            ({"event_id": "0198C0DE-7A11-7000-8000-00000000002A"}, "events.1.event_id"),
            ({"event_id": "17"}, "events.1.event_id"),
            ({"body": {"text": "\ud800"}}, "events.1"),
            ({"body": {"n": 2**70}}, "events.1"),
            ({"body": {"o": object()}}, "events.1"),
            ({"session": "\udfff"}, "events.1"),
            ({"recorded_at": 2**60}, "events.1.recorded_at"),
            ({"evidence": (new_id(), "e1")}, "events.1.evidence"),
            ({"erases": ("\ud800",)}, "events.1.erases"),
        ],
    )
    def test_what_cannot_be_written_is_refused_whole(self, log: EventLog, wrong: dict[str, Any], field: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            log.append(Batch(events=[message(), message(**wrong)]))
        assert refused.value.field == field
        assert log.head(log.partition_of("house")) == 0

    def test_an_empty_batch_and_a_namespace_that_is_no_text(self, log: EventLog) -> None:
        with pytest.raises(InvalidInput):
            log.append(Batch(events=[]))
        with pytest.raises(InvalidInput):
            log.append(Batch(events=[message(namespace="\ud800")]))
        with pytest.raises(InvalidInput):
            log.append(Batch(events=[message()], guard="w1"))

    def test_a_large_batch_enters_whole_and_is_known_whole(self, log: EventLog) -> None:
        events = [message(str(i)) for i in range(9000)]
        assert seqs(log.append(Batch(events=events))) == list(range(1, 9001))
        assert all(r.duplicate for r in log.append(Batch(events=events)).recorded)

    def test_writers_at_the_same_time_leave_one_order(self, log: EventLog) -> None:
        written: list[list[str]] = [[] for _ in range(4)]
        shared = [message(f"shared {i}") for i in range(20)]

        def write(mine: list[str]) -> None:
            for i in range(20):
                events = [message(f"{i}"), shared[i]]
                log.append(Batch(events=events))
                mine.append(events[0].event_id)

        threads = [threading.Thread(target=write, args=(mine,)) for mine in written]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        events = log.read(log.partition_of("house"), after=0)
        order = [e.event_id for e in events]
        assert len(order) == len(set(order)) == 4 * 20 + 20
        for mine in written:
            assert [i for i in order if i in set(mine)] == mine

    def test_waiting_ends_when_something_comes(self, log: EventLog) -> None:
        everywhere = dict.fromkeys(range(log.partitions), 0)
        started = time.monotonic()
        assert not log.wait(everywhere, seconds=0)
        assert not log.wait(everywhere, seconds=0.05)
        assert time.monotonic() - started < 2
        writer = threading.Timer(0.1, lambda: log.append(Batch(events=[message()])))
        writer.start()
        started = time.monotonic()
        assert log.wait(everywhere, seconds=20)
        assert 0.05 < time.monotonic() - started < 5
        writer.join()
        assert log.wait(everywhere, seconds=0)
        assert not log.wait({**everywhere, log.partition_of("house"): 1}, seconds=0.01)

    # -- against a model

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(data=st.data())
    def test_any_sequence_of_appends_agrees_with_a_dictionary(self, log: EventLog, data: st.DataObject) -> None:
        run = new_id()
        spaces = [f"{run} {i}" for i in range(2)]
        ids = [derived_id(run, str(i)) for i in range(6)]
        partition_heads = {log.partition_of(s): log.head(log.partition_of(s)) for s in spaces}
        model: dict[str, dict[str, str]] = {s: {} for s in spaces}
        erased: dict[str, set[str]] = {s: set() for s in spaces}
        last = dict.fromkeys(spaces, 0)
        for _ in range(data.draw(st.integers(1, 8))):
            space = data.draw(st.sampled_from(spaces))
            partition = log.partition_of(space)
            picks = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from("ab")), min_size=1, max_size=4))
            versions = ["any_version", "no_stream", "stream_exists", last[space], last[space] + 1]
            expected = data.draw(st.sampled_from(versions))
            events = [message(t, namespace=space, event_id=i) for i, t in picks]
            erasing = data.draw(st.lists(st.sampled_from(ids), max_size=1))
            if erasing:
                events.append(message("", namespace=space, type="claim.forgotten", erases=tuple(erasing)))
            known = model[space]
            first: dict[str, str] = {}
            for i, t in picks:
                first.setdefault(i, t)
            fresh = [e for e in events if e.event_id not in known]
            wanted: type[Exception] | None = None
            if any(first[i] != t for i, t in picks):
                wanted = EventIdConflict
            elif any(i in erased[space] for i in first):
                wanted = Gone
            elif any(known.get(i, t) != t for i, t in picks):
                wanted = EventIdConflict
            elif fresh and not (
                expected == "any_version"
                or (expected == "no_stream" and last[space] == 0)
                or (expected == "stream_exists" and last[space] > 0)
                or expected == last[space]
            ):
                wanted = WrongExpectedVersion
            outcome = log.append_many([Batch(events=events, expected=expected)])[0]
            if wanted is not None:
                assert isinstance(outcome, wanted), (outcome, wanted)
                continue
            assert isinstance(outcome, Appended), outcome
            known.update(first)
            erased[space].update(erasing)
            written = dict.fromkeys(e.event_id for e in fresh)
            head = partition_heads[partition]
            assert [r.position.seq for r in outcome.recorded if not r.duplicate] == list(
                range(head + 1, head + len(written) + 1)
            )
            partition_heads[partition] += len(written)
            if written:
                last[space] = head + len(written)
            assert log.head(partition) == partition_heads[partition]
            assert log.namespace_head(space).position.seq == last[space]
        for space in spaces:
            for place, event_id in zip(log.locate(space, ids), ids):
                assert (place is not None) == (event_id in model[space])
                if place is not None and event_id not in erased[space]:
                    assert log.fetch(place).body == {"text": model[space][event_id]}
