"""Dictionaries of namespaces: their words are found as such, in texts told before and after, and as a replay has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.deploy.processes import analyzer as home_analyzer
from taishi.ingest.dictionary import dictionary_words, words_in
from taishi.ingest.errors import ConfigurationError, InvalidInput
from taishi.projections.analysis import Analyzer
from taishi.projections.lookup import Lookup
from taishi.projections.segmenter_rjieba import RjiebaSegmenter
from taishi.projections.segmenter_words import WordsSegmenter
from taishi.projections.store import ReadModelFile
from taishi.queries.status import VectorsAt, namespace_status
from tests.support.history import History
from tests.support.read_side import ReadSide, analyzer
from tests.unit.test_read_api import Log

TERM = "竹里馆驿"
BELOW = RjiebaSegmenter()
WORDS = "竹里馆驿天青瓷坊云雀引擎我们的在用了很好"


def configured(h: History, *words: str, namespace: str | None = None) -> None:
    h.add("namespace.configured", body={"dictionary": list(words)}, namespace=namespace)


def tokens(side: ReadSide, seq: int) -> list[str]:
    row = side.model.one("SELECT words FROM tokens WHERE doc = ?", 2 * seq)
    assert row is not None
    return str(row[0]).split()


def test_words_of_ones_own_are_words_and_so_are_their_parts() -> None:
    cut = WordsSegmenter(BELOW, [TERM]).cut_for_search
    assert TERM not in BELOW.cut_for_search(f"我们住在{TERM}三天")
    words = cut(f"我们住在{TERM}三天")
    assert words[words.index(TERM) - 1] in TERM
    assert cut("我们住在西安三天") == BELOW.cut_for_search("我们住在西安三天")


def test_the_longest_counts() -> None:
    cut = WordsSegmenter(BELOW, ["云雀", "云雀引擎"]).cut_for_search
    assert [w for w in cut("用云雀引擎和云雀") if w.startswith("云雀")].count("云雀引擎") == 1
    assert cut("和云雀")[-1] == "云雀"


@settings(max_examples=100, deadline=None)
@given(
    words=st.lists(st.text(st.sampled_from(WORDS), min_size=2, max_size=5), max_size=6),
    run=st.text(st.sampled_from(WORDS), min_size=1, max_size=25),
)
def test_the_words_cover_the_run_in_order(words: list[str], run: str) -> None:
    at = 0
    for word in WordsSegmenter(BELOW, words).cut_for_search(run):
        begin = run.rfind(word, 0, at + len(word))
        assert begin >= 0
        at = max(at, begin + len(word))
    assert at == len(run)


def test_texts_told_before_are_indexed_anew_and_those_after_at_once(tmp_path: Path) -> None:
    h = History()
    before, other = h.say(f"上周住进了{TERM}。"), h.say("上周住进了西安饭店。")
    configured(h, TERM)
    after = h.say(f"{TERM}的早饭很好。")
    side = ReadSide(tmp_path, h.events)
    assert TERM in tokens(side, before.position.seq)
    assert TERM in tokens(side, after.position.seq)
    assert tokens(side, other.position.seq) == analyzer().index("上周住进了西安饭店。").words.split()
    configured(h)
    side.file.apply(h.events[-1:])
    assert TERM not in tokens(side, before.position.seq)
    assert TERM not in tokens(side, after.position.seq)


def test_only_that_namespace(tmp_path: Path) -> None:
    h = History()
    configured(h, TERM, namespace="other")
    mine = h.say(f"上周住进了{TERM}。")
    theirs = h.say(f"上周住进了{TERM}。", namespace="other")
    side = ReadSide(tmp_path, h.events)
    assert TERM in tokens(side, theirs.position.seq)
    assert TERM not in tokens(side, mine.position.seq)


def test_questions_are_cut_by_it_too(tmp_path: Path) -> None:
    h = History()
    h.say(f"上周住进了{TERM}。")
    for n in range(30):
        h.say(f"竹子第{n}里处有一座馆，驿站就在旁边。")
    side = ReadSide(tmp_path, h.events)
    asked = f"{TERM}是什么时候去的？"
    assert TERM not in side.ask(asked, explain=True)["explain"]["words"]
    configured(h, TERM)
    side.file.apply(h.events[-1:])
    reply = side.ask(asked, explain=True)
    assert any(TERM in words.split("/") for words in reply["explain"]["words"])
    assert TERM in reply["items"][0]["text"]
    configured(h, "馆驿")
    side.file.apply(h.events[-1:])
    words = side.ask(asked, explain=True)["explain"]["words"]
    assert any("馆驿" in w.split("/") for w in words) and not any(TERM in w.split("/") for w in words)


STEPS = st.lists(
    st.one_of(
        st.text(st.sampled_from(WORDS + "，"), min_size=1, max_size=14),
        st.lists(st.text(st.sampled_from(WORDS), min_size=2, max_size=4), max_size=4),
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_the_index_is_that_of_the_last_dictionary_over_all_texts(steps: list[str | list[str]]) -> None:
    h = History()
    last: list[str] = []
    said = []
    for step in steps:
        if isinstance(step, str):
            said.append(h.say(step))
            if len(said) % 3 == 0:
                h.claim("user", "likes", step, said=said[-1])
        else:
            last = step
            configured(h, *step)
    file = ReadModelFile(Path(":memory:"), analyzer())
    file.apply(h.events)
    expected = analyzer().with_words(dictionary_words(last))
    for event in said:
        words, chars = file._connection.execute(
            "SELECT words, chars FROM tokens WHERE doc = ?", (2 * event.position.seq,)
        ).get
        found = expected.index(event.body["text"])
        assert (words, chars) == (found.words, found.chars)
    file._connection.execute("INSERT INTO fulltext (fulltext) VALUES ('integrity-check')")
    file.close()


def test_a_forgotten_text_stays_forgotten_when_the_dictionary_changes(tmp_path: Path) -> None:
    h = History()
    gone = h.say(f"上周住进了{TERM}。")
    h.forget(gone)
    configured(h, TERM)
    side = ReadSide(tmp_path, h.events)
    assert side.model.one("SELECT 1 FROM tokens") is None
    again = ReadSide(tmp_path / "replayed", h.after_erasure())
    assert again.file.digest() == side.file.digest()


def test_status_tells_of_it(tmp_path: Path) -> None:
    h = History()
    h.say("你好")
    side = ReadSide(tmp_path, h.events)

    def dictionary() -> object:
        return namespace_status(side.models, Log(h.events), VectorsAt(None), "ns")["dictionary"]  # type: ignore[arg-type]

    assert dictionary() is None
    configured(h, TERM, "云雀引擎")
    side.file.apply(h.events[-1:])
    assert dictionary() == {"words": 2, "position": "p0:2"}


@pytest.mark.parametrize("bad", ["x", "云", "云雀 引擎", "云雀v2", "", "云" * 21, "云，雀"])
def test_what_is_no_word_is_named(bad: str) -> None:
    with pytest.raises(InvalidInput) as e:
        dictionary_words(["云雀", bad])
    assert e.value.field == "dictionary.1"


def test_words_are_kept_as_texts_are_searched() -> None:
    assert dictionary_words(["雲雀", "云雀", "云雀"]) == ("云雀",)
    with pytest.raises(InvalidInput):
        dictionary_words((f"云{chr(0x4e00 + n)}" for n in range(6)), most=5)


def test_a_file_for_the_whole_home(tmp_path: Path) -> None:
    assert words_in(f"# terms\n{TERM} 100 nz\n\n云雀引擎\n") == [TERM, "云雀引擎"]
    file = tmp_path / "words.txt"
    file.write_text(f"{TERM}\n", "utf-8")
    own = home_analyzer(file)
    assert TERM in own.index(f"住在{TERM}").words.split()
    assert own.settings() != Analyzer().settings(), "indexes made without it are made anew"
    assert home_analyzer(None).settings() == Analyzer().settings()
    file.write_text("one word\n", "utf-8")
    home_analyzer.cache_clear()
    with pytest.raises(ConfigurationError, match="dictionary"):
        home_analyzer(file)
    home_analyzer.cache_clear()
    with pytest.raises(ConfigurationError):
        home_analyzer(tmp_path / "missing.txt")


def test_a_forgotten_setting_leaves_no_word_and_those_set_later_hold(tmp_path: Path) -> None:
    h = History()
    h.say("上周住进了云雀引擎。")
    first = h.add("namespace.configured", body={"dictionary": [TERM], "timezone": "Asia/Shanghai", "capacity": 5})
    second = h.add("namespace.configured", body={"fading": "off"})
    later = h.add("namespace.configured", body={"dictionary": ["云雀引擎"]})
    side = ReadSide(tmp_path, h.events)
    assert side.model.namespace("ns").timezone == "Asia/Shanghai"  # type: ignore[union-attr]
    gone = [first.position.seq, second.position.seq]
    lookup = Lookup(lambda: side.file.path.parent)
    assert lookup.left(0, [], gone) == 2, "two rows; the dictionary is the later one's"
    h.forget(first, second, kind="namespace")
    side.file.apply(h.events[-1:])
    assert side.file.scrub()
    namespace = side.model.namespace("ns")
    assert namespace is not None and (namespace.timezone, namespace.settings) == ("UTC", "{}")
    assert side.model.one("SELECT seq, words FROM dictionaries") == (later.position.seq, '["云雀引擎"]')
    assert "云雀引擎" in tokens(side, 1)
    assert lookup.left(0, [], gone) == 0
    assert not any(TERM.encode() in path.read_bytes() for path in tmp_path.rglob("*.db*"))
    again = ReadSide(tmp_path / "replayed", h.after_erasure())
    assert again.file.digest() == side.file.digest()
    h.forget(later, kind="namespace")
    assert lookup.left(0, [], [later.position.seq]) == 2, "its row and the dictionary that it set"
    side.file.apply(h.events[-1:])
    assert side.model.one("SELECT 1 FROM dictionaries") is None and "云雀引擎" not in tokens(side, 1)
