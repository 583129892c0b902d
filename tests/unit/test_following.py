"""What the best memory names is followed to what else is told of it."""

from __future__ import annotations

from taishi.queries.folding import Ranked
from taishi.queries.following import FOLLOWED, SUMMAND, followed
from taishi.queries.rows import EventRow


def heard(text: str, score: float, seq: int) -> Ranked:
    event = EventRow(
        seq=seq, event_id=f"e{seq}", type="message", session=None, actor_id=None, role="user", origin="user_direct",
        session_kind="chat", said_at=0, recorded_at=0, extraction="done", closing=None, extractor=None, decision=None,
        erased_at=None, speaker=None, text=text, metadata=None,
    )  # fmt: skip
    return Ranked(doc=2 * seq, score=score, parts={}, status="current", met={}, dense=0.1, event=event, sources=(seq,))


def texts(question: str, *said: tuple[str, float]) -> list[str]:
    ranked = [heard(text, score, n) for n, (text, score) in enumerate(said, 1)]
    return [one.event.text for one in followed(ranked, question) if one.event is not None]


def test_the_thing_that_the_answer_names_brings_what_else_is_said_of_it():
    assert texts(
        "我用的相机是什么",
        ("我用的相机是徕卡Q3。", 0.9),
        ("相机店周末打折。", 0.3),
        ("徕卡Q3的对焦比我想的慢。", 0.15),
        ("今天下雨。", 0.1),
        ("明天开会。", 0.1),
    )[:2] == ["我用的相机是徕卡Q3。", "徕卡Q3的对焦比我想的慢。"]


def test_the_one_who_is_described_brings_what_is_told_of_them():
    found = texts(
        "what does the one from leeds do",
        ("Our tenant Marlow is from Leeds.", 0.8),
        ("The plumber does the pipes.", 0.4),
        ("Marlow does night shifts at the bakery.", 0.35),
        ("The sink leaks.", 0.1),
        ("It rains.", 0.1),
    )
    assert found[:2] == ["Our tenant Marlow is from Leeds.", "Marlow does night shifts at the bakery."]


def test_what_is_common_or_in_the_question_leads_nowhere():
    told = ["the red kite flew", "the red kite fell", "rain"]
    said = [heard(text, 1.0 - n / 10, n) for n, text in enumerate(told, 1)]
    assert followed(said, "red kite") == said
    alike = [heard(f"kite number {n}", 1.0 - n / 10, n) for n in range(1, 6)]
    assert followed(alike, "what flew") == alike


def test_a_long_best_memory_is_not_followed_and_gains_are_bounded():
    tale = "Marlow is from Leeds " + "and much else " * 6
    long = [heard(tale, 0.9, 1), heard("Marlow bakes", 0.2, 2), heard("x", 0.1, 3)]
    assert followed(long, "who is from leeds") == long
    others = [heard("x", 0.1, n) for n in (3, 4, 5)]
    said = [heard("Marlow of Leeds", 0.9, 1), heard("Marlow of Leeds", 0.2, 2), *others]
    [_, twin, *_] = followed(said, "who")
    assert twin.parts[SUMMAND] == FOLLOWED
    assert twin.score == 0.2 + FOLLOWED
