"""What takes another's place, what is still to come, and since when: who one has one of, days ahead, dated changes."""

from __future__ import annotations

import pytest

from taishi.ingest.instants import render
from taishi.ingest.registry import default_registry
from taishi.ingest.slots import is_single, slot_parts
from tests.support.rules_cases import claims, read


@pytest.mark.parametrize(
    ("text", "relation", "name"),
    [
        ("My supervisor is now Ingrid.", "supervisor", "Ingrid"),
        ("My new landlord is Tobias.", "landlord", "Tobias"),
        ("My dentist has changed to Dr. Okafor.", "dentist", "Dr. Okafor"),
        ("My mentor is currently Priya.", "mentor", "Priya"),
        ("Marisol is now my coach.", "coach", "Marisol"),
        ("Henrik is my new boss.", "boss", "Henrik"),
        ("我领导换成孙总了", "领导", "孙总"),
        ("我的导师变成钱老师了", "导师", "钱老师"),
        ("我的牙医改成了沈医生", "牙医", "沈医生"),
        ("我的新上司是郑洁", "上司", "郑洁"),
        ("我们老板现在是胡总", "老板", "胡总"),
        ("吴总是我老板", "老板", "吴总"),
    ],
)
def test_whom_one_has_one_of_is_told_and_replaced(text: str, relation: str, name: str) -> None:
    [claim] = claims(text)
    assert (claim.subject, claim.predicate, claim.value, claim.negated) == ("user", "relative", name, False)
    assert claim.qualifiers == {"relation": relation}
    assert is_single(claim, default_registry())


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I drink espresso every morning.", "I don't drink espresso anymore."),
        ("I drink tea.", "I no longer drink tea."),
        ("I'm a vegan.", "I stopped being vegan in May."),
        ("我对花生过敏。", "我不对花生过敏。"),
        ("My boss is Yusuf.", "My boss is now Ottilie."),
        ("My therapist is Nadia.", "My new therapist is Bruno."),
        ("My girlfriend is Lena.", "Lena is no longer my girlfriend."),
        ("我房东叫马强", "我房东换成贺静了"),
        ("我的经理是罗敏", "我的新经理是叶青"),
        ("我老板是谭总", "我老板变成袁总了"),
    ],
)
def test_the_later_one_stands_in_the_slot_of_the_earlier(earlier: str, later: str) -> None:
    registry = default_registry()
    [was], [now] = claims(earlier), claims(later)
    assert slot_parts("n", was, registry) == slot_parts("n", now, registry)


@pytest.mark.parametrize("text", ["My best friend is Otto.", "My cousin is Freya.", "My brother is Emil.", "我朋友叫薛凯", "我的表妹叫苏苏", "我的室友叫毕然"])
def test_of_kin_and_friends_there_are_any_number(text: str) -> None:
    [claim] = claims(text)
    assert claim.predicate == "relative"
    assert not is_single(claim, default_registry())


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("我的座位改成C07了", "座位", "C07"),
        ("我电脑换成ThinkPad了", "电脑", "ThinkPad"),
        ("我的车牌换为沪A5N31了", "车牌", "沪A5N31"),
        ("我的耳机换成AirPods了", "耳机", "AirPods"),
    ],
)
def test_an_attribute_that_has_become_another(text: str, attribute: str, value: str) -> None:
    assert read(text) == {("user", f"attribute.{attribute}", value, "+")}


@pytest.mark.parametrize("text", ["我的计划变成泡影了", "我头发变成灰色了", "我爸换成另一种药了", "我的口味变成清淡的了"])
def test_what_has_become_something_else_was_not_done(text: str) -> None:
    assert not any(predicate == "did" for _, predicate, _, _ in read(text))


@pytest.mark.parametrize(
    ("text", "value", "begins"),
    [
        ("I have a meeting with Sunniva tomorrow at 4pm.", "meeting with Sunniva", "2026-08-02T08:00:00Z"),
        ("I have a call with the bank on Tuesday at 10am.", "call with the bank", "2026-08-04T02:00:00Z"),
        ("I have lunch with Rafael on Thursday at noon.", "lunch with Rafael", "2026-08-06T04:00:00Z"),
        ("I've got a doctor's appointment on Wednesday.", "doctor's appointment", "2026-08-04T16:00:00Z"),
        ("我后天有个答辩", "有个答辩", "2026-08-02T16:00:00Z"),
        ("我下周二有一场演出", "有一场演出", "2026-08-03T16:00:00Z"),
        ("周四晚上八点我有个例会", "有个例会", "2026-08-06T12:00:00Z"),
    ],
)
def test_what_one_has_on_a_day_ahead_is_a_plan(text: str, value: str, begins: str) -> None:
    [plan] = claims(text)
    assert (plan.predicate, plan.value, plan.modality) == ("plans", value, "plan")
    assert plan.occurs_from is not None and render(plan.occurs_from) == begins
    assert plan.valid_to == plan.occurs_to is not None


@pytest.mark.parametrize("text", ["I run at 5am.", "I have lunch at noon.", "I go to the library on Wednesdays.", "I wake up at 7am.", "我每周五有例会", "我每天早上七点起床"])
def test_a_time_of_any_day_is_still_a_habit(text: str) -> None:
    assert {predicate for _, predicate, _, _ in read(text)} == {"habit"}


@pytest.mark.parametrize(
    ("text", "predicate", "value", "begins"),
    [
        ("我2012年搬到珠海的", "lives_in", "珠海", "2011-12-31T16:00:00Z"),
        ("我是五月份搬来昆明的", "lives_in", "昆明", "2026-04-30T16:00:00Z"),
        ("我是在2017年搬去厦门的", "lives_in", "厦门", "2016-12-31T16:00:00Z"),
        ("我前年入职华为的", "works_at", "华为", "2023-12-31T16:00:00Z"),
        ("我去年入职阿里的", "works_at", "阿里", "2024-12-31T16:00:00Z"),
        ("我是2021年加入网易的", "works_at", "网易", "2020-12-31T16:00:00Z"),
    ],
)
def test_a_dated_change_in_shi_de_holds_from_then(text: str, predicate: str, value: str, begins: str) -> None:
    [claim] = claims(text)
    assert (claim.predicate, claim.value, claim.valid_to, claim.to_inferred) == (predicate, value, None, True)
    assert claim.valid_from is not None and render(claim.valid_from) == begins


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("I eat pork again.", {"vegetarian", "vegan"}),
        ("I've started eating chicken again.", {"vegetarian", "vegan"}),
        ("I went back to eating beef.", {"vegetarian", "vegan"}),
        ("I'm no longer vegetarian, I eat everything.", {"vegetarian", "vegan"}),
        ("I eat cheese again.", {"vegan"}),
        ("我又开始吃牛肉了", {"吃素"}),
        ("我重新吃肉了", {"吃素"}),
        ("我开荤了", {"吃素"}),
        ("我不再吃素了，现在什么都吃", {"吃素"}),
    ],
)
def test_who_eats_it_again_keeps_no_diet_that_leaves_it_out(text: str, ended: set[str]) -> None:
    assert {value for _, predicate, value, sign in read(text) if (predicate, sign) == ("diet", "-")} == ended


@pytest.mark.parametrize("text", ["I eat pork.", "I eat noodles again.", "我今天吃鱼了", "我能吃辣", "我吃海鲜", "I don't eat pork."])
def test_what_is_eaten_anyway_ends_no_diet(text: str) -> None:
    assert not {value for _, _, value, sign in read(text) if sign == "-"} & {"vegetarian", "vegan", "吃素"}


@pytest.mark.parametrize("origin", ["user_direct", "import"])
@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("用户偏好浅色主题", "prefers.theme", "浅色主题"),
        ("该用户更偏好繁体中文", "likes", "繁体中文"),
        ("用户偏爱绿茶", "likes", "绿茶"),
        ("The user prefers semicolons", "likes", "semicolons"),
        ("User prefers light mode.", "prefers.theme", "light mode"),
        ("This user generally prefers short emails.", "likes", "short emails"),
    ],
)
def test_a_note_on_what_the_user_prefers_is_about_the_user(text: str, predicate: str, value: str, origin: str) -> None:
    assert read(text, origin=origin) == {("user", predicate, value, "+")}


def test_a_diet_that_is_given_up_in_so_many_words_is_quoted_in_these() -> None:
    ended = {claim.value: claim for claim in claims("I eat lamb again, I'm no longer a vegetarian.") if claim.negated}
    assert ended["vegetarian"].quote is not None
    assert ended["vegetarian"].quote.text == "I'm no longer a vegetarian"
    assert ended["vegan"].confidence < ended["vegetarian"].confidence


def test_where_one_stays_for_a_time_is_where_one_lives_then() -> None:
    [claim] = claims("I'm temporarily staying in Ghent until the end of September.")
    assert (claim.predicate, claim.value, claim.temporary) == ("lives_in", "Ghent", True)
    assert render(claim.valid_to) == "2026-09-30T16:00:00Z"
    assert "lives_in" not in {p for _, p, _, _ in read("I'm staying in Ghent next week.")}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("我喜欢茶但不喜欢可可", {("likes", "茶", "+"), ("likes", "可可", "-")}),
        ("我会说法语但不会说荷兰语", {("speaks", "法语", "+"), ("speaks", "荷兰语", "-")}),
        ("我对花生过敏但不对虾过敏", {("allergic_to", "花生", "+"), ("allergic_to", "虾", "-")}),
        ("我对花生过敏，但是不对虾过敏", {("allergic_to", "花生", "+"), ("allergic_to", "虾", "-")}),
        ("我住在无锡但在苏州上班", {("lives_in", "无锡", "+"), ("works_at", "苏州", "+")}),
        ("我不但会说法语，还会说德语", {("speaks", "德语", "+")}),
    ],
)
def test_but_begins_another_statement(text: str, told: set[tuple[str, str, str]]) -> None:
    assert {(predicate, value, polarity) for _, predicate, value, polarity in read(text)} == told
