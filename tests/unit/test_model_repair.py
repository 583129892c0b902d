"""What is mended in a model's answer, and what is left refused."""

import json

import pytest

from taishi.ingest.model.answer import MOST_CLAIMS, taken
from taishi.ingest.model.repair import Unreadable, read_object

GOOD = {"events": [{"event": "e1", "claims": []}]}
TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        TEXT, f"\ufeff {TEXT}\n", f"<think>one {{ two</think>\n{TEXT}", f"```json\n{TEXT}\n```", f"```\n{TEXT}```",
        f"Sure!\n{TEXT}\nDone.", f"结果如下：{TEXT}。", '{"events": [{"event": "e1", "claims": [],},],}',
        f"<thinking>x</thinking>a\n```json\n{TEXT}\n```\nb",
    ],
)
def test_what_is_certain_is_mended(text: str) -> None:
    assert read_object(text) == GOOD


def test_words_inside_strings_are_left_as_they_are() -> None:
    said = {"events": "a ,] b ,} ``` { <think> \\\" end"}
    assert read_object("x " + json.dumps(said)[:-1] + ",}") == said


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"), (" \n", "empty"), ("<think>a</think> ", "empty"), ("<think>I am", "thinking_only"),
        (f"{TEXT}</think>", "thinking_only"), (TEXT[:-2], "not_json"), (f"Sure {TEXT[:-1]}", "not_json"),
        ("no", "not_json"), (f"[{TEXT}]", "not_json"), ("null", "not_json"), ("42", "not_json"),
        (f"{TEXT} {TEXT}", "two_objects"),
        (f"{{x}} {TEXT}", "two_objects"), (f"```\n{TEXT}\n```\n```\n{TEXT}\n```", "two_objects"),
        ('{"a": 1, "a": 2}', "not_json"), ('{"a": NaN}', "not_json"), ("{'a': 1}", "not_json"),
        ('{"a": "\\ud800"}', "surrogates"), ('{"\\udfff": 1}', "surrogates"), ("[" * 100_000, "not_json"),
        ('{"a":' * 50_000, "not_json"), ('{"a": ' + "9" * 5_000 + "}", "not_json"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_refused(text: str, code: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read_object(text)
    assert raised.value.code == code


def test_an_emoji_written_as_two_escapes_is_no_lone_surrogate() -> None:
    assert read_object('{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ({"error": {"message": "m"}}, "error_body"), ({"type": "object", "properties": {}}, "schema_echo"),
        ({"$schema": "s"}, "schema_echo"), ({"events": {"type": "array"}}, "schema_echo"),
        ({"claims": []}, "malformed"),
        ({"events": [{"event": "e1"}]}, "malformed"), ({"events": [1]}, "malformed"), ({"events": None}, "malformed"),
        ({"events": []}, "wrong_ids"), ({"events": [{"event": "e1", "claims": []}]}, "wrong_ids"),
        ({"events": [{"event": e, "claims": []} for e in ("e1", "e2", "e3")]}, "wrong_ids"),
        ({"events": [{"event": e, "claims": []} for e in ("e1", "e2", "e2")]}, "wrong_ids"),
        ({"events": [{"event": "e1", "claims": [{"subject": "a"}]}, {"event": "e2", "claims": []}]}, "malformed"),
    ],
)  # fmt: skip
def test_an_answer_of_another_shape_is_refused(found: dict[str, object], code: str) -> None:
    with pytest.raises(Unreadable) as raised:
        taken(found, asked=["e1", "e2"])
    assert raised.value.code == code


def claim(**changed: object) -> dict[str, object]:
    return {"subject": "speaker", "predicate": "likes", "value": "tea", "quote": "I like tea", **changed}


def test_what_an_answer_leaves_out_has_its_default() -> None:
    found = {"events": [{"event": "e2", "claims": []}, {"event": "e1", "claims": [claim(time=None, qualifiers=None)]}]}
    first, second = taken(found, asked=["e1", "e2"])
    assert (first.claims[0].kind, first.claims[0].time, first.claims[0].qualifiers) == ("fact", "", [])
    assert (first.event, second.claims) == ("e1", [])


@pytest.mark.parametrize(
    "changed", [{"kind": "guess"}, {"negated": "no"}, {"value": ""}, {"value": 3}, {"quote": None}]
)
def test_a_claim_of_another_shape_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(Unreadable, match="malformed"):
        taken({"events": [{"event": "e1", "claims": [claim(**changed)]}]}, asked=["e1"])


def test_a_flood_of_claims_is_refused() -> None:
    with pytest.raises(Unreadable, match="flood"):
        taken({"events": [{"event": "e1", "claims": [claim()] * (MOST_CLAIMS + 1)}]}, asked=["e1"])
