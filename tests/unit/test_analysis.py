"""What texts are found by: tokens of both columns, a question's terms, the walls between namespaces, linear time."""

from __future__ import annotations

import re
import threading
import time

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.projections.analysis import BOUNDARY, LONGEST, Analyzer, base36, prefixed, term

ANALYZER = Analyzer()
TOKEN = re.compile(r"(?:[^\x00-\x7f]|[a-z0-9_.+\-/@%&:=#])+")


def words(text: str) -> list[str]:
    return ANALYZER.index(text).words.split(" ")


def chars(text: str) -> str:
    return ANALYZER.index(text).chars


def terms(text: str) -> dict[str, str]:
    return {t.token: t.kind for t in ANALYZER.query(text).terms}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("她在青岛海洋大学教书", {"青岛", "海洋", "大学", "教书"}),
        ("她在青島海洋大學教書", {"青岛", "海洋", "大学", "教书"}),  # traditional
        ("ＧＰＴ４ 很快", {"gpt4", "=gpt", "4"}),  # full width
        ("The kids were painting fences", {"=kid", "kids", "=paint", "painting", "=fenc", "fences"}),
        ("Zoë's naïve résumé", {"zoë", "=zoe", "naïve", "=naiv", "résumé", "=resum"}),
        ("ticket QK-5521-b is open", {"qk-5521-b", "=qk", "5521", "=b"}),
        ("升级到 v2.14 了", {"v2.14", "2.14", "v2", "14"}),
        ("python3.12 and c++/rust, c#", {"python3.12", "3.12", "=python", "c++", "=rust", "c#", "=c"}),
        ("see vue.config.js", {"vue.config.js", "=vue", "=config", "=js"}),
        ("~/.bashrc or .env", {".env", "=env", "=bashrc"}),
        ("mail kim@lab.org at 09:45 on 2031-02-07", {"kim@lab.org", "=kim", "=lab", "09:45", "2031-02-07", "2031"}),
        ("costs 12,500 or 15%", {"12500", "15%", "15"}),
        ("std::vector in https://docs.rs/serde", {"std::vector", "=vector", "https://docs.rs/serde", "docs", "=serd"}),
        ("don’t", {"=dont"}),
        ("👩🏽‍🚒 和 👍🏿 🇯🇵 2️⃣", {"👩🏽‍🚒", "👩", "🚒", "👍🏿", "👍", "🇯🇵", "2⃣"}),
        ("Привет, мир", {"привет", "мир"}),
        ("नमस्ते दुनिया", {"नमस्ते", "दुनिया"}),
        ("ラーメンを食べる", {"ラーメンを", "食", "べる"}),
    ],
)
def test_a_text_has_these_tokens(text: str, tokens: set[str]) -> None:
    assert tokens <= set(words(text))


def test_stems_and_raw_forms_are_told_apart() -> None:
    assert words("run") == ["=run"]
    assert words("running") == ["=run", "running"]
    assert terms("running") == {"=run": "stem", "running": "raw"}


def test_length_counts_the_words() -> None:
    analysed = ANALYZER.index("我们 hiking 去 v1.5")
    assert analysed.length == len(analysed.words.split(" "))
    assert ANALYZER.index("  ，。！ ").length == 0


def test_characters_stand_in_order_with_bounds_between_runs() -> None:
    assert chars("老王爱吃鱼，不吃肉") == f"老 王 爱 吃 鱼 {BOUNDARY} 不 吃 肉"
    assert chars("用Rust写") == f"用 {BOUNDARY} 写"
    assert chars("no Han at all") == ""
    assert chars("食べる") == "食 べ る"  # scripts without spaces run on


def test_a_question_has_content_words_and_phrases_and_tells_what_it_left_out() -> None:
    asked = ANALYZER.query("请问小林什么时候去的国家图书馆？")
    tokens = [t.token for t in asked.terms]
    assert {"小林", "国家", "图书", "图书馆", "国家图书馆"} <= set(tokens)
    assert {"什么", "时候", "的", "去"} <= set(asked.stops)
    assert not set(tokens) & set(asked.stops)
    assert tuple("国家图书馆") in asked.phrases
    groups = {t.token: t.group for t in asked.terms}
    assert groups["图书馆"] == groups["国家图书馆"] != groups["小林"]


def test_words_the_dictionary_lacks_are_a_phrase() -> None:
    assert tuple("罴罽") in ANALYZER.query("罴罽在吗").phrases


def test_english_stop_words_are_dropped_by_the_word_not_by_its_stem() -> None:
    asked = ANALYZER.query("Where do the others hike? What's in May?")
    assert [t.token for t in asked.terms if t.kind == "stem"] == ["=other", "=hike", "=may"]
    assert {"=where", "=do", "=the", "=what"} <= set(asked.stops)


def test_a_question_of_stop_words_has_none_but_they_are_known() -> None:
    asked = ANALYZER.query("你是谁？")
    assert not asked.terms
    assert asked.stops == ("你", "是", "谁")


def test_each_term_is_asked_once() -> None:
    asked = ANALYZER.query("fish fish 鱼 鱼 🐟🐟")
    assert [t.token for t in asked.terms] == ["=fish", "鱼", "🐟"]
    assert [t.kind for t in asked.terms] == ["stem", "word", "emoji"]


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_text_gives_tokens_the_index_can_hold(text: str) -> None:
    analysed = ANALYZER.index(text)
    for token in [*analysed.words.split(" "), *analysed.chars.split(" ")]:
        assert token == "" or TOKEN.fullmatch(token), repr(token)
        assert len(token) <= LONGEST + 1
        assert not re.search(r"[\s|]", token)
    assert analysed.length == len(analysed.words.split())
    for t in ANALYZER.query(text).terms:
        assert t.token in analysed.words.split(" ")


def test_tokens_are_bounded() -> None:
    for text in ("z" * 90, "9" * 90, "z9" * 90, "z-9." * 40, "ж" * 90, "ラ" * 90, "👩‍🚒" + "‍👩" * 60):
        assert all(len(token) <= LONGEST + 1 for token in words(text)), text
        assert {t.token for t in ANALYZER.query(text).terms} <= set(words(text))


def test_a_lone_half_of_a_surrogate_pair_is_no_reason_to_fail() -> None:
    assert words("茶\ud83d杯") == ["茶", "杯"]


@pytest.mark.parametrize("number", [0, 35, 36, 46655, 2**40])
def test_base36(number: int) -> None:
    assert int(base36(number), 36) == number


def test_the_prefix_is_a_wall_between_namespaces() -> None:
    db = apsw.Connection(":memory:")
    tokenizer = "ascii tokenchars '_.|+-#/@%&:='"
    db.execute(f"""CREATE VIRTUAL TABLE f USING fts5 (words, chars, content='', tokenize="{tokenizer}")""")
    said = ANALYZER.index("她把 kiwi-9.3 部署在苏州工业园区 #alpha c++ 🥝")
    for ns in (1, 36, 37):
        row = (ns, prefixed(said.words, ns), prefixed(said.chars, ns))
        db.execute("INSERT INTO f (rowid, words, chars) VALUES (?, ?, ?)", row)

    def find(column: str, *tokens: str, ns: int) -> list[int]:
        phrase = " ".join(term(ns, token) for token in tokens)
        return [row[0] for row in db.execute("SELECT rowid FROM f WHERE f MATCH ?", (f'{column} : "{phrase}"',))]

    for token in said.words.split(" "):
        assert find("words", token, ns=36) == [36], token
    assert find("chars", *"工业园", ns=37) == [37]
    assert find("chars", *"把部", ns=37) == []  # not across the code between them
    assert find("words", "苏州", ns=2) == []


def test_settings_name_everything_tokens_depend_on() -> None:
    settings_ = ANALYZER.settings()
    assert settings_ == Analyzer().settings()
    assert {"analysis", "normal", "segmenter", "dictionary", "dictionary_size"} <= settings_.keys()
    assert settings_["segmenter"].startswith("rjieba@")


@pytest.mark.parametrize("unit", ["囊", "汉a", "a.", "1,", "👨\u200d", "a\u0301", "#a", "x" * 7 + "=", "हि", "c++"])
def test_time_is_linear(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        begun = time.thread_time()
        ANALYZER.index(text)
        ANALYZER.query(text)
        return time.thread_time() - begun

    assert min(seconds(100_000) for _ in range(2)) < 1.5


def test_threads_share_one_analyzer() -> None:
    expected = words("Singing whales 在 海洋馆 唱歌")
    wrong: list[list[str]] = []

    def work() -> None:
        for i in range(300):
            words(f"walking{'s' * (i % 7)} talked")
            if (got := words("Singing whales 在 海洋馆 唱歌")) != expected:
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
