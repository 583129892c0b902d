"""What /metrics of the read side tells beside its requests: how far each projection is behind, and what waits."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from taishi.ingest.envelope import Position
from taishi.ingest.errors import TaishiError
from taishi.ingest.instants import SECOND
from taishi.ingest.log import EventLog

from .reading import ReadModels
from .status import VectorsAt, whole_status

_LOG: Final = logging.getLogger(__name__)
_BY_PLACE: Final = ("projection", "partition")


class ReadMetrics(Collector):
    """Measured when they are asked for. While the log cannot be read there are none of them."""

    def __init__(
        self,
        models: ReadModels,
        log: EventLog,
        vectors: VectorsAt,
        *,
        now: Callable[[], int],
        dropped: Callable[[], int],
    ) -> None:
        """`now` is instants, `dropped` how many exposures were lost."""
        self._models = models
        self._log = log
        self._vectors = vectors
        self._now = now
        self._dropped = dropped

    def collect(self) -> Iterator[Metric]:
        try:
            yield from self._measured()
        except TaishiError as e:
            _LOG.warning("read models are not measured: %s", e.slug)

    def _measured(self) -> Iterator[Metric]:
        status = whole_status(self._models, self._log, self._vectors)
        heads = GaugeMetricFamily("taishi_log_head", "Sequence number of the last event", labels=("partition",))
        lag = GaugeMetricFamily("taishi_lag_events", "Events not yet folded", labels=_BY_PLACE)
        age = GaugeMetricFamily(
            "taishi_oldest_unapplied_seconds", "Age of the oldest event not yet folded, 0 where none", labels=_BY_PLACE
        )
        for name, at in status["positions"].items():
            heads.add_metric((name,), at["head"])
            for projection, read in (("claims", at["read"]), ("vectors", at["vectors"])):
                if read is None:
                    continue
                lag.add_metric((projection, name), max(at["head"] - read, 0))
                age.add_metric((projection, name), self._age(int(name[1:]), read, at["head"]))
        yield from (heads, lag, age)
        for name, told, value in (
            ("pending_extractions", "Raw events not yet extracted", status["pending_extractions"]),
            ("failed_extractions", "Raw events whose extraction failed", status["failed_extractions"]),
            ("dead_letters", "Events that could not be folded", status["dead_letters"]),
            ("exposures_dropped", "Recalls that the log did not take in time", self._dropped()),
        ):
            yield GaugeMetricFamily(f"taishi_{name}", told, value)
        live = GaugeMetricFamily("taishi_generation_info", "The generation that answers", labels=("generation",))
        live.add_metric((str(status["generation"]),), 1)
        yield live

    def _age(self, partition: int, read: int, head: int) -> float:
        """Seconds since the next event to fold was appended."""
        if read >= head:
            return 0.0
        event = self._log.fetch(Position(partition, read + 1))
        return max(self._now() - event.appended_at, 0) / SECOND
