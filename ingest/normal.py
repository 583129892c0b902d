"""One form for words that are written differently and mean the same: used for slots, fingerprints and search alike.

NFKC (full width to half width), traditional to simplified Chinese, case folded, white space collapsed.
`NORMAL_VERSION` is stored with every index built on it; a change of it means a re-index.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from opencc import OpenCC

NORMAL_VERSION: Final = 1
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_END_MARKS: Final = " \t\r\n.。,，;；:：!！?？~～…、\"'“”‘’「」『』《》<>()（）[]【】"


@lru_cache(maxsize=1)
def _simplifier() -> OpenCC:
    return OpenCC("t2s")


def normalise(text: str) -> str:
    """The form that is compared. Never longer than needed for matching; not for showing."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if _HAN.search(text):
        text = _simplifier().convert(text)
    return " ".join(text.split())


def normal_value(text: str) -> str:
    """A value's identity: normalised, without end marks and quotation marks around it."""
    return normalise(text).strip(_END_MARKS)
