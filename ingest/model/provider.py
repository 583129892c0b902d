"""Which model is asked, and how: a preset or any base URL, and what may be set on it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, Literal

from ..budget import Prices
from ..errors import ConfigurationError

Mode = Literal["json_schema", "json_object"]
_ANY: Final[Mapping[str, str]] = {"mode": "json_object", "tokens_field": "max_tokens"}
"""What a server of which nothing is known most likely takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """`seconds` is the time one call may take, from the first byte sent to the last byte read.

    `most_out` bounds the answer's tokens, `extra` is added to every request as it stands (`enable_thinking = false`).
    `prices` None: not known, so that no call is made.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    mode: Mode = "json_object"
    tokens_field: str = "max_tokens"
    seconds: float = 60.0
    most_out: int = 4_096
    temperature: float | None = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)
    prices: Prices | None = None


@lru_cache(maxsize=1)
def presets() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(files(__package__).joinpath("presets.toml").read_text("utf-8"))


def provider(
    *,
    model: str,
    preset: str | None = None,
    base_url: str | None = None,
    mode: Mode | None = None,
    tokens_field: str | None = None,
    **given: Any,
) -> Provider:
    """`preset`'s row, and over it what is given. Raises ConfigurationError where there is no such preset, or no URL."""
    row = dict(_ANY)
    if preset is not None:
        if preset not in presets():
            known = ", ".join(presets())
            raise ConfigurationError(f"no preset is called {preset[:40]!r}: {known}", field="model.preset")
        row |= presets()[preset]
    chosen = {"base_url": base_url, "mode": mode, "tokens_field": tokens_field}
    row |= {name: value for name, value in chosen.items() if value is not None}
    if "base_url" not in row:
        raise ConfigurationError("set the model's preset, or its base_url", field="model.base_url")
    return Provider(model=model, **row, **given)  # type: ignore[arg-type]
