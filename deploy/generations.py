"""Where the read models live: one folder per generation, and a file that names the live one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

FIRST: Final = "g1"


def models_folder(home: Path) -> Path:
    return home / "models"


def vectors_folder(home: Path) -> Path:
    """Vectors are keyed by content and model, and outlive a generation."""
    return home / "vectors"


def live_folder(home: Path) -> Path:
    """The live generation's folder, as it is now."""
    models = models_folder(home)
    return models / (models / "current").read_text("utf-8").strip()


def ensure_generation(home: Path) -> None:
    """Makes the folders, and the first generation the live one where there is none."""
    models = models_folder(home)
    for folder in (models, vectors_folder(home)):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    current = models / "current"
    if not current.exists():
        (models / FIRST).mkdir(mode=0o700, exist_ok=True)
        fresh = current.with_suffix(".new")
        fresh.write_text(FIRST + "\n", "utf-8")
        os.replace(fresh, current)
