"""After a forget, a search for the words over every file Taishi owns finds nothing; what was kept is still recalled.

    python -P -m tests.scenario.test_canaries [--count 200]

prints what the long form found.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import redis

from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog
from tests.support.canaries import canaries, files_of, found_in, found_in_indexes, is_han
from tests.support.running import RunningTaishi

NAMESPACES = ("aviary", "鸟舍")
WAYS = ("message", "note", "remembered", "long", "metadata", "speaker", "shared", "session", "subject", "reason")
UNSEEN = ("metadata", "speaker", "reason")
"""Ways by which a canary is in the log, and is not what recall looks for."""


@dataclass
class Bird:
    """A canary, how it came in and by what it goes."""

    name: str
    way: str
    namespace: str
    forgotten: bool
    other: str = ""
    event_id: str = ""
    memory_id: str = ""


@dataclass
class Aviary:
    taishi: RunningTaishi
    birds: list[Bird]
    folders: list[Path] = field(default_factory=list)
    receipts: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.write = httpx.Client(base_url=self.taishi.write, timeout=30)
        self.read = httpx.Client(base_url=self.taishi.read, timeout=30)

    @property
    def gone(self) -> list[Bird]:
        return [bird for bird in self.birds if bird.forgotten]

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        reply = self.write.post(path, json=body)
        assert reply.is_success, reply.text
        return dict(reply.json())

    def cli(self, *arguments: str) -> dict[str, Any]:
        done = self.taishi.cli(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    # the steps of a memory's life, one function each

    def ingest(self) -> None:
        for number, bird in enumerate(self.birds):
            self._ingest(number, bird)
        for namespace in NAMESPACES:
            self.taishi.settle(namespace)

    def _ingest(self, number: int, bird: Bird) -> None:
        likes = f"我喜欢{bird.name}。" if is_han(bird.name) else f"I like {bird.name}."
        event: dict[str, Any] = {"namespace": bird.namespace, "content": likes, "session": f"s{number}"}
        match bird.way:
            case "remembered" | "subject" | "reason":
                about = {"remembered": ("user", bird.name), "subject": (bird.name, "tea")}
                subject, value = about.get(bird.way, ("user", f"lemonade number {number}"))
                memory = {"namespace": bird.namespace, "subject": subject, "predicate": "likes", "value": value}
                bird.memory_id = self.post("/v1/memories", memory)["memory_id"]
                if bird.way == "reason":
                    wrong = {"namespace": bird.namespace, "was": "wrong", "reason": f"that was {bird.name}"}
                    self.post(f"/v1/memories/{bird.memory_id}/correct", wrong)
                return
            case "note":
                event["content"] = f"The shed's code word of row {number} is {bird.name}"
            case "long":
                filler = " ".join(f"Row {number} of the ledger was counted on shelf {n}." for n in range(60))
                event["content"] = f"{filler} {likes} {filler}"
            case "metadata":
                event |= {"content": f"Lamp {number} was replaced", "metadata": {"colour": bird.name}}
            case "speaker":
                event |= {"content": f"Door {number} sticks", "actor": {"id": f"a{number}", "name": bird.name}}
            case "shared":
                event["content"] = likes + (f"我养了{bird.other}。" if is_han(bird.name) else f" I own a {bird.other}.")
        bird.event_id = self.post("/v1/events", {"events": [event]})["accepted"][0]["event_id"]

    def recall(self, bird: Bird, name: str) -> list[dict[str, Any]]:
        """The memories that say it, as recall shows them (and tells the log that it did)."""
        asked = {"namespace": bird.namespace, "query": name, "limit": 5}
        reply = self.read.post("/v1/recall", json=asked)
        assert reply.status_code == 200, reply.text
        return [item for item in reply.json()["items"] if name in json.dumps(item, ensure_ascii=False)]

    def archive(self) -> None:
        self.cli("archive", "seal", "--keep", "20")

    def rebuild(self) -> None:
        number = self.cli("rebuild")["generation"]["number"]
        self.cli("activate", str(number))

    def backup(self, folder: Path) -> None:
        self.cli("backup", str(folder), "--keys", str(folder.with_name("keys")))
        self.folders += [folder, folder.with_name("keys")]

    def forget(self) -> None:
        for bird in self.gone:
            shown = [] if bird.way in UNSEEN else self.recall(bird, bird.name)
            match bird.way:
                case "subject":
                    receipt = self._forget_scope(bird, {"subject": bird.name})
                case "session":
                    receipt = self._forget_scope(bird, {"session": f"s{self.birds.index(bird)}"})
                case "metadata" | "speaker" | "note":
                    receipt = self._forget(bird, bird.event_id)
                case "shared":
                    claims = [item for item in shown if item["kind"] == "claim" and bird.name in item["text"]]
                    receipt = self._forget(bird, claims[0]["id"])
                case _:
                    receipt = self._forget(bird, bird.memory_id or shown[0]["id"])
            assert receipt["read_models"] == "dropped", receipt
            self.receipts.append(receipt)

    def prove(self) -> None:
        """Receipts, by `taishi forget --verify` and over HTTP."""
        path = self.taishi.home.with_name("receipt.json")
        path.write_text(json.dumps({"receipt": self.receipts[0]}))
        assert self.cli("forget", "--verify", str(path))["proved"]
        for receipt in self.receipts:
            proof = self.post("/v1/forget/verify", {"receipt": receipt})
            assert proof["proved"], proof

    def _forget(self, bird: Bird, memory_id: str) -> dict[str, Any]:
        reply = self.write.delete(f"/v1/memories/{memory_id}", params={"namespace": bird.namespace})
        assert reply.status_code == 200, reply.text
        return dict(reply.json()["receipt"])

    def _forget_scope(self, bird: Bird, scope: dict[str, Any]) -> dict[str, Any]:
        body = {"namespace": bird.namespace, **scope}
        return dict(self.post("/v1/forget", {**body, "confirm": self.post("/v1/forget", body)["confirm"]})["receipt"])

    # where they may be

    def search(self) -> dict[str, set[str]]:
        """Forgotten canary → files in which it stands."""
        names = [bird.name for bird in self.gone]
        found = found_in(files_of(self.taishi.home, *self.folders), names)
        models = [path for path in files_of(self.taishi.home / "models") if path.suffix == ".db"]
        for name, files in found_in_indexes(models, names).items():
            found.setdefault(name, set()).update(files)
        return found

    def readable(self) -> set[str]:
        """Forgotten canaries in bodies that a reader of the log with the key store still can open."""
        keys = SqlAlchemyKeyStore(f"sqlite:///{self.taishi.home / 'keys' / 'keys.db'}")
        log = ValkeyLog(self.taishi.log_url, keys=keys)
        bodies: list[str] = []
        for partition in range(log.partitions):
            for event in _tail(log, partition):
                if event.body is not None:
                    bodies.append(json.dumps(event.body, ensure_ascii=False))
        log.close()
        keys.close()
        whole = "\n".join(bodies)
        return {bird.name for bird in self.gone if bird.name in whole}

    def rewrite(self) -> None:
        with redis.Redis.from_url(self.taishi.log_url) as client:
            client.bgrewriteaof()
            while client.info("persistence")["aof_rewrite_in_progress"]:
                time.sleep(0.02)

    def lost(self) -> list[Bird]:
        """Kept canaries that recall does not find any more."""
        kept = [bird for bird in self.birds if not bird.forgotten and bird.way not in UNSEEN]
        shared = [bird for bird in self.gone if bird.way == "shared"]
        return [b for b in kept if not self.recall(b, b.name)] + [b for b in shared if not self.recall(b, b.other)]


def _tail(log: ValkeyLog, partition: int) -> list[Any]:
    """What the server still holds of a partition."""
    head = log.head(partition)
    first = max(0, head - 20)
    return list(log.read(partition, after=first, limit=50))


def hatch(count: int) -> list[Bird]:
    names = canaries(2 * count, seed=count)
    return [
        Bird(
            name=names[n],
            other=names[count + n],
            way=WAYS[(n // 2) % len(WAYS)],
            namespace=NAMESPACES[n % 3 % 2],
            forgotten=(n // (2 * len(WAYS))) % 2 == 0,
        )
        for n in range(count)
    ]


def fly(folder: Path, count: int, tell: Callable[[str], None] = print, **settings: str) -> Aviary:
    """The whole life: the aviary after everything, with nothing left of the forgotten. Raises AssertionError."""
    taishi = RunningTaishi(folder / "home", "--no-story", embedder="hashed", **settings).wait_until_up()
    try:
        aviary = Aviary(taishi, hatch(count))
        aviary.ingest()
        tell(f"{len(aviary.birds)} came in")
        aviary.archive()
        before = aviary.search()
        seen = {bird.name for bird in aviary.gone if bird.way != "reason"}
        assert seen <= before.keys(), f"the search is blind to {len(seen - before.keys())} of {len(seen)}"
        aviary.forget()
        tell(f"{len(aviary.gone)} are forgotten")
        assert not aviary.search(), aviary.search()
        assert not aviary.readable()
        aviary.prove()
        aviary.rebuild()
        aviary.archive()
        aviary.backup(folder / "copy")
        aviary.rewrite()
        assert not aviary.search(), aviary.search()
        assert not aviary.readable()
        lost = aviary.lost()
        assert not lost, [(bird.way, bird.name, bird.other, bird.forgotten) for bird in lost]
        tell("none of them is left in any file, and the others are recalled")
        return aviary
    finally:
        taishi.stop()


def test_nothing_is_left_of_what_was_forgotten(tmp_path: Path) -> None:
    aviary = fly(tmp_path, 40)
    assert not aviary.search(), "stopped, and looked at once more"


def test_without_encryption_the_log_alone_keeps_the_words_and_the_receipt_says_so(tmp_path: Path) -> None:
    """What remains where with `encryption = "off"`: bodies in the server's append-only files, nothing anywhere else."""
    taishi = RunningTaishi(tmp_path / "home", "--no-story", embedder="hashed", encryption="off").wait_until_up()
    try:
        aviary = Aviary(taishi, hatch(20))
        aviary.ingest()
        aviary.forget()
        aviary.rewrite()
        left = aviary.search()
        assert {bird.name for bird in aviary.gone} == left.keys()
        assert {name.rpartition(".")[2] for files in left.values() for name in files} == {"aof"}
        assert not aviary.readable(), "every reader of the log is told that it is erased"
        assert not aviary.lost()
        receipt = aviary.receipts[0]
        assert receipt["unencrypted"] and not receipt["counts"]["keys_destroyed"]
        proof = aviary.post("/v1/forget/verify", {"receipt": receipt})
        assert not proof["proved"] and "never encrypted" in proof["checks"]["bodies"]
        assert {said for name, said in proof["checks"].items() if name != "bodies"} == {"ok"}
    finally:
        taishi.stop()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=200)
    given = options.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="taishi-") as folder:
        fly(Path(folder), given.count, lambda said: print(f"[{time.monotonic() - began:5.1f} s] {said}", flush=True))


if __name__ == "__main__":
    main()
