"""Chinese: classes of values that only the rows of `everyday_zh.toml` use. None refuses a value, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from . import zh_names, zh_values, zh_work
from .subjects import Part
from .zh import LISTS, TABLES, any_of

_GENERAL: Final = {**zh_values.CLEANERS, **zh_work.CLEANERS, **zh_names.CLEANERS}

_NO_FRONT: Final = re.compile(
    r"^(?:这|那|今天|昨天|明天|现在|以前|以后|其实|不过|但|可|因为|所以|如果|说|因|虽|而|只|就|也|连|反正|总之|不管|无论|除了|关于|对|比|跟|和|与|自从|从|每|天气|还是|有|没|什么|为|在)"
    r"|[你您他她它]|(?:时候|以后|之后|之前|的话|上|里|说|是|在|让|给|把|被|跟|和|对|像|因为|所以|知道|觉得|其实|才|都|就|也)$"
)
_NOT_A_MAKE: Final = re.compile(r"色|新|旧|贵|便宜|租|借|坏|停|在|不|我|他|她|自动|手动|公司|二手|刚|很|太|的$")
_NOT_COLLECTED: Final = re.compile(r"数据|信息|意见|反馈|资料|证据|日志|需求|问卷|线索|素材|样本|情报|建议|了|一下|起来|到|齐|好|这|那|我|你|他|中|体|合|团|市|成")
_STREET: Final = re.compile(r"\d|[一二三四五六七八九十百]+号")
_STREET_WORD: Final = re.compile(r"[路街巷弄号村苑园楼区镇道栋室城坊里幢]")
_MOMENT: Final = re.compile(r"[周月号日点期拜]|上午|下午|早上|晚上|中午|明天|后天|\d[:：]\d\d|年")
_NO_MOMENT: Final = re.compile(r"[楼室厅线店]|教室|什么|哪|几|\[redacted|\x00|举行|召开|进行|开始|结束")
_KIN: Final = re.compile(rf"(?:双胞胎|孪生|亲|大|小|同父异母的?)?(?:{'|'.join(LISTS['family'])})$")
_TWIN: Final = re.compile(r"双胞胎|孪生")


def _fronted(text: str) -> Part | None:
    text = re.sub(r"(?:这[种个类]|那[种个类])(?:东西)?$", "", text.strip(" ，,"))
    if not text or _NO_FRONT.search(text):
        return None
    return _GENERAL["liking"](text)


def _fronted_food(text: str) -> Part | None:
    part = _fronted(text)
    return None if part is None or re.search(r"[饭药亏苦餐早晚]$", text) else _GENERAL["food"](text)


_TOLD_TO: Final = re.compile(r"^(?:[去来回吃喝干做帮出进上下过买看听睡走等别写学想打拿给把先再早滚多开搬交送改跑加]|起[床来]|一[声下起]|怎|什么|如何|名字|闭嘴|好好)|[吃喝睡走去来]$")
"""What follows 叫我 where someone tells me to do something."""


def _called(text: str) -> Part | None:
    return None if _TOLD_TO.search(text.strip()) else _GENERAL["own_name"](text)


def _make(text: str) -> Part | None:
    return None if _NOT_A_MAKE.search(text) else Part(text.strip())


def _collected(text: str) -> Part | None:
    return None if _NOT_COLLECTED.search(text) or len(text) < 2 else Part(text.strip())


def _workgroup(text: str) -> Part | None:
    part = _GENERAL["group"](text)
    return part if part is not None and part.kind in ("project", "team") and not text.startswith(("一趟", "趟")) else None


def _address(text: str) -> Part | None:
    text = text.strip(" “”\"")
    plausible = _STREET.search(text) and _STREET_WORD.search(text) and not re.search(r"什么|哪|多少|\[redacted|\x00|https?:|\d+\.\d+\.", text)
    return Part(text) if plausible else None


def _moment(text: str) -> Part | None:
    return Part(text.strip()) if _MOMENT.search(text) and not _NO_MOMENT.search(text) else None


def _kin(text: str) -> Part | None:
    return Part(text) if _KIN.match(text) or _TWIN.match(text) else None


_DAILY: Final = re.compile(r"每[天早晚日]|天天|早上|晚上|睡前|饭后|[\d一二三四五六七八九十]点")
_CONSUMED: Final = re.compile(r"(?:喝|抽|吸)(?:[一二两三四五几半\d]+(?:杯|瓶|罐|包|根|碗|壶|支)|点|一点)?(?P<what>[\u4e00-\u9fff]{1,5})$")
_ACT: Final = re.compile(any_of("stop_act"))


def _routine(text: str) -> Part | None:
    """What is done daily also says what the doing is about: the act that "no longer" would end."""
    part = _GENERAL["routine"](text)
    if part is None or _DAILY.search(part.text) is None or "周" in part.text:
        return part
    consumed = _CONSUMED.search(part.text)
    if consumed is not None:
        return Part(part.text, consumed["what"])
    act = _ACT.search(part.text)
    return Part(part.text, act[0]) if act is not None else part


_NO_NAME: Final = re.compile(r"(?:座|人|生|员|师|狗|痴|迷|客|者|家|工|族|党|控|粉|女|男|症|婚|亲|手|头|事|末|天|常|职)$")
"""How words end that begin like a family name and say of what sort one is: 白羊座, 高中生."""


def _introduced(text: str) -> Part | None:
    """A name with its family name, of one who may as well have said what he is."""
    return None if _NO_NAME.search(text) or _GENERAL["job"](text) is not None else _GENERAL["sure_name"](text)


def _spouse_name(text: str) -> Part | None:
    return None if re.search(r"[的他她]", text) else _GENERAL["sure_name"](text)


def _wedded(text: str) -> Part | None:
    status = TABLES.maps["wedded"][text]
    return Part(status, "配偶" if status == "已婚" else "未婚夫妻")


def _mapped(name: str) -> Callable[[str], Part | None]:
    table = TABLES.maps[name]
    return lambda text: Part(table.get(text, text))


_DURABLE: Final = re.compile(any_of("durable") + "$")


def _durable(text: str) -> Part | None:
    return Part(text.strip()) if _DURABLE.search(text) and not re.search(r"[的我你她]|(?<!吉)他|票|模型|配件|保险|玩具", text) else None


_NOT_LET_GO: Final = re.compile(
    r"[我你您她它谁哪什了]|(?<!吉)他|[这那]|青春|人生|灵魂|自由|自己|良心|垃圾|快递|外卖|货|商品|产品|票|数据|文件|消息|连接|日志|工作|饭碗|机会|时间|脸|(?<!器)人$|魂|水|电$|公司|项目|代码|请求|订单|礼物|作业|报告|合同|客户|账$|.[把被买]|完$|号$|^心$|^[一二两三四五六七八九十百几\d]+[辆台部套年个月天把条只间]|^(?:衣服|书籍?|鞋子?|玩具|家具|杂物|零食|东西)$|花$|信$|话"
    r"|^(?:把|被|从|在|要|想|会|能|得|没|不|都|也|就|打算|准备|差点|差一点|可以|应该|最好|先|再|去|来|给|跟|和|对|是|有|买|卖|用|看|说)|(?:打算|准备|想|要|该|快|走|跑|没|不|能|会|是|的|给|被|把|了|得)$"
)


def _let_go(text: str) -> Part | None:
    """What one may own and no longer own."""
    part = None if _NOT_LET_GO.search(text.strip()) else _GENERAL["noun"](text)
    return None if part is None else Part(part.text.removesuffix("都"))


def _no_more(text: str) -> Part | None:
    """What is done no more, from the words that deny it."""
    text = re.sub(r"^(?:不再|不|没再)", "", text)
    return None if re.search(r"[我你他她它这那的了]|[起到完好动]|算$|^打(?:扰|断|开|算|听|电话|搅)|^追究|什么", text) else Part(text)


def _vehicle(text: str) -> Part | None:
    return None if re.search(r"[的我你他她]|票|模|配件|保险|玩具|手机|电脑|股|音响|钢琴|吉他|[灯胎膜垫标]$|钥匙", text) else Part(text.strip())


CLEANERS: Final[Mapping[str, Callable[[str], Part | None]]] = {
    "introduced": _introduced, "spouse_name": _spouse_name, "wedded": _wedded, "called": _called, "fronted": _fronted, "fronted_food": _fronted_food, "make": _make, "collected": _collected, "workgroup": _workgroup, "address": _address, "moment": _moment, "kin": _kin,
    "routine": _routine, "tool_kind": _mapped("tool_kind"), "passed": _mapped("passed"), "durable": _durable, "let_go": _let_go, "vehicle": _vehicle, "no_more": _no_more,
}
