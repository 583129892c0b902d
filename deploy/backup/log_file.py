"""Log files of a backup: entries as they stand in the log, bodies still sealed, one behind the other.

A file begins with `MAGIC`. A record is: seq, appended_at, recorded_at, whether that was given, digest, lengths of
header and body (big-endian, `_RECORD`), then header and body. The digest is the entry's own; the file's stands in the
manifest.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from taishi.ingest.chain import link
from taishi.ingest.entries import StoredEntry, stored_entry
from taishi.ingest.envelope import Position
from taishi.ingest.errors import BackupDamaged, LogDamaged

MAGIC: Final = b"taishi log 1\n"
_RECORD: Final = struct.Struct(">Qqq?32sII")


def write_entry(file: BinaryIO, entry: StoredEntry) -> None:
    head = _RECORD.pack(
        entry.position.seq, entry.appended_at, entry.recorded_at, entry.imported, entry.digest,
        len(entry.raw_header), len(entry.sealed),
    )  # fmt: skip
    file.write(head + entry.raw_header + entry.sealed)


def read_entries(path: Path, partition: int) -> Iterator[StoredEntry]:
    """In order, each verified against its own digest. Raises BackupDamaged that names the file."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BackupDamaged(f"{path} is no log file of a backup")
        while head := file.read(_RECORD.size):
            try:
                seq, appended_at, recorded_at, imported, digest, header_size, body_size = _RECORD.unpack(head)
                header, body = file.read(header_size), file.read(body_size)
                yield stored_entry(
                    Position(partition, seq), header, body, digest=digest, appended_at=appended_at,
                    recorded_at=recorded_at if imported else None,
                )  # fmt: skip
            except (struct.error, LogDamaged) as e:
                raise BackupDamaged(f"{path} is damaged: {e}") from None


def chained(previous: bytes, entry: StoredEntry) -> bytes:
    """The partition's chain value after this entry."""
    return link(
        previous, seq=entry.position.seq, event_id=entry.header["i"], appended_at=entry.appended_at,
        recorded_at=entry.recorded_at, digest=entry.digest,
    )  # fmt: skip
