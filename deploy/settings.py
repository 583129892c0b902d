"""Every setting of Taishi, in one class.

A value comes from, strongest first: what the command line says, the environment (`TAISHI_<NAME>`, and `REDIS_URL`),
`taishi.toml` in the home folder, the default. `source_of` tells which it was, for `taishi doctor`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import unquote, urlsplit

from platformdirs import user_data_path
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from taishi.ingest.access import ApiKey, refuse_open_bind
from taishi.ingest.errors import ConfigurationError
from taishi.queries.fusion import CHANNELS

from .setting_blocks import EmbeddingSetting, KeySetting, ModelSetting, RerankerSetting, ScheduleSetting


class Address(BaseModel):
    """A host and a port to serve on."""

    model_config = ConfigDict(frozen=True)

    host: str
    port: int = Field(ge=0, le=65535)

    @classmethod
    def parse(cls, text: str) -> Address:
        """`host:port`, `[::1]:port`. Raises ValueError on anything else."""
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not port.isascii() or not port.isdigit():
            raise ValueError("is not host:port, such as 127.0.0.1:8460")
        return cls(host=host, port=int(port))

    @property
    def url(self) -> str:
        """Where a client on this machine reaches it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


class Settings(BaseSettings):
    """`home` holds all data. Addresses are what is served, URLs where clients find it (by default the same place).

    `redis_url` is the log's server (default: an embedded one), `jobs_url` the RQ queue's (default: another database
    of the same server), `keystore_url` the SQLAlchemy URL of the data keys (default: a SQLite file of its own).
    `extractor` is `rules`, `model` (with a `[model]` block) or a plugin's name that stands in `extractor_plugins` too.
    `archive` is the folder of the log's segments (default: `archive` in the home folder), `archive_keep` how many
    entries of each partition stay in the server when older ones are sealed.
    `dictionary` is a file of Chinese words, one a line, that are found as such in every namespace (another one than
    before: all indexes are made anew).
    `backup_to` is the folder that recurring backups go to (None: there are none), `backup_keys_to` the one for copies
    of the key store (default: `<backup_to>-keys`), of which `keep_keys` stay.
    `read_workers` processes answer questions, over one socket.
    `namespace` is what the command line speaks of where it is not told another. `ablate` is for measuring alone: names
    of recall's channels, parted by commas, that the read side does without.
    """

    model_config = SettingsConfigDict(
        env_prefix="TAISHI_", env_nested_delimiter="__", env_ignore_empty=True, extra="forbid", frozen=True
    )

    home: Path
    write_addr: str = "127.0.0.1:8460"
    read_addr: str = "127.0.0.1:8461"
    write_url: str | None = None
    read_url: str | None = None
    api_key: SecretStr | None = None
    api_keys: tuple[KeySetting, ...] = ()
    redis_url: str | None = Field(default=None, validation_alias="redis_url")
    jobs_url: str | None = None
    keystore_url: str | None = None
    partitions: int = Field(default=4, ge=1, le=256)
    encryption: Literal["on", "off"] = "on"
    durability: Literal["everysec", "always"] = "everysec"
    provenance: Literal["enforce", "off"] = "enforce"
    extractor: str = "rules"
    extractor_plugins: tuple[str, ...] = ()
    model: ModelSetting | None = None
    dictionary: Path | None = None
    embedder: Literal["local", "hashed", "openai", "off"] = "local"
    embedding: EmbeddingSetting | None = None
    reranker: RerankerSetting | None = None
    namespace: str = "default"
    read_workers: int = Field(default=2, ge=1, le=64)
    rq_workers: int = Field(default=1, ge=1, le=64)
    upkeep_workers: int = Field(default=2, ge=1, le=64)
    archive: Path | None = None
    archive_keep: int = Field(default=10_000, ge=0)
    keep_generations: int = Field(default=2, ge=1, le=16)
    max_lag: int = Field(default=200_000, ge=0)
    max_memory: float = Field(default=0.8, ge=0, le=1)
    schedule: ScheduleSetting = ScheduleSetting()
    backup_to: Path | None = None
    backup_keys_to: Path | None = None
    keep_keys: int = Field(default=2, ge=1, le=100)
    ablate: str | None = None

    _sources: dict[str, str] = PrivateAttr(default_factory=dict)

    @field_validator("write_addr", "read_addr")
    @classmethod
    def _is_address(cls, text: str) -> str:
        Address.parse(text)
        return text

    @field_validator("ablate")
    @classmethod
    def _are_channels(cls, text: str | None) -> str | None:
        if unknown := sorted(_names(text) - set(CHANNELS)):
            raise ValueError(f"no channel is {unknown[0]!r}: {', '.join(CHANNELS)}")
        return text

    @model_validator(mode="after")
    def _extractor_is_known(self) -> Self:
        if self.extractor == "model" and self.model is None:
            raise ValueError("extractor = model needs a [model] block: at least name, and preset or base_url")
        if self.extractor not in ("rules", "model", *self.extractor_plugins):
            raise ValueError("extractor is rules, model, or a plugin that extractor_plugins allows")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)  # `load` merges the sources, so that it can say where each value came from

    @classmethod
    def strays(cls, environment: Iterable[str]) -> list[str]:
        """Names of variables that look like settings and are none."""
        prefix, delimiter = cls.model_config["env_prefix"], cls.model_config["env_nested_delimiter"] or "__"
        read = {name for name, field in cls.model_fields.items() if field.validation_alias is None}
        own = (name for name in environment if name.startswith(prefix))
        return sorted(name for name in own if name.removeprefix(prefix).lower().partition(delimiter)[0] not in read)

    def source_of(self, name: str) -> str:
        return self._sources.get(name, "default")

    @property
    def write(self) -> Address:
        return Address.parse(self.write_addr)

    @property
    def read(self) -> Address:
        return Address.parse(self.read_addr)

    @property
    def write_base(self) -> str:
        """Where clients find the write side."""
        return self.write_url or self.write.url

    @property
    def read_base(self) -> str:
        return self.read_url or self.read.url

    @property
    def keystore(self) -> str:
        return self.keystore_url or f"sqlite:///{self.home / 'keys' / 'keys.db'}"

    @property
    def ledger(self) -> Path:
        """The tombstone ledger: beside the key store where that is a file, else where it would be."""
        url = urlsplit(self.keystore)
        if not url.scheme.startswith("sqlite"):
            return self.home / "keys" / "ledger.jsonl"
        return Path(unquote(url.path[1:])).absolute().with_name("ledger.jsonl")

    @property
    def archive_folder(self) -> Path:
        """Where segments of the log lie."""
        return self.archive.expanduser().absolute() if self.archive is not None else self.home / "archive"

    @property
    def ablated(self) -> frozenset[str]:
        return _names(self.ablate)

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def run(self) -> Path:
        return self.home / "run"

    @property
    def guards(self) -> tuple[ApiKey, ...]:
        """The configured API keys as the two APIs check them."""
        return tuple(
            ApiKey.of(name=k.name, key=k.key.get_secret_value(), rights=k.rights, namespaces=k.namespaces)
            for k in self.api_keys
        )

    def check_exposure(self) -> None:
        """Raises ConfigurationError where strangers could reach a side that asks for no key."""
        for address in (self.write, self.read):
            refuse_open_bind(address.host, self.guards)


def _names(text: str | None) -> frozenset[str]:
    return frozenset(name.strip() for name in (text or "").split(",") if name.strip())


def default_home(environ: Mapping[str, str]) -> tuple[Path, str]:
    """The home folder and where it was named."""
    named = environ.get("TAISHI_HOME")
    if named:
        return Path(named).expanduser().absolute(), "TAISHI_HOME"
    return user_data_path("taishi", appauthor=False), "default"


def load_settings(**overrides: Any) -> Settings:
    """Raises ConfigurationError that names every setting that is wrong and where it was set; values are not shown."""
    sources: dict[str, str] = {}
    values: dict[str, Any] = {}
    values["home"], sources["home"] = default_home(os.environ)
    if overrides.get("home") is not None:
        values["home"], sources["home"] = Path(overrides["home"]).expanduser().absolute(), "command line"
    toml = values["home"] / "taishi.toml"
    try:
        from_file = TomlConfigSettingsSource(Settings, toml_file=toml)() if toml.exists() else {}
        from_environment = EnvSettingsSource(Settings)()
    except ValueError as e:  # TOML and JSON errors alike
        raise ConfigurationError(f"settings cannot be read: {e}") from None
    if "home" in from_file:
        raise ConfigurationError(f"{toml}: home cannot be set in a file that lies in it; use TAISHI_HOME", field="home")
    from_environment.pop("home", None)
    for name, value in from_file.items():
        values[name], sources[name] = value, str(toml)
    for name, value in from_environment.items():
        if isinstance(value, dict) and isinstance(values.get(name), dict):
            value = {**values[name], **value}  # such as a key from the environment, and the rest from the file
        values[name], sources[name] = value, "REDIS_URL" if name == "redis_url" else f"TAISHI_{name.upper()}"
    for name, value in overrides.items():
        if value is not None and name != "home":
            values[name], sources[name] = value, "command line"
    try:
        settings = Settings(**values)
    except ValidationError as e:
        raise ConfigurationError("\n".join(_complaint(dict(error), sources) for error in e.errors())) from None
    settings._sources = sources
    return settings


def _complaint(error: dict[str, Any], sources: Mapping[str, str]) -> str:
    path = [str(part) for part in error["loc"]]
    name = ".".join(path)
    said = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        said = "no such setting"
    if not path:
        return said
    return f"{name}: {said} (from {sources.get(path[0], 'default')})"
