"""Lists whose values differ, and contexts of more memories than anyone reads."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.queries.diversity import clusters, likeness, signature
from tests.support.history import History
from tests.support.read_side import ReadSide


def test_likeness() -> None:
    assert likeness(signature("Sencha tea"), signature("sencha  TEA")) == 1.0
    near = likeness(signature("green tea from Uji"), signature("green teas from Uji"))
    far = likeness(signature("green tea from Uji"), signature("a bicycle with two gears"))
    assert near > 0.7 > 0.3 > far
    tea = signature("龙井绿茶")
    assert likeness(tea, signature("龙井的绿茶")) > likeness(tea, signature("自行车"))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=30), st.integers(1, 12))
def test_clusters_keep_rank_order_and_name_each_text_once(texts: list[str], most: int) -> None:
    found = clusters(texts, most=most)
    assert len(found) <= most
    firsts = [c.first for c in found]
    assert firsts == sorted(firsts)
    told = [n for c in found for n in (c.first, *c.others)]
    assert len(told) == len(set(told))
    if len(texts) <= most:
        assert told == list(range(len(texts)))


def history() -> History:
    """Ten ways to like one tea, told last, and three other things."""
    h = History()
    for value in ("bicycles", "woodcut prints", "harbour towns"):
        h.claim("user", "likes", value)
    for n in range(10):
        h.claim("user", "likes", f"sencha green tea of harvest number {n}")
    return h


def test_a_list_names_what_differs_first(tmp_path: Path) -> None:
    side = ReadSide(tmp_path, history().events)
    reply = side.ask("List all the things that I like", limit=5)
    values = [i["value"] for i in reply["items"]]
    assert {"bicycles", "woodcut prints", "harbour towns"} <= set(values)
    scores = [i["score"] for i in reply["items"]]
    assert scores == sorted(scores, reverse=True)
    repeated = reply["items"][-1]
    assert repeated["why"]["scores"]["diversity"] < 0
    assert abs(sum(repeated["why"]["scores"].values()) - repeated["score"]) < 1e-3


def test_other_questions_are_ranked_by_what_they_ask(tmp_path: Path) -> None:
    items = ReadSide(tmp_path, history().events).ask("Do I like sencha green tea?", limit=5)["items"]
    assert all("sencha" in i["text"] for i in items)
    assert not any("diversity" in i["why"]["scores"] for i in items)


def test_more_than_a_hundred_memories_are_told_by_representatives(tmp_path: Path) -> None:
    h = History()
    for n in range(130):
        h.say(f"The ferry log of pier {n % 13}: calm, on time, entry {n // 13}.")
    reply = ReadSide(tmp_path, h.events).ask("ferry log pier calm entry", limit=200, token_budget=100_000)
    assert len(reply["items"]) == 130
    lines = reply["context"]["text"].splitlines()
    assert 1 <= len(lines) <= 100
    stood_for = sum(int(line.split("(+")[1].split(")")[0]) for line in lines if "(+" in line)
    assert len(lines) + stood_for == 130


def test_a_hundred_are_all_told(tmp_path: Path) -> None:
    h = History()
    for n in range(100):
        h.say(f"The ferry log of pier {n % 13}: calm, on time, entry {n // 13}.")
    reply = ReadSide(tmp_path, h.events).ask("ferry log pier calm entry", limit=200, token_budget=100_000)
    assert len(reply["context"]["text"].splitlines()) == 100
