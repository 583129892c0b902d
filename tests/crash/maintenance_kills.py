"""kill -9 inside maintenance, at named points and at random moments: it is completed when it is run again.

    python -P -m tests.crash.maintenance_kills [--each-point 10] [--random 20] [--seed N]

Every memory that is due is in the end said to fade, by one event; none twice, none that was not due.
"""

from __future__ import annotations

import argparse
import collections
import random
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from taishi.commands.lifecycle import maintain
from taishi.deploy import aging
from taishi.deploy.generations import ensure_generation, live_folder
from taishi.deploy.settings import Settings
from taishi.ingest.claims import Claim
from taishi.ingest.crashpoints import LIFECYCLE_POINTS
from taishi.ingest.envelope import NewEvent
from taishi.ingest.ids import new_id
from taishi.ingest.instants import DAY
from taishi.ingest.log import Batch
from taishi.ingest.registry import default_registry
from taishi.ingest.slots import Fingerprints, bind
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from taishi.projections.due import DueModel
from taishi.projections.worker import Projector
from tests.crash.backup_kills import killed
from tests.support.read_side import analyzer
from tests.support.valkey_server import ValkeyServer

FADING, LASTING = 900, 100


@dataclass
class Stage:
    """A log with memories that will have faded in three years, and some that never do; a projector that follows it."""

    server: ValkeyServer
    folder: Path

    def __post_init__(self) -> None:
        self.settings = Settings(home=self.folder, partitions=1)
        ensure_generation(self.folder)
        self.keys_url = f"sqlite:///{self.folder / 'keys.db'}"
        self.log = self.open_log()
        fingerprints = Fingerprints(b"k" * 32)
        said = [("likes", f"dish {n}") for n in range(FADING)]
        said += [("allergic_to", f"pollen {n}") for n in range(LASTING)]
        events = []
        for predicate, value in said:
            event_id, claim = new_id(), Claim(subject="user", predicate=predicate, value=value)
            facts = bind(
                claim, namespace="n", evidence=[event_id], known_from=None, strength=40, registry=default_registry(),
                fingerprints=fingerprints,
            )  # fmt: skip
            events.append(
                NewEvent(
                    event_id=event_id, type="claim.asserted", namespace="n", body=claim.to_body(),
                    facts={"claim": facts.to_header()},
                )
            )  # fmt: skip
        self.log.append(Batch(events=events))
        self.projector = Projector(
            log=self.log, folder=live_folder(self.folder), partitions=[0], analyzer=analyzer()
        )
        self.projector.catch_up()
        self.now = self.log.namespace_head("n").recorded_at + 1_200 * DAY

    def open_log(self) -> ValkeyLog:
        return ValkeyLog(self.server.url, keys=SqlAlchemyKeyStore(self.keys_url), partitions=1)

    def work(self) -> None:
        """One run of maintenance, in a process of its own."""
        with aging.aging(self.settings) as due:
            maintain(self.open_log(), due, now=self.now)

    def judge(self) -> None:
        self.projector.catch_up()
        self.work()
        self.projector.catch_up()
        events = [e for e in self.log.read(0, after=0, limit=100_000) if e.type == "claim.archived"]
        times = collections.Counter(claim_id for e in events for claim_id, _ in e.facts["claims"])
        assert len(times) == FADING and set(times.values()) == {1}, (len(times), times.most_common(2))
        model = DueModel(live_folder(self.folder), 0)
        assert model._rows("SELECT predicate, count(*) FROM claims WHERE archived_at IS NULL GROUP BY 1") == [
            ("allergic_to", LASTING)
        ]
        model.close()

    def close(self) -> None:
        self.projector.close()
        self.log.close()


def kills(*, each_point: int, at_random: int, seed: int) -> dict[str, int]:
    """How many kills there were, by where."""
    rng = random.Random(seed)
    told: collections.Counter[str] = collections.Counter()
    plan: list[str | None] = [point for _ in range(each_point) for point in LIFECYCLE_POINTS]
    plan += [None] * at_random
    while plan:
        server = ValkeyServer().start()
        with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
            stage = Stage(server, Path(folder))
            try:
                for _ in range(min(4, len(plan))):
                    point = plan.pop(0)
                    died = killed(stage.work, stage.folder, at=point, after=rng.uniform(0.02, 0.4))
                    told[point or "random"] += died
                    stage.projector.catch_up()
                    if point is not None and not died:  # all was said before: there is nothing left to die in
                        plan.insert(0, point)
                        break
                stage.judge()
            finally:
                stage.close()
                server.stop()
    return dict(told)


def two_at_once() -> None:
    """Two runs in two threads say all of it once."""
    server = ValkeyServer().start()
    with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
        stage = Stage(server, Path(folder))
        try:
            runs = [threading.Thread(target=stage.work) for _ in range(2)]
            for run in runs:
                run.start()
            for run in runs:
                run.join()
            stage.judge()
        finally:
            stage.close()
            server.stop()


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--each-point", type=int, default=10)
    ap.add_argument("--random", type=int, default=20)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    told = kills(each_point=args.each_point, at_random=args.random, seed=args.seed)
    print(f"{sum(told.values())} kills inside maintenance, each completed by the next run: {told}")


if __name__ == "__main__":
    main()
