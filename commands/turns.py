"""Turns: commands that look before they write do so one at a time within a namespace, so that two that exclude each
other are not both accepted. Between processes there are no turns: there is one write API to a log."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Final
from weakref import WeakValueDictionary


class Turns:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._locks: Final[WeakValueDictionary[str, asyncio.Lock]] = WeakValueDictionary()

    def of(self, namespace: str) -> AbstractAsyncContextManager[None]:
        """Entered once all that asked before have left."""
        lock = self._locks.get(namespace)
        if lock is None:
            lock = self._locks[namespace] = asyncio.Lock()
        return lock
