"""The blocks of `taishi.toml`: what belongs together in one setting."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from taishi.ingest.access import MIN_KEY_LENGTH, Right


class KeySetting(BaseModel):
    """A key that callers send as `Authorization: Bearer <key>`: what it may do, and where (None: everywhere)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    key: SecretStr = Field(min_length=MIN_KEY_LENGTH)
    rights: tuple[Right, ...]
    namespaces: tuple[str, ...] | None = None


class EmbeddingSetting(BaseModel):
    """An OpenAI-compatible embedding service, for `embedder = "openai"`. A recall waits `time_limit` seconds for it at
    most."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str
    model: str
    dimension: int = Field(ge=1, le=65536)
    api_key: SecretStr | None = None
    time_limit: float = Field(default=1.0, ge=0.02, le=10)


class RerankerSetting(BaseModel):
    """A service that reads each question with the memories found for it: their words are sent there.

    `style` is `openai` for the common form (`POST {base_url}/rerank`, hosted or a local model server) or `dashscope`.
    A recall waits `time_limit` seconds for it at most; `top` memories are sent, `weight` is what full relevance adds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str = Field(pattern=r"^https?://")
    model: str
    style: Literal["openai", "dashscope"] = "openai"
    api_key: SecretStr | None = None
    time_limit: float = Field(default=0.5, ge=0.02, le=10)
    top: int = Field(default=30, ge=1, le=100)
    weight: float = Field(default=0.5, ge=0, le=5)


Money = Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=6)]


class ModelSetting(BaseModel):
    """A chat model that speaks the OpenAI format, for `extractor = "model"`.

    `preset` or `base_url` says where it is, `name` which it is. Prices are per million tokens and caps a day (UTC), all
    in one currency. Without both prices no call is made; 0 is a price. `prelook` is how many signals make words worth a
    call, 0: all are. `extra` is added to each request as it stands. `timeout` in seconds, of one call.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    preset: Literal["openai", "dashscope", "zhipu"] | None = None
    base_url: str | None = Field(default=None, pattern=r"^https?://")
    api_key: SecretStr | None = None
    mode: Literal["json_schema", "json_object"] | None = None
    tokens_field: str | None = None
    price_in: Money | None = None
    price_out: Money | None = None
    daily_cap: Money = Decimal(1)
    namespace_cap: Money | None = None
    timeout: float = Field(default=60, ge=1, le=240)
    max_tokens: int = Field(default=4096, ge=256, le=65_536)
    temperature: float | None = Field(default=0, ge=0, le=2)
    extra: dict[str, Any] = Field(default_factory=dict)
    prelook: int = Field(default=1, ge=0, le=8)

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if self.preset is None and self.base_url is None:
            raise ValueError("set preset or base_url")
        return self

    def __hash__(self) -> int:
        return hash(self.model_dump_json())


class ScheduleSetting(BaseModel):
    """How often recurring upkeep runs, in seconds; 0: never. `dedup_audit` asks the chat model and costs money."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    maintain: int = Field(default=21_600, ge=0)
    seal: int = Field(default=600, ge=0)
    backup: int = Field(default=86_400, ge=0)
    dedup_audit: int = Field(default=0, ge=0)
