"""The verdict's rules, one by one."""

from __future__ import annotations

import pytest

from taishi.queries.answerability import Evidence, Signals, Vectors, coverage, judge, likelihoods


def told(**more: float) -> Signals:
    return Signals(vectors="calibrated", **{"covered": 1.0, "missing": 0.0, "nearest": 0.7, "lift": 1.0} | more)


STRANGE = told(covered=0.1, missing=0.9, nearest=0.2, lift=0.3)



def test_words_count_by_how_telling_they_are():
    weight, words = {1: 6.0, 2: 2.0}, {1: ("sister",), 2: ("name",)}
    assert coverage(weight, words, {1: 1.0}) == (0.75, 0.25)
    assert coverage(weight, words, {2: 1.0}) == (0.25, 0.75)
    assert coverage({}, {}, {}) == (0.0, 0.0)


def test_asking_words_are_explained_by_the_memorys_predicate():
    weight, words = {1: 5.0, 2: 5.0}, {1: ("live",), 2: ("marta",)}
    assert coverage(weight, words, {2: 1.0}, ("lives",)) == (1.0, 0.0)
    assert coverage({1: 5.0}, {1: ("版本",)}, {}, ("版本",)) == (1.0, 0.0)
    assert coverage({1: 5.0}, {1: ("妹妹",)}, {}, ("名字",)) == (0.0, 1.0)


def test_a_telling_word_must_be_met_and_a_framing_word_need_not():
    weight, words = {1: 1.0, 2: 9.0}, {1: ("sister",), 2: ("work",)}
    assert coverage(weight, words, {2: 1.0}, telling=("sister",)) == (0.9, 1.0)
    assert coverage(weight, words, {1: 1.0, 2: 1.0}, telling=("sister",)) == (1.0, 0.0)
    assert coverage(weight, words, {1: 1.0}, frame=("working",)) == (1.0, 0.0)
    assert coverage(weight, words, {}, frame=("working", "sister")) == (0.0, 0.0)


def test_full_coverage_of_the_asked_slot_is_supported():
    evidence = Evidence(covered=1.0, missing=0.0, dense=0.2, slot=True)
    assert judge([evidence], told(), about_user=True)[0] == "supported"


def test_what_is_known_of_oneself_tells_nothing_of_somebody_else():
    own = Evidence(covered=0.4, missing=0.6, dense=0.1, slot=True)
    half = told(covered=0.4, missing=0.6)
    assert judge([own], half, about_user=True, first_person=False)[0] == "no_evidence"
    assert judge([own], half, about_user=True, first_person=True)[0] == "low_confidence"
    named = told(covered=0.4, missing=0.6, named=1.0)
    assert judge([own], named, about_user=False, first_person=False)[0] == "low_confidence"


def test_nothing_found_is_a_hard_no():
    assert judge([], STRANGE, about_user=True) == ("no_evidence", 0.0)


def test_a_missing_key_word_is_never_supported_however_near_in_meaning():
    near = Evidence(covered=0.5, missing=0.5, dense=1.0, slot=True)
    assert judge([near], told(covered=0.5, missing=0.5), about_user=True)[0] == "low_confidence"


def test_meaning_alone_is_low_confidence():
    near = Evidence(covered=0.0, missing=0.6, dense=1.0, slot=False)
    assert judge([near], told(covered=0.0, missing=0.6), about_user=True)[0] == "low_confidence"


def test_external_words_alone_never_support_what_is_asked_about_the_user():
    page = Evidence(covered=1.0, missing=0.0, dense=1.0, slot=False, external=True)
    own = Evidence(covered=1.0, missing=0.0, dense=0.9, slot=False)
    assert judge([page], told(), about_user=True)[0] == "low_confidence"
    assert judge([page, own], told(), about_user=True)[0] == "supported"
    assert judge([page], told(), about_user=False)[0] == "supported"


def test_a_state_that_is_over_is_not_supported_by_anything_else():
    evidence = Evidence(covered=1.0, missing=0.0, dense=0.9, slot=True)
    assert judge([evidence], told(), about_user=True, lapsed=True)[0] == "low_confidence"
    assert judge([evidence], told(), about_user=True, lapsed=True, untold=True)[0] == "low_confidence"
    assert judge([evidence], told(), about_user=True, untold=True)[0] == "no_evidence"


def test_what_nothing_is_near_to_is_a_hard_no_unless_its_slot_is_known_or_nothing_is_asked():
    stray = Evidence(covered=0.1, missing=0.9, dense=0.3, slot=False)
    known = Evidence(covered=0.1, missing=0.9, dense=0.0, slot=True)
    assert judge([stray], STRANGE, about_user=False)[0] == "no_evidence"
    assert judge([stray], STRANGE, about_user=False, asked=False)[0] == "low_confidence"
    assert judge([known], STRANGE, about_user=False)[0] == "low_confidence"


@pytest.mark.parametrize("vectors", ["calibrated", "other", "none"])
def test_the_more_is_spoken_of_the_likelier_an_answer(vectors: Vectors):
    model = likelihoods()[vectors]
    much, little = (
        model.of(Signals(vectors=vectors, covered=covered, missing=1 - covered, nearest=0.4, lift=0.5))
        for covered in (0.9, 0.1)
    )
    assert little < model.least < much


def test_without_vectors_it_is_the_words_that_tell():
    stray = Evidence(covered=0.0, missing=1.0, dense=0.3, slot=False)
    silent = Signals(vectors="none", covered=0.0, missing=1.0)
    assert judge([stray], silent, about_user=False)[0] == "no_evidence"


def test_asking_words_explain_a_piece_that_is_cut_together_with_a_pronoun():
    assert coverage({1: 5.0}, {1: ("我住",)}, {}, ("住",)) == (1.0, 0.0)
    assert coverage({1: 5.0}, {1: ("狗叫",)}, {}, ("狗", "叫什么")) == (1.0, 0.0)
    assert coverage({1: 5.0}, {1: ("birth",)}, {}, ("date of birth",)) == (1.0, 0.0)
    assert coverage({1: 5.0}, {1: ("sister",)}, {}, ("sister",), telling=("sister",)) == (1.0, 0.0)
