"""Writing a segment file: entries in a row, in the form that `segments` describes and reads."""

from __future__ import annotations

import hashlib
import zlib
from typing import BinaryIO, Final

import orjson
from isal import isal_zlib

from .entries import StoredEntry
from .segments import (
    BLOCK_HEAD,
    END,
    FORMAT,
    LENGTH,
    MAGIC,
    RAW_DEFLATE,
    RECORD,
    TRAILER,
    Manifest,
    chained,
    namespace_hash,
)

BLOCK_ENTRIES: Final = 256
BLOCK_BYTES: Final = 256 * 1024
"""A block is closed when it holds so many entries, or so many bytes."""
LEVEL: Final = 2


class SegmentWriter:
    """Writes entries, in order, to `file`; `finish` ends it. `chain` is the hash chain's value before the first."""

    def __init__(self, file: BinaryIO, *, chain: bytes) -> None:
        self._file: Final = file
        self._sum: Final = hashlib.sha256()
        self._written = 0
        self._before = self._chain = chain
        self._entries: list[bytes] = []
        self._held = 0
        self._raw_bytes = 0
        self._blocks: list[tuple[int, int, int, str]] = []
        self._namespaces: dict[str, list[int]] = {}
        self._first: StoredEntry | None = None
        self._last: StoredEntry | None = None
        self._write(MAGIC)

    @property
    def raw_bytes(self) -> int:
        """What headers and bodies held so far."""
        return self._raw_bytes

    def add(self, entry: StoredEntry) -> None:
        if self._last is not None and entry.position.seq != self._last.position.seq + 1:
            raise ValueError("a segment holds entries in a row")
        self._first = self._first or entry
        self._last = entry
        self._chain = chained(self._chain, entry)
        head = RECORD.pack(entry.imported, entry.appended_at, entry.recorded_at, len(entry.raw_header), entry.digest)
        body = len(head) + len(entry.raw_header) + len(entry.sealed)
        self._entries += (LENGTH.pack(body), head, entry.raw_header, entry.sealed)
        self._held += body
        self._raw_bytes += len(entry.raw_header) + len(entry.sealed)
        blocks = self._namespaces.setdefault(namespace_hash(entry.header["n"]), [])
        if not blocks or blocks[-1] != len(self._blocks):
            blocks.append(len(self._blocks))
        if len(self._entries) >= 4 * BLOCK_ENTRIES or self._held >= BLOCK_BYTES:
            self._close_block()

    def finish(self) -> Manifest:
        """Writes the footer. What was written is not synced."""
        if self._first is None or self._last is None:
            raise ValueError("a segment holds at least one entry")
        self._close_block()
        footer = isal_zlib.compress(
            orjson.dumps({"blocks": self._blocks, "namespaces": self._namespaces}), LEVEL, RAW_DEFLATE
        )
        self._write(footer)
        self._write(TRAILER.pack(len(footer), zlib.crc32(footer), END))
        return Manifest(
            format=FORMAT,
            partition=self._first.position.partition,
            first=self._first.position.seq,
            last=self._last.position.seq,
            chain_before=self._before.hex(),
            chain_after=self._chain.hex(),
            appended_from=self._first.appended_at,
            appended_to=self._last.appended_at,
            raw_bytes=self._raw_bytes,
            file_bytes=self._written,
            sha256=self._sum.hexdigest(),
            footer_sha256=hashlib.sha256(footer).hexdigest(),
        )

    def _close_block(self) -> None:
        if not self._entries:
            return
        count = len(self._entries) // 4
        raw = b"".join(self._entries)
        stored = isal_zlib.compress(raw, LEVEL, RAW_DEFLATE)
        last = self._last.position.seq if self._last is not None else 0
        self._blocks.append((self._written, last - count + 1, count, hashlib.sha256(stored).hexdigest()))
        self._write(BLOCK_HEAD.pack(len(stored), len(raw), zlib.crc32(stored)))
        self._write(stored)
        self._entries, self._held = [], 0

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._sum.update(data)
        self._written += len(data)
