"""Chinese sentences and what the rules read of them: claims, when they hold, whose they are, and what is left unread."""

from __future__ import annotations

from datetime import datetime

import pytest

from taishi.ingest.instants import render
from tests.support.rules_cases import SHANGHAI, claims, extract, lines, read, said, score, short


def test_every_labelled_line_of_the_working_half_is_read_as_labelled() -> None:
    total, odd = score("rules_zh", "dev")
    assert odd == []
    assert total.right >= 100


@pytest.mark.parametrize("half", ["held", "fresh"])
def test_the_lines_that_were_put_aside_are_read_well(half: str) -> None:
    total, odd = score("rules_zh", half)
    assert total.precision >= 0.95, odd
    assert total.recall >= 0.95, odd


@pytest.mark.parametrize("half", ["dev", "held"])
def test_noise_gives_no_claim(half: str) -> None:
    rows = lines("noise", half)
    assert len(rows) >= 75
    wrong = {str(row["text"]): read(str(row["text"])) for row in rows if read(str(row["text"]))}
    assert wrong == {}


@pytest.mark.parametrize(
    ("like", "dislike", "value"),
    [
        ("我喜欢吃榴莲", "我不再喜欢吃榴莲了", "榴莲"),
        ("我爱喝普洱", "我不爱喝普洱了", "普洱"),
        ("我特别喜欢看悬疑片", "我现在不喜欢看悬疑片了", "悬疑片"),
        ("我喜欢打羽毛球", "我讨厌羽毛球", "羽毛球"),
    ],
)
def test_like_and_no_longer_like_meet_in_one_slot(like: str, dislike: str, value: str) -> None:
    assert read(like) == {("user", "likes", value, "+")}
    assert read(dislike) == {("user", "likes", value, "-")}


def test_work_in_a_city_and_a_move_for_work_share_a_slot_and_leave_the_company_alone() -> None:
    [lived] = claims("我在南京工作")
    moved = claims("其实我4月就搬到西安工作了")
    [company] = claims("我在网易上班")
    at_work = next(claim for claim in moved if claim.predicate == "works_at")
    assert (
        (lived.predicate, lived.qualifiers)
        == (at_work.predicate, at_work.qualifiers)
        == ("works_at", {"kind": "city"})
    )
    assert company.qualifiers == {"kind": "company"}
    assert render(at_work.valid_from) == "2026-03-31T16:00:00Z"
    assert {short(claim)[1:3] for claim in moved} == {("lives_in", "西安"), ("works_at", "西安")}


def test_a_correcting_move_moves_the_place_of_work_too() -> None:
    assert ("user", "works_at", "长沙", "+") in read("其实我三月就搬到长沙了")
    assert read("我搬到长沙了") == {("user", "lives_in", "长沙", "+")}


def test_a_plan_holds_from_when_it_is_said_until_its_time_is_over() -> None:
    [plan] = claims("明年五月我要去大阪参加展会", said_at=datetime(2026, 11, 3, 9, tzinfo=SHANGHAI))
    assert (plan.predicate, plan.value, plan.modality) == ("plans", "去大阪参加展会", "plan")
    assert render(plan.valid_from) == "2026-11-03T01:00:00Z"
    assert render(plan.occurs_from) == "2027-04-30T16:00:00Z"
    assert render(plan.valid_to) == render(plan.occurs_to) == "2027-05-31T16:00:00Z"


def test_a_happening_is_true_from_then_on() -> None:
    [did] = claims("我前天去了眼科医院配眼镜")
    assert (did.predicate, did.value, did.modality) == ("did", "去了眼科医院配眼镜", "happening")
    assert render(did.occurs_from) == render(did.valid_from) == "2026-07-29T16:00:00Z"
    assert did.valid_to is None


def test_this_week_is_a_bounded_time() -> None:
    [claim] = claims("这周我不吃海鲜")
    assert short(claim) == ("user", "diet", "海鲜", "-")
    assert (render(claim.valid_from), render(claim.valid_to)) == (
        "2026-07-26T16:00:00Z",
        "2026-08-02T16:00:00Z",
    )
    assert claim.temporary
    assert not claim.to_inferred


def test_for_now_is_temporary_with_no_stated_end() -> None:
    [claim] = claims("屏幕太刺眼，临时切到夜间模式。")
    assert short(claim) == ("user", "prefers.theme", "夜间模式", "+")
    assert claim.temporary
    assert claim.valid_to is None


def test_since_is_a_stated_beginning_and_past_tense_needs_bounds() -> None:
    [since] = claims("我从2021年起一直住在昆明")
    assert (render(since.valid_from), since.from_source) == ("2020-12-31T16:00:00Z", "stated")
    assert read("我以前住在昆明") == {("user", "lived_in", "昆明", "+")}
    [bounded] = claims("我2015年到2018年住在天津")
    assert (render(bounded.valid_from), render(bounded.valid_to)) == (
        "2014-12-31T16:00:00Z",
        "2018-12-31T16:00:00Z",
    )


def test_a_date_beside_a_value_dates_it_and_a_date_that_is_the_value_does_not() -> None:
    [version] = claims("2025年3月5日时 edge-7 当前版本是 v4.0")
    assert (version.subject, version.value, render(version.valid_from)) == (
        "edge-7",
        "v4.0",
        "2025-03-04T16:00:00Z",
    )
    [birthday] = claims("我的生日是6月18日")
    assert (birthday.value, birthday.valid_from) == ("6月18日", None)


def test_project_and_team_are_single_and_say_when_they_are_transfers() -> None:
    [was] = claims("小韩在天狼项目")
    [moved] = claims("小韩调到织女项目了")
    assert was.qualifiers == moved.qualifiers == {"kind": "project"}
    assert (was.transfer, moved.transfer) == (False, True)
    [also] = claims("小韩也在织女项目")
    assert also.qualifiers == {"kind": "project", "besides": "织女项目"}


def test_people_of_one_name_are_kept_apart_by_what_stands_before_it() -> None:
    assert read("人事的李强住在高新区") == {("人事的李强", "lives_in", "高新区", "+")}
    assert read("售后的李强住在雁塔区") == {("售后的李强", "lives_in", "雁塔区", "+")}


def test_i_is_whoever_speaks() -> None:
    assert read("我对腰果过敏", speaker="阿珍") == {("阿珍", "allergic_to", "腰果", "+")}
    assert read("我弟弟住在合肥", speaker="阿珍") == {("阿珍的弟弟", "lives_in", "合肥", "+")}
    assert ("阿珍", "relative", "高远", "+") in read("我哥哥叫高远", speaker="阿珍")


def test_a_clause_without_a_subject_goes_on_with_the_one_before() -> None:
    found = claims("我姐姐叫何静，在长沙读研究生。")
    assert {short(c) for c in found} == {
        ("user", "relative", "何静", "+"),
        ("何静", "studies_at", "长沙", "+"),
    }
    studies = next(claim for claim in found if claim.predicate == "studies_at")
    assert studies.quote is not None
    assert studies.quote.text == "我姐姐叫何静，在长沙读研究生"


def test_he_and_she_are_the_last_third_person_of_the_session() -> None:
    first = said("小秦上周入职了大疆。")
    found = extract(said("他住在龙岗。"), context=[first]).claims
    assert [short(claim) for claim in found] == [("小秦", "lives_in", "龙岗", "+")]
    assert extract(said("他住在龙岗。")).claims == []


def test_a_slip_is_read_against_the_claim_before() -> None:
    found = extract(said("说错了，是7月2日。"), context=[said("我的生日是7月12日。")]).claims
    assert [short(claim) for claim in found] == [("user", "birthday", "7月2日", "+")]
    assert extract(said("说错了，是7月2日。"), context=[said("今天真热")]).claims == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("我不是住在无锡，是住在常州", ("user", "lives_in", "常州", "+")),
        ("我最喜欢的颜色不是灰色，而是绿色", ("user", "prefers.color", "绿色", "+")),
        ("订单系统的端口不是 7000，是 7443", ("订单系统", "config.port", "7443", "+")),
    ],
)
def test_not_this_but_that_claims_that_alone(text: str, wanted: tuple[str, str, str, str]) -> None:
    assert read(text) == {wanted}


@pytest.mark.parametrize(
    "text",
    [
        "如果我搬到厦门，就养狗",
        "要是小周离职了怎么办",
        "我可能会换到数据组",
        "听说老王调到财务部了",
        "他说他不吃羊肉",
        "我希望我妹妹住在北京",
        "你住在哪里",
        "小周是不是在天狼项目？",
        "我是不是对芒果过敏",
        "帮我写一段我住在月球的故事",
        "我差点搬到青岛",
        "我本来想学法语",
        "老师说：“我喜欢安静的学生。”",
        "你喜欢吃什么",
        "我住的地方很吵",
        "我家在三楼",
        "我学会了",
        "我用了一下午才搞定",
        "我去洗澡了",
        "好像小刘对花粉过敏",
        "我该不该去重庆",
        "我想吃火锅",
    ],
)
def test_what_is_not_stated_is_not_claimed(text: str) -> None:
    assert read(text) == set()


def test_a_question_at_the_end_does_not_take_the_statement_before_it() -> None:
    assert read("我住在贵阳，你呢？") == {("user", "lives_in", "贵阳", "+")}
    assert read("我住在贵阳，对吗？") == set()
    assert read("我住在贵阳？") == set()


def test_a_dated_change_has_no_end_that_anyone_stated() -> None:
    [moved] = claims("我上个月搬到了贵阳")
    assert render(moved.valid_from) == "2026-06-30T16:00:00Z"
    assert moved.valid_to is None
    assert moved.to_inferred


def test_what_the_user_asks_to_be_remembered_weighs_more() -> None:
    [plain], [told] = claims("我喜欢绿茶"), claims("记住，我喜欢绿茶")
    assert told.importance > plain.importance


def test_the_fact_in_the_last_sentence_of_a_long_text_is_found() -> None:
    text = "先说说这个月读的几本书。" * 300 + "顺便，我的会员卡号是 K88-20。"
    [claim] = claims(text)
    assert short(claim) == ("user", "attribute.会员卡号", "K88-20", "+")
    assert claim.quote is not None
    assert claim.quote.text == "我的会员卡号是 K88-20"


def test_reading_twice_gives_the_same() -> None:
    text = "我叫周岚，在携程做设计师，喜欢爵士乐，下周五要去苏州出差。"
    assert claims(text) == claims(text)
    assert len(claims(text)) == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我太太的妈妈叫桂兰", {("我太太", "relative", "桂兰", "+")}),
        ("我妹妹老公叫阿强", {("我妹妹", "relative", "阿强", "+")}),
        ("我女朋友的爸爸是医生", {("我女朋友的爸爸", "role", "医生", "+")}),
        ("我老婆小美是医生", {("小美", "role", "医生", "+"), ("user", "relative", "小美", "+")}),
    ],
)
def test_a_relatives_relative_is_nobodys_name(text: str, expected: set[tuple[str, str, str, str]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("我养了两只兔子，团子和麻薯。", [("兔子", "团子"), ("兔子", "麻薯")]),
        ("我家有两条狗，一条叫旺财，一条叫来福。", [("狗", "旺财"), ("狗", "来福")]),
        ("我有两个女儿，小满和谷雨。", [("小满", "女儿"), ("谷雨", "女儿")]),
        ("我和陈舟结婚了。", [("陈舟", "配偶")]),
    ],
)
def test_each_that_is_named_is_a_claim_of_its_own(text: str, told: list[tuple[str, str]]) -> None:
    found = [claim for claim in claims(text) if claim.predicate in ("owns", "relative")]
    assert [(claim.value, item) for claim in found for item in claim.qualifiers.values()] == told


@pytest.mark.parametrize(
    ("text", "more"),
    [("我有两个哥哥，都在郑州上班。", "works_at"), ("我有一只鹦鹉，喜欢吃瓜子。", "likes"), ("我有个女儿叫小满，会拉小提琴。", "knows")],
)
def test_what_is_said_of_those_one_has_is_nothing_of_ones_own(text: str, more: str) -> None:
    assert claims(text) != []
    assert more not in {claim.predicate for claim in claims(text)}
