"""Full-text candidates: what is found, how it is scored, and what a big namespace leaves out of the match."""

from __future__ import annotations

import random

import pytest

from taishi.queries import matching
from taishi.queries.candidates import search
from taishi.queries.corpus import Corpora, CorpusStatistics
from taishi.queries.horizon import Horizon, Horizons
from taishi.queries.point import Point
from tests.support.history import History
from tests.support.read_side import ReadSide, analyzer


def found(side: ReadSide, query: str, *, namespace: str = "ns"):
    model = side.model
    ns = model.namespace(namespace).ns
    return search(model, ns, analyzer().query(query), Corpora())


def best(side: ReadSide, query: str, **more) -> list[int]:
    """Positions of the raw events found, best first."""
    matches = found(side, query, **more).matches
    return [doc // 2 for doc in sorted(matches, key=lambda doc: (-matches[doc].score, doc))]


@pytest.fixture
def side(tmp_path) -> ReadSide:
    h = History()
    for text in (
        "备用轮胎放在后备箱的隔层下面。",
        "后备箱里还有两把雨伞。",
        "The bicycle pump is behind the laundry door.",
        "Laundry is collected on Tuesdays.",
        "工单 QX-4410-B 已经关闭。",
        "工单 QX-4411-B 已经关闭。",
        "今天给大家带了🥟。",
    ):
        h.say(text)
    h.say("备用轮胎是另一家的事。", namespace="other")
    return ReadSide(tmp_path, h.events)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("备用轮胎在哪", 1),
        ("雨伞", 2),
        ("轮胎", 1),
        ("隔层", 1),
        ("where are the bicycle pumps", 3),
        ("QX-4411-B", 6),
        ("ＱＸ－４４１０－Ｂ", 5),
        ("🥟", 7),
        ("後備箱的雨傘", 2),
    ],
)
def test_the_right_one_comes_first(side, query, first):
    assert best(side, query)[0] == first


def test_other_namespaces_are_not_seen(side):
    assert best(side, "备用轮胎") == [1]
    assert best(side, "备用轮胎", namespace="other") == [8]


def test_a_word_the_segmenter_cuts_otherwise_is_found_by_its_characters(tmp_path):
    h = History()
    h.say("她给小猫取名叫皮卡丘丘。")
    h.say("她给小狗取名叫豆沙。")
    side = ReadSide(tmp_path, h.events)
    for part in ("丘丘", "皮卡丘丘", "名叫皮"):
        assert best(side, part)[:1] == [1], part


def test_scores_mean_the_same_whatever_else_is_there(tmp_path):
    small, large = History(), History()
    for h, others in ((small, 5), (large, 400)):
        h.say("我的登山杖借给了老魏。")
        for n in range(others):
            h.say(f"第{n}天的流水账，没什么特别。")
    one = found(ReadSide(tmp_path / "small", small.events), "登山杖借给谁了")
    two = found(ReadSide(tmp_path / "large", large.events), "登山杖借给谁了")
    assert one.matches[2].score == pytest.approx(two.matches[2].score, rel=0.25)
    assert one.matches[2].met == two.matches[2].met


def test_a_part_of_a_code_is_not_the_code(side):
    lexical = found(side, "QX-4499-B")
    assert all(max(match.met.values()) < 0.4 for match in lexical.matches.values())
    near, exact = (found(side, "QX-4410-B").matches[2 * seq].score for seq in (6, 5))
    assert near < 0.4 * exact


def test_common_words_are_not_matched_on_but_count(tmp_path, monkeypatch):
    monkeypatch.setattr(matching, "SMALL", 10)
    monkeypatch.setattr(matching, "POSTINGS", 15)
    h = History()
    for n in range(60):
        h.say(f"日报 {n}: 车间一切正常")
    h.say("车间的备件柜换了锁")
    h.say("仓库的备件柜也换了锁")
    side = ReadSide(tmp_path, h.events)
    matches = found(side, "车间 备件柜").matches
    assert {doc // 2 for doc in matches} == {61, 62}
    assert matches[122].score > matches[124].score


def test_words_that_are_all_common_find_the_newest_that_hold_both(tmp_path, monkeypatch):
    monkeypatch.setattr(matching, "SMALL", 10)
    monkeypatch.setattr(matching, "POSTINGS", 15)
    monkeypatch.setattr(matching, "MATCHES", 20)
    h = History()
    for n in range(60):
        h.say(f"日报 {n}: {'车间' if n % 2 else '仓库'}一切{'正常' if n % 3 else '平静'}")
    side = ReadSide(tmp_path, h.events)
    matches = found(side, "车间正常").matches
    both = {n + 1 for n in range(60) if n % 2 and n % 3}
    assert {doc // 2 for doc, match in matches.items() if len(match.met) == 2} >= set(sorted(both)[-10:])
    assert len(matches) <= 20


def test_statistics_follow_what_is_added_and_what_is_forgotten(tmp_path):
    h = History()
    said = [h.say(f"note number {n} about gardening") for n in range(4)]
    side = ReadSide(tmp_path, h.events)
    corpora = Corpora()
    assert corpora.of(side.model, 1) == CorpusStatistics(4, 24)
    more = [h.say("one more"), h.forget(said[0], kind="event")]
    side.file.apply(more)
    now = corpora.of(side.model, 1)
    assert now.documents == 4
    assert now == Corpora().of(side.model, 1)


def test_counts_of_common_words_are_remembered_until_the_namespace_has_grown(tmp_path, monkeypatch):
    monkeypatch.setattr("taishi.queries.corpus.COMMON", 5)
    h = History()
    for _ in range(10):
        h.say("gardening again")
    side = ReadSide(tmp_path, h.events)
    corpora = Corpora()

    def count() -> int:
        return corpora.frequencies(side.model, 1, ["=garden"], corpora.of(side.model, 1))["=garden"]

    assert count() == 10
    side.file.apply([h.say("gardening again")])
    assert count() == 10
    side.file.apply([h.say("gardening again") for _ in range(3)])
    assert count() == 12  # as of the last size that it has passed: 10, 12, 15


def test_as_of_a_document_the_same_are_found_and_weigh_the_same(tmp_path, monkeypatch):
    """While words become common, and matches more than are scored, there and in another namespace."""
    small = {"corpus.COMMON": 6, "matching.SMALL": 20, "matching.MATCHES": 5, "matching.POSTINGS": 60}
    for name, value in small.items():
        monkeypatch.setattr(f"taishi.queries.{name}", value)
    h, chance = History(), random.Random(3)
    for n in range(70):
        words = ("garden", "kettle", "花园", "harbour", "水壶", "ladder", f"x{n}")
        h.say(" ".join(chance.choices(words, k=chance.randrange(2, 9))), namespace=chance.choice(["ns", "ns", "other"]))
    asked = ("the harbour garden", "花园里的水壶", "kettle", "garden harbour ladder 水壶")
    questions = [analyzer().query(words) for words in asked]

    def told(side: ReadSide, corpora: Corpora, horizon: Horizon | None) -> list[object]:
        ns = side.model.namespace("ns").ns
        return [search(side.model, ns, terms, corpora, horizon=horizon) for terms in questions]

    live, follows = Corpora(), ReadSide(tmp_path / "live", h.events[:6])
    then = {}
    for upto in range(6, len(h.events) + 1):
        if upto > 6:
            follows.file.apply(h.events[upto - 1 : upto])
        then[upto] = told(follows, live, None)
    whole, horizons, again = ReadSide(tmp_path / "whole", h.events), Horizons(), Corpora()
    ns = whole.model.namespace("ns").ns
    for upto, found_then in then.items():
        horizon = horizons.of(whole.model, ns, Point(valid_at=0, known_at=0, position=upto))
        assert told(whole, again, horizon) == found_then, upto


def test_punctuation_alone_finds_nothing(side):
    assert found(side, "？！…。").matches == {}


def test_a_character_of_a_word_that_stands_nowhere_hints_the_less_the_more_often_it_stands(tmp_path):
    h = History()
    for n in range(20):
        h.say(f"第{n}次浇花，心里很静。")
    h.say("那只鹦鹉叫得很响。")
    matches = found(ReadSide(tmp_path, h.events), "鹦哥心慌").matches
    assert matches[42].score > 5 * max(match.score for doc, match in matches.items() if doc != 42)
