"""Secrets at the door: keys, tokens, passwords and card numbers are replaced before anything is encrypted or stored.

`[redacted:<kind>]` stands where a secret stood. Talking about a password without saying it is left as it is, and so are
versions, order codes, commit hashes and phone numbers. Patterns are data rows: kind, pattern, group that is the secret.

Chinese is matched in simplified characters (`simplified` keeps offsets), names of settings word by word
(`AWS_SECRET_ACCESS_KEY`, `dbPassword`). This runs on every text that comes in. A pattern is tried only where one of its `hints` occurs, and every repetition
that another one may follow is bounded, so that no text takes more than linear time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from .simplified import simplified


@dataclass(frozen=True, slots=True)
class _Row:
    """`hints` are case-folded; every match holds one of them."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    group: str | int = 0


_WORD_BEFORE: Final = r"(?<![A-Za-z0-9_-])"
_ZH_SECRET: Final = r"(?:密码|口令|密钥|秘钥|私钥|金钥|通关密语|通行密码|通行码|验证码|PIN码|pin码|支付密码|授权码|访问令牌|令牌)"
_EN_SECRET: Final = r"(?:passwords?|passphrase|passwd|pwd|passcode|pin(?: code)?|secret(?: key)?|api[ _-]?key|access[ _-]?token|auth[ _-]?token|token|verification code|private key|client[ _-]?secret)"
_VALUE: Final = r"(?P<secret>[!-~]{4,128})"

_TOKEN_HEADS: Final = (
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "hf_", "npm_", "pypi-", "dop_v1_", "sg.", "ya29.",
)
_ROWS: Final = (
    _Row("private_key", ("-----begin ",), re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S)),
    _Row("token", ("eyj",), re.compile(_WORD_BEFORE + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}")),
    _Row("api_key", ("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), re.compile(_WORD_BEFORE + r"(?:sk|pk|rk)[-_](?:live_|test_|proj-|ant-|or-)?[A-Za-z0-9_-]{16,}")),
    _Row("token", _TOKEN_HEADS, re.compile(_WORD_BEFORE + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|dop_v1_[a-f0-9]{40,}|SG\.[\w-]{16,}\.[\w-]{16,}|ya29\.[\w-]{20,})")),
    _Row("api_key", ("akia", "asia", "aiza", "ltai"), re.compile(_WORD_BEFORE + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])|" + _WORD_BEFORE + r"AIza[A-Za-z0-9_-]{35}|" + _WORD_BEFORE + r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])")),
    _Row("token", ("bearer",), re.compile(r"\bBearer\s{1,8}(?P<secret>[A-Za-z0-9._~+/-]{20,}=*)", re.I), "secret"),
    _Row("password", ("://",), re.compile(r"\b[a-z][a-z0-9+.-]{0,31}://[^\s:/@]{1,64}:(?P<secret>[^\s:/@]{3,128})@", re.I), "secret"),
)
_ZH_HINTS: Final = ("密码", "口令", "密钥", "秘钥", "私钥", "金钥", "通关密语", "通行码", "验证码", "pin码", "授权码", "令牌")
_EN_HINTS: Final = ("passw", "passp", "pwd", "passcode", "pin", "secret", "key", "token", "verification code")
_SAID: Final = (
    (_ZH_HINTS, re.compile(_ZH_SECRET + r"(?:现在|已经|就|都|仍然|还|暂时)*(?:是|为|设为|设成|设置为|改成了?|改为了?|换成了?|变成了?|叫|[:：=])+\s{0,8}[“\"'「]?" + _VALUE)),
    (_ZH_HINTS, re.compile(_ZH_SECRET + r"\s{1,8}[“\"'「]?" + _VALUE)),
    (_EN_HINTS, re.compile(
        r"(?<![A-Za-z])" + _EN_SECRET + r"(?:\s{1,8}(?:for|to|of|on)\s{1,8}(?:(?:my|the|our|his|her)\s{1,8})?[\w.@-]{1,64}(?:\s{1,8}[\w.@-]{1,64})?)?"
        r"\s{0,8}(?:\s(?:is|are|was)(?:\s{1,8}(?:now|still|set to|changed to))?|\s{1,8}(?:has been |was )?(?:changed|set|reset) to|[:=]|=>)\s{0,8}[\"'“`]?" + _VALUE, re.I)),
    (("密码", "口令"), re.compile(r"(?:把|将)?(?:密码|口令)(?:从.{1,40}?)?(?:改|换|设)[成为到]了?\s{0,8}[“\"'「]?" + _VALUE)),
)
_NAMED: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?P<name>[A-Za-z][A-Za-z0-9_-]{2,79})[\"'`]?\s{0,4}(?:=>|:=|[:=])\s{0,4}[\"'“`]?" + _VALUE
)
"""A setting with a name and a value. Whether the name is one of a secret is `_names_a_secret`."""
_NAME_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS: Final = frozenset("secret secrets password passwd passwords pwd passphrase passcode credential credentials apikey pass".split())
_KEY_WORDS: Final = frozenset("key token keys tokens".split())
_KEY_HEADS: Final = frozenset(
    "api access auth private signing encryption master client service session refresh bearer bot deploy webhook jwt hmac ssh storage "
    "account admin license publish shared subscription registry app".split()
)
_NOT_THE_SECRET: Final = frozenset(
    "id ids count counts type limit limits name names path file filename length len size url uri ttl expiry expires expiration policy field "
    "version age manager min max header prefix suffix rotation budget usage used total arn alias provider store reset column format enabled required".split()
)
"""What is said about a secret ("password_min_length") rather than it."""
_CARD: Final = re.compile(r"(?<![\w.-])(?:\d[ -]?){12,18}\d(?![\w-])")
_ENDS: Final = ".,;:!?)]}>\"'`”’」"
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)?|\d{1,3}")
_COMMON: Final = frozenset(
    "password hunter letmein qwerty admin welcome dragon monkey sunshine princess iloveyou opensesame swordfish trustno master secret passw0rd abc".split()
)


def _strong(value: str, *, quoted: bool) -> bool:
    """Is this a value rather than the next word of the sentence ("the password is wrong")?"""
    if value.startswith("[redacted:"):
        return False
    if _PLAIN_WORD.fullmatch(value) is not None and not quoted:
        return value.lower() in _COMMON or (value.isalpha() and len(value) >= 6 and _entropy(value) > 2.9 and not value.islower() and not value.istitle() and not value.isupper())
    return any(c.isdigit() for c in value) or any(not c.isalnum() for c in value) or quoted


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit)
        if place % 2:
            number = number * 2 - 9 if number > 4 else number * 2
        total += number
    return total % 10 == 0


_CARD_HEADS: Final = re.compile(r"^(?:4|5[1-5]|2[2-7]|3[47]|6(?:011|2|5)|35|30|36|38|39|9558|60)")


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` with secrets replaced, and the kinds found, in order of kind, each once. Pure; idempotent."""
    found: set[str] = set()
    folded = simplified(text).casefold()
    for row in _ROWS:
        if not any(hint in folded for hint in row.hints):
            continue

        def replaced(match: re.Match[str], row: _Row = row) -> str:
            found.add(row.kind)
            start, end = match.span(row.group)
            return match[0][: start - match.start()] + f"[redacted:{row.kind}]" + match[0][end - match.start() :]

        text = row.pattern.sub(replaced, text)
    for hints, pattern in _SAID:
        if any(hint in folded for hint in hints):
            text = _replaced(pattern, text, found)
    if any(hint in folded for hint in _EN_HINTS):
        text = _replaced(_NAMED, text, found)
    text = _CARD.sub(lambda m: _card(m, found), text)
    return text, tuple(sorted(found))


def _replaced(pattern: re.Pattern[str], text: str, found: set[str]) -> str:
    """`text` with the secrets that `pattern` finds in its simplified form replaced."""
    out: list[str] = []
    at = 0
    for match in pattern.finditer(simplified(text)):
        bounds = _said(match)
        if bounds is not None:
            found.add("password")
            out += (text[at : bounds[0]], "[redacted:password]")
            at = bounds[1]
    return "".join((*out, text[at:]))


def _said(match: re.Match[str]) -> tuple[int, int] | None:
    """Where the secret stands that the words give; None where they give none."""
    name = match.groupdict().get("name")
    if name is not None and not _names_a_secret(name):
        return None
    start, end = match.span("secret")
    value = match["secret"]
    while value and value[-1] in _ENDS:
        value, end = value[:-1], end - 1
    quoted = match.string[start - 1 : start] in ("\"", "'", "“", "「", "`") and end < len(match.string) and match.string[end] in "\"'”」`"
    return (start, end) if len(value) >= 4 and _strong(value, quoted=quoted) else None


def _names_a_secret(name: str) -> bool:
    """AWS_SECRET_ACCESS_KEY, dbPassword, deploy-token; not primary_key, max_tokens, password_min_length."""
    words = [word.lower() for word in _NAME_WORDS.findall(name)]
    if not words or not _NOT_THE_SECRET.isdisjoint(words):
        return False
    if not _SECRET_WORDS.isdisjoint(words):
        return True
    return words[-1] in _KEY_WORDS and not _KEY_HEADS.isdisjoint(words[:-1])


def _card(match: re.Match[str], found: set[str]) -> str:
    digits = re.sub(r"\D", "", match[0])
    if not 13 <= len(digits) <= 19 or _CARD_HEADS.match(digits) is None or not _luhn(digits) or len(set(digits)) < 2:
        return match[0]
    found.add("card")
    return "[redacted:card]"
