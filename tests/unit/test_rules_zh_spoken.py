"""Chinese as it is spoken: what is no longer owned, kin named without 我, denials beside their like, and words that only look like a claim."""

from __future__ import annotations

import pytest

from taishi.ingest.registry import default_registry
from taishi.ingest.slots import slot_parts
from tests.support.rules_cases import claims, read


@pytest.mark.parametrize(
    ("text", "subject", "thing"),
    [
        ("我的摩托车卖了", "user", "摩托车"),
        ("那架古筝我送给邻居了", "user", "古筝"),
        ("我把旧相机转手了", "user", "相机"),
        ("耳机弄丢了", "user", "耳机"),
        ("家里那台旧洗衣机扔了", "user", "洗衣机"),
        ("我的平板被偷了", "user", "平板"),
        ("我没有车了", "user", "车"),
        ("我姐的房子卖了", "我姐", "房子"),
        ("养了八年的柯基上个月走了", "user", "柯基"),
        ("我把小提琴卖给同学了", "user", "小提琴"),
        ("我卖掉了项链", "user", "项链"),
        ("我上周丢了雨伞", "user", "雨伞"),
        ("丰田卖了", "user", "丰田"),
    ],
)
def test_what_is_sold_lost_or_given_away_is_owned_no_more(text: str, subject: str, thing: str) -> None:
    assert read(text) == {(subject, "owns", thing, "-")}


@pytest.mark.parametrize(
    "text",
    [
        "车打算卖了", "我想把车卖了", "车还没卖掉", "差点把手机丢了", "工作丢了", "数据丢了", "门票卖完了", "我的快递丢了",
        "他的车卖了", "小赵的钢琴卖了", "我家猫把花瓶丢了", "我把客户丢了", "我把作业送给老师了", "钱包差点丢了", "我卖了八辆车", "大众卖了新车", "我昨天把旧衣服都捐了", "我弄丢了室友的钥匙", "我叫了外卖", "我把青春都卖给公司了", "我把你送的手机弄丢了", "我手机没丢", "要不把车卖了吧", "车丢了？",
    ],
)  # fmt: skip
def test_what_is_not_lost_or_not_ones_own_ends_nothing(text: str) -> None:
    assert not [claim for claim in claims(text) if claim.predicate == "owns"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("老婆是护士", {("我老婆", "role", "护士", "+")}),
        ("岳父住在洛阳", {("我岳父", "lives_in", "洛阳", "+")}),
        ("弟弟对芒果过敏", {("我弟弟", "allergic_to", "芒果", "+")}),
        ("小吴结婚了，老婆是护士", {("小吴", "marital_status", "已婚", "+")}),
        ("我姐在厦门上班，儿子是医生", {("我姐", "works_at", "厦门", "+")}),
    ],
)
def test_a_bare_relative_is_ones_own_unless_another_was_spoken_of(text: str, wanted: set[tuple[str, str, str, str]]) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("我喜欢狗不喜欢猫", {("user", "likes", "狗", "+"), ("user", "likes", "猫", "-")}),
        ("我住宁波不住绍兴", {("user", "lives_in", "宁波", "+")}),
        ("我们用飞书不用钉钉", {("user", "uses", "飞书", "+"), ("user", "uses", "钉钉", "-")}),
        ("我们用不用钉钉都可以", set()),
        ("我对川菜没什么兴趣", {("user", "likes", "川菜", "-")}),
        ("我对摄影没啥兴趣", {("user", "likes", "摄影", "-")}),
    ],
)
def test_what_is_denied_beside_its_like(text: str, wanted: set[tuple[str, str, str, str]]) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("我是做物流的", ("user", "role", "物流", "+")),
        ("我叔叔是开出租的", ("我叔叔", "role", "开出租", "+")),
        ("我在中通当快递员", ("user", "role", "快递员", "+")),
        ("我妈是宿管员", ("我妈", "role", "宿管员", "+")),
        ("我大学学建筑的", ("user", "major", "建筑", "+")),
        ("我颈椎不好", ("user", "health", "颈椎不好", "+")),
        ("我妈去年查出来糖尿病", ("我妈", "health", "糖尿病", "+")),
        ("我属兔", ("user", "attribute.属相", "兔", "+")),
        ("我老婆是89年的", ("我老婆", "birthday", "89年", "+")),
        ("我妹妹在昆明", ("我妹妹", "lives_in", "昆明", "+")),
        ("我在泉州长大的", ("user", "hometown", "泉州", "+")),
        ("我在西宁住了四年了", ("user", "lives_in", "西宁", "+")),
        ("我搬来洛阳快三年了", ("user", "lives_in", "洛阳", "+")),
        ("我大学读的是园林", ("user", "major", "园林", "+")),
        ("我老婆怀孕五个月了", ("我老婆", "health", "怀孕", "+")),
        ("我们家有辆面包车", ("user", "owns", "面包车", "+")),
        ("我有两个相机", ("user", "owns", "相机", "+")),
        ("我还没孩子呢", ("user", "relative", "孩子", "-")),
        ("我把抖音卸载了", ("user", "uses", "抖音", "-")),
        ("我会说闽南话", ("user", "speaks", "闽南话", "+")),
        ("我以前养过乌龟", ("user", "owns", "乌龟", "-")),
        ("我有严重的哮喘", ("user", "health", "哮喘", "+")),
        ("我们公司从浦东搬到了松江", ("我们公司", "located_in", "松江", "+")),
        ("毕业以后我一直待在兰州", ("user", "lives_in", "兰州", "+")),
        ("新家在萧山", ("user", "lives_in", "萧山", "+")),
        ("家搬到城北去了", ("user", "lives_in", "城北", "+")),
        ("我在宜昌那边一家印刷厂上班", ("user", "works_at", "印刷厂", "+")),
        ("我在一所民办中学教化学", ("user", "works_at", "民办中学", "+")),
        ("我从好未来辞职了", ("user", "works_at", "好未来", "-")),
        ("我舅舅跑长途的", ("我舅舅", "role", "跑长途", "+")),
        ("姐夫是辅警", ("我姐夫", "role", "辅警", "+")),
        ("我已经从学生会退了", ("user", "member_of", "学生会", "-")),
        ("我没护照", ("user", "owns", "护照", "-")),
        ("我的眼镜在地铁上丢了", ("user", "owns", "眼镜", "-")),
        ("咖啡我戒了两个月了", ("user", "habit", "咖啡", "-")),
        ("我不吸烟也不喝酒", ("user", "habit", "酒", "-")),
        ("我最烦排队", ("user", "likes", "排队", "-")),
        ("我早改吃素了", ("user", "diet", "吃素", "+")),
        ("我习惯早睡", ("user", "habit", "早睡", "+")),
        ("周末我一般睡到中午", ("user", "habit", "周末我一般睡到中午", "+")),
        ("我奶奶八十六了", ("我奶奶", "age", "八十六", "+")),
        ("我一米七二", ("user", "height", "一米七二", "+")),
        ("我穿43码的鞋", ("user", "attribute.鞋码", "43码", "+")),
        ("我阿嬤住在宜蘭", ("我阿嬤", "lives_in", "宜蘭", "+")),
        ("消息队列从RabbitMQ换成Pulsar了", ("消息队列", "uses", "Pulsar", "+")),
        ("检索集群从6个节点缩到3个节点", ("检索集群", "config.nodes", "3", "+")),
        ("风控组的组长是袁媛", ("风控组", "lead", "袁媛", "+")),
        ("我女婿在海尔做测试", ("我女婿", "role", "测试", "+")),
        ("我们家狗前天走丢了", ("user", "owns", "狗", "-")),
        ("我新买了一把民谣吉他", ("user", "owns", "民谣吉他", "+")),
        ("我养的乌龟叫石榴", ("user", "owns", "乌龟", "+")),
        ("我肺上有结节", ("user", "health", "肺上有结节", "+")),
        ("晚饭后我都会散步", ("user", "habit", "晚饭后我都会散步", "+")),
        ("我不刷抖音", ("user", "uses", "抖音", "-")),
        ("寒假我要带孩子回老家", ("user", "plans", "带孩子回老家", "+")),
        ("我喜欢的乐器是古筝", ("user", "likes", "古筝", "+")),
        ("我们公司在虎丘路", ("我们公司", "located_in", "虎丘路", "+")),
        ("我是学哲学的", ("user", "major", "哲学", "+")),
        ("我是泸州人，现居重庆", ("user", "lives_in", "重庆", "+")),
        ("退休后我和老伴搬到了威海", ("user", "lives_in", "威海", "+")),
        ("我升经理了", ("user", "role", "经理", "+")),
        ("我堂哥在当兵", ("我堂哥", "role", "当兵", "+")),
        ("我离开网易了", ("user", "works_at", "网易", "-")),
        ("我有两个哥哥一个妹妹", ("user", "relative", "一个妹妹", "+")),
        ("我一周游泳三次", ("user", "habit", "一周游泳三次", "+")),
        ("我睡前会看书", ("user", "habit", "睡前会看书", "+")),
        ("我们把缓存从Memcached换成了Dragonfly", ("user", "uses", "Dragonfly", "+")),
        ("结算服务的副本数从2扩到6", ("结算服务", "config.replicas", "6", "+")),
        ("推荐模型v3已经全量上线", ("推荐模型v3", "status", "上线", "+")),
        ("我不在大连了", ("user", "lives_in", "大连", "-")),
        ("我妹妹散光", ("我妹妹", "health", "散光", "+")),
        ("我家的金鱼全死了", ("user", "owns", "金鱼", "-")),
        ("我以前在丽江住过两年", ("user", "lived_in", "丽江", "+")),
        ("我和我老公住在桂林", ("user", "lives_in", "桂林", "+")),
        ("周末我都去公园跑步", ("user", "habit", "周末我都去公园跑步", "+")),
        ("我一般周四晚上练瑜伽", ("user", "habit", "周四晚上练瑜伽", "+")),
        ("我早就不用微博了", ("user", "uses", "微博", "-")),
        ("烟戒了", ("user", "habit", "烟", "-")),
        ("我不在百度干了", ("user", "works_at", "百度", "-")),
        ("刚提了辆蔚来", ("user", "owns", "蔚来", "+")),
        ("后天上午跟陈医生约了复诊", ("user", "plans", "跟陈医生约了复诊", "+")),
        ("Milvus集群扩容到5个节点", ("Milvus集群", "config.nodes", "5", "+")),
        ("检索服务的召回窗口调到90秒", ("检索服务", "config.召回窗口", "90秒", "+")),
    ],
)
def test_everyday_ways_of_saying_it(text: str, wanted: tuple[str, str, str, str]) -> None:
    assert wanted in read(text)


@pytest.mark.parametrize(
    "text",
    [
        "昨天起就跑不了步", "我是开玩笑的", "这菜是我做的", "他是学会才走的", "我舅舅脾气挺大的",
        "我爸妈这几天在三亚玩", "这几天我住酒店", "我心情不好", "下周六我都在家", "不用谢了", "我是做完饭才来的", "我是会员", "舞台布置得太漂亮了",
        "周末都在下雨", "我现住址要改", "简直开过光", "数据从MySQL迁到Postgres", "周末我都有空", "我能吃三碗饭", "我做梦都想当画家", "我不在大连", "他不在大连了吗", "养不了狗", "我喜欢的人在天津", "我爱死这风了", "我对开会过敏", "我看你是疯了", "我丢了个大人", "我做了个梦", "我叫了外卖", "我们单位在裁员", "住他家的房子", "我习惯用左手写字", "我和前室友早就没联系了", "测试账号的权限已经收回", "下雨取消了", "我开的店在三楼", "我没带护照", "我卖的水果很甜", "我待在家里", "露营再方便不过了", "我们住酒店还是民宿", "我有把握", "值班从周一到周五是我", "听我老婆说不用去了",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_claim(text: str) -> None:
    assert read(text) == set()


@pytest.mark.parametrize("text", ["老板给我升了职，现在是区域经理", "小赵带我去了医院，是护士"])
def test_after_what_someone_did_to_one_it_is_not_plain_who_is_spoken_of(text: str) -> None:
    assert not [claim for claim in claims(text) if claim.predicate in ("role", "doing", "uses")]


@pytest.mark.parametrize("text", ["以前我每天跑五公里", "我以前一般晚上画画", "I used to run every morning.", "I used to go fishing on Sundays."])
def test_a_habit_of_the_past_is_none_now(text: str) -> None:
    assert not [claim for claim in claims(text) if not claim.negated]


def test_what_came_later_is_of_no_time_told_before_it() -> None:
    assert [claim.predicate for claim in claims("三年前我考了驾照，后来买了机票")] == ["did"]
    assert len(claims("三年前我考了驾照，买了机票")) == 2


def test_a_time_zone_is_one_slot_in_both_languages() -> None:
    registry = default_registry()
    [told], [said] = claims("我的时区改为UTC+9了"), claims("My timezone is UTC+8.")
    assert slot_parts("n", told, registry) == slot_parts("n", said, registry)


@pytest.mark.parametrize("text", ["上周住进了听松阁。", "去年搬进了听松阁。"])
def test_who_moved_in_at_a_time_stays(text: str) -> None:
    (claim,) = claims(text)
    assert (claim.predicate, claim.value, claim.valid_to) == ("lives_in", "听松阁", None)


@pytest.mark.parametrize("text", ["我住进医院了", "昨天住进了急诊观察室", "昨晚住进了客栈"])
def test_where_one_lodges_is_no_home(text: str) -> None:
    assert read(text) == set()
