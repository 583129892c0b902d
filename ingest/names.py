"""Names as callers write them, on both sides: of namespaces, sessions, actors, subjects. They stand in headers."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from .errors import InvalidInput

MAX_NAME: Final = 200
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _named(name: str) -> str:
    if not name.strip():
        raise PydanticCustomError("blank", "give a name: it is blank")
    if _CONTROL.search(name):
        raise PydanticCustomError("control", "take out the control characters")
    return name


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_named)]
Namespace = Name
"""Taken verbatim: `u1`, `U1`, `u_1` and full-width forms are four namespaces."""


def check_namespace(namespace: str, *, field: str = "namespace") -> str:
    """The same of a namespace that stands in no body. Raises InvalidInput."""
    if not 1 <= len(namespace) <= MAX_NAME or not namespace.strip():
        raise InvalidInput(f"a namespace has 1 to {MAX_NAME} characters and is not blank", field=field)
    if _CONTROL.search(namespace):
        raise InvalidInput("a namespace holds no control characters", field=field)
    return namespace
