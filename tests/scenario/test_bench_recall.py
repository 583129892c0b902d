"""`taishi bench recall` on a set of six events: fed, asked, forgotten, asked again, and gone without a trace."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(600)  # whole stacks, started one after the other, on whatever the machine has left

SAID = [
    ("n1", "I moved to Porto last spring.", "2026-01-05T10:00:00Z"),
    ("n1", "My favourite tea is jasmine.", "2026-01-06T10:00:00Z"),
    ("n1", "The garden gate was painted green.", "2026-01-07T10:00:00Z"),
    ("n2", "The billing service runs on port 7070.", "2026-02-01T10:00:00Z"),
    ("n2", "The billing service now runs on port 9090.", "2026-02-03T10:00:00Z"),
    ("n2", "我的生日是五月三日。", "2026-02-04T10:00:00Z"),
]
ASKED: list[dict[str, Any]] = [
    {"namespace": "n1", "text": "Which tea is my favourite?", "gold_event_ids": ["e1"]},
    {"namespace": "n1", "text": "Which tea is my favourite?", "hide_event_ids": ["e1"], "answerable": False},
    {"namespace": "n2", "text": "我的生日是哪天？", "gold_event_ids": ["e5"]},
    {
        "namespace": "n2",
        "text": "On which port does the billing service run?",
        "gold_event_ids": ["e4"],
        "stale_event_ids": ["e3"],
    },
    {
        "namespace": "n2",
        "text": "On which port does the billing service run?",
        "gold_event_ids": ["e3"],
        "visible_until_seq": 3,
    },
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "made-up"
    folder.mkdir()
    events = [
        {"id": f"e{n}", "namespace": ns, "session": f"{ns}-s", "seq": n, "speaker": "user", "text": text, "time": time}
        for n, (ns, text, time) in enumerate(SAID)
    ]
    questions = [{"id": f"q{n}", "type": "made up", "answerable": True, **row} for n, row in enumerate(ASKED)]
    for name, rows in (("events", events), ("questions", questions)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


def bench(*arguments: str, tmp: Path) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TAISHI_") and k != "REDIS_URL"}
    command = [sys.executable, "-P", "-m", "taishi.deploy.cli", "bench", "recall", *arguments]
    environment = {**kept, "TMPDIR": str(tmp)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)


def answers(path: Path) -> dict[str, Any]:
    outcomes = json.loads(path.read_text())["sets"]["made-up"]["outcomes"]
    return {row["question"]: {k: v for k, v in row.items() if k != "milliseconds"} for row in outcomes}


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    found = report["sets"]["made-up"]
    return {name: one for name, one in found["measures"].items() if not name.startswith("ms_")}


def test_the_same_figures_come_out_twice_and_nothing_stays(folder: Path, tmp_path: Path) -> None:
    saved, temporary = tmp_path / "run.json", tmp_path / "tmp"
    temporary.mkdir()
    first = bench(str(folder), "--json", "--save", str(saved), tmp=temporary)
    assert first.returncode == 0, first.stderr
    report = json.loads(first.stdout)
    found = report["sets"]["made-up"]
    assert found["questions"] == 5
    assert (found["degraded"], found["failures"]) == (0, 0)
    assert found["measures"]["r@5"]["value"] == 1.0
    assert found["measures"]["no_on_answerable"]["n"] == 4
    assert found["measures"]["stale_first"]["value"] == 0.0

    answered = answers(saved)
    assert "e1" not in {one for those in answered["q1"]["ranked"] for one in those}  # it was forgotten
    assert "e4" not in {one for those in answered["q4"]["ranked"] for one in those}  # it was not said yet
    assert list(temporary.iterdir()) == []

    again = bench(str(folder), "--json", "--compare", str(saved), tmp=temporary)
    assert again.returncode == 0, again.stderr
    second = json.loads(again.stdout)
    assert without_times(second) == without_times(report)
    changes = second["sets"]["made-up"]["changes"]
    assert all(one["value"] == 0.0 for one in changes.values())


def test_a_kept_home_is_asked_again_and_a_channel_can_be_left_out(folder: Path, tmp_path: Path) -> None:
    saved, ablated, home = tmp_path / "run.json", tmp_path / "ablated.json", tmp_path / "home"
    first = bench(str(folder), "--home", str(home), "--save", str(saved), tmp=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "no:un" in first.stdout
    again = bench(
        str(folder), "--home", str(home), "--ablate", "lexical", "--ablate", "dense", "--save", str(ablated),
        tmp=tmp_path,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert answers(saved).keys() == answers(ablated).keys()
    assert answers(saved) != answers(ablated)


def test_an_unknown_channel_is_refused(folder: Path, tmp_path: Path) -> None:
    done = bench(str(folder), "--ablate", "astrology", tmp=tmp_path)
    assert done.returncode == 2
    assert "astrology" in done.stderr
