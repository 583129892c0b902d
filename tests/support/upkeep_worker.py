"""An upkeep worker that knows two jobs: `note` writes its number into a file, `die` kills the process the first time.

Usage: upkeep_worker.py JOBS_URL FOLDER
"""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taishi.ingest.rq_upkeep import run_worker


def main(url: str, folder: Path) -> None:
    def note(args: Mapping[str, Any]) -> None:
        with (folder / "notes").open("a") as notes:
            notes.write(f"{args['number']}\n")

    def die(args: Mapping[str, Any]) -> None:
        first = folder / "died"
        if not first.exists():
            first.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        note(args)

    run_worker({"note": note, "die": die}, url, burst=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
