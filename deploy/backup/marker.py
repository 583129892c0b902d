"""The mark of a restore that is under way: while it is there, nothing in the home may be served."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from taishi.ingest.errors import RestoreRefused

MARKER: Final = "restoring.json"


def refuse_unfinished(home: Path) -> None:
    """Raises RestoreRefused where a restore into this home was begun and not finished."""
    if (home / MARKER).exists():
        raise RestoreRefused(
            f"a restore into {home} was not finished: run `taishi restore` again, it goes on where it was"
        )
