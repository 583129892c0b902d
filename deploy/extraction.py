"""Which extractor reads the words, how its windows are gathered, and what it may spend."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from taishi.ingest.budget import Caps, Prices, pico
from taishi.ingest.errors import ConfigurationError
from taishi.ingest.extractor import Extractor
from taishi.ingest.model import ModelExtractor
from taishi.ingest.model.calls import Caller
from taishi.ingest.model.chat import Chat
from taishi.ingest.model.provider import Provider, provider
from taishi.ingest.plugins import load_plugin
from taishi.ingest.retries import NO_RETRIES, PATIENT
from taishi.ingest.rq_link import JOB_SECONDS
from taishi.ingest.rules import RulesExtractor
from taishi.ingest.sqlalchemy_budget import SqlAlchemyBudget
from taishi.ingest.windows import AT_ONCE, GATHERED

from .generations import Extraction
from .setting_blocks import ModelSetting
from .settings import Settings

_CALLS_IN_TIME: Final = 2
"""A window's time is that of so many calls that take as long as a call may."""
_SLACK_SECONDS: Final = 5.0
_JOBS: Final = 4


def settings_of(settings: Settings, extraction: Extraction) -> Settings:
    """The settings as an extraction generation reads them: with the extractor that it was begun with."""
    return settings if extraction.name is None else settings.model_copy(update={"extractor": extraction.name})


def installed(settings: Settings, wanted: str) -> str:
    """`NAME` or `NAME@VERSION` as NAME@VERSION. Raises ConfigurationError where there is no such extractor, or it is of
    another version."""
    name, at, version = wanted.partition("@")
    extractor = make_extractor(settings.model_copy(update={"extractor": name}))
    if at and version != extractor.version:
        raise ConfigurationError(f"the extractor {name} that is installed is {extractor.version}, not {version}")
    return f"{name}@{extractor.version}"


def make_extractor(settings: Settings) -> Extractor:
    """Raises ConfigurationError."""
    if settings.extractor == "rules":
        return RulesExtractor(mode=settings.provenance)
    if settings.extractor == "model":
        return _model_extractor(settings, _block(settings))
    return load_plugin(settings.extractor, allowed=settings.extractor_plugins)


def keeping(settings: Settings) -> dict[str, Any]:
    """How the keeper gathers windows and hands them out: what `Keeper` takes beside its ports."""
    if settings.extractor != "model":
        return {"policy": AT_ONCE, "retries": NO_RETRIES}
    return {
        "policy": GATHERED,
        "retries": PATIENT,
        "most_windows": max(1, int((JOB_SECONDS - 30) // (window_seconds(_block(settings)) + _SLACK_SECONDS))),
        "most_jobs": max(_JOBS, 2 * settings.rq_workers),
    }


def reading(settings: Settings) -> dict[str, Any]:
    """How the worker goes through a job: what `Extraction` takes beside its ports."""
    if settings.extractor != "model":
        return {}
    return {"seconds": window_seconds(_block(settings)) + _SLACK_SECONDS, "at_once": 1}


def window_seconds(block: ModelSetting) -> float:
    """The time one window's calls may take together."""
    return _CALLS_IN_TIME * block.timeout


def ledger_path(home: Path) -> Path:
    return home / "budget" / "ledger.db"


def open_ledger(settings: Settings) -> SqlAlchemyBudget:
    """The ledger of model calls, with the caps that are set."""
    block = settings.model
    caps = Caps(daily=0)
    if block is not None:
        caps = Caps(daily=_cap(block.daily_cap), per_namespace=_cap(block.namespace_cap))
    return SqlAlchemyBudget(ledger_path(settings.home), caps)


def _model_extractor(settings: Settings, block: ModelSetting) -> ModelExtractor:
    caller = Caller(Chat(provider_of(block)), open_ledger(settings))
    return ModelExtractor(caller, mode=settings.provenance, least=block.prelook, seconds=window_seconds(block))


def provider_of(block: ModelSetting) -> Provider:
    """Raises ConfigurationError."""
    prices = None
    if block.price_in is not None and block.price_out is not None:
        prices = Prices.per_million(block.price_in, block.price_out)
    return provider(
        model=block.name,
        preset=block.preset,
        base_url=block.base_url,
        mode=block.mode,
        tokens_field=block.tokens_field,
        api_key=None if block.api_key is None else block.api_key.get_secret_value(),
        seconds=block.timeout,
        most_out=block.max_tokens,
        temperature=block.temperature,
        extra=block.extra,
        prices=prices,
    )


def _block(settings: Settings) -> ModelSetting:
    if settings.model is None:
        raise ConfigurationError("extractor = model needs a [model] block: at least preset or base_url, and name")
    return settings.model


def _cap(amount: Decimal | None) -> int | None:
    return None if amount is None else pico(amount)
