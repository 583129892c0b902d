"""How an answer came about: what an exposure keeps of it is numbers and ids, and tells ranks and what was left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from taishi.ingest.envelope import Event
from taishi.ingest.errors import NotFound
from taishi.queries.exposures import Exposures
from taishi.queries.recall import Recall
from taishi.queries.reckoning import told
from taishi.queries.wanted import Wanted
from tests.support.history import History
from tests.support.read_side import ReadSide, analyzer, at

JAN, MAY = at("2026-01-01T00:00:00Z"), at("2026-05-01T00:00:00Z")


class Told:
    """Recall whose exposures are appended to the history and folded as they come."""

    def __init__(self, folder: Path, h: History) -> None:
        self.history = h
        self.side = ReadSide(folder, h.events)
        self.exposures = Exposures(self)  # type: ignore[arg-type]
        self.side.recall = Recall(
            self.side.models, analyzer=analyzer, now=lambda: self.side.now, exposures=self.exposures
        )

    def append_many(self, batches: Any) -> list[None]:
        for new in (event for batch in batches for event in batch.events):
            event = self.history.add("memory.recalled", facts=new.facts, session=new.session, namespace=new.namespace)
            self.side.file.apply([event])
        return [None for _ in batches]

    def fetch(self, position: Any) -> Event:
        return self.history.events[position.seq - 1]

    def ask(self, query: str, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The reply, and what is told of it later."""
        reply = self.side.ask(query, **more)
        self.exposures._flush()
        return reply, self.explain(reply["exposure_id"])

    def explain(self, exposure: str) -> dict[str, Any]:
        namespace = self.side.model.namespace("ns")
        assert namespace is not None
        return told(self.side.model, namespace.ns, exposure, self)  # type: ignore[arg-type]


def history() -> History:
    h = History()
    old = h.say("I live in Bruges.")
    h.claim("user", "lives_in", "Bruges", said=old, valid_from=JAN)
    new = h.say("I moved to Ghent.")
    h.claim("user", "lives_in", "Ghent", said=new, valid_from=MAY)
    h.extracted(old, new)
    h.claim("Marit", "lives_in", "Ypres")
    h.claim("Joost", "lives_in", "Namur")
    h.say("The market in Ghent is on Friday.")
    return h


def test_channels_ranks_and_what_was_left_out(tmp_path: Path) -> None:
    here = Told(tmp_path, history())
    reply, account = here.ask("Where do I live?", session="s")
    assert account["exposure_id"] == reply["exposure_id"] == reply["items"][0]["exposure_id"].partition(".")[0]
    assert [i["id"] for i in account["items"]] == [i["id"] for i in reply["items"]]
    first, shown = account["items"][0], reply["items"][0]
    assert first["text"] == shown["text"]
    assert first["scores"] == pytest.approx({k: v for k, v in shown["why"]["scores"].items() if round(v, 3)}, abs=1e-3)
    assert account["intent"] == "current" and account["session"] == "s"
    assert account["answerability"] == reply["answerability"]
    reasons = {i["text"]: i["reason"] for i in account["left_out"]}
    assert reasons["I live in Bruges."] in ("superseded", "claims_do_not_hold")
    assert account["candidates"]["slots"] == 2
    assert set(account["weights"]) == {"lexical", "dense"}


def test_ranks_are_told_of_the_channels_that_rank(tmp_path: Path) -> None:
    _, account = Told(tmp_path, history()).ask("When is the market in Ghent?")
    best = account["items"][0]
    assert best["text"].startswith("The market")
    assert best["ranks"] == {"lexical": 1}


def test_the_fence_and_kinds_are_named_as_reasons(tmp_path: Path) -> None:
    here = Told(tmp_path, history())
    _, account = here.ask("Where does Marit live?")
    assert account["filters"]["fence_names"] == 1
    _, account = here.ask("Did Joost ever live in Ypres?")
    assert "fence" in {i["reason"] for i in account["left_out"]}
    _, account = here.ask("Where do I live?", wanted=Wanted(kinds=frozenset({"event"})))
    assert account["filters"]["kinds"] == ["event"]
    assert "kinds" in {i["reason"] for i in account["left_out"]}


def test_what_ranks_below_the_limit_is_told_with_its_score(tmp_path: Path) -> None:
    h = History()
    for n in range(9):
        h.say(f"The heron at pond {n} caught {'a fish ' * (n % 3)}today.")
    reply, account = Told(tmp_path, h).ask("Which heron caught a fish?", limit=2)
    below = [i for i in account["left_out"] if i["reason"] == "rank"]
    assert len(reply["items"]) == 2
    assert len(below) == 7
    assert max(i["score"] for i in below) <= reply["items"][-1]["score"]


def test_a_hard_no_is_told_too(tmp_path: Path) -> None:
    reply, account = Told(tmp_path, history()).ask("Which cello did the baker tune in Ghent?")
    if reply["answerability"] == "no_evidence":
        assert account["items"] == []
        assert "no_evidence" in {i["reason"] for i in account["left_out"]}
    reply, account = Told(tmp_path / "other", history()).ask("Which cello was tuned?")
    assert (reply["answerability"], account["answerability"], account["items"]) == ("no_evidence", "no_evidence", [])


def test_no_word_of_the_question_or_of_a_memory_is_kept(tmp_path: Path) -> None:
    here = Told(tmp_path, history())
    here.ask("Which places did Marit and I list as having lived in before Ghent, all of them?")
    kept = orjson.dumps(dict(here.history.events[-1].facts)).decode().lower()
    for word in ("marit", "ghent", "bruges", "ypres", "market", "before", "places", "list:", "live"):
        assert word not in kept, word


def test_it_is_small(tmp_path: Path) -> None:
    h = History()
    for n in range(60):
        h.say(f"The heron at pond {n} caught a fish today.")
    here = Told(tmp_path, h)
    here.ask("Which heron caught a fish?", limit=10)
    assert len(orjson.dumps(here.history.events[-1].facts["told"])) < 2_000


def test_what_was_forgotten_since_is_told_without_a_word(tmp_path: Path) -> None:
    h = history()
    here = Told(tmp_path, h)
    reply, _ = here.ask("When is the market in Ghent?")
    market = next(e for e in h.events if "market" in str(e.body))
    here.side.file.apply([h.forget(market)])
    account = here.explain(reply["exposure_id"])
    assert "market" not in str(account)
    assert account["items"][0]["id"] == market.event_id


def test_an_unknown_one_and_an_older_one(tmp_path: Path) -> None:
    h = history()
    h.recalled("old", h.events[0])
    here = Told(tmp_path, h)
    assert here.explain("old.0")["items"] == [{"id": h.events[0].event_id}]
    with pytest.raises(NotFound):
        here.explain("never")


def test_feedback_is_told_with_it(tmp_path: Path) -> None:
    here = Told(tmp_path, history())
    reply, _ = here.ask("Where do I live?")
    here.side.file.apply([here.history.feedback(f"{reply['exposure_id']}.0", True)])
    assert here.explain(reply["exposure_id"])["feedback"] == [{"item": 0, "helpful": True}]
