"""Chinese: how a piece of a clause becomes a value, by class. None refuses it, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from .subjects import Part
from .zh import LISTS, TABLES, any_of

_TAIL: Final = re.compile(r"(?:的?(?:了|啦|啊|呀|哦|哈|呢|哟|嘛|喔|哒|咯|吖|噢|滴|哇|呗|的说|来着|这样|而已))+$")
_UNSURE_TAIL: Final = re.compile(r"(?:吧|吗|么|呢|没有|与否)$")
_GOES_ON: Final = re.compile(r"还[在没有是住]|正在|着呢$")
"""Beside these a closing 呢 asks nothing."""
BAD_OBJECT: Final = re.compile(
    r"^(?:你|您|他|她|它|我|谁|什么|哪|怎么|这|那|这个|那个|这样|那样|这里|那里|这些|那些|一个人|自己|某人|别人|人家|得|了|过|的|不|没|很|是|就|都|也|说|一下|起来)$|"
    r"^(?:你|您|谁|什么|哪|怎么|得|了|过|的|不|没|是|上了?你|为什么)|什么|怎么|哪[里个些]|谁|多少|吗$|\x00|\[redacted"
)
_LIKE_VERB: Final = re.compile(r"^(?:吃|喝|看|听|玩|用|去|读|打|学|穿|养|到|在|的是|的)\s?(?=[\u4e00-\u9fffA-Za-z《])")
_KEEP_VERB: Final = re.compile(r"^(?:看书|去世|用功|打扮|打工|打球|学习|学生|到处|玩具|吃苦$|喝彩|听话|打架|打针|穿越|用心|打折|吃饭|喝茶|养生|养花|在家|看海|听歌|喝酒|打牌|玩游戏|看电影|读书|打字|打电话|穿搭|去哪)")
_THIS_BOOK: Final = re.compile(r"(?<=》)(?:这)?(?:本书|这部电影|这部剧|这首歌|部电影|首歌|这本小说|这个游戏|那本书|那部电影|电影)$")
_SEPARATOR: Final = re.compile(r"[、]|(?<=[\u4e00-\u9fff\w》])(?:和|以及|还有|跟|与|及)(?=[\u4e00-\u9fff\w《])|\s+and\s+|,\s*")


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


def noun(text: str, longest: int = 24) -> Part | None:
    text = text.strip(" ，,、：:“”\"‘’")
    if not text or len(text) > longest or BAD_OBJECT.search(text):
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
    return noun(text)


def _allergen(text: str) -> Part | None:
    """What one may be allergic to in earnest."""
    return None if re.search(r"加班|[上下]班|工作|学习|早起|开会|周一|老板|考试|数学|穷|爱情|恋爱|贫穷|^开$", text) else noun(text)


def _food(text: str) -> Part | None:
    text = re.sub(r"^(?:任何|太多|一点|一些|过多|加了?|含有?)", "", text.strip())
    if re.match(r"^(?:素$|全素|饭|完|饱|东西|了|早饭|晚饭|午饭|早餐|晚餐|午餐|惯|透|亏|一堑|惊|醋|苦$|力|香$|不|这套|消|过|到|下|[一两二三四五六七八九十几\d]+[大小]?[碗头口盘份锅斤串顿])", text):
        return None
    return noun(text, 12)


def _habit(text: str) -> Part | None:
    text = re.sub(r"^(?:吃|喝|抽|吸|掉)", "", text.strip()) or text
    if re.match(r"^(?:不|得|到|起|够|奖|象|血|筋|空|时间|屉|备|严|指|断)", text):
        return None
    return noun(text, 10)


def _routine(text: str) -> Part | None:
    if BAD_OBJECT.search(text) or re.fullmatch(r"每(?:天|周|月|年|个月|星期)[一两二三四五六七八九十\d几]+(?:次|回|遍|趟)(?:左右)?", text) or re.search(r"[吗呢]$|觉得|感觉|都在想|心情|好累|好忙|开心|快乐|加油|[那这]$", text):
        return None
    return Part(text.strip())


_COUNTED: Final = re.compile(r"^[一两二三四五六七八九十\d]*(?:辆|台|部|套|把|架|艘|栋|块|双|支|间|座)(?=.)")


def _owned(text: str) -> Part | None:
    return noun(_COUNTED.sub("", text.strip()))


def _owner(text: str) -> Part | None:
    return Part(text)


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
    return noun(text, 30)


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
    return noun(text, 16)


def _duty(text: str) -> Part | None:
    text = text.strip()
    if re.match(r"^(?:任|人|的|到|起|着|了|得|过|给|不)", text) or text in ("这个", "这块", "这件事"):
        return None
    return noun(text, 24)


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
    "noun": noun, "owned": _owned, "liking": _liking, "allergen": _allergen, "food": _food, "habit": _habit, "routine": _routine, "owner": _owner,
    "animal": _animal, "tool": _tool, "version": _version, "setting_value": _setting_value, "illness": _illness, "tongue": _tongue, "study": _study,
    "duty": _duty, "aspect": _aspect, "setting": _setting, "scale": lambda text: Part(TABLES.maps["scale"][text]), "knob": _knob, "marital": _marital,
    "detail": _detail, "code_like": _code_like, "product": _product, "served": _served, "status": _status, "came": _came,
}
