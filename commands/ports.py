"""What every command works with, put together once by the composition root."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import ParamSpec, TypeVar

from taishi.ingest.errors import NotCaughtUp, Unavailable
from taishi.ingest.extractor import Extractor
from taishi.ingest.keys import KeyStore
from taishi.ingest.ledger import Ledger
from taishi.ingest.log import EventLog
from taishi.ingest.registry import Registry
from taishi.ingest.slots import Fingerprints

from .contract import Redactor, is_naive
from .directory import ClaimDirectory
from .group_commit import GroupCommit
from .pressure import Pressure
from .turns import Turns

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """`reader` reads a memory given as text without any network, or is None. `clock` is instants, for defaults only.
    `extraction` is the extraction generation that is live.

    Whatever blocks (directory, keys, ledger, reads of the log) goes through `call`; appends go through `commits`.
    """

    log: EventLog
    commits: GroupCommit
    keys: KeyStore
    ledger: Ledger
    directory: ClaimDirectory
    registry: Registry
    fingerprints: Fingerprints
    redact: Redactor
    reader: Extractor | None
    pressure: Pressure
    extraction: Callable[[], int]
    clock: Callable[[], int]
    threads: Executor
    turns: Turns

    async def call(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.threads, lambda: function(*args, **kwargs))

    async def zone_for(self, namespace: str, *times: str | None) -> tzinfo:
        """The zone in which the naive ones among `times` are read. Raises Unavailable when it cannot be known now."""
        if not any(map(is_naive, times)):
            return UTC
        try:
            await self.call(self.directory.settled, namespace)
        except NotCaughtUp:
            raise Unavailable("the namespace's time zone is not known now: give an offset, or try again") from None
        return await self.call(self.directory.zone, namespace)
