"""A backup of the home that the settings name, by whoever wants one: the command, or the upkeep workers."""

from __future__ import annotations

import logging
from pathlib import Path

from taishi.ingest.errors import ConfigurationError

from ..event_log import opened_log
from ..settings import Settings
from .backup import Backup, BackupMaker, Progress, Source
from .folders import default_keys_folder
from .key_copy import keystore_file
from .log_server import reached_server
from .marker import refuse_unfinished

log_ = logging.getLogger(__name__)


def recurring_backup(settings: Settings) -> None:
    """The upkeep job. Raises ConfigurationError where no place for it is set."""
    if settings.backup_to is None:
        raise ConfigurationError("backup_to names the folder that recurring backups go to", field="backup_to")
    made = make_backup(settings, settings.backup_to, keys_folder=settings.backup_keys_to)
    log_.info("backup: part %d, %d new entries, key store copy %d", made.part, made.entries, made.keys)


def make_backup(
    settings: Settings,
    folder: Path,
    *,
    keys_folder: Path | None = None,
    keep_keys: int | None = None,
    tell: Progress = lambda *_: None,
) -> Backup:
    """Raises what `BackupMaker.make` raises; ConfigurationError for a key store that is no file."""
    keystore = keystore_file(settings.keystore)
    refuse_unfinished(settings.home)
    with reached_server(settings) as reached, opened_log(reached) as (log, keys):
        source = Source(
            stored=log.stored,
            heads=lambda: [log.head(p) for p in range(log.partitions)],
            keys=keys,
            keystore=keystore,
            ledger=settings.ledger,
            home=settings.home,
        )
        maker = BackupMaker(
            source,
            folder,
            keys_folder or default_keys_folder(folder),
            keep_keys=keep_keys or settings.keep_keys,
            tell=tell,
        )
        return maker.make()
