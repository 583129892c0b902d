"""Event ids and the partition of a namespace."""

from __future__ import annotations

import os
import threading
import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taishi.ingest.errors import InvalidInput
from taishi.ingest.ids import IdSource, canonical_id, derived_id, is_canonical, new_id
from taishi.ingest.partitions import partition_of


def test_fresh_ids_are_version_7_and_of_now() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(new_id())
    assert made.version == 7 and made.variant == uuid.RFC_4122
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000 + 1


def test_fresh_ids_only_grow() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made) and len(set(made)) == len(made)


def test_fresh_ids_grow_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    source = IdSource()
    first = source.next()
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
    assert first < source.next() < source.next()


def test_fresh_ids_of_many_threads_differ() -> None:
    made: list[list[str]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda out=out: out.extend(new_id() for _ in range(2000))) for out in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({i for out in made for i in out}) == 8000
    assert all(out == sorted(out) for out in made)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_mints_other_ids() -> None:
    readable, writable = os.pipe()
    new_id()
    child = os.fork()
    if child == 0:
        os.write(writable, "".join(new_id() for _ in range(100)).encode())
        os._exit(0)
    ours = {new_id() for _ in range(100)}
    os.waitpid(child, 0)
    theirs = os.read(readable, 3600).decode()
    assert ours.isdisjoint(theirs[i : i + 36] for i in range(0, 3600, 36))


def test_derived_ids_follow_from_their_parts() -> None:
    assert derived_id("house", "w1", "1") == derived_id("house", "w1", "1") == "90ccaec9-dce9-8c12-a6d5-8b7d0381a160"
    assert len({derived_id("ab", "c"), derived_id("a", "bc"), derived_id("abc"), derived_id("abc", "")}) == 4
    assert uuid.UUID(derived_id("x")).version == 8 and uuid.UUID(derived_id("x")).variant == uuid.RFC_4122


@given(st.uuids())
def test_a_uuid_in_any_case_has_one_form(given_id: uuid.UUID) -> None:
    assert canonical_id(str(given_id).upper()) == str(given_id) == canonical_id(str(given_id))
    assert is_canonical(str(given_id))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "17",
        "0198c0de7a1170008000000000000 02a",
        "0198c0de7a117000800000000000002a",
        "{0198c0de-7a11-7000-8000-00000000002a}",
        "urn:uuid:0198c0de-7a11-7000-8000-00000000002a",
        "0198c0de-7a11-7000-8000-00000000002a\n",
        "0198c0de-7a11-7000-8000-00000000002g",
        "０198c0de-7a11-7000-8000-00000000002a",
        "0198c0de-7a11-7000-8000-0000000000\u212a2a",
    ],
)
def test_what_is_no_uuid_is_refused(text: str) -> None:
    assert not is_canonical(text)
    with pytest.raises(InvalidInput) as refused:
        canonical_id(text, field="events.3.event_id")
    assert refused.value.field == "events.3.event_id"


def test_a_namespace_never_changes_its_partition() -> None:
    assert [partition_of(name, 4) for name in ("house", "garden", "用户一", "", "U1", "u1")] == [3, 2, 2, 0, 3, 1]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 64))
def test_a_partition_is_one_of_those_there_are(namespace: str, partitions: int) -> None:
    assert 0 <= partition_of(namespace, partitions) < partitions
