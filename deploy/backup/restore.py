"""Restoring a backup into an empty home, so that nothing that was forgotten comes back.

Before anything can be read: the keys of every tombstone that any ledger in reach knows are destroyed in the copy of the
key store, which only then takes its place; the log is put back entry by entry; the tombstones that it lacks are said
again over it, so that their events never come back either; sealed read models are used only if no key was destroyed
since they were copied. A marker in the home keeps Taishi from starting until all of that is done. A restore that was
cut short is started again and goes on where it was.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

import orjson

from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.crashpoints import reach
from taishi.ingest.durable_files import sync, write_durably
from taishi.ingest.entries import StoredEntry
from taishi.ingest.envelope import FORGETTING_TYPES
from taishi.ingest.errors import BackupDamaged, ConfigurationError, RecordedBehind, RestoreRefused
from taishi.ingest.log import Batch
from taishi.ingest.sealing import TYPE as SEALED
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_restore import ValkeyRestore

from ..event_log import opened_log
from ..generations import Generations, generation_folder, models_folder, name_live
from ..settings import Settings
from .folders import GENERATIONS_FILE, default_keys_folder
from .key_copy import KEYS_FILE, keystore_file, mint_beyond, passing_secret_in
from .log_server import own_server
from .marker import MARKER
from .model_copy import SECRET, discard_models, put_back_models
from .restored_log import seal_again, write_ledger
from .tombstones import again, lacking
from .verified import KnownLedgers, VerifiedBackup, known_ledgers, verified

_BATCH: Final = 1_000
_ALLOWED: Final = frozenset({"taishi.toml", "lock", MARKER, MARKER + ".new", "logs", "run", "keys"})
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """`part` of the backup, `entries` put back (`resumed` of them by an earlier attempt), `tombstones` said again,
    `keys_destroyed` in the copy of the key store, `models` whether the read models' copies were used."""

    part: int
    entries: int
    resumed: int
    tombstones: int
    keys_destroyed: int
    models: bool


def restore(
    settings: Settings,
    folder: Path,
    *,
    keys_folder: Path | None = None,
    ledger: Path | None = None,
    through: int | None = None,
    without_newer_ledger: bool = False,
    tell: Progress = lambda *_: None,
) -> Restored:
    """Raises BackupDamaged, LogDamaged (a ledger), RestoreRefused, ConfigurationError."""
    keys_folder = keys_folder or default_keys_folder(folder)
    keystore = keystore_file(settings.keystore)
    _refuse_what_is_there(settings, keystore)
    backup = verified(folder, keys_folder, through=through, tell=tell)
    given = [path for path in (ledger, settings.ledger) if path is not None and path.exists()]
    if ledger is not None and not ledger.exists():
        raise RestoreRefused(f"{ledger} is not there")
    if settings.partitions != len(backup.heads):
        raise ConfigurationError(f"the backup's log has {len(backup.heads)} partitions: set TAISHI_PARTITIONS to that")
    known = known_ledgers(backup, given, keys_folder=keys_folder)
    if not known.newer and not without_newer_ledger:
        raise RestoreRefused(
            "no ledger of what was forgotten after this backup is in reach: name the newest with --ledger (it lies "
            "beside the key store, keys/ledger.jsonl), or say --without-newer-ledger: then what was forgotten since "
            "comes back, and has to be forgotten again"
        )
    return _Restore(settings, backup, known, keystore, tell).run()


def _refuse_what_is_there(settings: Settings, keystore: Path) -> None:
    """Raises RestoreRefused unless the home is empty, but for settings, a ledger, or an earlier attempt."""
    home = settings.home
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (home / MARKER).exists():
        return
    there = sorted(str(path) for path in home.iterdir() if path.name not in _ALLOWED)
    there += [str(path) for path in (keystore, *settings.archive_folder.glob("p*")) if path.exists()]
    if there:
        what = there[0]
        raise RestoreRefused(f"{home} is not empty ({what}): restore into an empty folder, with --home or TAISHI_HOME")


class _Restore:
    def __init__(
        self, settings: Settings, backup: VerifiedBackup, known: KnownLedgers, keystore: Path, tell: Progress
    ) -> None:
        self._settings = settings
        self._home = settings.home
        self._backup = backup
        self._known = known
        self._keystore = keystore
        self._tell = tell
        self._forgot = [0] * len(backup.heads)
        """Of each partition the place of its last tombstone."""
        self._sealed: list[list[int]] = [[] for _ in backup.heads]
        """Of each partition the last entries of the segments that the log says were sealed."""

    def run(self) -> Restored:
        goes_on = self._mark(begun=False)
        destroyed = self._put_back_keys()
        with own_server(self._settings) as settings:
            self._refuse_a_log(settings, goes_on)
            resumed = self._put_back_log(settings)
            with opened_log(settings) as (log, keys):
                seal_again(log, keys, self._sealed)
                missing = self._say_again(log, keys)
                write_ledger(log, keys, self._settings.ledger)
        reach("tombstones_restored")
        self._put_back_generation()
        models = not missing and self._put_back_models()
        reach("models_restored")
        (self._home / MARKER).unlink()
        sync(self._home)
        return Restored(
            part=self._backup.number, entries=sum(self._backup.heads), resumed=resumed, tombstones=missing,
            keys_destroyed=destroyed, models=models,
        )  # fmt: skip

    def _mark(self, *, begun: bool) -> bool:
        """Whether an earlier attempt had `begun` to put the log back. Raises RestoreRefused where another backup was
        being restored here."""
        marker = self._home / MARKER
        this = {"part": self._backup.number, "chain": self._backup.parts[-1][1].facts["chain_upto"]}
        before = orjson.loads(marker.read_bytes()) if marker.exists() else {**this, "begun": False}
        if before != {**this, "begun": before["begun"]}:
            raise RestoreRefused(f"{self._home} holds an unfinished restore of another backup: use an empty folder")
        write_durably(marker, orjson.dumps({**this, "begun": begun or before["begun"]}))
        return bool(before["begun"])

    def _refuse_a_log(self, settings: Settings, goes_on: bool) -> None:
        """Raises RestoreRefused where the server holds a log that no earlier attempt put there."""
        server = self._server(settings)
        if not goes_on and any(server.head(p) for p in range(len(self._backup.heads))):
            raise RestoreRefused("the server holds a log: restore into a server, or a database of one, that holds none")
        server.close()
        self._mark(begun=True)

    def _server(self, settings: Settings) -> ValkeyRestore:
        return ValkeyRestore(
            settings.redis_url or "", partitions=len(self._backup.heads), durability=settings.durability
        )

    # -- keys

    def _put_back_keys(self) -> int:
        """The copy loses every key that any tombstone names before it takes its place. How many were alive."""
        self._tell("keys", 0, 1)
        self._keystore.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = self._keystore.exists()
        copy = self._keystore if there else self._keystore.with_name(self._keystore.name + ".restoring")
        if not there:
            shutil.copyfile(self._backup.keys / KEYS_FILE, copy)
            copy.chmod(0o600)
        named = {key for entry in self._known.entries for key in entry.keys} | self._look_through()
        store = SqlAlchemyKeyStore(f"sqlite:///{copy}")
        destroyed = store.destroy(named, at=time.time_ns() // 1_000)
        store.close()
        copy.with_name(copy.name + "-journal").unlink(missing_ok=True)
        if not there:
            mint_beyond(copy, max(named, default=0))
            sync(copy)
            os.rename(copy, self._keystore)
            sync(self._keystore.parent)
        reach("keys_restored")
        self._tell("keys", 1, 1)
        return destroyed

    def _look_through(self) -> set[int]:
        """Keys of what the log itself says is forgotten: their copy may be of the moment before they were destroyed."""
        found: set[int] = set()
        for partition in range(len(self._backup.heads)):
            for entry in self._backup.entries(partition):
                if entry.header["y"] in FORGETTING_TYPES:
                    found.update(entry.header["f"]["keys"])
                    self._forgot[partition] = entry.position.seq
                elif entry.header["y"] == SEALED:
                    self._sealed[partition].append(entry.header["f"]["last"])
        return found

    # -- the log

    def _put_back_log(self, settings: Settings) -> int:
        """How many entries an earlier attempt had put back."""
        heads = self._backup.heads
        server = self._server(settings)
        there = [min(server.head(p), upto) for p, upto in enumerate(heads)]
        total, done = sum(heads), sum(there)
        for partition, head in enumerate(there):
            entries = self._backup.entries(partition)
            last = deque(islice(entries, head), maxlen=1)
            if last and server.stored.at(partition, [head])[0].digest != last[0].digest:
                raise RestoreRefused("the server holds another log than an earlier attempt put there")
            while batch := list(islice(entries, _BATCH)):
                server.append(partition, batch)
                reach("batch_restored")
                done += len(batch)
                self._tell("log", done, total)
        server.close()
        return sum(there)

    # -- what was forgotten

    def _say_again(self, log: ArchivedLog, keys: SqlAlchemyKeyStore) -> int:
        """How many tombstones the log lacked."""
        heads = [log.head(p) for p in range(log.partitions)]

        @lru_cache(maxsize=10_000)
        def at(partition: int, seq: int) -> StoredEntry | None:
            inside = partition < len(heads) and 0 < seq <= heads[partition]
            return log.stored.at(partition, [seq])[0] if inside else None

        missing = lacking(self._known.entries, at)
        for done, entry in enumerate(missing):
            self._tell("tombstones", done, len(missing))
            ids = [event_id for event_id, _ in entry.events]
            places = log.locate(entry.namespace, ids)
            located = {i: place.seq for i, place in zip(ids, places, strict=True) if place is not None}
            said = again(entry, at, located, head=self._backup.heads[entry.partition])
            keys.destroy(said.keys, at=entry.at)
            try:
                log.append(Batch(events=[said.event]))
            except RecordedBehind:
                log.append(Batch(events=[replace(said.event, recorded_at=None)]))
        return len(missing)

    # -- read models

    def _put_back_generation(self) -> None:
        """The generation that was live, and which extraction it folds. Others are of no use without their files."""
        generations = Generations(self._home)
        raw = self._backup.parts[-1][0] / GENERATIONS_FILE
        if not raw.exists():
            return
        models_folder(self._home).mkdir(mode=0o700, parents=True, exist_ok=True)
        write_durably(generations.path, raw.read_bytes())
        try:
            register = generations.read()
        except (TypeError, KeyError, ValueError):
            raise BackupDamaged(f"{raw} is of a release that this one does not read: restore with that one") from None
        live = replace(register.live, slices={}, built=())
        with generations.locked():
            generations.write(
                replace(
                    register,
                    generations={live.number: live},
                    extractions={live.extraction: register.extraction_of(live)},
                )
            )
        name_live(self._home, live.name)
        generation_folder(self._home, live).mkdir(mode=0o700, exist_ok=True)

    def _put_back_models(self) -> bool:
        """Only where nothing was forgotten since they were copied: else they are built from the log, at the start."""
        discard_models(self._home)
        models = self._backup.models
        if models is None or any(f > h for f, h in zip(self._forgot, models[1].facts["heads"], strict=True)):
            return False
        folder, manifest, key = models
        if passing_secret_in(self._keystore, SECRET) != key:
            return False
        self._tell("read models", 0, 1)
        put_back_models(folder, list(manifest.files), self._home, key=key)
        return True
