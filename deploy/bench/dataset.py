"""Labelled conversations on disk, and the order in which their questions can be asked.

A set is a folder with `events.jsonl.gz` and `questions.jsonl.gz`. What a question says of time is used so:

- `as_of` is the valid time that is asked about;
- `visible_until_seq`: the answer comes from the state in which that event was the last one;
- `asked_at` is not sent. A recall knows one present, the clock's, and a point of valid time; giving the day of asking
  as that point would make every question one about that day. Relative words in a question ("last week") are therefore
  read from the day of the run, as they are for anyone who asks about imported history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taishi.ingest.errors import InvalidInput

from ..cli.importing import Line, read_lines

EVENTS: Final = "events.jsonl.gz"
QUESTIONS: Final = "questions.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Event:
    """`seq` is the order of arrival within the namespace; `line` is where it stands in the file."""

    id: str
    namespace: str
    seq: int
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Ids are the data set's own."""

    id: str
    namespace: str
    text: str
    type: str
    answerable: bool
    gold: frozenset[str]
    stale: frozenset[str]
    hidden: frozenset[str]
    visible_until: int | None
    as_of: str | None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Events of a namespace stand together, in order of arrival."""

    name: str
    events: Mapping[str, Sequence[Event]]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Sitting:
    """Questions that are asked of one namespace in one state: after `hidden` events were forgotten. `copy` names the
    copy of the namespace they need; 0 is the one that is fed first."""

    namespace: str
    copy: int
    hidden: frozenset[str]
    questions: Sequence[Question]


def find_sets(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """The folders of the named sets (all, by name, where none is named); `folder` may be a set itself.

    Raises InvalidInput where there is none, or no such one.
    """
    if (folder / EVENTS).is_file():
        found = {folder.name: folder}
    else:
        found = {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{EVENTS}"))}
    if not found:
        raise InvalidInput(f"{folder} holds no {EVENTS}, nor does a folder in it")
    if unknown := [name for name in names if name not in found]:
        raise InvalidInput(f"no set is {unknown[0]!r}: {', '.join(found)}")
    return [found[name] for name in dict.fromkeys(names or found)]


def load(folder: Path, *, limit: int | None = None) -> Dataset:
    """With `limit`, so many questions spread over the whole set, and the namespaces they are asked of. Events without
    a word are left out, as nothing takes them.

    Raises InvalidInput where a line is not of the expected form.
    """
    questions = [_question(line.row) for line in _lines(folder / QUESTIONS)]
    if limit is not None and limit < len(questions):
        questions = [questions[number * len(questions) // limit] for number in range(limit)]
    asked = {question.namespace for question in questions}
    events: dict[str, list[Event]] = {}
    for line in _lines(folder / EVENTS):
        row = line.row
        if row["namespace"] in asked and row["text"].strip():
            event = Event(row["id"], row["namespace"], row["seq"], line)
            events.setdefault(event.namespace, []).append(event)
    for those in events.values():
        those.sort(key=lambda event: event.seq)
    return Dataset(folder.name, events, questions)


def sittings(questions: Iterable[Question], *, in_place: bool) -> list[Sitting]:
    """By namespace, the questions with nothing hidden first.

    `in_place` lets one group of hidden events be forgotten in the first copy after all else was asked there; without
    it that copy stays whole, so that it can be asked again.
    """
    groups: dict[str, dict[frozenset[str], list[Question]]] = {}
    for question in questions:
        groups.setdefault(question.namespace, {frozenset(): []}).setdefault(question.hidden, []).append(question)
    found = []
    for namespace, by_hidden in groups.items():
        for number, (hidden, those) in enumerate(by_hidden.items()):
            copy = max(number - 1, 0) if in_place else number
            if those:
                found.append(Sitting(namespace, copy, hidden, those))
    return found


def stops(questions: Iterable[Question]) -> dict[str, list[int]]:
    """By namespace, the last visible sequence numbers that questions speak of, ascending."""
    found: dict[str, set[int]] = {}
    for question in questions:
        if question.visible_until is not None:
            found.setdefault(question.namespace, set()).add(question.visible_until)
    return {namespace: sorted(those) for namespace, those in found.items()}


def _lines(path: Path) -> Iterator[Line]:
    try:
        for line in read_lines(path):
            if not {"id", "namespace", "text"} <= line.row.keys():
                raise InvalidInput(f"{line.place} is no event or question")
            yield line
    except OSError as e:
        raise InvalidInput(f"{path} cannot be read: {e}") from None


def _question(row: Mapping[str, Any]) -> Question:
    return Question(
        id=row["id"],
        namespace=row["namespace"],
        text=row["text"],
        type=row.get("type") or "",
        answerable=bool(row.get("answerable", True)),
        gold=frozenset(row.get("gold_event_ids") or ()),
        stale=frozenset(row.get("stale_event_ids") or ()),
        hidden=frozenset(row.get("hide_event_ids") or ()),
        visible_until=row.get("visible_until_seq"),
        as_of=row.get("as_of"),
    )
