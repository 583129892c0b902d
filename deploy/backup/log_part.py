"""Parts of the log as a backup keeps them: per partition one segment, in the very form that the archive seals.

What was backed up is ciphertext, as it stands in the log; the segment's own manifest is signed by the deployment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from taishi.ingest.crashpoints import reach
from taishi.ingest.entries import StoredEntry
from taishi.ingest.errors import BackupDamaged, LogDamaged
from taishi.ingest.segment_writer import SegmentWriter
from taishi.ingest.segments import Manifest, Segment, SegmentName
from taishi.ingest.signatures import Signer, Verifier
from taishi.ingest.stored_entries import StoredEntries

_READ = 1_000


def write_segment(
    stored: StoredEntries, folder: Path, name: SegmentName, *, chain: bytes, signer: Signer, done: Callable[[int], None]
) -> tuple[bytes, StoredEntry]:
    """Copies the entries that `name` names. The chain's value behind them, and the last of them."""
    path = name.path(folder)
    path.parent.mkdir(mode=0o700)
    with path.open("xb") as file:
        writer, place = SegmentWriter(file, chain=chain), name.first - 1
        while place < name.last:
            entries = stored.run(name.partition, after=place, limit=min(_READ, name.last - place)).entries
            for entry in entries:
                writer.add(entry)
            place = entry.position.seq
            done(len(entries))
            reach("part_written")
        manifest = writer.finish()
    name.manifest_path(folder).write_bytes(manifest.signed(signer))
    return bytes.fromhex(manifest.chain_after), entry


def read_segment(folder: Path, name: SegmentName, verifier: Verifier) -> Iterator[StoredEntry]:
    """In order, every block and entry checked. Raises BackupDamaged that names the file."""
    try:
        segment = Segment(folder, Manifest.read(folder, name, verifier))
        for number in range(segment.blocks):
            block = segment.block(number)
            first, last = segment.span(number)
            for seq in range(first, last + 1):
                yield block.entry(name.partition, seq)
    except LogDamaged as e:
        raise BackupDamaged(f"{name.path(folder)}: {e.message}") from None
