"""Backup and restore: what is copied, what is refused, and that nothing forgotten comes back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import apsw
import pytest

from taishi.deploy.backup.copies import copy_database, nameless_copy
from taishi.deploy.backup.making import recurring_backup
from taishi.deploy.backup.manifest import FileSum, Manifest, ManifestRefused
from taishi.deploy.backup.marker import MARKER
from taishi.deploy.backup.restore import Restored, restore
from taishi.deploy.backup.sealed_file import FRAME, seal_into, unsealed
from taishi.deploy.backup.standing import refuse_behind_ledger
from taishi.deploy.backup.tombstones import again
from taishi.deploy.upkeep import schedule
from taishi.ingest.envelope import NewEvent, Position
from taishi.ingest.errors import BackupDamaged, ConfigurationError, Gone, LogDamaged, RestoreRefused
from taishi.ingest.ledger import Ledger, LedgerEntry
from taishi.ingest.log import Batch
from tests.support.lived_home import LivedHome, settings_of
from tests.support.valkey_server import ValkeyServer

SECRET = bytes(32)


@pytest.fixture
def lived(valkey: ValkeyServer, tmp_path: Path) -> Iterator[LivedHome]:
    home = LivedHome(tmp_path / "home", valkey.url + "?db=0")
    yield home
    home.close()


@pytest.fixture
def elsewhere(valkey: ValkeyServer, tmp_path: Path) -> tuple[Path, str]:
    return tmp_path / "other", valkey.url + "?db=5"


def into(elsewhere: tuple[Path, str], folder: Path, **given: object) -> Restored:
    return restore(settings_of(*elsewhere), folder, **given)  # type: ignore[arg-type]


def test_a_backup_comes_back_as_it_was(lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path) -> None:
    lived.say(*(f"word {n}" for n in range(20)))
    lived.say("far away", namespace="attic", recorded_at=1_600_000_000_000_000)
    folder = tmp_path / "备份 #1? 100%"
    lived.back_up(folder)
    lived.say("later")
    assert lived.back_up(folder) == 2
    told = into(elsewhere, folder, without_newer_ledger=True)
    assert told.entries == 22 and told.tombstones == 0
    there = LivedHome(*elsewhere)
    assert there.texts() == lived.texts()
    there.close()


def test_nothing_new_makes_no_new_part(lived: LivedHome, tmp_path: Path) -> None:
    lived.say("one")
    assert [lived.back_up(tmp_path / "b") for _ in range(4)] == [1, 1, 1, 1]
    assert [p.name for p in sorted((tmp_path / "b-keys").iterdir())] == ["000003", "000004"]


def test_what_was_forgotten_after_the_backup_stays_forgotten(
    lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path
) -> None:
    said = lived.say(*(f"canary {n}" for n in range(40)))
    lived.forget(*said[:10])
    lived.back_up(tmp_path / "b")
    lived.forget(*said[10:15])
    late = lived.say("said and forgotten after the backup")
    lived.forget(*said[15:20], *late)
    told = into(elsewhere, tmp_path / "b", ledger=lived.settings.ledger)
    assert told.tombstones == 2 and told.keys_destroyed == 11  # one of them unused as yet when it was copied
    there = LivedHome(*elsewhere)
    assert there.texts() == [None] * 20 + [f"canary {n}" for n in range(20, 40)]
    for gone in (said[0], said[12], said[17], *late):
        words = lived.log.fetch(gone.position)
        with pytest.raises(Gone):
            there.log.append(Batch(events=[_again(words.event_id)]))
    assert len(there.ledger.entries()) == 3
    refuse_behind_ledger(there.settings)
    # What is said now takes the places that the lost log had: forgetting it harms nothing else.
    fresh = there.say("new words", "more of them")
    there.forget(fresh[0])
    assert there.texts()[-1] == "more of them" and there.texts()[20:40] == [f"canary {n}" for n in range(20, 40)]
    assert len(there.ledger.entries()) == 4
    there.close()


def _again(event_id: str) -> NewEvent:
    return NewEvent(event_id=event_id, type="message.recorded", namespace="house", body={"text": "again"})


def test_restoring_a_restored_log_again_keeps_everything_forgotten(
    lived: LivedHome, elsewhere: tuple[Path, str], valkey: ValkeyServer, tmp_path: Path
) -> None:
    said = lived.say(*(f"canary {n}" for n in range(10)))
    lived.back_up(tmp_path / "b")
    lived.forget(*said[:3])
    into(elsewhere, tmp_path / "b", ledger=lived.settings.ledger)
    there = LivedHome(*elsewhere)
    there.forget(*said[3:5])
    assert there.back_up(tmp_path / "b") == 2
    third = (tmp_path / "third", valkey.url + "?db=6")
    assert into(third, tmp_path / "b", ledger=there.settings.ledger, through=1).tombstones == 2
    once_more = LivedHome(*third)
    assert once_more.texts() == [None] * 5 + [f"canary {n}" for n in range(5, 10)]
    there.close()
    once_more.close()


def test_without_a_newer_ledger_it_is_refused(lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path) -> None:
    said = lived.say("one", "two")
    lived.back_up(tmp_path / "b")
    with pytest.raises(RestoreRefused, match="--without-newer-ledger"):
        into(elsewhere, tmp_path / "b")
    lived.forget(said[0])
    lived.back_up(tmp_path / "b")
    assert into(elsewhere, tmp_path / "b", through=1).tombstones == 1  # the later backup's ledger is newer than part 1


def test_an_older_ledger_is_refused(lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path) -> None:
    said = lived.say("one", "two")
    lived.forget(said[0])
    shutil.copy(lived.settings.ledger, tmp_path / "old.jsonl")
    lived.forget(said[1])
    lived.back_up(tmp_path / "b")
    with pytest.raises(RestoreRefused, match="knows less"):
        into(elsewhere, tmp_path / "b", ledger=tmp_path / "old.jsonl")


def test_a_ledger_that_was_altered_is_refused(lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path) -> None:
    said = lived.say("one", "two")
    lived.back_up(tmp_path / "b")
    lived.forget(said[0])
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(lived.settings.ledger.read_bytes().replace(b'"kind":"event"', b'"kind":"claim"'))
    with pytest.raises(LogDamaged, match=r"bad\.jsonl"):
        into(elsewhere, tmp_path / "b", ledger=bad)


@pytest.mark.parametrize("pattern", ["parts/000001/p*/*.seg", "parts/000001/p*/*.json", "parts/000002/manifest.json"])
@pytest.mark.parametrize("how", ["flip", "cut", "lose"])
def test_the_first_bad_file_is_named(
    lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path, pattern: str, how: str
) -> None:
    lived.say("one", "two")
    lived.back_up(tmp_path / "b")
    lived.say("three")
    lived.back_up(tmp_path / "b")
    bad = sorted((tmp_path / "b").glob(pattern))[0]
    content = bad.read_bytes()
    if how == "flip":
        bad.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
    elif how == "cut":
        bad.write_bytes(content[:-9])
    else:
        bad.unlink()
    with pytest.raises(BackupDamaged) as refused:
        into(elsewhere, tmp_path / "b", without_newer_ledger=True)
    assert str(bad) in refused.value.message


def test_a_lost_key_store_is_said_plainly(lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path) -> None:
    lived.say("one")
    lived.back_up(tmp_path / "b")
    shutil.rmtree(tmp_path / "b-keys")
    with pytest.raises(RestoreRefused, match="without its keys nothing"):
        into(elsewhere, tmp_path / "b")


def test_a_home_that_is_not_empty_is_refused(lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path) -> None:
    lived.say("one")
    lived.back_up(tmp_path / "b")
    with pytest.raises(RestoreRefused, match="not empty"):
        restore(lived.settings, tmp_path / "b", without_newer_ledger=True)
    home, _ = elsewhere
    with pytest.raises(RestoreRefused, match="holds a log"):
        restore(settings_of(home, lived.settings.redis_url or ""), tmp_path / "b", through=1, ledger=_empty(tmp_path))


def _empty(folder: Path) -> Path:
    path = folder / "empty.jsonl"
    path.touch()
    return path


def test_another_deployments_folder_is_refused(lived: LivedHome, valkey: ValkeyServer, tmp_path: Path) -> None:
    lived.say("one")
    lived.back_up(tmp_path / "b")
    other = LivedHome(tmp_path / "other", valkey.url + "?db=5")
    with pytest.raises(BackupDamaged, match="signature"):
        other.back_up(tmp_path / "b")
    other.close()


def test_a_log_behind_its_ledger_is_not_served(lived: LivedHome, tmp_path: Path, valkey: ValkeyServer) -> None:
    said = lived.say("one", "two")
    lived.forget(said[0])
    refuse_behind_ledger(lived.settings)
    older = LivedHome(tmp_path / "home", valkey.url + "?db=7")
    older.say("one", "two", "three", "four")
    with pytest.raises(RestoreRefused, match="taishi restore"):
        refuse_behind_ledger(older.settings)
    older.close()


def test_words_unread_when_backed_up_are_not_read_to_what_was_forgotten() -> None:
    entry = LedgerEntry(
        namespace="house", partition=1, seq=90, kind="subject", claims=(), events=(), keys=(), at=5, upto=80,
        values=(("s" * 32, "v" * 32, False),), subjects=("p" * 32,),
    )  # fmt: skip
    said = again(entry, lambda partition, seq: None, {}, head=50).event
    assert said.facts["upto"] == said.facts["seen"] == 50
    assert LedgerEntry.of_facts(said.facts, namespace="house", position=Position(1, 51), at=5) == replace(
        entry, seq=51, upto=50
    )


# -- the pieces


def test_a_manifest_is_read_only_as_it_was_signed() -> None:
    given = Manifest(
        kind="log", number=3, made_at=17, files={"a": FileSum(size=1, sha256="00")}, facts={"upto": [1, 2]}
    )
    assert Manifest.read(given.signed(SECRET), SECRET) == given
    for bad in (given.signed(bytes(31) + b"x"), given.signed(SECRET).replace(b'"number": 3', b'"number": 4'), b"{}"):
        with pytest.raises(ManifestRefused):
            Manifest.read(bad, SECRET)


@pytest.mark.parametrize("size", [0, 1, FRAME, FRAME + 1, 2 * FRAME + 5])
def test_a_sealed_file_opens_under_its_key_alone(tmp_path: Path, size: int) -> None:
    content = (b"plain words " * (size // 12 + 1))[:size]
    seal_into(tmp_path / "f.sealed", BytesIO(content), key=SECRET)
    assert b"plain words" not in (tmp_path / "f.sealed").read_bytes()
    assert b"".join(unsealed(tmp_path / "f.sealed", key=SECRET)) == content
    with pytest.raises(BackupDamaged):
        list(unsealed(tmp_path / "f.sealed", key=bytes(31) + b"x"))
    (tmp_path / "f.sealed").rename(tmp_path / "g.sealed")
    with pytest.raises(BackupDamaged):
        list(unsealed(tmp_path / "g.sealed", key=SECRET))


def test_a_sealed_file_that_was_cut_off_does_not_open(tmp_path: Path) -> None:
    seal_into(tmp_path / "f", BytesIO(bytes(FRAME) + b"last frame"), key=SECRET)
    whole = (tmp_path / "f").read_bytes()
    first = 4 + 12 + int.from_bytes(whole[:4], "big")
    (tmp_path / "f").write_bytes(whole[:first])
    with pytest.raises(BackupDamaged):
        list(unsealed(tmp_path / "f", key=SECRET))


def test_a_database_is_copied_while_it_is_written_to(tmp_path: Path) -> None:
    source = apsw.Connection(str(tmp_path / "a.db"))
    for statement in ("PRAGMA journal_mode = WAL", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1), (2)"):
        source.execute(statement).fetchall()
    with nameless_copy(tmp_path / "a.db", tmp_path / "scratch", ask="SELECT count(*) FROM t") as (file, count):
        source.execute("INSERT INTO t VALUES (3)")
        assert count == 2 and not list(tmp_path.glob("scratch*"))
        (tmp_path / "b.db").write_bytes(file.read())
    assert apsw.Connection(str(tmp_path / "b.db")).execute("SELECT count(*) FROM t").get == 2
    copy_database(tmp_path / "a.db", tmp_path / "c.db")
    assert apsw.Connection(str(tmp_path / "c.db")).execute("SELECT count(*) FROM t").get == 3


def test_a_passing_secret_goes_with_the_next_key(lived: LivedHome) -> None:
    said = lived.say("one", "two")
    before = lived.keys.passing_secret("models")
    lived.keys.destroy([], at=1)
    assert lived.keys.passing_secret("models") == before
    lived.forget(said[0])
    assert lived.keys.passing_secret("models") != before
    after = lived.keys.passing_secret("models")
    lived.keys.destroy([said[0].key_id], at=2)
    assert lived.keys.passing_secret("models") == after


def test_the_ledger_of_a_restored_home_is_whole(lived: LivedHome, elsewhere: tuple[Path, str], tmp_path: Path) -> None:
    said = lived.say("one", "two", "three")
    lived.forget(said[0])
    lived.back_up(tmp_path / "b")
    into(elsewhere, tmp_path / "b", ledger=lived.settings.ledger)
    there = LivedHome(*elsewhere)
    assert Ledger(there.settings.ledger, there.keys.secret("ledger")).entries() == lived.ledger.entries()
    there.close()


def test_recurring_backups_need_a_place(lived: LivedHome, tmp_path: Path) -> None:
    assert schedule(lived.settings)["backup"] == 0
    with pytest.raises(ConfigurationError):
        recurring_backup(lived.settings)
    settings = lived.settings.model_copy(update={"backup_to": tmp_path / "b", "keep_keys": 1})
    assert schedule(settings)["backup"] == 86_400
    lived.say("one")
    recurring_backup(settings)
    recurring_backup(settings)
    assert [p.name for p in (tmp_path / "b-keys").iterdir()] == ["000002"]


def test_nothing_is_backed_up_from_a_home_that_is_being_restored(lived: LivedHome, tmp_path: Path) -> None:
    lived.settings.home.joinpath(MARKER).touch()
    with pytest.raises(RestoreRefused, match="not finished"):
        lived.back_up(tmp_path / "b")
