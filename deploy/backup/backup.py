"""Making a backup, while everything runs: a copy of the read models, a new part of the log, a copy of the key store.

In this order, so that whatever a later step holds covers the earlier ones: the log goes beyond the read models, the
keys and the ledger beyond the log. Each step ends in a folder that is whole or is not there. A later backup into the
same folder adds what the log has gained since; read models and keys are copied whole, and older copies go.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taishi.ingest.chain import GENESIS
from taishi.ingest.crashpoints import reach
from taishi.ingest.durable_files import write_durably
from taishi.ingest.errors import ConfigurationError, RestoreRefused
from taishi.ingest.segments import SegmentName
from taishi.ingest.signatures import Signer
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.stored_entries import StoredEntries

from ..generations import Generations, is_founded
from ..server import DirectoryLock
from .copies import copy_database
from .folders import (
    GENERATIONS_FILE,
    Draft,
    discard_partial,
    ledger_copy,
    log_parts,
    model_copies,
    numbered,
    read_manifest,
    remove_folder,
)
from .key_copy import KEYS_FILE, LEDGER_FILE, last_key
from .log_part import write_segment
from .manifest import Manifest
from .model_copy import SECRET, copy_models, forgets_since

Progress = Callable[[str, int, int], None]
"""What is being done, how much of it is done, of how much."""
_TRIES: Final = 20
_PAUSE: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is backed up: `keystore` and `ledger` are files, `home` holds the read models."""

    stored: StoredEntries
    heads: Callable[[], Sequence[int]]
    keys: SqlAlchemyKeyStore
    keystore: Path
    ledger: Path
    home: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """What a backup did. `part` is the newest part of the log, `entries` what it gained, `models` whether the read
    models could be copied, `keys` the number of the key store's copy, `discarded` what an interrupted one had left."""

    part: int
    entries: int
    models: bool
    keys: int
    discarded: int


class BackupMaker:
    """`keep_keys` copies of the key store stay, `largest_part` entries of a partition are in one part at most. Two at a
    time cannot work on one folder."""

    def __init__(
        self,
        source: Source,
        folder: Path,
        keys_folder: Path,
        *,
        keep_keys: int = 2,
        largest_part: int = 250_000,
        tell: Progress = lambda *_: None,
    ) -> None:
        self._source: Final = source
        self._folder: Final = folder
        self._keys_folder: Final = keys_folder
        self._keep_keys: Final = keep_keys
        self._largest_part: Final = largest_part
        self._tell: Final = tell
        self._secret: Final = source.keys.secret("ledger")

    def make(self) -> Backup:
        """Raises BackupDamaged where the folder holds another deployment's backup or a damaged one, LogDamaged."""
        for folder in (self._folder, self._keys_folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = DirectoryLock(self._folder, seconds=60)
        try:
            parents = (log_parts(self._folder), model_copies(self._folder), self._keys_folder)
            discarded = sum(map(discard_partial, parents))
            before = [read_manifest(path, self._secret) for path in numbered(log_parts(self._folder))]
            last = before[-1] if before else None
            self._check_continues(last)
            models = self._copy_models()
            part, entries = self._add_parts(last)
            keys = self._copy_keys(part)
            self._rotate()
        finally:
            lock.release()
        return Backup(part=part, entries=entries, models=models, keys=keys, discarded=discarded)

    # -- read models

    def _copy_models(self) -> bool:
        """Not where the read models have not caught up with what was forgotten within some seconds."""
        if not is_founded(self._source.home):
            return False
        number = _after(model_copies(self._folder))
        for tried in range(_TRIES):
            self._tell("read models", tried, _TRIES)
            key = self._source.keys.passing_secret(SECRET)
            draft = Draft(model_copies(self._folder), number)
            folded = copy_models(self._source.home, draft.path, key=key)
            heads = self._source.heads()
            if not any(
                forgets_since(self._source.stored, p, after=min(upto, heads[p]), upto=heads[p])
                for p, upto in folded.items()
            ):
                break
            shutil.rmtree(draft.path)
            time.sleep(_PAUSE)
        else:
            return False
        reach("models_copied")
        draft.keep(_manifest("models", number, draft, {"heads": list(heads)}), self._secret)
        return True

    # -- the log

    def _add_parts(self, last: Manifest | None) -> tuple[int, int]:
        """The number of the newest part, and how many entries were added. A part is kept when it is full, so that a
        backup which is cut short has not worked for nothing."""
        heads = list(self._source.heads())
        begun = [0] * len(heads) if last is None else list(last.facts["upto"])
        total = sum(heads) - sum(begun)
        while last is None or last.facts["upto"] != heads:
            after = [0] * len(heads) if last is None else list(last.facts["upto"])
            upto = [min(head, a + self._largest_part) for head, a in zip(heads, after, strict=True)]
            last = self._add_part(last, upto, self._counted(sum(after) - sum(begun), total))
        return last.number, total

    def _counted(self, done: int, total: int) -> Callable[[int], None]:
        def count(more: int) -> None:
            nonlocal done
            done += more
            self._tell("log", done, total)

        return count

    def _add_part(self, last: Manifest | None, upto: Sequence[int], done: Callable[[int], None]) -> Manifest:
        number = 1 if last is None else last.number + 1
        after = [0] * len(upto) if last is None else list(last.facts["upto"])
        chains = [GENESIS] * len(upto) if last is None else [bytes.fromhex(c) for c in last.facts["chain_upto"]]
        digests = [""] * len(upto) if last is None else list(last.facts["digests"])
        draft = Draft(log_parts(self._folder), number)
        register = Generations(self._source.home).path
        if register.exists():
            (draft.path / GENERATIONS_FILE).write_bytes(register.read_bytes())
        ends, signer = list(chains), Signer.of(self._source.keys)
        for partition, end in enumerate(upto):
            if end > after[partition]:
                name = SegmentName(partition=partition, first=after[partition] + 1, last=end)
                ends[partition], entry = write_segment(
                    self._source.stored, draft.path, name, chain=chains[partition], signer=signer, done=done
                )
                digests[partition] = entry.digest.hex()
        facts = {
            "after": after, "upto": list(upto),
            "chain_after": [c.hex() for c in chains], "chain_upto": [c.hex() for c in ends], "digests": digests,
        }  # fmt: skip
        manifest = _manifest("log", number, draft, facts)
        draft.keep(manifest, self._secret)
        reach("part_kept")
        return manifest

    def _check_continues(self, last: Manifest | None) -> None:
        """Raises RestoreRefused where the log is not the one whose beginning the folder holds."""
        if last is None:
            return
        heads = self._source.heads()
        if len(last.facts["upto"]) != len(heads):
            raise ConfigurationError(f"{self._folder} holds a log of {len(last.facts['upto'])} partitions")
        for partition, (upto, digest) in enumerate(zip(last.facts["upto"], last.facts["digests"], strict=True)):
            shorter = upto > heads[partition]
            if shorter or (upto and self._source.stored.at(partition, [upto])[0].digest.hex() != digest):
                raise RestoreRefused(
                    f"the log is not the one that {self._folder} holds (they part before p{partition}:{upto}): an "
                    "older one was put back, or it is another; back it up into a new folder"
                )

    # -- keys

    def _copy_keys(self, part: int) -> int:
        number = _after(self._keys_folder)
        self._tell("keys", 0, 1)
        draft = Draft(self._keys_folder, number)
        copy_database(self._source.keystore, draft.path / KEYS_FILE)
        ledger = self._source.ledger.read_bytes() if self._source.ledger.exists() else b""
        ledger = ledger[: ledger.rfind(b"\n") + 1]
        (draft.path / LEDGER_FILE).write_bytes(ledger)
        reach("keys_copied")
        facts = {"part": part, "last_key": last_key(draft.path / KEYS_FILE)}
        draft.keep(_manifest("keys", number, draft, facts), self._secret)
        write_durably(ledger_copy(self._folder), ledger)
        self._tell("keys", 1, 1)
        reach("keys_kept")
        return number

    def _rotate(self) -> None:
        for folder in numbered(model_copies(self._folder))[:-1]:
            remove_folder(folder)
        for folder in numbered(self._keys_folder)[: -self._keep_keys]:
            remove_folder(folder)


def _after(parent: Path) -> int:
    """The number of the next folder."""
    there = numbered(parent)
    return int(there[-1].name) + 1 if there else 1


def _manifest(kind: Any, number: int, draft: Draft, facts: dict[str, Any]) -> Manifest:
    return Manifest(kind=kind, number=number, made_at=time.time_ns() // 1_000, files=draft.sums(), facts=facts)
