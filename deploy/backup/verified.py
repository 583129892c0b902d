"""A backup, looked through before anything is restored from it: all of it must be there and be what was backed up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taishi.ingest.chain import GENESIS
from taishi.ingest.entries import StoredEntry
from taishi.ingest.errors import BackupDamaged, LogDamaged, RestoreRefused
from taishi.ingest.ledger import Ledger, LedgerEntry
from taishi.ingest.segments import SegmentName, chained
from taishi.ingest.signatures import SECRET as SEAL
from taishi.ingest.signatures import Signer, Verifier

from .folders import ledger_copy, log_parts, model_copies, numbered, read_manifest, verify_files
from .key_copy import KEYS_FILE, LEDGER_FILE, passing_secret_in, secret_in
from .log_part import read_segment
from .manifest import Manifest
from .model_copy import SECRET

_EVERY: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedBackup:
    """What can be restored. `parts` are folder and manifest, in order; `keys` is the copy of the key store to use;
    `models` a sealed copy of the read models and its key, where there is one that fits."""

    folder: Path
    secret: bytes
    parts: Sequence[tuple[Path, Manifest]]
    verifier: Verifier
    keys: Path
    models: tuple[Path, Manifest, bytes] | None

    @property
    def number(self) -> int:
        return self.parts[-1][1].number

    @property
    def heads(self) -> Sequence[int]:
        return list(self.parts[-1][1].facts["upto"])

    def entries(self, partition: int) -> Iterator[StoredEntry]:
        """All of the partition's, in order. Raises BackupDamaged that names the file."""
        for path, manifest in self.parts:
            after, upto = manifest.facts["after"][partition], manifest.facts["upto"][partition]
            if upto > after:
                name = SegmentName(partition=partition, first=after + 1, last=upto)
                yield from read_segment(path, name, self.verifier)


def verified(
    folder: Path, keys_folder: Path, *, through: int | None, tell: Callable[[str, int, int], None]
) -> VerifiedBackup:
    """The backup up to its part `through` (None: as far as the copies of the key store reach).

    Raises BackupDamaged that names the first bad file, RestoreRefused where there is nothing to restore.
    """
    copies = numbered(keys_folder)
    if not copies:
        raise RestoreRefused(
            f"{keys_folder} holds no copy of a key store: without its keys nothing in a backup can be read again; "
            "name their folder with --keys"
        )
    keys = copies[-1]
    secret = secret_in(keys / KEYS_FILE, "ledger")
    if secret is None:
        raise BackupDamaged(f"{keys / KEYS_FILE} is no copy of a key store that signed a backup")
    of_keys = read_manifest(keys, secret)
    verify_files(keys, of_keys)
    reach = int(of_keys.facts["part"])
    if through is not None and through > reach:
        raise RestoreRefused(f"the newest copy of the key store reaches to part {reach}, not to {through}")
    parts = [(path, read_manifest(path, secret)) for path in numbered(log_parts(folder))]
    parts = [(path, manifest) for path, manifest in parts if manifest.number <= (through or reach)]
    if [manifest.number for _, manifest in parts] != list(range(1, (through or reach) + 1)):
        raise BackupDamaged(f"{log_parts(folder)} lacks a part: there should be all up to {through or reach}")
    for path, manifest in parts:
        verify_files(path, manifest)
    seed = secret_in(keys / KEYS_FILE, SEAL)
    if seed is None:
        raise BackupDamaged(f"{keys / KEYS_FILE} is no copy of a key store that sealed a log")
    found = VerifiedBackup(
        folder=folder, secret=secret, parts=parts, verifier=Signer(seed), keys=keys,
        models=_models(folder, secret, keys, list(parts[-1][1].facts["upto"])),
    )  # fmt: skip
    _verify_chain(found, tell)
    return found


def _verify_chain(backup: VerifiedBackup, tell: Callable[[str, int, int], None]) -> None:
    """Every entry's own digest, no hole between the parts, and the hash chain's value at the end."""
    total, done = sum(backup.heads), 0
    for partition, head in enumerate(backup.heads):
        chain, last = GENESIS, 0
        for entry in backup.entries(partition):
            if entry.position.seq != last + 1:
                raise BackupDamaged(f"{backup.folder} has a hole behind p{partition}:{last}")
            chain, last = chained(chain, entry), entry.position.seq
            done += 1
            if done % _EVERY == 0:
                tell("verifying", done, total)
        if last != head or chain.hex() != backup.parts[-1][1].facts["chain_upto"][partition]:
            raise BackupDamaged(f"{backup.folder}: partition {partition} does not lead to where its manifest says")
    tell("verifying", total, total)


def _models(
    folder: Path, secret: bytes, keys: Path, heads: Sequence[int]
) -> tuple[Path, Manifest, bytes] | None:
    copies, key = numbered(model_copies(folder)), passing_secret_in(keys / KEYS_FILE, SECRET)
    if not copies or key is None:
        return None
    manifest = read_manifest(copies[-1], secret)
    verify_files(copies[-1], manifest)
    reached = all(h <= upto for h, upto in zip(manifest.facts["heads"], heads, strict=True))
    return (copies[-1], manifest, key) if reached else None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLedgers:
    """Every tombstone that any ledger in reach knows of. `newer` tells whether one of them came after the backup."""

    entries: Sequence[LedgerEntry]
    newer: bool


def known_ledgers(backup: VerifiedBackup, given: Sequence[Path], *, keys_folder: Path) -> KnownLedgers:
    """`given` are ledgers from outside of the backup; those beside its own copies of the key store are read too.

    One from outside counts as newer: it is taken for the one that forgets were written to until the end, unless it
    knows less than the backup. A copy that a later part of the backup brought is newer than an earlier part.

    Raises RestoreRefused where one from outside knows less, BackupDamaged and LogDamaged where one was altered.
    """
    own: list[LedgerEntry] = []
    newest_own = 0
    for folder in numbered(keys_folder):
        manifest = read_manifest(folder, backup.secret)
        own += Ledger(folder / LEDGER_FILE, backup.secret).entries()
        newest_own = max(newest_own, int(manifest.facts["part"]))
    own += Ledger(ledger_copy(backup.folder), backup.secret).entries()
    known = dict.fromkeys(own)
    for path in given:
        try:
            entries = Ledger(path, backup.secret).entries()
        except LogDamaged as e:
            raise LogDamaged(f"{path}: {e.message}") from None
        if _erased(known) - _erased(entries):
            raise RestoreRefused(f"{path} knows less than the backup's own copy of the ledger: it is an older one")
        known |= dict.fromkeys(entries)
    newer = bool(given) or newest_own > backup.number
    return KnownLedgers(entries=list(known), newer=newer)


def _erased(entries: Iterable[LedgerEntry]) -> set[tuple[str, str]]:
    return {(entry.namespace, event_id) for entry in entries for event_id, _ in entry.events}
