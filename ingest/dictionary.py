"""Words that a namespace, or a whole home, wants to be found as such: names and terms that no general dictionary has.

Chinese is written without spaces, so that what counts as one word is up to a dictionary. Words are kept normalised
(as texts are before they are searched), each once, in order of code points: equal sets are equal settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .errors import InvalidInput
from .normal import normalise

MOST: Final = 5_000
"""Words of one namespace."""
LONGEST: Final = 20
"""Characters of a word; the shortest has two."""

_WORD: Final = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+")


def dictionary_words(given: Iterable[str], *, most: int = MOST, field: str = "dictionary") -> tuple[str, ...]:
    """Raises InvalidInput that names the first word that is none."""
    words: set[str] = set()
    for number, one in enumerate(given):
        word = normalise(one).strip()
        if not _WORD.fullmatch(word) or not 2 <= len(word) <= LONGEST:
            said = f"a word of a dictionary is 2 to {LONGEST} Chinese characters and nothing else"
            raise InvalidInput(said, field=f"{field}.{number}")
        words.add(word)
        if len(words) > most:
            raise InvalidInput(f"a dictionary has at most {most} words", field=field)
    return tuple(sorted(words))


def words_in(text: str) -> list[str]:
    """Of a dictionary file: the first word of each line (jieba's own format has a frequency and a tag behind it),
    without blank lines and those that begin with `#`."""
    lines = (line.split() for line in text.splitlines())
    return [parts[0] for parts in lines if parts and not parts[0].startswith("#")]
