"""The vector file of one partition and one model: which documents lie where in meaning.

Documents are numbered as in the claims file (`2 * seq` a raw event, `2 * seq + 1` a claim) from the log's positions, so
that vectors outlive every rebuild. A row's id is its document's number times STRIDE plus the number of its chunk: a
namespace's new rows are those behind its last, but for documents that were taken out and are put back.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

VECTOR_VERSION: Final = 2
"""Raise it when the schema or what is embedded changes: files of another version are made anew."""

STRIDE: Final = 32
"""Row ids of one document: its chunks are fewer."""

SCHEMA: Final = """
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    complete_at INTEGER NOT NULL,    -- checkpoint from which it may take the place of another model's file
    retired INTEGER NOT NULL         -- 1: another model took over; it only serves, and forgets
);
CREATE TABLE checkpoint (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,            -- last event embedded
    digest BLOB NOT NULL,            -- that event's digest: a rolled-back log shows here
    forgotten INTEGER NOT NULL       -- last event whose forgetting is done; may be far ahead of seq
);
CREATE TABLE namespaces (
    ns INTEGER PRIMARY KEY,          -- position of its first event
    name TEXT NOT NULL UNIQUE,
    vectors INTEGER NOT NULL DEFAULT 0,
    last_doc INTEGER NOT NULL DEFAULT 0,
    deletions INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY,          -- document * STRIDE + chunk
    ns INTEGER NOT NULL,
    content_key BLOB NOT NULL,       -- 16-byte keyed hash of the embedded text
    vector BLOB NOT NULL             -- float16, length 1
);
CREATE INDEX vectors_ns ON vectors (ns);
CREATE INDEX vectors_content ON vectors (content_key);
CREATE TABLE deletions (             -- documents taken out, or (less than 0) put back, in order: readers follow it
    ns INTEGER NOT NULL, number INTEGER NOT NULL, doc INTEGER NOT NULL,
    PRIMARY KEY (ns, number)
) WITHOUT ROWID;
CREATE TABLE doomed (                -- forgotten ahead of the checkpoint: not to be embedded until that is at `until`
    doc INTEGER PRIMARY KEY, until INTEGER NOT NULL
);
CREATE TABLE refused (doc INTEGER PRIMARY KEY, ns INTEGER NOT NULL, error TEXT NOT NULL);  -- texts the model refuses
"""

SCRUBBED: Final = """
CREATE TABLE IF NOT EXISTS scrubbed (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL)
"""
"""Position up to which no page holds a vector of what was forgotten. Files of older releases get it when opened."""

_NAME: Final = re.compile(r"vectors-p(\d+)\.[a-z0-9.-]+\.db")


def vector_path(folder: Path, partition: int, model: str) -> Path:
    slug = re.sub(r"[^a-z0-9.]+", "-", model.casefold()).strip("-.") or "model"
    return folder / f"vectors-p{partition}.{slug}.db"


def vector_paths(folder: Path, partition: int) -> list[Path]:
    """Every vector file of a partition, of whatever model."""
    found = sorted(folder.glob(f"vectors-p{partition}.*.db"))
    return [path for path in found if _NAME.fullmatch(path.name)]
