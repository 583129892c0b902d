"""Chinese: classes of what is done, planned and happens. None refuses a value, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from .subjects import Part
from .zh import LISTS


def _activity(text: str) -> Part | None:
    text = text.strip()
    if text.startswith(tuple(LISTS["body_verb"])) and len(text) >= 2 and not re.search(
        r"\x00|什么|怎么|哪|谁|吗$|死了|^(?:在意|对|得|给我|把这|被|请你|回答|发给我|和你|跟你|开心|打扰|看看|看一下|试试|写成|为了)|[你您]", text):
        return Part(text)
    return None


def _activity_any(text: str) -> Part | None:
    text = text.strip()
    if len(text) < 2 or re.search(r"\x00|什么|怎么|哪[里个]|谁|吗$|[你您]|^(?:想|等|看|说|听|用)|^(?:好|的|了)$", text):
        return None
    return Part(text)


_EVENT: Final = re.compile(r"(?:面试|会议|考试|聚会|约会|比赛|演出|讲座|手术|体检|航班|课|会|答辩|聚餐|婚礼|活动|牙医|预约|评审|汇报|演讲|培训|展览|演唱会|音乐会|马拉松|团建|家长会|例会|周会|出差|旅行)$")


def _event(text: str) -> Part | None:
    text = re.sub(r"^(?:一?[个场次节趟]|一?次)", "", text.strip())
    return Part(text) if _EVENT.search(text) and not re.search(r"机会|社会|不会|\x00|什么", text) else None


def _rest(text: str) -> Part | None:
    return None if re.search(r"\x00|什么|怎么|哪[里个]|谁|吗$|\[redacted", text) else Part(text.strip())


_NOT_A_VERB: Final = re.compile(
    r"^(?:学期|生日|学校|学生|学院|开心|回答|发现|从小|从来|会议|打算|订单|定期|得了|上线|把握|和平|为了|为什么|被子|写作业|收入|送别|读者|看来|看到|看起来|听说|听起来|发烧|换句|办公室|办法|打扰|得到|为难|"
    r"参考|做梦|玩笑|投入|生气|生病|带来|面试官|约定|安排得|开始|在|学|和|跟|与|从|给|向|为|被|同)$|"
    r"^(?:学期|生日|生活|生产|学校|学生|学院|开心|看来|看起来|听说|听起来|回答|发现|觉得|从小|从来|得|从前|办公|为什么|为了|打扰|被|在家|在外|同事|同学|给你|问|送你|发给你|跟你)"
)


_TRIVIAL: Final = re.compile(
    r"^(?:去|来|回|到)?(?:洗澡|睡觉?|吃饭|吃早饭|吃午饭|吃晚饭|上厕所|忙|倒水|喝水|洗漱|回家|上课|下课|下班|上班|出门|到家|开会|看看|拿快递|取快递|学会|学到|用|用完|看到?|看完|做完|收到|写完|改完|发|弄|找到?|认识你|说完|玩|打扰|接电话|打电话|回来)[了过]?(?:很多|不少|你|啊|一下)?$"
    r"|很多$|才|^.{1,3}的|^用了|(?:半天|一下午|一上午|好久|很久)$"
)


_BECOMES: Final = re.compile(r"^[换改变][成为]|^.{1,4}变[成为]")
"""What has become something else is another attribute or another person in a role, and nothing that was done."""


_NO_DEED: Final = re.compile(
    "|".join(
        (
            r"^(?:上线|发布|报名|提交|考试|检查|演出|比赛|培训|装修|开始|安排|手术|设计|申请|预约|体检|毕业|面试|答辩)(?:窗口|时间|日期|计划|流程|地点|要求|报告|名单|费用?|期|表|单|排)$",  # a compound
            r"[你您]|^(?:[和跟与同].{1,8}[没不])|是[我你他她]?$",  # told of someone else, or denied
            r"^(?:[和跟与].*)?在一起$|^在[\u4e00-\u9fff]{2,4}$|纪念日是?$",  # a state or a day
            r"^(?:[和跟与].{1,6})?(?:打算|准备|计划)|梦$",  # not done
            r"^..?得|^.{1,2}不[了动起下]|^.{1,3}就|^用力",  # how it is done, or whether one can
            r"^..?了[^，]{1,6}[年月天周多]的|^丢了?个?大?人$",
        )
    )
)
"""What begins with a verb's character and is nothing that was done."""


def _happening(text: str) -> Part | None:
    if _NOT_A_VERB.search(text) or _NO_DEED.search(text) or len(text) < 2 or _TRIVIAL.search(text) or _BECOMES.search(text):
        return None
    return Part(text, "event")


CLEANERS: Final[Mapping[str, Callable[[str], Part | None]]] = {
    "activity": _activity, "activity_any": _activity_any, "event": _event, "rest": _rest, "happening": _happening,
}
