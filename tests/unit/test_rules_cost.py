"""Reading is bounded by the text's length: no run of white space or marks holds a worker up."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from taishi.ingest.extractor import Utterance, Window
from taishi.ingest.rules import RulesExtractor

READER = RulesExtractor()
TEXTS = {
    "spaces before": " " * 12_000 + "a", "spaces within": "I " + " " * 12_000 + "like tea",
    "Chinese spaces": "我喜欢" + " " * 12_000 + "茶", "wide spaces": "我" + "\u3000" * 12_000 + "茶",
    "hard spaces": "a" + "\xa0" * 12_000 + "b", "lines": "a" + "\n" * 12_000 + "b", "marks": "a" + "_!" * 6_000 + "b",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_text_takes_long(text: str) -> None:
    said = Utterance(event_id="0198c0de-7a11-7000-8000-00000000002a", text=text, said_at=datetime(2026, 1, 1, tzinfo=UTC))
    began = time.thread_time()
    READER.extract(Window(namespace="n", session="s", utterances=[said], zone=UTC))
    assert time.thread_time() - began < 1
