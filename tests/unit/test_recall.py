"""Recall end to end over folded read models: what answers, what stays out, what is folded, what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from taishi.ingest.envelope import Actor
from taishi.ingest.errors import Unavailable
from taishi.queries.channels import DenseHits
from taishi.queries.wanted import Wanted
from tests.support.history import History, claim_id
from tests.support.read_side import ReadSide, at

JAN, MAY = at("2026-01-01T00:00:00Z"), at("2026-05-01T00:00:00Z")


def moved() -> History:
    """Two homes, one after the other, each said in words."""
    h = History()
    first = h.say("我现在住在南京。")
    second = h.say("我上个月搬到西安了。")
    h.claim("user", "lives_in", "南京", said=first, valid_from=JAN)
    h.claim("user", "lives_in", "西安", said=second, valid_from=MAY)
    h.extracted(first, second)
    return h


def test_the_state_of_things_is_answered_by_what_holds_alone(tmp_path):
    side = ReadSide(tmp_path, moved().events)
    reply = side.ask("我住在哪里？")
    assert [(i["kind"], i["value"], i["status"]) for i in reply["items"]] == [("claim", "西安", "current")]
    assert reply["answerability"] == "supported"
    assert [i["value"] for i in side.ask("我住在哪里？", valid_at=JAN)["items"]] == ["南京"]
    assert side.texts("我住在哪里？", valid_at=JAN - 1) == []


def test_a_question_about_the_past_shows_both_marked(tmp_path):
    items = ReadSide(tmp_path, moved().events).ask("我以前住在哪里？")["items"]
    assert {(i["value"], i["status"]) for i in items} == {("西安", "current"), ("南京", "superseded")}
    assert {i["kind"] for i in items} == {"claim"}
    old = next(i for i in items if i["value"] == "南京")
    assert (old["valid_from"], old["valid_to"]) == ("2026-01-01T00:00:00Z", "2026-05-01T00:00:00Z")
    assert old["why"]["chain"]["superseded_by"][0]["rule"] == "began_later"


def test_as_known_then_the_later_word_is_not_there(tmp_path):
    h = History()
    h.claim("user", "works_at", "Initrode", valid_from=JAN, recorded_at=JAN)
    h.claim("user", "works_at", "Umbra", valid_from=MAY, recorded_at=at("2026-08-01T00:00:00Z"))
    side = ReadSide(tmp_path, h.events)
    june = "2026-06-15T00:00:00Z"
    assert side.texts("where do I work", valid_at=june, known_at=june) == ["user works at Initrode"]
    assert side.texts("where do I work", valid_at=june) == ["user works at Umbra"]
    assert side.texts("where do I work", position=1) == ["user works at Initrode"]


def test_the_past_tense_of_a_given_moment_asks_of_that_moment(tmp_path):
    h = History()
    h.claim("user", "works_at", "Initrode", valid_from=JAN, recorded_at=JAN)
    h.claim("user", "works_at", "Umbra", valid_from=MAY, recorded_at=MAY)
    june = "2026-06-15T00:00:00Z"
    side = ReadSide(tmp_path, h.events)
    assert side.texts("where did I work", valid_at=june, known_at=june) == ["user works at Umbra"]


@pytest.mark.parametrize(
    ("text", "reason", "question"),
    [
        ("If I had a parrot, it would be called Kiki.", "hypothetical", "Do I have a parrot?"),
        ("Should I get a parrot?", "question", "Do I have a parrot?"),
        ("要是我有鹦鹉，就叫它琪琪。", "hypothetical", "我有鹦鹉吗？"),
        ('Olga said: "I live in Turku."', "quoted", "Where do I live?"),
    ],
)
def test_what_if_whether_and_anothers_words_support_no_fact(tmp_path, text, reason, question):
    h = History()
    said = h.say(text)
    h.extracted(said, decisions={said.event_id: reason})
    assert ReadSide(tmp_path, h.events).ask(question)["answerability"] != "supported"


def test_words_of_which_one_sentence_asks_may_support(tmp_path):
    h = History()
    said = h.say("My parrot Kiki has lost a feather. What should I do?")
    h.extracted(said, decisions={said.event_id: "question"})
    assert ReadSide(tmp_path, h.events).ask("Do I have a parrot Kiki?")["answerability"] == "supported"


def test_a_relatives_work_is_not_mine(tmp_path):
    h = History()
    said = h.say("My cousin Olga works at Initrode.")
    kin = h.claim("user", "relative", "Olga", said=said, qualifiers={"relation": "cousin"}, valid_from=JAN)
    h.claim("Olga", "works_at", "Initrode", said=said, valid_from=JAN)
    h.extracted(said)
    side = ReadSide(tmp_path, h.events)
    assert kin.body and side.ask("Where do I work?")["answerability"] != "supported"
    assert side.ask("Where does my cousin work?")["answerability"] == "supported"


def test_a_plan_does_not_say_that_it_is_so(tmp_path):
    h = History()
    said = h.say("我打算明年去冰岛。")
    h.claim("user", "plans", "去冰岛", said=said, modality="plan", valid_from=JAN)
    h.extracted(said)
    side = ReadSide(tmp_path, h.events)
    assert side.ask("我去过冰岛吗？")["answerability"] != "supported"
    assert side.ask("我打算明年去哪里？")["answerability"] == "supported"


def test_the_words_behind_a_claim_are_folded_into_it_with_their_quote(tmp_path):
    side = ReadSide(tmp_path, moved().events)
    (item,) = side.ask("我住在哪里？")["items"]
    assert item["evidence"] == [
        {"event_id": "00000000-0000-0000-0000-000000000002", "position": "p0:2", "quote": "我上个月搬到西安了。"}
    ]


def test_words_without_a_claim_are_never_hidden(tmp_path):
    h = moved()
    h.say("我住在西安城墙边上，每天早上很吵。")
    texts = ReadSide(tmp_path, h.events).texts("我住在哪里？")
    assert any("城墙" in text for text in texts)


def test_of_two_statements_that_differ_by_a_word_the_newer_tells_the_present(tmp_path):
    h = History()
    h.say("水塔的阀门状态是关闭。")
    h.say("水塔的阀门状态是打开。")
    texts = ReadSide(tmp_path, h.events).texts("水塔的阀门现在是什么状态")
    assert texts == ["水塔的阀门状态是打开。", "水塔的阀门状态是关闭。"]


def test_the_same_words_again_are_one_item_with_all_evidence(tmp_path):
    h = History()
    for _ in range(3):
        h.say("周四晚上要倒可回收垃圾。")
    (item,) = ReadSide(tmp_path, h.events).ask("可回收垃圾哪天倒")["items"]
    assert len(item["evidence"]) == 3


def test_equal_claims_are_one_item_with_all_evidence(tmp_path):
    h = History()
    for text in ("我喜欢酸梅汤。", "我真的喜欢酸梅汤", "酸梅汤我喜欢"):
        said = h.say(text)
        h.claim("user", "likes", "酸梅汤", said=said)
    (item,) = ReadSide(tmp_path, h.events).ask("我喜欢喝酸梅汤吗")["items"]
    assert item["kind"] == "claim"
    assert len(item["evidence"]) == 3


def test_what_was_said_of_an_earlier_time_is_no_evidence_of_now(tmp_path):
    h = History()
    for text, value in (("网关是 1.0 版。", "1.0"), ("网关升到 1.1 版。", "1.1"), ("网关退回 1.0 版。", "1.0")):
        said = h.say(text)
        h.claim("网关", "version", value, said=said, valid_from=JAN + len(h.events))
    (item,) = ReadSide(tmp_path, h.events).ask("网关现在是什么版本")["items"]
    assert [e["quote"] for e in item["evidence"]] == ["网关退回 1.0 版。"]


def test_the_sentence_that_named_a_relative_does_not_answer_for_what_has_changed(tmp_path):
    h = History()
    first = h.say("My cousin Otso works at Initrode.")
    h.claim("user", "relative", "Otso", said=first, qualifiers={"relation": "cousin"})
    h.claim("Otso", "works_at", "Initrode", said=first, valid_from=JAN)
    second = h.say("Otso now works at Umbra.")
    h.claim("Otso", "works_at", "Umbra", said=second, valid_from=MAY)
    h.extracted(first, second)
    side = ReadSide(tmp_path, h.events)
    assert side.texts("Where does my cousin work?")[0] == "Otso now works at Umbra."
    assert "Otso" in side.texts("Who is my cousin?")[0]


def test_of_somebody_nobody_spoke_of_nothing_is_known(tmp_path):
    side = ReadSide(tmp_path, moved().events)
    assert side.ask("Where does Ilse live?")["answerability"] == "no_evidence"
    assert side.ask("李梅住在哪里？")["answerability"] == "no_evidence"
    assert side.ask("我住在哪里？")["answerability"] == "supported"


def test_what_was_forgotten_is_nowhere_and_what_it_replaced_is_back(tmp_path):
    h = History()
    h.claim("user", "lives_in", "Turku", valid_from=JAN)
    gone = h.claim("user", "lives_in", "Vaasa", valid_from=MAY)
    h.forget(gone)
    side = ReadSide(tmp_path, h.after_erasure())
    assert side.texts("where do I live") == ["user lives in Turku"]
    assert side.texts("where do I live", valid_at=MAY, known_at=2_500_000) == []


def test_contested_claims_are_both_returned_and_marked(tmp_path):
    h = History()
    for port in ("4100", "4200"):
        h.claim("gateway", "config.port", port, valid_from=JAN, recorded_at=1_000_000)
    items = ReadSide(tmp_path, h.events).ask("gateway port")["items"]
    assert {(i["value"], i["status"]) for i in items} == {("4100", "contested"), ("4200", "contested")}


def test_a_thousand_old_versions_do_not_crowd_out_the_one_that_holds(tmp_path):
    h = History()
    for n in range(600):
        h.claim("indexer", "version", f"0.{n}", valid_from=JAN + n)
    reply = ReadSide(tmp_path, h.events).ask("indexer version")
    assert [i["value"] for i in reply["items"]] == ["0.599"]


def test_what_holds_is_found_through_old_versions_that_no_slot_word_asks_for(tmp_path):
    h = History()
    for n in range(400):
        h.claim("烘干机", "status", f"第{n}档", valid_from=JAN + n)
    reply = ReadSide(tmp_path, h.events).ask("烘干机怎么样了")
    assert [i["value"] for i in reply["items"]] == ["第399档"]


# entities


def test_another_ones_memory_does_not_answer(tmp_path):
    h = History()
    for name, tool in (("模块甲", "螺丝刀"), ("模块乙", "扳手"), ("模块丙", "热风枪")):
        h.claim(name, "拆装工具", f"用{tool}拆装")
    side = ReadSide(tmp_path, h.events)
    assert side.texts("模块乙用什么拆装？") == ["模块乙 拆装工具 用扳手拆装"]


def test_a_name_inside_a_longer_name_is_not_that_name(tmp_path):
    h = History()
    h.claim("node-1", "status", "draining")
    h.claim("node-12", "status", "healthy")
    side = ReadSide(tmp_path, h.events)
    assert side.texts("node-1 status") == ["node-1 status draining"]
    assert side.texts("node-12 status") == ["node-12 status healthy"]


def test_people_of_one_name_are_told_apart_or_reported(tmp_path):
    h = History()
    for who, where in (("前台的刘洋", "虹口"), ("仓库的刘洋", "杨浦")):
        said = h.say(f"{who}住在{where}。")
        h.claim(who, "lives_in", where, said=said)
    side = ReadSide(tmp_path, h.events)
    assert side.texts("仓库的刘洋住在哪") == ["仓库的刘洋住在杨浦。"]
    both = side.ask("刘洋住在哪")
    assert both["ambiguous"] == {"刘洋": ["仓库的刘洋", "前台的刘洋"]}
    assert len(both["items"]) == 2


def test_each_speakers_words_are_their_own(tmp_path):
    h = History()
    li = h.say("我对芒果过敏。", actor=Actor(id="qin"), origin="user_direct")
    h.claim("秦岚", "allergic_to", "芒果", said=li, said_by="秦岚")
    wu = h.say("我最爱吃芒果。", actor=Actor(id="wu"))
    h.claim("吴迪", "likes", "芒果", said=wu, said_by="吴迪")
    side = ReadSide(tmp_path, h.events)
    assert side.texts("谁对芒果过敏？")[0].startswith("秦岚")
    assert not any("过敏" in text for text in side.texts("吴迪对芒果过敏吗？"))
    assert side.texts("我对什么过敏？", asker="秦岚")[0].startswith("秦岚")


# answerability


def test_of_a_relative_of_whom_nothing_is_known_one_who_goes_by_a_name_tells_nothing_either(tmp_path):
    h = History()
    said = h.say("我住在扬州。", actor=Actor(id="qin"))
    h.claim("qin", "lives_in", "扬州", said=said, said_by="qin")
    side = ReadSide(tmp_path, h.events)
    assert side.ask("我住在哪里？", asker="qin")["answerability"] == "supported"
    assert side.ask("我姐姐住在哪里？", asker="qin")["answerability"] != "supported"
    assert side.ask("Where does my sister live?", asker="qin")["answerability"] != "supported"


@pytest.mark.parametrize("speaker", ["user", "qin"])
def test_a_relative_is_found_under_other_words_whoever_asks(tmp_path, speaker):
    h = History()
    said = h.say("My mum was born on 14 May.", actor=Actor(id=speaker))
    whose = "my mum" if speaker == "user" else f"{speaker}'s mum"
    h.claim(whose, "birthday", "14 May", said=said, said_by=speaker)
    side = ReadSide(tmp_path, h.events)
    known = side.ask("When is my mother's birthday?", asker=None if speaker == "user" else speaker)
    assert (known["answerability"], known["items"][0]["value"]) == ("supported", "14 May")


def test_what_one_says_of_oneself_does_not_support_what_is_asked_of_another(tmp_path):
    h = History()
    said = h.say("I drive a blue van and my blood type is B.")
    h.claim("user", "uses", "blue van", said=said)
    said = h.say("My brother Otto lives in Kiel.")
    h.claim("Otto", "lives_in", "Kiel", said=said)
    side = ReadSide(tmp_path, h.events)
    assert side.ask("Which van do I drive?")["answerability"] == "supported"
    assert side.ask("Where does Otto live?")["answerability"] == "supported"
    assert side.ask("Which van does Otto drive?")["answerability"] != "supported"


def test_of_one_whose_name_nobody_has_what_is_known_of_the_user_supports_nothing(tmp_path):
    h = History()
    said = h.say("My name is Ravi and I work as a joiner. My phone number is 555 0142. I love Lisbon.")
    for predicate, value in (("name", "Ravi"), ("role", "joiner"), ("phone", "555 0142"), ("likes", "Lisbon")):
        h.claim("user", predicate, value, said=said)
    side = ReadSide(tmp_path, h.events)
    for nobody in ("What does Ingrid do?", "What is Ingrid's phone number?", "What is Mr. Ashdown's phone number?"):
        assert side.ask(nobody)["answerability"] == "no_evidence", nobody
    for known in ("What does Ravi do?", "What is Ravi's phone number?", "Do I like Lisbon?", "What do I do?"):
        assert side.ask(known)["answerability"] == "supported", known


@pytest.mark.parametrize(
    ("guess", "question"),
    [
        ("I'd say Nils probably loves olives as well.", "Does Nils love olives?"),
        ("你哥哥可能也喜欢吃橄榄。", "我哥哥喜欢吃橄榄吗？"),
        ("Noted. I could suggest soy yoghurt instead.", "Can I have yoghurt?"),
    ],
)
def test_a_guess_of_the_assistant_supports_nothing(tmp_path, guess, question):
    h = History()
    h.claim("Nils", "lives_in", "Oslo", said=h.say("Nils lives in Oslo."))
    h.say(guess, actor=Actor(role="assistant"))
    assert ReadSide(tmp_path / "a", h.events).ask(question)["answerability"] != "supported"


def test_what_the_assistant_states_beside_a_guess_may_support(tmp_path):
    h = History()
    h.say("The Aurora hotel has a sauna. You might like it.", actor=Actor(role="assistant"))
    assert ReadSide(tmp_path, h.events).ask("Has the Aurora hotel a sauna?")["answerability"] == "supported"


def test_that_there_is_a_relative_does_not_tell_what_he_is_called(tmp_path):
    h = History()
    said = h.say("We have two kids.")
    h.claim("user", "relative", "two kids", said=said, qualifiers={"relation": "kids"})
    h.claim("my mum", "birthday", "14 May", said=h.say("My mum's birthday is on 14 May."))
    named = h.say("My husband is called Olaf.")
    h.claim("user", "relative", "Olaf", said=named, qualifiers={"relation": "husband"})
    side = ReadSide(tmp_path, h.events)
    assert side.ask("What is my son called?")["answerability"] != "supported"
    assert side.ask("What's my mum's name?")["answerability"] != "supported"
    assert side.ask("What is my husband called?")["answerability"] == "supported"


def test_who_has_a_husband_is_married_and_who_was_born_in_a_year_has_an_age(tmp_path):
    h = History()
    kin = h.say("My husband Olaf is a cook, and my brother Nils is a tailor.")
    h.claim("user", "relative", "Nils", said=kin, qualifiers={"relation": "brother"})
    alone = ReadSide(tmp_path / "brother", list(h.events))
    assert alone.ask("Am I married?")["answerability"] != "supported"
    h.claim("user", "relative", "Olaf", said=kin, qualifiers={"relation": "husband"})
    h.claim("user", "birthday", "2 June 1988", said=h.say("I was born on 2 June 1988."))
    side = ReadSide(tmp_path / "husband", h.events)
    for question in ("Am I married?", "Is the user married?", "我结婚了吗？"):
        reply = side.ask(question)
        assert (reply["answerability"], reply["items"][0]["value"]) == ("supported", "Olaf"), question
    for question in ("How old am I?", "我多大了？"):
        assert side.ask(question)["items"][0]["value"] == "2 June 1988", question


def test_a_birthday_without_a_year_tells_no_age(tmp_path):
    h = History()
    h.claim("user", "birthday", "2 June", said=h.say("My birthday is on 2 June."))
    assert ReadSide(tmp_path, h.events).ask("How old am I?")["answerability"] != "supported"


def test_a_brother_is_not_a_sister(tmp_path):
    h = History()
    said = h.say("我哥哥叫大勇，是个厨师。")
    h.claim("user", "relative", "哥哥", said=said, qualifiers={"name": "大勇"})
    side = ReadSide(tmp_path, h.events)
    assert side.ask("我姐姐叫什么？")["answerability"] != "supported"
    known = side.ask("我哥哥叫什么？")
    assert known["answerability"] == "supported"
    assert "大勇" in known["items"][0]["text"]


def test_a_hard_no_has_no_items(tmp_path):
    side = ReadSide(tmp_path, moved().events)
    for query in ("？！", "磁约束聚变的托卡马克装置如何点火", "how are volcanoes formed"):
        reply = side.ask(query)
        assert (reply["answerability"], reply["items"], reply["context"]["text"]) == ("no_evidence", [], "")


def test_the_size_of_the_namespace_does_not_change_the_verdict_on_an_unrelated_question(tmp_path):
    verdicts = set()
    for size in (2, 50, 800):
        h = moved()
        for n in range(size):
            h.say(f"第{n}号流水：阳台上的薄荷又长高了一点。")
        verdicts.add(ReadSide(tmp_path / str(size), h.events).ask("磁约束聚变的托卡马克装置如何点火")["answerability"])
    assert verdicts == {"no_evidence"}


def test_external_words_alone_do_not_support_what_is_asked_about_the_user(tmp_path):
    h = History()
    h.say("The user's dentist is Doctor Grin.", origin="external")
    assert ReadSide(tmp_path, h.events).ask("Who is my dentist?")["answerability"] != "supported"


def test_an_unknown_namespace_knows_nothing(tmp_path):
    reply = ReadSide(tmp_path, moved().events).ask("我住在哪里？", namespace="ns2")
    assert (reply["answerability"], reply["items"]) == ("no_evidence", [])


# channels


class Meanings:
    """A dense channel that knows some documents' similarity to any question."""

    def __init__(self, hits: list[tuple[int, float]] | None, *, down: bool = False) -> None:
        self.hits, self.down = hits, down

    def embed(self, text: str):
        if self.down:
            raise Unavailable("down")
        return np.ones(4, dtype=np.float32) / 2

    def embed_parts(self, texts):
        return [self.embed(text) for text in texts]

    def search(
        self, partition: int, ns: int, vector, k: int, *, last: int | None = None, among=None
    ) -> DenseHits | None:
        if self.hits is None:
            return None
        hits = [hit for hit in self.hits if among is None or hit[0] in among]
        return DenseHits(hits[:k], 0.1, 0.1)


def test_meaning_finds_what_no_word_does(tmp_path):
    h = History()
    h.say("每天晚饭后我都要去河边走走。")
    side = ReadSide(tmp_path, h.events, dense=Meanings([(2, 0.6)]))
    reply = side.ask("evening exercise habits")
    assert [i["text"] for i in reply["items"]] == ["每天晚饭后我都要去河边走走。"]
    assert reply["answerability"] == "low_confidence"
    assert reply["degraded"] == []


def test_what_is_always_to_be_done_when_such_a_thing_is_asked_comes_beside_the_answer(tmp_path):
    h = History()
    for wish in ("Always name the platform when I ask about rail travel", "Always add a map when I ask about hikes"):
        h.claim("user", "prefers.answer_style", wish, valid_from=JAN)
    far = h.claim("user", "prefers.answer_style", "Never use emoji when I ask about law", valid_from=JAN)
    h.extracted(*(h.say(f"The train to town {n} leaves at noon.") for n in range(100)))
    near = [(2 * (h.events[-1].position.seq - n), 0.5 - n / 1_000) for n in range(100)]
    wishes = [(3, 0.3), (5, 0.2), (2 * far.position.seq + 1, -0.1)]
    side = ReadSide(tmp_path, h.events, dense=Meanings([*near, *wishes]))
    texts = side.texts("When does the train to town 7 leave?", limit=10)
    assert "platform" in texts[1]
    assert not any("emoji" in text for text in texts)


@pytest.mark.parametrize("dense", [Meanings(None), Meanings([], down=True)])
def test_without_vectors_words_answer_and_the_reply_says_so(tmp_path, dense):
    reply = ReadSide(tmp_path, moved().events, dense=dense).ask("我住在哪里？")
    assert reply["degraded"] == ["vectors"]
    assert reply["items"][0]["value"] == "西安"


# restrictions


def test_kinds_limits_and_metadata(tmp_path):
    h = History()
    a = h.add("message.recorded", body={"text": "快递放在东门。", "metadata": {"app": "wechat"}})
    h.add("message.recorded", body={"text": "快递放在南门。", "metadata": {"app": "mail"}})
    h.claim("快递", "note", "放在东门", said=a)
    side = ReadSide(tmp_path, h.events)
    assert {i["kind"] for i in side.ask("快递放在哪", wanted=Wanted(kinds=frozenset({"event"})))["items"]} == {"event"}
    assert {i["kind"] for i in side.ask("快递放在哪", wanted=Wanted(kinds=frozenset({"claim"})))["items"]} == {"claim"}
    assert side.texts("快递放在哪", wanted=Wanted(metadata={"app": "mail"})) == ["快递放在南门。"]
    assert len(side.texts("快递放在哪", limit=1)) == 1


def test_a_long_turn_answers_with_the_sentence_that_matters(tmp_path):
    h = History()
    h.say("今天在整理旧书。" * 300 + "顺便说一句，储物间的密码是四个九。")
    reply = ReadSide(tmp_path, h.events).ask("储物间的密码是多少？", token_budget=200)
    assert "储物间的密码是四个九" in reply["context"]["text"]
    assert reply["context"]["tokens"] <= 200
    assert reply["context"]["truncated"]


def test_a_merged_claim_keeps_the_id_of_the_one_that_stands(tmp_path):
    h = History()
    first = h.claim("user", "speaks", "Basque")
    h.claim("user", "speaks", "basque")
    (item,) = ReadSide(tmp_path, h.events).ask("which languages do I speak")["items"]
    assert item["id"] == claim_id(first)


def test_of_two_relatives_the_one_who_is_asked_about_answers(tmp_path):
    h = History()
    h.extracted(h.say("我的表姐在苏州上班呢。"), h.say("我姑姑在无锡上班呢。"), h.say("我同事在无锡工作呢。"))
    side = ReadSide(tmp_path, h.events)
    assert side.texts("我表姐是在哪儿上班来着？")[0] == "我的表姐在苏州上班呢。"
    assert side.texts("姑姑在哪儿工作来着？")[0] == "我姑姑在无锡上班呢。"


def test_an_age_that_was_told_of_a_year_that_is_over_is_told_marked(tmp_path):
    h = History()
    said = h.say("我姑姑今年52岁了。")
    h.claim(
        "我姑姑", "age", "52", said=said, valid_from=at("2024-01-01T00:00:00Z"), valid_to=at("2025-01-01T00:00:00Z")
    )
    h.extracted(said)
    [item] = ReadSide(tmp_path, h.events).ask("我姑姑多大年纪了？")["items"]
    assert (item["value"], item["status"]) == ("52", "ended")


def test_an_age_that_holds_leaves_the_older_one_out(tmp_path):
    h = History()
    h.claim("我姑姑", "age", "52", valid_from=at("2024-01-01T00:00:00Z"), valid_to=at("2025-01-01T00:00:00Z"))
    h.claim("我姑姑", "age", "54", valid_from=at("2026-01-01T00:00:00Z"), valid_to=at("2027-01-01T00:00:00Z"))
    assert [i["value"] for i in ReadSide(tmp_path, h.events).ask("我姑姑多大年纪了？")["items"]] == ["54"]


def test_who_a_relative_is_does_not_outrank_what_is_asked_of_them(tmp_path):
    h = History()
    named, told = h.say("我姑姑的名字叫方琴。"), h.say("我姑姑是护士长。")
    h.claim("user", "relative", "方琴", said=named, valid_from=JAN, qualifiers={"relation": "姑姑"})
    h.extracted(named, told)
    assert ReadSide(tmp_path, h.events).texts("我姑姑是做什么工作的？")[0] == "我姑姑是护士长。"
