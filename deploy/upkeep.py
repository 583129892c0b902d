"""What the upkeep workers can do, by name, and how often each recurring job runs.

A job is composed when it is first run in its process: a worker that never rebuilds loads nothing for rebuilding.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from taishi.ingest.upkeep import UpkeepJobs, UpkeepQueue

from . import aging, dedup_audit, rebuilding
from .archiving import seal_what_is_old
from .backup.making import recurring_backup
from .settings import Settings


def upkeep_jobs(settings: Settings, queue: UpkeepQueue) -> UpkeepJobs:
    """`queue` is for jobs that put their successors on it."""

    @cache
    def rebuilder() -> rebuilding.Rebuilding:
        from .event_log import open_keys, open_log
        from .processes import open_rebuilding

        return open_rebuilding(settings, open_log(settings, open_keys(settings)), queue)

    def rebuild(args: Mapping[str, Any]) -> None:
        rebuilder().slice(args)

    return {
        rebuilding.JOB: rebuild,
        aging.JOB: lambda args: aging.maintenance_job(settings, queue, args),
        "seal": lambda _: seal_what_is_old(settings),
        "backup": lambda _: recurring_backup(settings),
        dedup_audit.JOB: lambda _: dedup_audit.audit_job(settings),
    }


def schedule(settings: Settings) -> dict[str, int]:
    """Seconds between runs, by job."""
    every: dict[str, int] = settings.schedule.model_dump()
    every[dedup_audit.JOB] = every.pop("dedup_audit") if settings.model is not None else 0
    return every if settings.backup_to is not None else {**every, "backup": 0}
