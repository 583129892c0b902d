"""Chinese: where one lives, works and studies, and as what. None refuses a value, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from .places import is_place
from .subjects import Part
from .zh import any_of
from .zh_values import BAD_OBJECT, noun

_LODGING: Final = re.compile(r"(?:酒店|宾馆|民宿|旅馆|客栈|度假村|招待所|青旅|帐篷|病房|医院|ICU|(?:急诊)?观察室|月子中心|梦|心)里?|.*[这那]个|[一二三四五六七八九十\d]+楼.*个")
"""Where one stays and does not live."""


def _place(text: str) -> Part | None:
    text = re.sub(r"^(?:了|到|在|进|回(?!龙观|民))+", "", text.strip()).strip()
    text = re.sub(r"(?<=[楼层])[没有].*$", "", text)
    if _LODGING.fullmatch(text) or text.isascii() and not is_place(text) and not text[:1].isupper():
        return None
    if not re.match(r"^[\u4e00-\u9fffA-Za-z0-9][\u4e00-\u9fff\w ,.'·-]{0,23}$", text) or BAD_OBJECT.search(text):
        return None
    if re.search(r"\d+(?:号楼|栋|幢|号院|单元|弄|号)$", text):
        return Part(text, "place")
    if re.search(r"[工作上班吃喝玩写]$|(?:做|当|准备|学习|等|想|说|一起|下来|进去|出去|院|几天|一晚|一天|得)$|还是|^[他她你]|[楼层的]$|^(?:着|一起|下|进|了|不|几|过|哪|装修|打扫|收拾)|的(?:时候|人)", text) and not is_place(text):
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
    if _NOT_COMPANY.search(text) or len(text) > 20 or BAD_OBJECT.search(text):
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
    if is_place(text) or BAD_OBJECT.search(text) or _NOT_COMPANY.search(text) or len(text) > 16:
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


def job(text: str) -> Part | None:
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


_PERSONAL: Final = re.compile(r"[我你他她]")


def _major(text: str) -> Part | None:
    return None if re.search(r"^(?:专科|本科|硕士|博士|高中|大专|中专|研究生|大学|什么|书)", text) else noun(text)


_NO_TRADE: Final = re.compile(r"[我你他她它这那的了过着完好到得在跟和]|自己|什么|核酸|对|错|梦|主$|客$|东西|事|不|出来|起来|得|活$|饭$|菜$|准备|一[个些]")


def _trade(text: str) -> Part | None:
    """What follows 做 or 搞 where it says what one lives by."""
    text = re.sub(r"(?<=..)工作$", "", text.strip())
    return None if _NO_TRADE.search(text) else Part(text)


_NO_FIELD: Final = re.compile(r"[我你他她它这那的了过着完好到得会在跟和生]|自己|什么|不|东西|知识|[小中大]学$|习$|一[个些]|校|费|年级|书")


def _field(text: str) -> Part | None:
    return None if _NO_FIELD.search(text.removesuffix("专业")) and text not in ("生物", "生物学", "卫生", "会计") else Part(text.removesuffix("专业"))


CLEANERS: Final[Mapping[str, Callable[[str], Part | None]]] = {
    "place": _place, "moved_place": _moved_place, "site": _site, "city": _city, "known_place": _city, "workplace": _workplace, "company": _company,
    "known_company": _known_company, "company_moved": _company_moved, "school": _school, "group": _group, "job": job, "major": _major,
    "trade": _trade, "field": _field,
}
