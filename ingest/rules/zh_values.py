"""Chinese: how a piece of a clause becomes a value, by class. None refuses it, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from .places import is_place
from .subjects import Part
from .zh import LISTS, NOT_A_NAME, PERSON, SETS, TABLES, any_of

_TAIL: Final = re.compile(r"(?:的?(?:了|啦|啊|呀|哦|哈|呢|哟|嘛|喔|哒|咯|吖|噢|滴|哇|呗|的说|来着|这样|而已))+$")
_UNSURE_TAIL: Final = re.compile(r"(?:吧|吗|么|呢|没有|与否)$")
_GOES_ON: Final = re.compile(r"还[在没有是住]|正在|着呢$")
"""Beside these a closing 呢 asks nothing."""
_BAD_OBJECT: Final = re.compile(
    r"^(?:你|您|他|她|它|我|谁|什么|哪|怎么|这|那|这个|那个|这样|那样|这里|那里|这些|那些|一个人|自己|某人|别人|人家|得|了|过|的|不|没|很|是|就|都|也|说|一下|起来)$|"
    r"^(?:你|您|谁|什么|哪|怎么|得|了|过|的|不|没|是|上了?你|为什么)|什么|怎么|哪[里个些]|谁|多少|吗$|\x00|\[redacted"
)
_LIKE_VERB: Final = re.compile(r"^(?:吃|喝|看|听|玩|用|去|读|打|学|穿|养|到|在|的是|的)\s?(?=[\u4e00-\u9fffA-Za-z《])")
_KEEP_VERB: Final = re.compile(r"^(?:看书|去世|用功|打扮|打工|打球|学习|学生|到处|玩具|吃苦$|喝彩|听话|打架|打针|穿越|用心|打折|吃饭|喝茶|养生|养花|在家|看海|听歌|喝酒|打牌|玩游戏|看电影|读书|打字|打电话|穿搭|去哪)")
_THIS_BOOK: Final = re.compile(r"(?<=》)(?:这)?(?:本书|这部电影|这部剧|这首歌|部电影|首歌|这本小说|这个游戏|那本书|那部电影|电影)$")
_BOOK: Final = re.compile(r"^《[^》]+》")
_SEPARATOR: Final = re.compile(r"[、]|(?<=[\u4e00-\u9fff\w》])(?:和|以及|还有|跟|与|及)(?=[\u4e00-\u9fff\w《])|\s+and\s+|,\s*")
_VERB_ON_LEFT: Final = re.compile(r"[吃喝看玩打]")


_FRAMED: Final = re.compile(r"(?:[挺蛮满怪]|还是|是)(?:很|真|最|更)?[\u4e00-\u9fff]{1,4}$")
"""挺…的: the 的 that ends such words is none of the value's."""


def tail_off(text: str, before: str) -> tuple[str, bool, bool]:
    """Text without end particles; whether there was a 了; whether the end leaves the statement open."""
    if text.endswith("的") and len(text) > 1 and _FRAMED.search(before):
        text = text[:-1]
    if _UNSURE_TAIL.search(text) and not (text.endswith("呢") and _GOES_ON.search(before + text)):
        return text, False, True
    found = _TAIL.search(text)
    if found is None:
        return text, False, False
    return text[: found.start()].rstrip(), "了" in found[0], False


def split_list(text: str) -> list[str]:
    """Items of an enumeration; the text itself where it is none."""
    if text.startswith("《") and text.endswith("》") and text.count("《") == 1:
        return [text]
    return [item for item in (_SEPARATOR.split(text)) if item]


def _noun(text: str, longest: int = 24) -> Part | None:
    text = text.strip(" ，,、：:“”\"‘’")
    if not text or len(text) > longest or _BAD_OBJECT.search(text):
        return None
    return Part(text)


def _liking(text: str) -> Part | None:
    text = _THIS_BOOK.sub("", text.strip())
    if text.startswith("的") and not text.startswith("的是"):
        told = re.match(r"的[^是我你他她]{1,6}是(?P<o>.+)", text)
        if told is None:
            return None
        text = told["o"]
    text = text[:-1] if text.endswith("的") and len(text) > 4 else text
    if _KEEP_VERB.match(text) is None or text[:2] in ("打球", "看书", "喝茶", "喝酒", "听歌"):
        stripped = _LIKE_VERB.sub("", text, count=1)
        text = stripped if stripped else text
    if text in ("吃", "喝", "看", "听", "玩", "用", "去", "上", "人", "着") or re.match(r"^(?:死|疯|惨|上了?|过|着|一个人|一位|和你|跟你|你)", text):
        return None
    return _noun(text)


def _allergen(text: str) -> Part | None:
    """What one may be allergic to in earnest."""
    return None if re.search(r"加班|[上下]班|工作|学习|早起|开会|周一|老板|考试|数学|穷|爱情|恋爱|贫穷|^开$", text) else _noun(text)


def _food(text: str) -> Part | None:
    text = re.sub(r"^(?:任何|太多|一点|一些|过多|加了?|含有?)", "", text.strip())
    if re.match(r"^(?:素$|全素|饭|完|饱|东西|了|早饭|晚饭|午饭|早餐|晚餐|午餐|惯|透|亏|一堑|惊|醋|苦$|力|香$|不|这套|消|过|到|下|[一两二三四五六七八九十几\d]+[大小]?[碗头口盘份锅斤串顿])", text):
        return None
    return _noun(text, 12)


def _habit(text: str) -> Part | None:
    text = re.sub(r"^(?:吃|喝|抽|吸|掉)", "", text.strip()) or text
    if re.match(r"^(?:不|得|到|起|够|奖|象|血|筋|空|时间|屉|备|严|指|断)", text):
        return None
    return _noun(text, 10)


def _routine(text: str) -> Part | None:
    if _BAD_OBJECT.search(text) or re.fullmatch(r"每(?:天|周|月|年|个月|星期)[一两二三四五六七八九十\d几]+(?:次|回|遍|趟)(?:左右)?", text) or re.search(r"[吗呢]$|觉得|感觉|都在想|心情|好累|好忙|开心|快乐|加油|[那这]$", text):
        return None
    return Part(text.strip())


_LODGING: Final = re.compile(r"(?:酒店|宾馆|民宿|旅馆|招待所|青旅|帐篷|病房|医院)里?|.*[这那]个|[一二三四五六七八九十\d]+楼.*个")
"""Where one stays and does not live."""


def _place(text: str) -> Part | None:
    text = re.sub(r"^(?:了|到|在|进|回(?!龙观|民))+", "", text.strip()).strip()
    text = re.sub(r"(?<=[楼层])[没有].*$", "", text)
    if _LODGING.fullmatch(text) or text.isascii() and not is_place(text) and not text[:1].isupper():
        return None
    if not re.match(r"^[\u4e00-\u9fffA-Za-z0-9][\u4e00-\u9fff\w ,.'·-]{0,23}$", text) or _BAD_OBJECT.search(text):
        return None
    if re.search(r"\d+(?:号楼|栋|幢|号院|单元|弄|号)$", text):
        return Part(text, "place")
    if re.search(r"[工作上班吃喝玩写]$|(?:做|当|准备|学习|等|想|说|一起|下来|进去|出去|院|几天|一晚|一天|得)$|还是|^[他她你]|[楼层的]$|^(?:着|一起|下|进|了|不|几|过|哪)|的(?:时候|人)", text) and not is_place(text):
        return None
    return Part(text, "city" if is_place(text) else "place")


def _moved_place(text: str) -> Part | None:
    """Where someone moved or something was moved: a Latin name must be a known place, else it may be a system."""
    part = _place(text)
    return None if part is None or part.text.isascii() and not is_place(part.text) else part


_SITED: Final = re.compile(r"[路街道号楼层区县镇村市省园厦场院城港州岛湖江河山桥门口洲湾屯庄营店寺坡塘浜桥林坊巷弄]$|附近|旁边|对面|隔壁|楼[上下]|[东西南北]边?$|市中心|郊|那边|这边|国[内外]|海外|老家|乡下$")
_NOT_SITED: Final = re.compile(r"[了着过]|^(?:做|裁|招|搞|开(?!封|平|发区|州|化)|用|找|考虑|研|装修|扩|等|写|赶|谈|卖|跟|和|推|建设|转型)")


def _site(text: str) -> Part | None:
    """Where a firm or a house stands, and nothing that it is at."""
    part = _place(text)
    if part is None or is_place(part.text) or part.text[:1].isascii() and _NOT_SITED.search(part.text) is None:
        return part
    return part if _SITED.search(part.text) and _NOT_SITED.search(part.text) is None else None


def _city(text: str) -> Part | None:
    part = _place(text)
    return part if part is not None and is_place(part.text) else None


_COMPANY_END: Final = re.compile(r"(?:公司|集团|银行|医院|大学|学院|中学|小学|学校|幼儿园|研究所|研究院|事务所|工厂|厂|店|局|院|部|社|所|馆|报社|电视台|机构|科技|网络|证券|基金|保险|出版社|实验室|中心|餐厅|酒店|工作室|传媒|汽车|电子|软件|律所|机场|超市|单位|政府|部队|国企|外企|大厂|创业公司)$")
_NOT_COMPANY: Final = re.compile(r"^(?:哪|这|那|一起|努力|认真|学|写|准备|做|想|等|看|忙|找|考虑|研究|外面|户外|路上|床|图书馆|咖啡|网|楼|会议|会上|电脑|手机|微信|群|群里|今天|明天|所|这个|那个|外|前|后|里)|(?:上|中|下|时|后|前|里)$|项目|团队|小组")


def _workplace(text: str) -> Part | None:
    there = re.match(r"([\u4e00-\u9fff]{2,5}?)(?:那边|这边)?的?(?:一家|一个|一所|某家?)(?=.)", text.strip())
    text = text.strip()[there.end() :] if there is not None and is_place(there[1]) else text
    text = re.sub(r"^[^我，]{2,6}(?:那边|这边)(?:的)?(?:一家|一个|家)?(?=.)|^(?:一家|一个|一所|某家?|家)(?=.)|(?<=[司院校店厂家局行部])里$", "", text.strip()) or text
    text = text.strip()
    if text in ("家", "家里", "远程", "居家"):
        return Part(text, "site")
    if is_place(text):
        return Part(text, "city")
    if text in _KNOWN_COMPANIES:
        return Part(text, "company")
    if _NOT_COMPANY.search(text) or len(text) > 20 or _BAD_OBJECT.search(text):
        return None
    return Part(text, "company")


_KNOWN_COMPANIES: Final = frozenset(
    "腾讯 阿里 阿里巴巴 百度 华为 小米 京东 美团 字节 字节跳动 网易 快手 滴滴 拼多多 蚂蚁 蚂蚁集团 微软 谷歌 苹果 亚马逊 特斯拉 比亚迪 大疆 联想 中兴 携程 哔哩哔哩 B站 小红书 知乎 新浪 搜狐 "
    "理想 蔚来 小鹏 宁德时代 海康威视 商汤 旷视 科大讯飞 英特尔 英伟达 高通 三星 索尼 甲骨文 微博 饿了么 贝壳 顺丰 中兴通讯 平安 招行 工行 建行 农行 中信 中金 普华永道 德勤 毕马威 安永 麦肯锡 宝洁 联合利华 海尔 格力 美的 万科 恒大 碧桂园 部队 吉利 上汽 一汽 丰田 大众 宝马 奔驰".split()
)


def _company(text: str) -> Part | None:
    text = re.sub(r"^(?:一家|一个|了)(?=.)", "", text.strip()).strip()
    if text in _KNOWN_COMPANIES:
        return Part(text, "company")
    if is_place(text) or _BAD_OBJECT.search(text) or _NOT_COMPANY.search(text) or len(text) > 16:
        return None
    if _COMPANY_END.search(text) or re.fullmatch(r"[A-Z][\w.&-]+(?: [A-Z][\w.&-]+)*", text):
        return None if _group(text) is not None else Part(text, "company")
    return None


def _company_moved(text: str) -> Part | None:
    """A company where the words say that one hopped jobs: a plain name is one too."""
    text = text.strip()
    if re.fullmatch(r"[\u4e00-\u9fff]{2,6}|[A-Z][\w&.-]+(?: [A-Z][\w&.-]+)*", text) and not is_place(text) and _group(text) is None and not _NOT_COMPANY.search(text):
        return Part(text, "company")
    return _company(text)


def _known_company(text: str) -> Part | None:
    text = text.strip()
    return Part(text, "company") if text in _KNOWN_COMPANIES or re.fullmatch(r"[\u4e00-\u9fff]{2,8}(?:公司|集团)", text) else None


def _school(text: str) -> Part | None:
    text = re.sub(r"^(?:上|读|念)(?![海饶虞])", "", text.strip())
    found = re.fullmatch(r"[\u4e00-\u9fffA-Za-z ]{1,14}(?:大学|学院|中学|小学|高中|初中|幼儿园|学校|一中|二中|附中|附小|大|MIT|理工|交大|复旦|清华|北大|浙大|科大)|MIT|清华|北大|复旦|浙大|交大|[一二三四五六七八九十]中|附中|附小|[A-Z][\w ]+University", text)
    return None if found is None or re.match(r"^(?:我|一起|准备|写|读|学)", text) or re.search(r"(?:[长扩放变重远宽巨最越很多老加不]|\S{2,}长)大$", text) else Part(text, "school")


_GROUP: Final = re.compile(r"[\u4e00-\u9fff\w .+-]{1,16}?(?P<end>项目组|项目|团队|小组|事业部|部门|中心|工作室|组|部|战队|线)$")
_CLUB: Final = re.compile(r"[\u4e00-\u9fff\w .+-]{0,12}?(?:社团|俱乐部|协会|读书会|合唱团|乐团|乐队|球队|社|(?<![团部军排])队|学生会|委员会|党|联盟|兴趣小组|跑团|剧团|研究会|工会)$")


def _group(text: str) -> Part | None:
    text = re.sub(r"^(?:我们(?:公司)?的?|公司的?|他们|现在的|新的|一个|了)(?=.)|^(?:做|跟|参与)", "", text.strip()).strip()
    if not text or re.search(r"^(?:这|那|哪|什么|好几|几|多)|[做写]|学(?!生会|院|校|会$)|的时候|\x00", text):
        return None
    if _CLUB.fullmatch(text):
        return Part(text, "club")
    found = _GROUP.fullmatch(text)
    if found is None or text in ("内部", "全部", "外部", "总部", "北部", "南部", "东部", "西部", "中部", "俱乐部", "干部", "一部", "上线", "下线", "在线", "一线"):
        return None
    return Part(text, "project" if found["end"].startswith("项目") else "team")


_JOB: Final = re.compile(rf"[\u4e00-\u9fff\w /+.-]{{0,14}}?{any_of('job_end')}$", re.I)
_NOT_JOB: Final = re.compile(r"梦|想当|都想|^(?:我|你|他|她|不|这|那|哪|一样|很|最|谁|什么|好|帮|给|和|跟|找|被|的|真)|的是|(?:好|坏)$")


def _job(text: str) -> Part | None:
    text = re.sub(r"^(?:[一二两三四五六七八九十几\d]+多?年的?(?=..)|一名|一个|一位|名|位|个|了|我们的|我们|公司的?|咱们的?|全职|专职)(?=.)", "", text.strip()).strip()
    if re.fullmatch(r"(?:backend|frontend|full[- ]?stack|devops|SRE|QA|DBA|iOS|Android|data|infra|product|design|PM|HR|CTO|CEO|CFO|COO|sales|marketing|[a-z]+ (?:engineer|developer|manager|designer|lead|analyst))", text, re.I):
        return Part(text)
    if re.fullmatch(r"(?:后端|前端|测试|运维|产品|运营|销售|市场|客服|行政|人事|财务|设计|算法|数据|安全|架构|嵌入式|客户端|质检|品控|文案|美工|剪辑|外贸|电商|新媒体|人力|仓储|物流|客户经理|家教)(?:开发|研发|分析)?", text):
        return Part(text)
    if _NOT_JOB.search(text) or _PERSONAL.search(text) or _JOB.fullmatch(text) is None and not _is_calling(text):
        return None
    return Part(text)


_CALLING: Final = re.compile(r"[\u4e00-\u9fff]{1,6}(?:员|司机|师傅|店主|管家)|[\u4e00-\u9fff]{2,6}(?:师|匠|长)")
_NO_CALLING: Final = re.compile(
    r"(?:[会党团成人全动复满定议裁官超委队球学组雇随阁幅伤减]员|[家学特专擅成生增拉延周身年伸加漫变冗冲很多细]长|[律老出拜导恩宗大名军雄祖]师|[\u4e00-\u9fff]*[的了在是和过得])$|^[想去来到说看帮被把]"
)


def _is_calling(text: str) -> bool:
    """Does a word end as callings do, and is none of those that end so and are none?"""
    return _CALLING.fullmatch(text) is not None and _NO_CALLING.search(text) is None


_COUNTED: Final = re.compile(r"^[一两二三四五六七八九十\d]*(?:辆|台|部|套|把|架|艘|栋|块|双|支|间|座)(?=.)")


def _owned(text: str) -> Part | None:
    return _noun(_COUNTED.sub("", text.strip()))


_PERSONAL: Final = re.compile(r"[我你他她]")


def _owner(text: str) -> Part | None:
    return Part(text)


def _own_name(text: str) -> Part | None:
    text = text.strip(" “”\"")
    if re.search(r"^(?:什么|啥|谁|他|她|它|你|我|不|人|做|出|外卖|醒|停|苦|好|个|了|车|救命|板)|什么|吗$", text) or len(text) > 20:
        return None
    return Part(text)


def _person_name(text: str) -> Part | None:
    text = text.strip(" “”\"")
    if PERSON.match(text) is None and not re.fullmatch(r"[\u4e00-\u9fff]{2,4}|[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,2}", text):
        return None
    if re.search(r"^(?:什么|啥|谁|他|她|它|你|我|不|个|一|很|在|做|学|最|老师|医生|护士|这|那)|的|了|什么|吗$|[老医律教厨设程工]?(?:师|生|员|人)$", text) and PERSON.match(text) is None:
        return None
    if _job(text) is not None or text in SETS["relation"] or _any_relation(text):
        return None
    return Part(text)


_RELATION: Final = re.compile(rf"{any_of('relation')}$")


@lru_cache(maxsize=256)
def _any_relation(text: str) -> bool:
    return _RELATION.search(text) is not None


_TITLED: Final = re.compile(rf"{any_of('surname')}{any_of('honorific')}")


def _titled_name(text: str) -> Part | None:
    """A sure name, or a family name with a title that could be a job by itself."""
    return Part(text.strip()) if _TITLED.fullmatch(text.strip()) else _sure_name(text)


def _sure_name(text: str) -> Part | None:
    """A name that is one by its own look: with a family name, 小 or 老 before it, or in Latin letters."""
    return _person_name(text) if PERSON.match(text.strip()) is not None and NOT_A_NAME.match(text.strip()) is None else None


_FULL_NAME: Final = re.compile(rf"{any_of('surname')}[\u4e00-\u9fff]{{1,2}}|[A-Z][\w'-]+(?: [A-Z][\w'-]+){{1,2}}")


def _full_name(text: str) -> Part | None:
    """A name with its family name, which says who someone is."""
    text = text.strip()
    return _person_name(text) if _FULL_NAME.fullmatch(text) is not None and NOT_A_NAME.match(text) is None else None


def _major(text: str) -> Part | None:
    return None if re.search(r"^(?:专科|本科|硕士|博士|高中|大专|中专|研究生|大学|什么|书)", text) else _noun(text)


_NO_TRADE: Final = re.compile(r"[我你他她它这那的了过着完好到得在跟和]|自己|什么|核酸|对|错|梦|主$|客$|东西|事|不|出来|起来|得|活$|饭$|菜$|准备|一[个些]")


def _trade(text: str) -> Part | None:
    """What follows 做 or 搞 where it says what one lives by."""
    text = re.sub(r"(?<=..)工作$", "", text.strip())
    return None if _NO_TRADE.search(text) else Part(text)


_NO_FIELD: Final = re.compile(r"[我你他她它这那的了过着完好到得会在跟和生]|自己|什么|不|东西|知识|[小中大]学$|习$|一[个些]|校|费|年级|书")


def _field(text: str) -> Part | None:
    return None if _NO_FIELD.search(text.removesuffix("专业")) and text not in ("生物", "生物学", "卫生", "会计") else Part(text.removesuffix("专业"))


def _animal(text: str) -> Part | None:
    text = re.sub(r"^(?:[一两二三四五六七八九\d]?[只条个匹头群对]|小(?=[猫狗兔仓]..))", "", text.strip())
    if text.endswith(tuple(LISTS["animal"])) and len(text) <= 7 and re.search(r"[的我你是像]|^[不没得]", text) is None:
        return Part(text)
    return None


_TOOL_BAD: Final = re.compile(r"^(?:[一两二三四五六七八九十几半\d]+(?:[天周年次遍]|个月|小时)|不|完|心|力|户|来|于|了|过|得|着|在|到|功|量|法|途|户|品|餐|意|人|脑|词|掉|上|户|以|这|那|自己|它|他|她|你|我|[左右]?手(?!机|账)|一个|一下|时间|什么|哪|钱|起来|作)|(?:的话|方式|方法|风格|语气|态度|时间|的|才.*|很久|半天|[文语]回[答复]|凑合|将就|顶着?|应急)$|才|是")


def _tool(text: str) -> Part | None:
    text = text.strip()
    text = re.sub(r"^(?:的是|了)", "", text)
    if _TOOL_BAD.search(text) or not text:
        return None
    if re.search(r"[\u4e00-\u9fff]", text) and len(text) > 8 and not re.search(r"[A-Za-z0-9]", text):
        return None
    return _noun(text, 30)


def _version(text: str) -> Part | None:
    text = text.strip()
    return Part(text) if re.search(r"\d", text) and not re.search(r"[年月日号点岁]", text) else None


def _setting_value(text: str) -> Part | None:
    text = text.strip(" “”\"")
    if not text or len(text) > 40 or re.search(r"什么|多少|哪|吗$|版本|不对|错的|有问题|太|很|正常|可用|\x00|\[redacted", text):
        return None
    return Part(text)


def _illness(text: str) -> Part | None:
    text = text.strip()
    if re.search(any_of("ill") + r"\d*度?$", text) and not re.search(r"^(?:没|不|点|些|什么|心)|[我你他她]|毛病$|的病$|过敏$|一点|感情", text):
        return Part(text)
    return None


def _tongue(text: str) -> Part | None:
    text = re.sub(r"^(?:一点|一些|流利的|一口|日常|基本的?|简单的|点)", "", text.strip())
    if re.fullmatch(r"[\u4e00-\u9fff]{1,6}(?:语|话)|[英法德日韩俄中]文|English|French|German|Japanese|Korean|Spanish|Chinese|Russian|手语|[\u4e00-\u9fff]{1,3}(?:文|方言)", text) and not re.search(
        r"作文|课文|论文|原文|语文|笑话|电话|真话|好话|实话|谎话|坏话|大话|废话|神话|童话|听话|不|对话|一句话|单词|短语|成语|谚语|脏话|情话|梦话|行话|黑话|客套话|悄悄话|闲话", text):
        return Part(text)
    return None


def _study(text: str) -> Part | None:
    text = re.sub(r"^(?:弹|拉|吹|打|跳|练|怎么|用|唱|开(?=车))(?=..)", lambda m: "" if m[0] not in ("开",) else m[0], text.strip())
    if re.match(r"^(?:(?:小学|初中|高中|大学|中学|幼儿园|大专|中专|研究生|大[一二三四]|高[一二三]|初[一二三]|[一二三四五六]年级)$|校|生|的|得|会|到|历|期|分|院|年|费|位|着|以|问|者|霸|姐|长|习(?:的|了|一下)|如何|一下|了|不)", text):
        return None
    return _noun(text, 16)


def _duty(text: str) -> Part | None:
    text = text.strip()
    if re.match(r"^(?:任|人|的|到|起|着|了|得|过|给|不)", text) or text in ("这个", "这块", "这件事"):
        return None
    return _noun(text, 24)


def _aspect(text: str) -> Part | None:
    text = re.sub(r"^(?:一[个部本首种门位]|那[个部本首]|这[个部本首])", "", text.strip().removesuffix("的"))
    if not text or len(text) > 8 or re.search(r"[我你他她是的事人]|不$", text):
        return None
    if text in TABLES.maps["setting"] and text not in TABLES.maps["aspect"]:
        return None
    return Part(TABLES.maps["aspect"].get(text, text))


def _setting(text: str) -> Part | None:
    return Part(next((v for k, v in TABLES.maps["setting"].items() if k.lower() == text.lower()), text))


def _knob(text: str) -> Part | None:
    """What of a system can be set, under whatever name."""
    bad = re.search(r"版本|状态|负责人|时间$|日期|名字|地址|^(?:人|价格|会议|计划)|[我你他她的]", text)
    return None if bad and not re.search(r"(?:超时|保留|缓存|过期|等待|响应)时间$", text) else _setting(text)


def _marital(text: str) -> Part | None:
    return Part(TABLES.maps["marital"].get(text.removeprefix("是"), text))


_DETAIL: Final = re.compile(r"(?:号|码|型|ID|id|号码|位|间|航班|车牌|车次|座|车|手机|电脑|笔记本|相机|平板|手表|网名|账号|账户|用户名|昵称|地址|邮编|代号|尾号|学校|星座|属相|生肖|公司|显示器|键盘|鼠标|耳机|路由器|楼层|门牌|尺码|车型|MBTI|mbti|WiFi名字?|wifi名字?|房号|快递柜|取件码|会员卡|工位|签名|主页|网站|博客|GitHub|github|微信|QQ|qq)$")


def _detail(text: str) -> Part | None:
    text = text.strip()
    if not _DETAIL.search(text):
        return None
    if re.search(r"密码|口令|意思|看法|建议|问题|天|妈|错|名字|目的|目标|观点|理由|想法|感觉|心情|原因|话|最爱|邮箱|电话|手机号|生日|年龄|职业|爱好", text):
        return None
    return Part(text)


def _code_like(text: str) -> Part | None:
    text = text.strip(" “”\"")
    if re.search(r"[A-Za-z0-9]", text) and not re.search(r"什么|多少|[吗呢吧]$|\[redacted|\x00", text) and len(re.sub(r"[A-Za-z0-9 ._/+#&-]", "", text)) <= 8:
        return Part(text)
    return None


def _product(text: str) -> Part | None:
    """A product by a name in Latin letters, which no bare number, version or address is."""
    text = text.strip()
    return _code_like(text) if re.match(r"[A-Za-z][A-Za-z]", text) and not re.search(r"[:/@]|^v\d", text) else None


def _served(text: str) -> Part | None:
    return Part(text.removeprefix("在"))


def _status(text: str) -> Part | None:
    return Part(text)


def _came(text: str) -> Part | None:
    return Part(TABLES.maps["came"].get(text, text))


CLEANERS: Final[Mapping[str, Callable[[str], Part | None]]] = {
    "noun": _noun, "owned": _owned, "liking": _liking, "allergen": _allergen, "food": _food, "habit": _habit, "routine": _routine, "place": _place, "moved_place": _moved_place, "site": _site, "city": _city,
    "known_place": _city, "workplace": _workplace, "company": _company, "known_company": _known_company, "company_moved": _company_moved, "school": _school, "group": _group, "job": _job,
    "owner": _owner, "own_name": _own_name, "person_name": _person_name, "animal": _animal, "sure_name": _sure_name, "full_name": _full_name, "titled_name": _titled_name, "major": _major, "trade": _trade, "field": _field, "tool": _tool, "version": _version,
    "setting_value": _setting_value, "illness": _illness, "tongue": _tongue, "study": _study, "duty": _duty, "aspect": _aspect,
    "setting": _setting, "scale": lambda text: Part(TABLES.maps["scale"][text]), "knob": _knob, "marital": _marital, "detail": _detail, "code_like": _code_like, "product": _product, "served": _served, "status": _status, "came": _came,
}
