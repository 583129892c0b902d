"""Whether the read side is warm and has its read models: what `/readyz` tells."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from typing import Final

from taishi.ingest.errors import TaishiError, Unavailable
from taishi.projections.analysis import Analyzer

from .meaning import Meaning
from .reading import ReadModels

_LOG: Final = logging.getLogger(__name__)


class Readiness:
    """Heavy parts load in `warm_up`, in a thread of its own; until then they are missing."""

    def __init__(self, models: ReadModels, analyzer: Callable[[], Analyzer], meaning: Meaning | None) -> None:
        self._models: Final = models
        self._analyzer: Final = analyzer
        self._meaning: Final = meaning
        self._warm: dict[str, bool] = {"analysis": False, "vectors": meaning is None}

    def missing(self) -> dict[str, str]:
        """What is not there yet, and why."""
        return {part: "warming" for part, is_warm in self._warm.items() if not is_warm} | self._unread()

    def _unread(self) -> dict[str, str]:
        try:
            for partition in range(self._models.partitions):
                self._models.at(partition).checkpoint()
        except Unavailable as e:
            return {"read_models": e.message}
        return {}

    def warm_up(self) -> None:
        self._analyzer().query("太史 writes")
        self._warm["analysis"] = True
        if self._meaning is not None:
            try:
                self._meaning.warm()
            except TaishiError as e:
                _LOG.error("the embedder cannot be loaded: %s", e.slug)
                return
            self._warm["vectors"] = True
        gc.collect()
        gc.freeze()  # what is loaded now stays: collections need not walk it again
