"""Sets of labelled conversations on disk, and the states their questions need."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from taishi.deploy.bench.dataset import Question, find_sets, load, sittings, stops
from taishi.ingest.errors import InvalidInput


def question(id: str, namespace: str = "n", hidden: str = "", until: int | None = None) -> Question:
    return Question(
        id=id,
        namespace=namespace,
        text="?",
        type="",
        answerable=True,
        gold=frozenset(),
        stale=frozenset(),
        hidden=frozenset(hidden),
        visible_until=until,
        as_of=None,
    )


def write(folder: Path, events: list[dict[str, Any]], questions: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    for name, rows in (("events", events), ("questions", questions)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


def shape(questions: list[Question], *, in_place: bool) -> list[tuple[int, str, list[str]]]:
    found = sittings(questions, in_place=in_place)
    return [(s.copy, "".join(sorted(s.hidden)), [q.id for q in s.questions]) for s in found]


ASKED = [question("1", hidden="a"), question("2"), question("3", hidden="b"), question("4", hidden="a")]


def test_plain_questions_come_before_anything_is_forgotten() -> None:
    assert shape(ASKED, in_place=True) == [(0, "", ["2"]), (0, "a", ["1", "4"]), (1, "b", ["3"])]


def test_a_kept_namespace_stays_whole() -> None:
    assert shape(ASKED, in_place=False) == [(0, "", ["2"]), (1, "a", ["1", "4"]), (2, "b", ["3"])]


def test_stops_are_by_namespace_and_ascend() -> None:
    asked = [question("1", until=7), question("2", until=3), question("3", until=7), question("4", "m")]
    assert stops(asked) == {"n": [3, 7]}


def row(id: str, namespace: str = "n", **more: Any) -> dict[str, Any]:
    return {"id": id, "namespace": namespace, "text": "words", **more}


def test_events_come_in_the_order_of_arrival(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", [row("b", seq=1), row("a", seq=0)], [row("q", gold_event_ids=["a"])])
    loaded = load(folder)
    assert [event.id for event in loaded.events["n"]] == ["a", "b"]
    assert loaded.questions[0].gold == {"a"}


def test_events_without_a_word_are_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", [row("a", seq=0) | {"text": " "}, row("b", seq=1)], [row("q")])
    assert [event.id for event in load(folder).events["n"]] == ["b"]


def test_a_limit_spreads_over_the_set_and_leaves_out_what_is_not_asked(tmp_path: Path) -> None:
    events = [row(f"e{n}", f"n{n}", seq=0) for n in range(6)]
    folder = write(tmp_path / "s", events, [row(f"q{n}", f"n{n}") for n in range(6)])
    loaded = load(folder, limit=2)
    assert [q.id for q in loaded.questions] == ["q0", "q3"]
    assert set(loaded.events) == {"n0", "n3"}


def test_sets_are_found_by_name(tmp_path: Path) -> None:
    for name in ("two", "one"):
        write(tmp_path / name, [], [])
    assert [path.name for path in find_sets(tmp_path)] == ["one", "two"]
    assert [path.name for path in find_sets(tmp_path, ["two"])] == ["two"]
    assert find_sets(tmp_path / "one") == [tmp_path / "one"]
    with pytest.raises(InvalidInput, match="no set is 'three'"):
        find_sets(tmp_path, ["three"])


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"holds no events\.jsonl\.gz"):
        find_sets(tmp_path)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", [{"id": "e"}], [])
    with pytest.raises(InvalidInput, match=r"gz:1 is no event"):
        load(folder)
