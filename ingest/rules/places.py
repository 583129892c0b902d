"""Places that are known by name: what tells a city from a company in "I work in X". Data in `places.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Final

from ..normal import normalise

_ZH_PLACE_END: Final = re.compile(r".+(?:省|市|县|区|镇|村|乡|州|岛|街道|胡同|新区|开发区|自治区|高新区|半岛)$")
_COUNTRY_HEAD: Final = 2


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    data = tomllib.loads(files(__package__).joinpath("places.toml").read_text("utf-8"))
    return frozenset(normalise(name) for line in data["places"].values() for name in line.split("|"))


def is_place(text: str) -> bool:
    """A city, district, province or country known by name or by the way its name ends."""
    names = _names()
    text = normalise(text).strip(" ,.")
    if text in names or _ZH_PLACE_END.match(text) is not None:
        return True
    head, comma, rest = text.partition(",")
    if comma:
        return head.strip() in names or rest.strip() in names
    return any(text.startswith(name) and len(name) >= _COUNTRY_HEAD and not text.isascii() and len(text) <= len(name) + 6
               and (text[len(name) :] in names) for name in (text[:2], text[:3]) if name in names)
