"""Words that ask, kinds under their many words, irregular forms, and what a statement is."""

from __future__ import annotations

import pytest

from taishi.ingest.normal import normalise
from taishi.projections.analysis import Analyzer
from taishi.queries.asking import asking
from taishi.queries.forms import forms_of, with_forms
from taishi.queries.synonyms import mentions
from taishi.queries.understand import states


def kinds(text: str) -> list[str]:
    return [m.kind.name for m in mentions(normalise(text))]


def test_the_longest_word_names_the_kind():
    assert kinds("我舅妈的電腦") == ["mothers_brothers_wife", "computer"]
    assert kinds("我婶婶") == ["fathers_brothers_wife"]
    assert kinds("my mother-in-law's puppy") == ["mother_in_law", "dog"]
    assert kinds("a sonata for doghouses") == []


def test_a_kind_answers_for_its_wider_and_narrower_ones_alone():
    spouse, wife, husband = (mentions(word)[0].kind for word in ("spouse", "wife", "husband"))
    assert {"wife", "husband"} <= spouse.fits
    assert "spouse" in wife.fits
    assert husband.name not in wife.fits
    assert "太太" in wife.zh


@pytest.mark.parametrize(
    ("question", "predicate", "words"),
    [
        ("Which town do I live in?", "lives_in", {"live", "town"}),
        ("我住在哪個城市", "lives_in", {"住", "城市"}),
        ("What is my firm called, where do I work?", "works_at", {"work", "firm", "called"}),
        ("what does my cousin do?", "role", {"does my cousin do", "cousin"}),
        ("Which colour do I like best?", "prefers.colour", {"like best", "like", "best"}),
    ],
)
def test_a_claim_of_the_asked_predicate_answers_for_the_words_that_ask(question, predicate, words):
    explained = asking(normalise(question)).explained_by(predicate=predicate, qualifiers={}, text="cousin")
    assert words <= {*explained}


def test_a_name_is_asked_of_what_the_question_names():
    assert "name" in asking("what is my name").asks
    dog = asking("what is my dog's name")
    assert "name" not in dog.asks
    assert "name" in dog.explained_by(predicate="owns", qualifiers={"name": "Rex"}, text="dog")
    assert "name" not in dog.explained_by(predicate="owns", qualifiers={"name": "Tom"}, text="cat")


def test_a_favourite_is_asked_before_what_is_merely_liked():
    assert asking("我最爱吃哪种水果").second == {"likes"}
    assert asking("我喜欢吃什么水果").second == frozenset()


def test_all_forms_of_a_word_count_as_one():
    terms = Analyzer().query("when did they buy it")
    forms = forms_of(terms)
    assert [t.token for t in forms] == ["=bought"]
    widened, frequency = with_forms(terms, forms, {"=bought": 3})
    assert [t.token for t in widened.terms] == ["=bought"]
    widened, frequency = with_forms(terms, forms, {"=bought": 3, "=buy": 2})
    assert frequency == {"=bought": 5, "=buy": 5}
    assert with_forms(terms, forms, {"=buy": 2})[0] == terms


@pytest.mark.parametrize("text", ["I moved the piano up.", "we sold both of the old boats", "我上周把花都换了土。"])
def test_what_says_something_asks_nothing(text):
    assert states(normalise(text))


@pytest.mark.parametrize("text", ["我住哪", "piano tuner phone", "Who moved it?", "tell me of my boats", "我换土了吗"])
def test_what_asks_is_no_statement(text):
    assert not states(normalise(text))


@pytest.mark.parametrize(
    ("question", "memory", "told"),
    [
        ("user's car", "i drive a red skoda", ("car",)),
        ("用户的车", "我开一辆红色的斯柯达", ("车",)),
        ("who is the user dating", "my boyfriend is called milo", ("dating",)),
        ("vacation plans", "we are planning a trip to iceland", ("vacation",)),
        ("user's car", "i use vim for everything", ()),
        ("宠物", "我有一套小房子", ()),
    ],
)
def test_a_kind_is_spoken_of_in_other_words(question: str, memory: str, told: tuple[str, ...]):
    assert asking(normalise(question)).named_in(normalise(memory)) == told


def test_what_is_owned_or_used_tells_nothing_of_another_kind():
    car = asking(normalise("which car do i use"))
    assert not car.may_tell(predicate="uses", qualifiers={}, text="i use vim")
    assert car.explained_by(predicate="uses", qualifiers={}, text="i use vim") == ()
    assert car.may_tell(predicate="owns", qualifiers={"kind": "car"}, text="i have a toyota")
    assert car.may_tell(predicate="lives_in", qualifiers={}, text="i live in ghent")
