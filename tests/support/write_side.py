"""A write API in this process, over a real log of one partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.testclient import TestClient

from taishi.commands.http import create_app
from taishi.ingest.access import ApiKey
from taishi.ingest.envelope import Event
from taishi.ingest.extractor import Extractor
from taishi.ingest.ledger import Ledger
from taishi.ingest.registry import default_registry

from .log_directory import LogDirectory
from .watched_log import WatchedKeys, WatchedLog, empty_database

SECRET = "tr0ub4dor"


def redact(text: str) -> tuple[str, Sequence[str]]:
    """Stands for the real one: knows one secret."""
    return (text.replace(SECRET, "[secret]"), ("password",)) if SECRET in text else (text, ())


@dataclass(frozen=True, slots=True)
class WriteSide:
    http: TestClient
    log: WatchedLog
    keys: WatchedKeys
    ledger: Ledger
    directory: LogDirectory

    def post(self, path: str, body: Any, status: int = 202) -> dict[str, Any]:
        reply = self.http.post(path, json=body)
        assert reply.status_code == status, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def last(self, count: int = 1) -> list[Event]:
        return self.log.events[-count:]


@contextmanager
def write_side(
    *, api_keys: Sequence[ApiKey] = (), reader: Extractor | None = None, kind: type[WatchedLog] = WatchedLog
) -> Iterator[WriteSide]:
    with TemporaryDirectory() as folder, empty_database() as url:
        keys = WatchedKeys(Path(folder))
        log = kind(url, keys)
        directory = LogDirectory(log)
        ledger = Ledger(Path(folder) / "ledger.jsonl", keys.secret("ledger"))
        app = create_app(
            log=log, keys=keys, ledger=ledger, directory=directory, registry=default_registry(),
            redact=redact, reader=reader, api_keys=api_keys,
        )  # fmt: skip
        with TestClient(app, raise_server_exceptions=False) as http:
            yield WriteSide(http, log, keys, ledger, directory)
        log.close()
        keys.close()
