"""Segment files: a run of one partition's entries, exactly as they stood in the stream, and its signed manifest.

    segment   = magic block* footer trailer
    block     = >III (bytes stored, bytes inflated, CRC-32 of what is stored) raw-deflate(record*)
    record    = >I (bytes that follow) >BqqI32s (1: recorded_at given, appended_at, recorded_at, bytes of header,
                digest) header body
    footer    = raw-deflate of JSON {"blocks": [[offset, first seq, entries, SHA-256 in hex], …],
                "namespaces": {hash: [block, …]}}, the hash being that of `namespace_hash`
    trailer   = >II8s (bytes of footer, CRC-32 of footer, magic)

The manifest (`<name>.json`) is written last: a segment without one is not there. It holds the SHA-256 of the file and
of its footer, which holds those of the blocks, so that whatever is read can be traced to the signature without reading
all of the file. It also holds the hash chain's value before and after the run.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

import orjson
from isal import isal_zlib

from .chain import link
from .entries import StoredEntry, stored_entry
from .envelope import Position
from .errors import LogDamaged
from .signatures import Signer, Verifier

FORMAT: Final = 1
MAGIC: Final = b"taishi segment 1\n"
END: Final = b"segment\n"

BLOCK_HEAD: Final = struct.Struct(">III")
LENGTH: Final = struct.Struct(">I")
RECORD: Final = struct.Struct(">BqqI32s")
TRAILER: Final = struct.Struct(">II8s")
RAW_DEFLATE: Final = -15
_BROKEN: Final[tuple[type[Exception], ...]] = (
    isal_zlib.error, struct.error, ValueError, KeyError, IndexError, TypeError, OSError,  # type: ignore[assignment]
)  # fmt: skip


class SegmentDamaged(LogDamaged):
    """A segment or its manifest is lost or altered. `first` is the earliest entry that may be concerned."""

    def __init__(self, message: str, *, partition: int, first: int) -> None:
        super().__init__(message)
        self.partition = partition
        self.first = first


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class SegmentName:
    """`p<partition>/<first>-<last>`: entries `first` to `last` of a partition, both included."""

    partition: int
    first: int
    last: int

    def __str__(self) -> str:
        return f"p{self.partition}/{self.first:012d}-{self.last:012d}"

    @classmethod
    def parse(cls, partition: int, stem: str) -> SegmentName:
        """Raises ValueError."""
        first, _, last = stem.partition("-")
        return cls(partition=partition, first=int(first), last=int(last))

    def path(self, folder: Path) -> Path:
        return folder / f"{self}.seg"

    def manifest_path(self, folder: Path) -> Path:
        return folder / f"{self}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Hashes in hex, instants in microseconds. `raw_bytes` is what headers and bodies held."""

    format: int
    partition: int
    first: int
    last: int
    chain_before: str
    chain_after: str
    appended_from: int
    appended_to: int
    raw_bytes: int
    file_bytes: int
    sha256: str
    footer_sha256: str

    @property
    def name(self) -> SegmentName:
        return SegmentName(partition=self.partition, first=self.first, last=self.last)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def signed(self, signer: Signer) -> bytes:
        document = signer.sign({**self.to_json(), "public_key": signer.public_key.hex()})
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def read(cls, folder: Path, name: SegmentName, verifier: Verifier) -> Self:
        """Raises SegmentDamaged where it is lost, altered, signed by another or of another run."""
        path = name.manifest_path(folder)
        try:
            document = orjson.loads(path.read_bytes())
            found = cls(**{k: v for k, v in document.items() if k not in ("public_key", "signature")})
        except FileNotFoundError:
            raise _damaged(name, f"{path} is missing") from None
        except _BROKEN:
            raise _damaged(name, f"the manifest {path} was altered: it cannot be read") from None
        if not verifier.verifies(document):
            raise _damaged(name, f"the manifest {path} was altered: its signature does not fit")
        if found.format != FORMAT or found.name != name:
            raise _damaged(name, f"the manifest {path} is of another segment: {found.name}, format {found.format}")
        return found


def _damaged(name: SegmentName, message: str, *, first: int | None = None) -> SegmentDamaged:
    return SegmentDamaged(message, partition=name.partition, first=name.first if first is None else first)


def namespace_hash(namespace: str) -> str:
    return hashlib.blake2b(namespace.encode(), digest_size=8, person=b"taishi.seg").hexdigest()


def chained(chain: bytes, entry: StoredEntry) -> bytes:
    """The hash chain's value after `entry`."""
    return link(
        chain,
        seq=entry.position.seq,
        event_id=entry.header["i"],
        appended_at=entry.appended_at,
        recorded_at=entry.recorded_at,
        digest=entry.digest,
    )


@dataclass(frozen=True, slots=True)
class Block:
    """An inflated block: where in `raw` the record of each entry begins."""

    first: int
    raw: bytes
    offsets: Sequence[int]

    def entry(self, partition: int, seq: int) -> StoredEntry:
        at = self.offsets[seq - self.first] + LENGTH.size
        imported, appended_at, recorded_at, header_bytes, digest = RECORD.unpack_from(self.raw, at)
        (length,) = LENGTH.unpack_from(self.raw, at - LENGTH.size)
        header_at = at + RECORD.size
        body_at = header_at + header_bytes
        return stored_entry(
            Position(partition, seq),
            self.raw[header_at:body_at],
            self.raw[body_at : at + length],
            digest=digest,
            appended_at=appended_at,
            recorded_at=recorded_at if imported else None,
        )


class Segment:
    """A sealed segment, open for reading. Every block is checked against the manifest when it is read.

    Raises SegmentDamaged, from opening on, where file, footer or block are not what was sealed.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.manifest: Final = manifest
        self.name: Final = manifest.name
        self._path: Final = self.name.path(folder)
        footer = self._footer()
        self._blocks: Final[list[tuple[int, int, int, str]]] = [tuple(row) for row in footer["blocks"]]
        self._namespaces: Final[Mapping[str, list[int]]] = footer["namespaces"]

    def _footer(self) -> dict[str, Any]:
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, 2)
                if size != self.manifest.file_bytes:
                    raise self._altered(f"it has {size} bytes, not {self.manifest.file_bytes}")
                file.seek(size - TRAILER.size)
                length, crc, end = TRAILER.unpack(file.read(TRAILER.size))
                if end != END or length > size:
                    raise self._altered("its last bytes are not a segment's")
                file.seek(size - TRAILER.size - length)
                stored = file.read(length)
        except FileNotFoundError:
            raise _damaged(self.name, f"the segment {self._path} is missing") from None
        except OSError as e:
            raise _damaged(self.name, f"the segment {self._path} cannot be read: {e.strerror}") from None
        if zlib.crc32(stored) != crc or hashlib.sha256(stored).hexdigest() != self.manifest.footer_sha256:
            raise self._altered("its index does not fit the manifest")
        footer: dict[str, Any] = orjson.loads(isal_zlib.decompress(stored, RAW_DEFLATE))
        return footer

    def block_of(self, seq: int) -> int:
        """The number of the block that holds `seq`."""
        low, high = 0, len(self._blocks)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._blocks[middle][1] <= seq else (low, middle)
        return low

    @property
    def blocks(self) -> int:
        return len(self._blocks)

    def blocks_with(self, namespace: str) -> Sequence[int]:
        """Numbers of the blocks in which something of that namespace may stand, ascending."""
        return self._namespaces.get(namespace_hash(namespace), ())

    def span(self, number: int) -> tuple[int, int]:
        """First and last sequence number of a block."""
        _, first, count, _ = self._blocks[number]
        return first, first + count - 1

    def block(self, number: int) -> Block:
        offset, first, count, sha256 = self._blocks[number]
        try:
            with self._path.open("rb") as file:
                file.seek(offset)
                length, raw_length, crc = BLOCK_HEAD.unpack(file.read(BLOCK_HEAD.size))
                stored = file.read(length)
            sound = zlib.crc32(stored) == crc and hashlib.sha256(stored).hexdigest() == sha256
            raw = isal_zlib.decompress(stored, RAW_DEFLATE) if sound else b""
            offsets = list(_offsets(raw)) if sound and len(raw) == raw_length else []
        except FileNotFoundError:
            raise _damaged(self.name, f"the segment {self._path} is missing", first=first) from None
        except _BROKEN:
            offsets = []
        if len(offsets) != count:
            places = f"entries {first} to {first + count - 1} of partition {self.name.partition}"
            raise self._altered(f"the block with {places} is not what was sealed", first=first)
        return Block(first, raw, offsets)

    def check_whole(self) -> None:
        """Reads every byte of the file. Raises SegmentDamaged."""
        with self._path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.manifest.sha256:
            for number in range(self.blocks):
                self.block(number)
            raise self._altered("its digest does not fit the manifest")

    def entries(self) -> Iterator[StoredEntry]:
        """All of them, in order."""
        for number in range(self.blocks):
            first, last = self.span(number)
            block = self.block(number)
            for seq in range(first, last + 1):
                yield block.entry(self.name.partition, seq)

    def _altered(self, how: str, *, first: int | None = None) -> SegmentDamaged:
        return _damaged(self.name, f"the segment {self._path} was altered: {how}", first=first)


def _offsets(raw: bytes) -> Iterator[int]:
    at = 0
    while at < len(raw):
        yield at
        at += LENGTH.size + LENGTH.unpack_from(raw, at)[0]
