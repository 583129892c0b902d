"""Logs of the processes: one file each, a JSON object a line, never with a message body, a key or a token in it.

Taishi's own errors are written for logs. Other libraries' exceptions may quote the data that they choked on, so of
those only the type and the place are written.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Final

import orjson

from taishi.ingest.errors import TaishiError
from taishi.ingest.instants import SECOND, render

_LARGEST: Final = 16 * 1024 * 1024  # bytes; a larger file is set aside when its process starts


def describe(error: BaseException) -> str:
    """One line that is safe to write."""
    if isinstance(error, TaishiError | OSError):
        return f"{type(error).__name__}: {error}"
    return type(error).__name__


def describe_trace(error: BaseException) -> str:
    """Places and kinds of an error and its causes, without what other libraries say in it."""
    lines: list[str] = []
    link: BaseException | None = error
    while link is not None:
        frames = traceback.extract_tb(link.__traceback__)
        lines += [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        lines.append(describe(link))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\n".join(lines)


class _Lines(logging.Formatter):
    """`at` (ISO 8601, UTC), `level`, `process`, `logger`, `message`, and `trace` where an error came with it."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": render(int(record.created * SECOND)),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["trace"] = describe_trace(record.exc_info[1])
        return orjson.dumps(line).decode()


def start_logging(path: Path) -> None:
    """Sends this process's log, standard output and standard error to `path`."""
    if path.exists() and path.stat().st_size > _LARGEST:
        path.replace(path.with_suffix(".log.1"))
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    handler = WatchedFileHandler(path, encoding="utf-8")
    handler.setFormatter(_Lines(path.stem))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.raiseExceptions = False  # a log that cannot be written must not fail what it tells of
    for noisy in ("httpx", "httpcore", "jieba"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    threading.excepthook = lambda args: _log_uncaught(args.exc_value)
    sys.excepthook = lambda _kind, error, _trace: _log_uncaught(error)


def _log_uncaught(error: BaseException | None) -> None:
    if error is not None:
        write_line(error)


def write_line(error: BaseException) -> None:
    """The error that ends a process or a thread."""
    logging.getLogger("taishi").error("ended by an error", exc_info=error)
