"""The grey zone of this deployment's live read models, and the chat model that judges it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

from taishi.commands.dedup_audit import Audited, audit_grey_zone
from taishi.ingest.errors import ConfigurationError
from taishi.ingest.model.calls import Caller
from taishi.ingest.model.chat import Chat
from taishi.ingest.model.pair_audit import MOST_PAIRS, Pair, PairAudit
from taishi.projections.grey_zone import GreyPair, grey_pairs

from .event_log import opened_log
from .extraction import open_ledger, provider_of
from .generations import is_founded, live_folder
from .settings import Settings

log_: Final = logging.getLogger(__name__)
JOB: Final = "dedup-audit"


def grey_zone(settings: Settings, *, namespace: str | None = None) -> Iterator[GreyPair]:
    """What nobody has given a verdict on."""
    if is_founded(settings.home):
        folder = live_folder(settings.home)
        for partition in range(settings.partitions):
            yield from grey_pairs(folder, partition, namespace=namespace)


def run_audit(
    settings: Settings, *, namespace: str | None = None, done: Callable[[int], None] = lambda _: None
) -> Audited:
    """Raises ConfigurationError where no model is set, Unavailable."""
    if settings.model is None:
        raise ConfigurationError("the audit asks a chat model: set a [model] block", field="model")
    budget = open_ledger(settings)
    chat = Chat(provider_of(settings.model))
    audit = PairAudit(Caller(chat, budget), seconds=2 * settings.model.timeout)

    def judge(namespace: str, pairs: Sequence[GreyPair]) -> tuple[Sequence[bool], Mapping[str, Any]]:
        asked = [Pair(pair.subject, pair.predicate, pair.values) for pair in pairs]
        verdicts, bill = audit.judge(namespace, asked)
        return verdicts, bill.facts()

    with closing(budget), closing(chat), opened_log(settings) as (log, _):
        return audit_grey_zone(log, grey_zone(settings, namespace=namespace), judge, at_once=MOST_PAIRS, done=done)


def audit_job(settings: Settings) -> None:
    """The upkeep job: what waits is asked about at the next run."""
    audited = run_audit(settings)
    if audited.waits is not None:
        log_.warning("the audit of near copies waits: %s", audited.waits)
