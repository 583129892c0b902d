"""Windows are a function of session order and time of appending: however the log is read, they come out the same."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, select

from taishi.ingest import outbox_schema as t
from taishi.ingest.envelope import Actor, Event, Position
from taishi.ingest.instants import DAY, SECOND
from taishi.ingest.outbox import Outbox
from taishi.ingest.outbox_fold import Checkpoint, Failure, OpenWindow
from taishi.ingest.retries import RetrySchedule
from taishi.ingest.window_fold import WindowFold
from taishi.ingest.windows import AT_ONCE, GATHERED, Member, Policy, SessionState, Window, advance, expire, window_id

GAPS = st.sampled_from([0, 1, 30 * SECOND, 119 * SECOND, 121 * SECOND, 500 * SECOND, DAY, 2 * DAY])
STEPS = st.lists(st.tuples(st.sampled_from([None, "a", "b"]), GAPS), max_size=40)


def members(steps: Sequence[tuple[str | None, int]]) -> list[tuple[str | None, Member]]:
    at, made = 1_000 * DAY, []
    for seq, (session, gap) in enumerate(steps, 1):
        at += gap
        made.append((session, Member(seq=seq, event_id=f"e{seq}", appended_at=at)))
    return made


def windows_of(steps: Sequence[tuple[str | None, Member]], policy: Policy, ticks: Sequence[float] = ()) -> list[Window]:
    """`ticks`: after each event the clock tells, this far (0..1) on the way to the next one, what cannot grow."""
    states: dict[str | None, SessionState] = {}
    found: list[Window] = []
    for i, (session, member) in enumerate(steps):
        states[session], closed = advance(
            states.get(session, SessionState()), member, namespace="n", policy=policy
        )
        found += closed
        if i < len(ticks):
            until = steps[i + 1][1].appended_at if i + 1 < len(steps) else member.appended_at
            now = member.appended_at + int((until - member.appended_at) * ticks[i])
            for key, state in states.items():
                states[key], late = expire(state, now=now, namespace="n", policy=policy)
                found += [late] if late else []
    for state in states.values():
        _, late = expire(state, now=2**62, namespace="n", policy=policy)
        found += [late] if late else []
    return sorted(found, key=lambda w: w.seqs)


@given(STEPS, st.lists(st.floats(0, 1), max_size=40))
def test_the_clock_decides_nothing(steps: list[tuple[str | None, int]], ticks: list[float]) -> None:
    made = members(steps)
    assert windows_of(made, GATHERED, ticks) == windows_of(made, GATHERED)


@given(STEPS)
def test_every_event_is_in_one_window_of_its_session(steps: list[tuple[str | None, int]]) -> None:
    made = members(steps)
    by_seq = {m.seq: (session, m) for session, m in made}
    for policy in (AT_ONCE, GATHERED):
        windows = windows_of(made, policy)
        assert sorted(seq for w in windows for seq in w.seqs) == sorted(by_seq)
        for window in windows:
            own = [by_seq[seq] for seq in window.seqs]
            assert len({session for session, _ in own}) == 1
            assert len(own) <= policy.events
            assert own[-1][1].appended_at - own[0][1].appended_at <= policy.span
            session = own[0][0]
            earlier = [m.seq for s, m in made if s == session and m.seq < window.seqs[0]]
            assert list(window.context) == [
                seq for seq in earlier[-policy.context :]
                if own[0][1].appended_at - by_seq[seq][1].appended_at <= policy.context_span
            ]


def test_a_full_window_closes_at_once_and_a_late_event_opens_the_next() -> None:
    steps = members([("a", 0)] * 5 + [("a", 0), ("a", 121 * SECOND)])
    assert [w.seqs for w in windows_of(steps, GATHERED)] == [(1, 2, 3, 4, 5), (6,), (7,)]
    assert windows_of(steps, GATHERED)[1].context == (1, 2, 3, 4, 5)


def test_a_window_is_named_after_its_events_and_namespace() -> None:
    assert window_id("n", ["ab", "c"]) != window_id("n", ["a", "bc"])
    assert window_id("n", ["a"]) != window_id("n2", ["a"])
    assert window_id("n", ["a"]) == window_id("n", ["a"])


# -- the keeper's fold


def event(seq: int, type: str, at: int, *, namespace: str = "n", session: str | None = "s", **given: object) -> Event:
    fields: dict[str, object] = {
        "facts": {}, "body": {}, "generation": None, "event_id": f"e{seq}", "origin": "user_direct", **given,
    }
    return Event(
        position=Position(0, seq), type=type, schema_version=1, namespace=namespace, session=session, actor=Actor(),
        session_kind="chat", appended_at=at, recorded_at=at, occurred_at=None,
        occurred_offset=None, correlation_id=None, causation_id=None, evidence=(), key_id=seq,
        digest=seq.to_bytes(32, "big"), **fields,  # type: ignore[arg-type]
    )


ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["say", "say", "answer", "answer", "recall", "complete", "complete", "fail", "forget", "zone", "other"]
        ),
        st.sampled_from(["n", "m"]),
        st.sampled_from([None, "a"]),
        GAPS,
        st.integers(0, 100),
    ),
    max_size=30,
)


def history(acts: Sequence[tuple[str, str, str | None, int, int]]) -> list[Event]:
    """Events of one partition: raw ones, and what is said of those before them (as windows of one event each)."""
    at, made, said = 1_000 * DAY, [], []
    for seq, (act, namespace, session, gap, pick) in enumerate(acts, 1):
        at += gap
        chosen = said[pick % len(said)] if said else None
        if act in ("say", "answer") or chosen is None:
            origin = "assistant" if act == "answer" else "user_direct"
            made.append(event(seq, "message.recorded", at, namespace=namespace, session=session, origin=origin))
            said.append(made[-1])
            continue
        window = window_id(chosen.namespace, [chosen.event_id])
        about = {"namespace": chosen.namespace, "session": chosen.session}
        if act == "complete":
            made.append(event(seq, "extraction.completed", at, generation=1, facts={"window": window}, **about))
        elif act == "fail":
            facts = {"window": window, "error": f"x{pick}", "attempt": pick % 3}
            made.append(event(seq, "extraction.failed", at, generation=1, facts=facts, **about))
        elif act == "forget":
            facts = {"events": [[chosen.event_id, chosen.position.seq]], "keys": []}
            made.append(event(seq, "scope.forgotten", at, facts=facts, **about))
        elif act == "recall":
            made.append(event(seq, "memory.recalled", at, facts={"seqs": [chosen.position.seq]}, **about))
        elif act == "zone":
            made.append(event(seq, "namespace.configured", at, body={"timezone": f"Zone/{pick}"}, **about))
        else:
            made.append(event(seq, "extraction.completed", at, generation=2, facts={"window": window}, **about))
    return made


@contextmanager
def an_outbox() -> Iterator[tuple[Outbox, Path]]:
    with tempfile.TemporaryDirectory() as directory:
        outbox = Outbox(Path(directory) / "keeper.db")
        yield outbox, Path(directory) / "keeper.db"
        outbox.dispose()


def folded(events: Sequence[Event], cuts: Sequence[int], policy: Policy) -> dict[str, list[tuple[object, ...]]]:
    """All rows of the keeper's file after these events were read in these batches."""
    edges = sorted({0, len(events), *(c for c in cuts if c < len(events))})
    with an_outbox() as (outbox, path):
        before = Checkpoint()
        for start, end in zip(edges, edges[1:], strict=False):
            batch = events[start:end]
            with outbox.fold(0) as fold:
                after = Checkpoint(seq=batch[-1].position.seq, digest=batch[-1].digest)
                fold.advance(before, after)
                WindowFold(fold, batch, policy=policy, generation=1).write(now=batch[-1].appended_at)
            before = after
        engine = create_engine(f"sqlite:///{path}")
        with engine.connect() as connection:
            rows = {
                table.name: sorted(
                    tuple(row[1:] if table.name == "windows" else row) for row in connection.execute(select(table))
                )
                for table in (t.windows, t.sessions, t.zones, t.recalls, t.checkpoints)
            }
        engine.dispose()
        return rows


@settings(max_examples=60, deadline=None)
@given(ACTS, st.lists(st.integers(1, 29), max_size=8), st.sampled_from([AT_ONCE, GATHERED]))
def test_any_batching_of_reads_gives_the_same_windows(
    acts: list[tuple[str, str, str | None, int, int]], cuts: list[int], policy: Policy
) -> None:
    events = history(acts)
    assert folded(events, cuts, policy) == folded(events, [], policy)


def test_words_of_others_carry_what_was_lately_recalled() -> None:
    events = [
        event(1, "message.recorded", DAY),
        event(2, "memory.recalled", DAY, session=None, facts={"seqs": [1]}),
        event(3, "message.recorded", DAY),
        event(4, "message.recorded", DAY, origin="tool"),
        event(5, "message.recorded", DAY, origin="tool", namespace="m"),
    ]
    heard = [row[-1] for row in folded(events, [2], AT_ONCE)["windows"]]
    assert sorted(map(str, heard)) == ["[1]", "[]", "[]", "[]"]


def test_a_window_leaves_when_the_log_says_that_it_is_done() -> None:
    say = event(1, "message.recorded", DAY)
    window = window_id("n", ["e1"])
    done = event(2, "extraction.completed", DAY, generation=1, facts={"window": window})
    other = event(2, "extraction.completed", DAY, generation=2, facts={"window": window})
    assert len(folded([say], [], AT_ONCE)["windows"]) == 1
    assert len(folded([say, other], [1], AT_ONCE)["windows"]) == 1
    assert folded([say, done], [1], AT_ONCE)["windows"] == []
    assert folded([say, done], [], AT_ONCE)["windows"] == []


def test_a_growing_window_that_the_log_closed_is_done_when_read_again() -> None:
    said = [event(1, "message.recorded", DAY), event(2, "message.recorded", DAY)]
    window = window_id("n", ["e1", "e2"])
    done = event(3, "extraction.completed", DAY + 200 * SECOND, generation=1, facts={"window": window})
    failed = event(
        3, "extraction.failed", DAY, generation=1, facts={"window": window, "error": "timeout", "attempt": 1}
    )
    later = event(4, "message.recorded", DAY + 300 * SECOND)
    for cuts in ([], [2], [1, 2, 3]):
        assert folded([*said, done, later], cuts, GATHERED)["windows"] == []
        (row,) = folded([*said, failed, later], cuts, GATHERED)["windows"]
        assert (row[6], row[8], row[11]) == ("failed", 2, "timeout")


def test_only_windows_that_are_erased_whole_are_dropped() -> None:
    said = [event(seq, "message.recorded", DAY) for seq in range(1, 6)]
    some = event(6, "claim.forgotten", DAY, facts={"events": [["e2", 2]], "keys": [2]})
    rest = event(7, "scope.forgotten", DAY, facts={"events": [[f"e{i}", i] for i in (1, 3, 4, 5)], "keys": []})
    kept = [json.loads(str(row[3])) for row in folded([*said, some], [5], AT_ONCE)["windows"]]
    assert kept == [[1], [3], [4], [5]]
    assert len(folded([*said, some], [5], GATHERED)["windows"]) == 1
    everything = event(6, "scope.forgotten", DAY, facts={"events": [[f"e{i}", i] for i in range(1, 6)], "keys": []})
    assert folded([*said, everything], [5], GATHERED)["windows"] == []
    assert folded([*said, some, rest], [5, 6], AT_ONCE)["windows"] == []


def test_a_window_takes_the_zone_that_was_set_before_it() -> None:
    events = [
        event(1, "message.recorded", DAY),
        event(2, "namespace.configured", DAY, body={"timezone": "Asia/Shanghai"}),
        event(3, "message.recorded", DAY),
        event(4, "namespace.configured", DAY, body=None),
        event(5, "message.recorded", DAY),
    ]
    zones = [row[5] for row in folded(events, [1, 3], AT_ONCE)["windows"]]
    assert sorted(map(str, zones)) == ["Asia/Shanghai", "Asia/Shanghai", "None"]


def test_a_zone_that_was_forgotten_is_not_read_in_any_more() -> None:
    events = [
        event(1, "namespace.configured", DAY, body={"timezone": "Asia/Shanghai"}),
        event(2, "scope.forgotten", DAY, facts={"events": [["e1", 1]], "keys": []}),
        event(3, "message.recorded", DAY),
        event(4, "namespace.configured", DAY, body={"timezone": "Asia/Tokyo"}),
        event(5, "scope.forgotten", DAY, facts={"events": [["e1", 1]], "keys": []}),
        event(6, "message.recorded", DAY),
    ]
    for cuts in ([], [1, 2, 3, 4, 5]):
        found = folded(events, cuts, AT_ONCE)
        assert [row[5] for row in found["windows"]] == [None, "Asia/Tokyo"]
        assert [row[2:] for row in found["zones"]] == [("Asia/Tokyo", 4)]


def test_windows_that_keep_failing_and_new_ones_take_turns(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "keeper.db")
    again = RetrySchedule(delays=(10 * SECOND,) * 9)

    def add(name: str, *, closed: int) -> None:
        window = Window(window_id=name * 16, seqs=(closed,), context=())
        with outbox.fold(0) as fold:
            fold.add([OpenWindow(window=window, namespace="n", zone=None, due=closed * SECOND)])

    def next_job(now: int) -> str:
        most_jobs = len(outbox.out()) + 1
        outbox.dispatch(partitions=[0], now=now * SECOND, most_jobs=most_jobs, most_windows=1)
        (job,) = (j for j in outbox.out() if j.enqueued_at is None)
        outbox.enqueued(job.job_id, now=0)
        return outbox.job(job.job_id, zone="UTC").tasks[0].window_id[:2]

    add("00", closed=1)
    add("bb", closed=2)
    assert next_job(5) == "00"
    with outbox.fold(0) as fold:
        fold.fail("00" * 16, Failure(attempts=1, error="model.empty", at=5 * SECOND), again)
    add("cc", closed=14)
    add("dd", closed=16)
    assert [next_job(20) for _ in range(4)] == ["bb", "cc", "00", "dd"]
    outbox.dispose()
