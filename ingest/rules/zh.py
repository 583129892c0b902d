"""Chinese: who stands before a trigger, with which adverbs.

What cannot be read without rest is None, and its row claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from .frames import Tables, load_tables
from .subjects import Left, Subject, Voice
from .systems import LABEL

TABLES: Final[Tables] = load_tables("words_zh.toml", "people_zh.toml", "systems_zh.toml", "everyday_zh.toml", "frames_zh.toml")
LISTS: Final = TABLES.lists
SETS: Final = {name: frozenset(words) for name, words in LISTS.items()}
_ADVERBS: Final[Mapping[str, str]] = {
    word: name for name in ("plain", "past", "temporary", "plan", "negative") for word in LISTS[name]
} | dict.fromkeys(("也", "同时", "同时也", "另外还", "同时还", "还同时"), "also")
_LONGEST: Final = max(map(len, _ADVERBS))


def any_of(name: str) -> str:
    return "(?:" + "|".join(sorted(map(re.escape, LISTS[name]), key=len, reverse=True)) + ")"


_SURNAME: Final = any_of("surname")
_LATIN_NAME: Final = r"[A-Z][a-zA-Z]+(?:[ .-][A-Z][a-zA-Z]+)?"
_GIVEN: Final = rf"(?:(?![{''.join(w for w in LISTS['not_given'])}])[\u4e00-\u9fff]){{1,2}}"
_NAME: Final = rf"(?:[小老阿大][\u4e00-\u9fff]|{_SURNAME}{any_of('honorific')}|{_SURNAME}{_GIVEN}|{_LATIN_NAME}|{_SURNAME}[某])"
PERSON_NAME: Final = rf"{_SURNAME}{_GIVEN}"
"""A pattern: a surname and a given name."""
_DEPARTMENT: Final = r"(?:(?:(?![做买吃用看写参])[\u4e00-\u9fffA-Za-z]){1,8}的)"
PERSON: Final = re.compile(rf"(?P<role>同事|朋友|同学|室友|邻居|老板|客户|表[哥弟姐妹]|堂[哥弟姐妹])?(?P<name>{_DEPARTMENT}?{_NAME})$")
RELATIVE: Final = re.compile(
    rf"(?P<own>我们?的?|我们?家的?|咱们?的?|咱家的?|俺)(?:新来的|新的?|现任|现在的)?(?P<rel>{any_of('relation')})(?:的)?(?P<name>{_NAME}|(?P<twice>[\u4e00-\u9fff])(?P=twice))?$"
)
_RELATION: Final = re.compile(any_of("relation"))
_THEIR_RELATIVE: Final = re.compile(rf"(?P<who>{_NAME})的(?P<rel>{any_of('relation')})$")
_ORG: Final = re.compile(rf"(?:我|我们|咱们|咱)的?(?:[\u4e00-\u9fff]{{0,4}}?){any_of('orgs')}$")
NOT_A_NAME: Final = re.compile(r"^(?:左[利撇右边手]|小时|老是|大家|大概|大约|小学|小说|小心|老家|老实|大学|大部|阿姨|高兴|方便|方法|时间|任务|任何|明天|明年|白天|安全|和我|都市|项目|金额|平时|应该|全部|全家|常常|何时|管理|计划|如果|于是|成功|别人|房子|车子|路上|强烈|水平|党员|古代|由于|不过|那里|花了|海鲜|连续|国内|国外|单位|广告|温度|简单|关于|经常|相关|云端|公司|商品|商业|文件|文档|师傅|家里|米饭|左右|右边|黄色|白色|金色|包括|包裹|席位|支付|查询|班级|位置|区域|权限|计算|信息|索引|平台|富文|简直|简历|居然|干脆|索性|幸好|幸亏|何必|何况|明明|原本|高考|高铁|国庆|元旦|季度|房租|房贷|车位|车库|车险|钱包|毛衣|毛病|牛奶|牛肉|羊肉|鲜花|马桶|马路|路由|路边|老公|老婆|老爸|老妈|老大$|原定|原计划|时[候刻]|小[猫狗鸟鸡猪孩店区费吃组票]|老[人师年虎鼠乡外]|大[门厅厦赛街陆量批部])")
_THING: Final = re.compile(r"[\w\u4e00-\u9fff·\-./:（）()#+@ ]{2,32}$")
_NOT_A_THING: Final = re.compile(
    r"^(?:下雨|下雪|刮风|天气|这|那|它|其|该|他|她|你|您|谁|什么|哪|每|所有|版本|版本号|新版本|状态|名字|任务|构建|操作|流程|编译|测试|部署|下载|上传|安装|同步|备份|执行|加载|初始化|一切|全部|作业|工作|手续|事情|东西|今天|今年|大家|有人|如何|怎么|为什么)$|"
    r"^(?:他|她|你|您|谁|什么|哪|为什么|怎么|如何|如果|要是)|[说想觉认]|(?:把|被|将|让|叫)"
)


_OURS: Final = re.compile(r"^(?:我们|咱们|我司|咱)的?\s*(?=\S{2})")
"""Whose a thing is that only one "we" can mean: our gateway is the gateway."""


_OWN_ELDERS: Final = frozenset("爸爸 妈妈 老爸 老妈 爸妈 爷爷 奶奶 外公 外婆 姥姥 姥爷".split())
"""Whom one calls so is one's own, without 我."""
_OWN_KIN: Final = _OWN_ELDERS | SETS["own_kin"]
"""These too, unless another was spoken of, whose they may be."""


_WITH_MINE: Final = re.compile(rf"我们?(?:和|跟|与)我?的?{any_of('relation')}(?:俩|两个?人?|一起)?")
"""I and one of mine: what we do I do."""


def _subject(text: str, voice: Voice) -> Subject | None:
    """The subject that `text` is, whole."""
    owner = voice.owner
    if voice.about_user and text in ("用户", "该用户", "这位用户", "本用户"):
        return Subject(kind="self", name="user")
    if not voice.first_person and text[0] in "我咱俺本":
        return None
    if voice.first_person and text in _OWN_KIN:
        own = f"我{text}" if owner == "user" else f"{owner}的{text}"
        return Subject(kind="relative", name=own, relation=text, bare=text not in _OWN_ELDERS)
    if text in SETS["self"] or _WITH_MINE.fullmatch(text) or text in ("我的", "我们的", "咱们的"):
        return Subject(kind="self", name=owner)
    if text.endswith("的") and len(text) > 2:
        text = text[:-1]
    if text in SETS["nobody"]:
        return None
    found = RELATIVE.match(text)
    if found is not None:
        relation, named = found["rel"], found["name"]
        own = f"我{relation}" if owner == "user" else f"{owner}的{relation}"
        if named is not None and _RELATION.fullmatch(named):
            return Subject(kind="relative", name=f"{own}的{named}", relation=named, owner=own)
        return Subject(kind="relative", name=named or own, relation=relation, named=named)
    if _ORG.match(text):
        return Subject(kind="org", name=text if owner == "user" else f"{owner}的{text.lstrip('我们咱的')}")
    found = _THEIR_RELATIVE.match(text)
    if found is not None:
        return Subject(kind="relative", name=text, relation=found["rel"], owner=found["who"])
    found = PERSON.match(text)
    if found is not None and NOT_A_NAME.match(found["name"].rpartition("的")[2]) is None:
        return Subject(kind="person", name=found["name"])
    if _THING.match(text) and _NOT_A_THING.search(text) is None and text[0] != "我" or text.startswith(("我们的", "我的")):
        return Subject(kind="thing", name=_OURS.sub("", text.removesuffix("的")).strip())
    return None


_EVENTS: Final = LISTS["events"]
"""Nouns that end in a character that is an adverb by itself (会)."""
_CHIEF: Final = re.compile(rf"{_SURNAME}总")
"""A title that is an adverb by itself."""
_BESIDE_AN_EVENT: Final = re.compile(r"[^我，,]{2,12}?(?:(?P<before>以前|之前)|以后|之后|后|的时候)[，,]?(?=我|咱|一直|俺)")
"""An event that the statement is told beside: what held before it is past."""


def read_left(text: str, voice: Voice) -> Left | None:
    """Subject and adverbs; None where something is left over that this grammar does not know."""
    flags: set[str] = set()
    odd = False
    text = re.sub(r"^(?:时|的时候)\s+", "", text.strip(" ，,、"))
    earlier = _BESIDE_AN_EVENT.match(text)
    if earlier is not None:
        text = text[earlier.end() :]
        if earlier["before"]:
            flags.add("past")
    while text and not text.endswith(_EVENTS) and _CHIEF.fullmatch(text) is None:
        for size in range(min(_LONGEST, len(text)), 0, -1):
            word = text[-size:]
            kind = _ADVERBS.get(word)
            if kind is not None:
                text = text[:-size].rstrip(" ，,、")
                break
        else:
            break
        flags.add(kind)
        if kind == "negative":
            odd = not odd
        if word in ("已经", "已", "终于", "刚", "刚刚", "正式", "全部", "早就", "成功"):
            flags.add("done")
    while text:
        for size in range(min(_LONGEST + 3, len(text)), 0, -1):
            word = text[:size]
            kind = "plain" if word in SETS["discourse"] else _ADVERBS.get(word)
            if kind is not None and kind != "negative" and not (size == 1 and len(text) > 1):
                flags.add(kind)
                text = text[size:].lstrip(" ，,、")
                break
        else:
            break
    subject = None
    if text:
        subject = _subject(text, voice)
        if subject is None:
            return None
    return Left(
        subject=subject, negated=odd, past="past" in flags, temporary="temporary" in flags, plan="plan" in flags,
        also="also" in flags, done="done" in flags,
    )


_PRONOUN: Final = re.compile(r"(?<![其])[他她](?!们|的)")
_THEY: Final = re.compile(r"[他她]们(?!的)")


def without_pronoun(text: str, several: bool) -> str | None:
    """The text before a trigger without its one he or she (they, of `several`); None where there is none."""
    rest, count = (_THEY if several else _PRONOUN).subn("", text)
    return rest if count == 1 else None


_MENTION: Final = re.compile(rf"(?:我的?|和|跟|与|陪|带|给|帮|见了?)(?P<rel>{any_of('relation')})(?!的)")


def mentioned(text: str, voice: Voice) -> Subject | None:
    """The one relative a clause speaks of beside its subject, for a later he or she."""
    found = {m["rel"] for m in _MENTION.finditer(text)}
    return _subject("我" + found.pop(), voice) if len(found) == 1 else None


_LEADING: Final = re.compile(rf"(?:{any_of('discourse')}[，,]?)?(?P<s>(?:我们?家?的?|咱们?的?|俺)(?:{any_of('relation')})(?:{_NAME})?|[小老阿][\u4e00-\u9fff]|{_SURNAME}{any_of('honorific')}|他们?|她们?|你们?|您|[A-Z][a-z]+(?=[\u4e00-\u9fff ])|我们?|本人)")


_LEADING_THING: Final = re.compile(r"(?P<s>[A-Za-z][\w.-]*(?:\s?的?\s?[\u4e00-\u9fffA-Za-z]{1,8}?)??)\s*(?:已经|已|当前|目前|现在|刚刚|刚|又)|(?P<t>[\u4e00-\u9fff\w]{2,14}?)(?:已经|已|刚刚|刚|又)(?:完成)?(?:升级|回滚|更新|降级|重启|发布|上线|迁移|部署|切换|扩容)")


def leading_subject(text: str, voice: Voice) -> Subject | None | bool:
    """Who an unread clause seems to speak of: a subject, False for someone who may not be carried on, None for nobody."""
    found = _LEADING.match(text)
    if found is None or LABEL.fullmatch(text) is not None:
        thing = _LEADING_THING.match(text) or LABEL.fullmatch(text)
        return None if thing is None else _subject((thing["s"] or thing["t"]).strip(), voice)
    return _subject(found["s"], voice) or False


_DONE: Final = re.compile(r"了(?!解|不)|过(?![年节来去程于敏期生度滤户])")


def done(trigger: str, right: str) -> bool:
    """Do the words say that it has happened?"""
    return _DONE.search(trigger + right) is not None


def agrees(trigger: str, left: Left, subject: Subject, inherited: bool) -> bool:
    """Chinese verbs have one form."""
    return True


def hands_on(gap: str) -> bool:
    """A clause without a subject goes on with the one before."""
    return True
