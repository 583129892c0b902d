"""What /metrics of the write side tells beside its requests: extraction, what models cost, the server's memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from taishi.ingest.errors import TaishiError
from taishi.ingest.outbox import Outbox
from taishi.ingest.server_memory import ServerMemory
from taishi.ingest.spending import spending

from .extraction import ledger_path, open_ledger
from .generations import live_extraction, outbox_path
from .settings import Settings

_log: Final = logging.getLogger(__name__)


class DeploymentMetrics(Collector):
    """Measured when they are asked for; what cannot be measured is left out and logged."""

    def __init__(self, settings: Settings, *, memory: Callable[[], ServerMemory]) -> None:
        self._settings = settings
        self._memory = memory
        self._path: Path | None = None
        self._outbox: Outbox | None = None

    def collect(self) -> Iterator[Metric]:
        for measure in (self._windows, self._spent, self._server):
            try:
                yield from measure()
            except (TaishiError, SQLAlchemyError) as e:
                _log.warning("%s is not measured: %s", measure.__name__.strip("_"), type(e).__name__)

    def _windows(self) -> Iterator[Metric]:
        path = outbox_path(self._settings.home, live_extraction(self._settings.home))
        if not path.exists():
            return
        if path != self._path:  # another generation answers now
            self._path, self._outbox = path, Outbox(path)
        family = GaugeMetricFamily("taishi_extraction_windows", "Windows not yet extracted", labels=("state",))
        assert self._outbox is not None
        for state, count in self._outbox.counts().items():
            family.add_metric((state,), count)
        yield family

    def _spent(self) -> Iterator[Metric]:
        if not ledger_path(self._settings.home).exists():
            return
        today = datetime.now(UTC).date()
        ledger = open_ledger(self._settings)
        try:
            rows = spending(ledger.calls(since=today), ledger.refusals(since=today))
        finally:
            ledger.close()
        cost = GaugeMetricFamily("taishi_model_cost_today", "Spent today (UTC)", labels=("model",))
        calls = GaugeMetricFamily("taishi_model_calls_today", "Model calls today", labels=("model", "outcome"))
        totals: dict[str, dict[str, float]] = {}
        for (_, _, model), row in rows.items():
            told = row.to_json()
            into = totals.setdefault(model, {"cost": 0.0, "calls": 0.0, "failed": 0.0, "refused": 0.0})
            for name in into:
                into[name] += float(told[name])
        for model, told in totals.items():
            cost.add_metric((model,), told["cost"])
            for outcome, count in (
                ("done", told["calls"] - told["failed"]), ("failed", told["failed"]), ("refused", told["refused"]),
            ):  # fmt: skip
                calls.add_metric((model, outcome), count)
        yield from (cost, calls)
        cap = self._settings.model.daily_cap if self._settings.model else None
        if cap is not None:
            yield GaugeMetricFamily("taishi_model_daily_cap", "What may be spent a day", float(cap))

    def _server(self) -> Iterator[Metric]:
        used, limit = self._memory()
        yield GaugeMetricFamily("taishi_server_memory_bytes", "Memory the log's server holds", used)
        yield GaugeMetricFamily("taishi_server_memory_limit_bytes", "What it may hold; 0: not told", limit)
