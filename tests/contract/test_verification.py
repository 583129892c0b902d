"""Verifying a log: what was altered, dropped or reordered is found, and its position is named."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import redis

from taishi.ingest.anchors import anchor, anchored
from taishi.ingest.archive import Archive
from taishi.ingest.archived_log import ArchivedLog
from taishi.ingest.chain import GENESIS, extend
from taishi.ingest.entries import digest_of
from taishi.ingest.errors import InvalidInput, LogDamaged
from taishi.ingest.keys import KeyStore
from taishi.ingest.log import Batch
from taishi.ingest.sealing import Sealing
from taishi.ingest.signatures import Signer, Verifier
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.verification import PartitionAudit, Remembered, Verdict
from tests.contract.event_log import message
from tests.support.valkey_server import ValkeyServer

STREAM = "taishi:{p0}:log"


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[SqlAlchemyKeyStore]:
    store = SqlAlchemyKeyStore(f"sqlite:///{tmp_path}/keys/keys.db")
    yield store
    store.close()


@pytest.fixture
def log(valkey: ValkeyServer, keys: KeyStore, tmp_path: Path) -> Iterator[ArchivedLog]:
    yield from opened(valkey, keys, tmp_path)


def opened(server: ValkeyServer, keys: KeyStore, folder: Path) -> Iterator[ArchivedLog]:
    log = ArchivedLog(server.url, keys=keys, archive=Archive(folder / "archive", Signer.of(keys)), partitions=1)
    log.append(Batch(events=[message(f"said {i}") for i in range(900)]))
    yield log
    log.close()


@pytest.fixture
def client(valkey: ValkeyServer, log: ArchivedLog) -> Iterator[redis.Redis]:
    with valkey.client() as made:
        yield made


def seal(log: ArchivedLog, keys: KeyStore, *, keep: int = 100, most: int = 300, needed: int = 2**62) -> None:
    Sealing(log, Signer.of(keys), needed=lambda _: needed, keep=keep, most=most).run()


def audit(log: ArchivedLog, *remembered: Remembered) -> Verdict:
    fresh = Archive(log.archive.folder, log.archive.verifier)
    return PartitionAudit(
        0, archive=fresh, stream=log.stream, head=log.stream.head(0), remembered=remembered
    ).run()


def remembered(log: ArchivedLog, seq: int, name: str = "claims-p0.db") -> Remembered:
    chain = GENESIS
    events = log.read(0, after=0, limit=seq)
    for event in events:
        chain = extend(chain, event)
    return Remembered(name=name, partition=0, seq=seq, chain=chain, digest=events[-1].digest)


def places(verdict: Verdict) -> list[str]:
    return [str(flaw.position) for flaw in verdict.flaws]


def rewrite(client: redis.Redis, change: Sequence[tuple[int, dict[bytes, bytes]]]) -> None:
    """Puts the stream back with the fields of some entries replaced."""
    rows = client.xrange(STREAM)
    changed = dict(change)
    client.delete(STREAM)
    for entry_id, fields in rows:
        client.xadd(STREAM, {**fields, **changed.get(int(entry_id.split(b"-")[0]), {})}, id=entry_id)


def fields_of(client: redis.Redis, seq: int) -> dict[bytes, bytes]:
    ((_, fields),) = client.xrange(STREAM, f"{seq}-0", f"{seq}-0")
    return dict(fields)


@pytest.mark.parametrize("needed", [2**62, 450])
def test_a_sound_log_is_sound(log: ArchivedLog, keys: KeyStore, needed: int) -> None:
    known = [remembered(log, 640), remembered(log, 900, "anchor")]
    assert not audit(log, *known).flaws
    seal(log, keys, needed=needed)
    verdict = audit(log, *known)
    assert verdict.flaws == () and verdict.compared >= 2
    assert (verdict.sealed, verdict.head) == (800, 903)
    assert verdict.chain == (remembered(log, 903).chain or b"").hex()


def test_any_flipped_bit_of_a_segment_is_found(log: ArchivedLog, keys: KeyStore) -> None:
    seal(log, keys)
    name = log.archive.segments(0)[1]
    chance = random.Random(5)
    for path in (name.path(log.archive.folder), name.manifest_path(log.archive.folder)):
        sound = path.read_bytes()
        for _ in range(12):
            data = bytearray(sound)
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(data)
            (flaw,) = audit(log).flaws
            assert str(name) in flaw.where and str(path) in flaw.what
            assert name.first <= flaw.position.seq <= name.last
        path.write_bytes(sound)
    assert not audit(log).flaws


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_lost_segment_is_named(log: ArchivedLog, keys: KeyStore, number: int) -> None:
    seal(log, keys)
    name = log.archive.segments(0)[number]
    name.path(log.archive.folder).unlink()
    assert str(name.first) in audit(log).flaws[0].what or str(name) in audit(log).flaws[0].where
    name.manifest_path(log.archive.folder).unlink()
    verdict = audit(log)
    assert verdict.flaws[0].position.seq == name.first
    assert any(f"{name} was sealed and is not there" in flaw.what for flaw in verdict.flaws)


@pytest.mark.parametrize("field", [b"h", b"b", b"d", b"t"])
def test_an_altered_entry_is_named(log: ArchivedLog, client: redis.Redis, field: bytes) -> None:
    anchor = remembered(log, 900)
    data = bytearray(fields_of(client, 7)[field])
    data[-2] ^= 1
    rewrite(client, [(7, {field: bytes(data)})])
    verdict = audit(log, anchor)
    if field == b"t":  # it is in no digest, but in the chain
        assert "an entry to 900 was altered" in verdict.flaws[0].what or places(verdict)[0] in ("p0:7", "p0:8")
    else:
        assert places(verdict) == ["p0:7"]


def test_a_dropped_entry_is_named(log: ArchivedLog, keys: KeyStore, client: redis.Redis) -> None:
    client.xdel(STREAM, "11-0", "900-0")
    assert places(audit(log)) == ["p0:11", "p0:900"]


def test_what_was_trimmed_and_not_sealed_is_named(log: ArchivedLog, keys: KeyStore, client: redis.Redis) -> None:
    seal(log, keys)
    client.xtrim(STREAM, minid="850-0", approximate=False)
    (flaw,) = audit(log).flaws
    assert (flaw.position.seq, flaw.what.split(":")[0]) == (801, "entries 801 to 849 are missing")


def test_two_entries_that_changed_places_are_named(log: ArchivedLog, client: redis.Redis) -> None:
    anchor = remembered(log, 900)
    one, other = fields_of(client, 20), fields_of(client, 21)
    rewrite(client, [(20, other), (21, one)])
    found = audit(log).flaws
    assert [flaw.position.seq for flaw in found] == [20, 21]
    assert "appended before" in found[1].what
    times = [{b"t": fields[b"t"]} for fields in (one, other)]
    rewrite(client, [(20, {**other, **times[0]}), (21, {**one, **times[1]})])
    for known in ([anchor], []):
        (flaw,) = audit(log, *known).flaws
        assert flaw.position.seq == 20 and "p0:21" in flaw.what


def test_an_entry_written_anew_with_a_fitting_digest_is_found_by_what_was_read(
    log: ArchivedLog, client: redis.Redis
) -> None:
    known = [remembered(log, 30, "vectors"), remembered(log, 60), remembered(log, 900, "anchor")]
    header = fields_of(client, 40)[b"h"].replace(b'"user_direct"', b'"user_quoted"')
    body = fields_of(client, 40)[b"b"]
    rewrite(client, [(40, {b"h": header, b"d": digest_of(header, body)})])
    (flaw,) = audit(log, *known).flaws
    assert flaw.position.seq == 31 and "an entry to 60" in flaw.what and flaw.where == "claims-p0.db"


def test_a_flipped_bit_of_a_checkpoint_is_named(log: ArchivedLog, keys: KeyStore) -> None:
    sound = remembered(log, 700)
    assert sound.chain is not None and sound.digest is not None
    flipped = bytes([sound.chain[0] ^ 1, *sound.chain[1:]])
    digest = bytes([sound.digest[0] ^ 1, *sound.digest[1:]])
    cases = [
        Remembered(name="claims-p0.db", partition=0, seq=700, chain=flipped, digest=sound.digest),
        Remembered(name="claims-p0.db", partition=0, seq=700, chain=sound.chain, digest=digest),
        Remembered(name="claims-p0.db", partition=0, seq=701, chain=sound.chain, digest=sound.digest),
        Remembered(name="claims-p0.db", partition=0, seq=2**40, chain=sound.chain, digest=sound.digest),
    ]
    for sealed in (False, True):
        if sealed:
            seal(log, keys)
        for case in cases:
            verdict = audit(log, case)
            assert [flaw.where for flaw in verdict.flaws] == ["claims-p0.db"], case
    (flaw,) = audit(log, cases[0], remembered(log, 900)).flaws
    assert (flaw.position.seq, flaw.where) == (700, "claims-p0.db") and "later ones confirm" in flaw.what


def test_a_flipped_bit_in_the_append_only_file_is_found(
    own_valkey: ValkeyServer, keys: KeyStore, tmp_path: Path
) -> None:
    for log in opened(own_valkey, keys, tmp_path):
        body = log.stored.at(0, [123])[0].sealed
        own_valkey.kill()
        (path,) = (p for p in own_valkey.directory.rglob("*.aof") if body in p.read_bytes())
        path.write_bytes(path.read_bytes().replace(body, body[:-1] + bytes([body[-1] ^ 1])))
        own_valkey.start()
        assert places(audit(log)) == ["p0:123"]


def test_heads_are_kept_elsewhere(log: ArchivedLog, keys: KeyStore, client: redis.Redis) -> None:
    signer = Signer.of(keys)
    document = anchor([audit(log)], at=0, signer=signer)
    public = Verifier(signer.public_key)
    known = anchored(document, name="heads.json", verifier=public)
    assert [(one.seq, one.chain) for one in known] == [(900, remembered(log, 900).chain)]
    seal(log, keys)
    assert not audit(log, *known).flaws
    for wrong in (document.replace(b'"seq": 900', b'"seq": 901'), document[:-9], b"[]", b"{}"):
        with pytest.raises(InvalidInput):
            anchored(wrong, name="heads.json", verifier=public)
    with pytest.raises(InvalidInput, match="another deployment"):
        anchored(document, name="heads.json", verifier=Signer(b"x" * 32))
    client.xdel(STREAM, "850-0")
    with pytest.raises(LogDamaged, match="p0:850"):
        anchor([audit(log)], at=0, signer=signer)
