"""Files that are on disk when a call returns, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Returns when a file's content, or a folder's entries, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(path: Path, content: bytes) -> None:
    """Replaces the file as a whole; durable when it returns."""
    fresh = path.with_name(path.name + ".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
    sync(path.parent)
