"""kill -9 inside backup and restore, at named points and at random moments: each is completed when it is run again.

    python -P -m tests.crash.backup_kills [--random 40] [--each-point 5] [--seed N]

Works on a log of some thousand entries. After every kill the command is run again and what came of it is judged: a
backup can be restored to the very log; a restore holds all that was kept and nothing that was forgotten.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from taishi.deploy.backup.folders import default_keys_folder
from taishi.deploy.backup.key_copy import keystore_file
from taishi.deploy.backup.log_server import own_server
from taishi.deploy.backup.making import make_backup
from taishi.deploy.backup.marker import MARKER
from taishi.deploy.backup.restore import restore
from taishi.deploy.settings import Settings
from taishi.ingest import crashpoints
from taishi.ingest.crashpoints import BACKUP_POINTS, RESTORE_POINTS
from tests.support.lived_home import LivedHome
from tests.support.valkey_server import ValkeyServer

KEPT, FORGOTTEN = 900, 100


def killed(work: Callable[[], object], folder: Path, *, at: str | None = None, nth: int = 1, after: float = 0) -> bool:
    """Runs `work` in a child that dies at a point, or `after` some seconds. False where it was done before."""
    child = os.fork()
    if child == 0:
        try:
            if at is not None:
                os.environ["TAISHI_CRASH_FILE"] = str(folder / "deaths")
                crashpoints._name, crashpoints._left = at, nth
            work()
            os._exit(0)
        except BaseException as e:
            print(f"{type(e).__name__}: {e}", file=sys.stderr, flush=True)
            os._exit(1)
    if at is None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, status
    return os.WIFSIGNALED(status)


class Stage:
    """A home whose log was backed up (`older`), and from which things were forgotten after that."""

    def __init__(self, folder: Path, server: ValkeyServer) -> None:
        self.folder = folder
        self._server = server
        self.home = LivedHome(folder / "home", server.url + "?db=0")
        for n in range(10):
            self.home.say(*(f"kept {n} {i}" for i in range(KEPT // 10)), namespace=f"n{n}")
        doomed = [
            self.home.say(*(f"doomed {n} {i}" for i in range(FORGOTTEN // 10)), namespace=f"n{n}") for n in range(10)
        ]
        self.home.fold()
        make_backup(self.home.settings, folder / "older")
        for events in doomed:
            self.home.forget(*events)
        self.home.fold()
        self.kept = [text for text in self.home.texts() if text is not None]
        assert len(self.kept) == KEPT

    def backup(self, number: int) -> tuple[Path, Callable[[], object]]:
        """A backup that adds to a copy of the older one."""
        target = self.folder / f"b{number}"
        for suffix in ("", "-keys"):
            shutil.copytree(self.folder / f"older{suffix}", self.folder / f"b{number}{suffix}")
        return target, lambda: make_backup(self.home.settings, target)

    def judge_backup(self, target: Path, number: int) -> None:
        for folder in (target, default_keys_folder(target)):
            assert not list(folder.rglob("*.partial"))
        settings, work = self.restore(number, source=target)
        work()
        self.judge_restore(settings)

    def restore(self, number: int, *, source: Path | None = None) -> tuple[Settings, Callable[[], object]]:
        """A restore, of the older backup unless told, with the newest ledger, into an embedded server of its own."""
        settings = Settings(home=self.folder / f"r{number}", embedder="off")
        ledger = self.home.settings.ledger
        return settings, lambda: restore(settings, source or self.folder / "older", ledger=ledger)

    def judge_restore(self, settings: Settings) -> None:
        with own_server(settings) as reached:
            there = LivedHome(settings.home, reached.redis_url or "")
            texts = there.texts()
            there.close()
        assert sorted(t for t in texts if t is not None) == sorted(self.kept)
        assert texts.count(None) == FORGOTTEN
        shutil.rmtree(settings.home)


def at_point(stage: Stage, point: str, number: int, *, nth: int = 1) -> bool:
    """Whether it died there."""
    if point in BACKUP_POINTS:
        target, work = stage.backup(number)
        died = killed(work, stage.folder, at=point, nth=nth)
        work()
        stage.judge_backup(target, number)
    else:
        settings, work = stage.restore(number)
        died = killed(work, stage.folder, at=point, nth=nth)
        if died:
            work()
        stage.judge_restore(settings)
    return died


def at_random(stage: Stage, number: int, rng: random.Random, *, longest: float) -> int:
    """A backup or a restore, killed up to three times in a row and then left to finish. How often it was killed."""
    if number % 2:
        target, work = stage.backup(number)
        died = sum(killed(work, stage.folder, after=rng.uniform(0.01, longest)) for _ in range(rng.randint(1, 3)))
        work()
        stage.judge_backup(target, number)
        return died
    settings, work = stage.restore(number)
    died = 0
    for _ in range(rng.randint(1, 3)):
        if not killed(work, stage.folder, after=rng.uniform(0.01, longest)):
            break
        died += 1
    if (settings.home / MARKER).exists() or not keystore_file(settings.keystore).exists():
        work()
    stage.judge_restore(settings)
    return died


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--random", type=int, default=40)
    ap.add_argument("--each-point", type=int, default=5)
    ap.add_argument("--seed", type=int, default=int(time.time()))
    args = ap.parse_args()
    print(f"seed {args.seed}", flush=True)
    rng = random.Random(args.seed)
    server = ValkeyServer().start()
    number = 0
    try:
        with tempfile.TemporaryDirectory(prefix="bk") as folder:
            stage = Stage(Path(folder), server)
            for point in (*BACKUP_POINTS, *RESTORE_POINTS):
                deaths = 0
                for _ in range(args.each_point):
                    number += 1
                    nth = rng.randint(1, 3) if point == "batch_restored" else 1
                    deaths += at_point(stage, point, number, nth=nth)
                print(point, f"{deaths} deaths, all completed", flush=True)
            deaths = 0
            for _ in range(args.random):
                number += 1
                deaths += at_random(stage, number, rng, longest=0.4)
            print("random", f"{deaths} kills in {args.random} backups and restores, all completed", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
