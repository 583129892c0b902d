"""Chinese: what is a name, and how sure it is one. None refuses a value, and its row claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from .subjects import Part
from .zh import NOT_A_NAME, PERSON, SETS, any_of
from .zh_work import job


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
    if job(text) is not None or text in SETS["relation"] or _any_relation(text):
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


CLEANERS: Final[Mapping[str, Callable[[str], Part | None]]] = {
    "own_name": _own_name, "person_name": _person_name, "sure_name": _sure_name, "full_name": _full_name, "titled_name": _titled_name,
}
