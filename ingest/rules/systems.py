"""Systems and their parts: under which name a version, a setting or a state is kept, and whose part a bare one is.

"gateway-2 服务" and "gateway-2" are one thing, and its version is that of what it serves ("gateway-2 的 API 服务"). Its
worker, its blue deployment and its nodes are things of their own: they keep their names, with their owner's before them
where a later clause leaves it out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .subjects import Subject

_IDENTIFIER: Final = r"[A-Za-z][\w.+-]*"
_MADE_UP: Final = rf"(?=[\w.+-]*[\d_.+-]|(?-i:[A-Za-z]*[a-z][A-Z]|[A-Z]{{2}})){_IDENTIFIER}"
"""An identifier that no English word is: with a digit, a mark or a capital within."""
_SERVED: Final = re.compile(
    rf"(?P<x>{_IDENTIFIER})\s*的?\s*(?P<face>API|api|接口|主|核心|对外)?\s*的?\s*(?:服务|系统|应用|程序|软件)(?:端|器)?"
    rf"|(?P<x2>{_MADE_UP})(?:'s)? (?P<face2>api |API |main |core |public )?(?:service|server|system|app|application|software)"
    rf"|(?P<face4>api |service |backend )of (?:the )?(?P<x4>{_IDENTIFIER})"
    rf"|(?P<x3>{_IDENTIFIER})(?:\s*的\s*|'s )(?P<face3>API|api|接口)",
    re.I,
)
_OF_VERSION: Final = re.compile(r"\s*的\s*(?:配置|线上|生产|当前|现在|目前|最新|软件|固件|运行|部署|正式|现行|稳定)?\s*(?:的\s*)?(?:版本号?)?$|\s*(?:当前|现在|目前|最新)?版本号?$")
_OF_STATE: Final = re.compile(r"\s*的?\s*(?:当前|目前|现在|运行|健康)*(?:状态|状况)?$")
_PART: Final = (
    r"服务|进程|部署|连接|任务|节点|实例|队列|副本|线程|作业|模块|组件|容器|接口|网关|缓存|数据库|集群|环境|分区|插件|探针|主机|从库|主库|索引"
)
_PART_EN: Final = (
    r"services?|process(?:es)?|workers?|deployments?|connections?|tasks?|jobs?|nodes?|instances?|queues?|replicas?|modules?|"
    r"components?|containers?|api|cache|database|cluster|environment|scheduler|proxy|frontend|backend|primary|standby|endpoint"
)
_OWNED: Final = re.compile(
    rf"(?P<x>[\w\u4e00-\u9fff.+-]{{2,24}}?)(?P<link>\s*的\s*)(?P<part>.{{0,16}}?(?:{_PART}|版本|状态)|[A-Za-z]\w*)"
    rf"|(?P<x2>[\w.+-]+(?: [\w.+-]+)?)(?P<link2>['’]s )(?P<part2>(?:[\w.+-]+ ){{0,2}}(?:{_PART_EN}|version|status))"
)
_BARE: Final = re.compile(rf"(?:[A-Za-z][\w-]{{0,15}}\s*)?(?:{_PART})|(?:[a-z][\w-]* ){{0,2}}(?:{_PART_EN})", re.I)


_NAMED_SYSTEM: Final = re.compile(
    rf"(?:{_PART}|系统|流水线|服务器|机房|网站|平台|作业)$|\b(?:{_PART_EN}|systems?|pipelines?|servers?|builds?|website|site|platform|broker|daemon)$"
    rf"|\b{_MADE_UP}(?:\s*(?:号|服务|系统|机))?$|^(?=\w*[\d_-]){_MADE_UP}\b", re.I)
LABEL: Final = re.compile(rf"(?P<s>{_MADE_UP})(?P<t>)")
"""A system's name that stands alone before a colon."""


_NOUN: Final = re.compile(rf"(?:{_PART})$")
_SHORT: Final = 8
"""Characters of a part's name."""
_ITS: Final = re.compile(r"^(?:它|其)的?\s*")


@dataclass(frozen=True, slots=True)
class Owner:
    """A system, the words that tie a part's name to it ("的", "'s"), where in the text it was named, and
    the noun of the part spoken of ("连接"): another of that noun is its part too."""

    name: str
    link: str
    start: int = 0
    part: str = ""


def is_system(name: str) -> bool:
    """Does the name say that it is a system's or a part's: by an identifier, or by its noun?"""
    return _NAMED_SYSTEM.search(name) is not None


def is_of_systems(predicate: str) -> bool:
    return predicate in ("version", "status") or predicate.startswith("config.")


_CHANGED: Final = re.compile(
    r"改|变|换|升|更新|切|调|设|滚|退|降|迁|移|上线|发布|下线|转|取消|作废|废|撤|删|去掉|"
    r"\b(?:chang|upgrad|updat|downgrad|roll|revert|bump|switch|mov|migrat|set|rais|increas|lower|reduc|went|became|turn|launch|"
    r"ship|releas|remov|drop|retir|sunset|shut|clos|cancel|complet|finish|paus|start|stop|crash|fail)\w*", re.I)


def has_changed(clause: str) -> bool:
    """Do the words tell of a change, which begins something, rather than note what was so?"""
    return _CHANGED.search(clause) is not None


def kept_name(name: str, predicate: str) -> str:
    """The name under which a system's version, setting or state is kept."""
    if not is_of_systems(predicate):
        return name
    if predicate == "version":
        name = _OF_VERSION.sub("", name) or name
    elif predicate == "status":
        name = _OF_STATE.sub("", name) or name
    found = _SERVED.fullmatch(name)
    if found is None:
        return name
    face = found["face"] or found["face2"] or found["face3"] or found["face4"]
    if face is not None and predicate != "version":
        return name
    return found["x"] or found["x2"] or found["x3"] or found["x4"]


def owner_of(subject: Subject, *, start: int, chinese: bool) -> Owner | None:
    """Whose parts a later clause may speak of, once this subject was spoken of."""
    if subject.kind not in ("thing", "person", "org"):
        return None
    found = _OWNED.fullmatch(subject.name)
    if found is not None:
        noun = _NOUN.search(subject.name)
        return Owner(found["x"] or found["x2"], found["link"] or found["link2"], start, noun[0] if noun is not None else "")
    if subject.kind != "thing":
        return None
    return Owner(subject.name, "'s " if not chinese else " 的 " if subject.name[-1].isascii() else "的", start)


def with_owner(subject: Subject, owner: Owner | None) -> Subject:
    """The subject, under its owner's name where it is a bare part ("worker 进程")."""
    if owner is None or subject.kind != "thing":
        return subject
    part = _ITS.sub("", subject.name)
    alike = owner.part != "" and part.endswith(owner.part) and "的" not in part and len(part) <= _SHORT
    return Subject(kind="thing", name=f"{owner.name}{owner.link}{part}") if alike or _BARE.fullmatch(part) is not None else subject
