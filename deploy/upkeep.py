"""What the upkeep workers can do, by name, and how often each recurring job runs.

A job is composed when it is first run in its process: a worker that never rebuilds loads nothing for rebuilding.
"""

from __future__ import annotations

from taishi.ingest.upkeep import UpkeepJobs, UpkeepQueue

from .archiving import seal_what_is_old
from .settings import Settings


def upkeep_jobs(settings: Settings, queue: UpkeepQueue) -> UpkeepJobs:
    """`queue` is for jobs that put their successors on it."""
    return {"seal": lambda _: seal_what_is_old(settings)}


def schedule(settings: Settings) -> dict[str, int]:
    """Seconds between runs, by job."""
    return settings.schedule.model_dump()
