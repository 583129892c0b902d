"""Named points at which a test may kill this process, as a power cut would.

`reach(name)` does nothing unless the environment says `TAISHI_CRASH_POINT=<name>:<nth>[:<times>]`: then the nth time
this process comes to that point it appends one line (`<name> <pid>`) to the file `TAISHI_CRASH_FILE` and sends itself
SIGKILL. With `times`, no process dies there once the file holds that many lines for the point, so that a supervisor may
start it again in the same environment. The points:

`key_minted`  a block of keys is durable, none was used      `appended`   the log took a batch, nobody was told
`outboxed`    windows and outbox are committed, not queued   `enqueued`   a job is queued, its windows are not marked
`extracted`   claims are read, not appended                  `folded`     a fold is committed, its worker goes on
`tombstoned`  a tombstone is in the log, its keys are there  `destroyed`  they are not, the ledger knows nothing
`ledgered`    the ledger has a line, not fsynced             `unscrubbed` a fold forgot, old pages are still there
`owed`        words read late are forgotten, the log does not know yet
`models_copied` `part_written` `keys_copied`  a folder of a backup is filled (a part: with some entries), not kept yet
`part_kept` `keys_kept`                       it is kept, the backup goes on
`segment_written` a segment has its name, no manifest yet    `segment_sealed` it has one, the log does not tell of it
`segment_told`    the log does, nothing was trimmed          `stream_trimmed` what was sealed is out of the server
`due_found`   it is known what fades, nobody was told        `faded`      a batch of that is in the log, more is to come
`rebuilt`     a batch of a build is committed, it goes on    `slice_built`     a slice is done, the register says not
`registered`  the register names another live generation, readers still see the old one
`keys_restored` `batch_restored` `tombstones_restored` `models_restored`   a restore did that, and goes on
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final

POINTS: Final = ("key_minted", "appended", "outboxed", "enqueued", "extracted", "folded")
FORGETTING_POINTS: Final = ("tombstoned", "destroyed", "ledgered", "unscrubbed", "owed")
BACKUP_POINTS: Final = ("models_copied", "part_written", "part_kept", "keys_copied", "keys_kept")
LIFECYCLE_POINTS: Final = ("due_found", "faded")
SEALING_POINTS: Final = ("segment_written", "segment_sealed", "segment_told", "stream_trimmed")
RESTORE_POINTS: Final = ("keys_restored", "batch_restored", "tombstones_restored", "models_restored")
REBUILD_POINTS: Final = ("rebuilt", "slice_built", "registered")

_name, _, _count = os.environ.get("TAISHI_CRASH_POINT", "").partition(":")
_nth, _, _times = _count.partition(":")
_left = int(_nth or 1)


def reach(name: str) -> None:
    """Dies here if the environment names this point, else returns at once."""
    if name == _name:
        _count_down()


def _count_down() -> None:
    global _left
    _left -= 1
    if _left > 0:
        return
    path = Path(os.environ["TAISHI_CRASH_FILE"])
    if _times and path.exists():
        deaths_here = sum(1 for line in path.read_text().splitlines() if line.startswith(f"{_name} "))
        if deaths_here >= int(_times):
            return
    with path.open("a") as deaths:
        deaths.write(f"{_name} {os.getpid()}\n")
        deaths.flush()
        os.fsync(deaths.fileno())
    os.kill(os.getpid(), signal.SIGKILL)
