"""Embedding everything anew with the same model: asked for by a file in the vectors' folder, done by their process.

What is there goes on serving under another name until the new file has come as far.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from taishi.projections.vectors import set_aside

from .generations import vectors_folder

_LOOK_SECONDS: Final = 0.5


class EmbeddingAnew:
    def __init__(self, home: Path) -> None:
        self._folder: Final = vectors_folder(home)
        self._asked: Final = self._folder / "anew"

    def ask(self) -> None:
        self._asked.touch()

    def begin(self, *, model: str, partitions: int) -> None:
        """Before the files are opened: puts them aside where that was asked for."""
        if self._asked.exists():
            for partition in range(partitions):
                set_aside(self._folder, partition, model)
            self._asked.unlink()

    def watch(self, stop: threading.Event) -> None:
        """Sets `stop` when it is asked for: the process ends, and begins with it when it is started again."""
        threading.Thread(target=_watch, args=(self._asked.exists, stop), name="anew", daemon=True).start()


def _watch(asked: Callable[[], bool], stop: threading.Event) -> None:
    while not stop.wait(_LOOK_SECONDS):
        if asked():
            stop.set()
