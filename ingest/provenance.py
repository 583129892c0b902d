"""The provenance gate: who says it, in what session, and whether a claim may come of it. It acts before any model call.

The matrix is data (`provenance.toml`). How strong a claim is against others in its slot follows from its origin alone
(`claims.ORIGIN_STRENGTH`); the gate only says what may be read at all.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, Literal

from .claims import ORIGIN_STRENGTH
from .simplified import simplified

Mode = Literal["enforce", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`reason` is None where claims may be read, else a code such as `gate.heartbeat`. `first_person`: "I" is the user.
    `about_user`: "the user" is the user. `strength` as in `ORIGIN_STRENGTH`."""

    reason: str | None
    first_person: bool
    about_user: bool
    strength: int


@lru_cache(maxsize=1)
def _matrix() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("provenance.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def _orders() -> tuple[frozenset[str], re.Pattern[str]]:
    orders = _matrix()["orders"]
    return frozenset(orders["origins"]), re.compile("|".join(f"(?:{p})" for p in orders["patterns"]), re.I | re.S)


_UNKNOWN: Final = {"claims": False, "first_person": False, "about_user": False}


def gate(origin: str, session_kind: str, text: str = "", *, mode: Mode = "enforce") -> Verdict:
    """What may be read out of `text`, said by `origin` in a session of that kind. An unknown origin may say nothing.

    With `mode` off only "I" and "the user" are judged; nothing is refused.
    """
    row = _matrix()["origins"].get(origin, _UNKNOWN)
    reason: str | None = None
    if mode == "enforce":
        session = _matrix()["sessions"].get(session_kind, {})
        if not row["claims"]:
            reason = f"gate.{origin}"
        elif not session.get("claims", True):
            reason = f"gate.{session_kind}"
        elif gives_orders(origin, text):
            reason = "gate.injection"
    return Verdict(
        reason=reason,
        first_person=row["first_person"],
        about_user=row["about_user"],
        strength=ORIGIN_STRENGTH.get(origin, 0),
    )


def gives_orders(origin: str, text: str) -> bool:
    """Do words that are not the user's own tell the reader what to do or to remember?"""
    origins, patterns = _orders()
    return origin in origins and bool(text) and patterns.search(simplified(text)) is not None
