"""A folder is backed up while it is written to, and comes back as it was, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import threading
from pathlib import Path

import apsw
import pytest

from backups import EVENTS, backed_up, document, memory, opened
from forks import ran
from given import NOON, TENANT, append
from lamina.access.chain import check_chains
from lamina.cli import damage
from lamina.cli.local_socket import lock_of
from lamina.errors import Invalid, LaminaError, Unavailable
from lamina.kernel.time import SECOND_US
from lamina.store.backups.folder import BackupFolder
from lamina.store.ports.packs import PackKind, StoredPack
from lamina.store.sqlite import SqliteStore, heads_of
from lamina.store.sqlite.copies import copying
from lamina.store.sqlite.restore import RestoredFolder, restore, verify

HOUR = 3600 * SECOND_US
ROUNDS = int(os.environ.get("BACKUP_KILLS", "3"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return memory(tmp_path / "data")


def put_back(backup: Path, into: Path) -> RestoredFolder:
    return restore(into, backup, lambda _: None, lock_of=lock_of)


def code_of(backup: Path, into: Path) -> str:
    with pytest.raises(LaminaError) as caught:
        put_back(backup, into)
    assert not (into / "lamina.db").exists() or into.name == "data"
    return caught.value.code


def test_a_folder_comes_back_as_it_was(data: Path, tmp_path: Path) -> None:
    made = backed_up(data)
    restored = put_back(made.path, tmp_path / "second")
    assert restored.same_hashes
    assert heads_of(tmp_path / "second" / "lamina.db") == heads_of(data / "lamina.db")
    stores = [SqliteStore(tmp_path / name, durable=False) for name in ("data", "second")]
    first, second = (
        (
            list(store.snapshot()),
            store.log.walk(TENANT, 0, 1000),
            store.audit.heads(),
            [store.documents.below(tenant, "", with_content=True) for tenant in (TENANT, "other/tenant")],
        )
        for store in stores
    )
    assert first == second
    assert (len(first[0]) > 0, len(first[1])) == (True, EVENTS)
    assert append(stores[1], "goes on")[0].position == EVENTS + 1
    for store in stores:
        store.close()


def test_packs_of_the_last_minute_are_in_no_backup(data: Path, tmp_path: Path) -> None:
    told = b"what Maya was told a moment ago"
    store = opened(data)
    store.packs.keep(
        StoredPack(
            tenant_id=TENANT,
            kind=PackKind.RECALL,
            caller="user:maya",
            id="k",
            body_hash="",
            made_at=NOON,
            content=told,
        )
    )
    store.close()
    assert told in (data / "lamina.db").read_bytes()
    put_back(backed_up(data).path, tmp_path / "second")
    assert told not in (tmp_path / "second" / "lamina.db").read_bytes()


def test_doctor_has_nothing_to_say_of_what_was_restored(data: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    put_back(backed_up(data).path, second)
    assert {path.name for path in second.iterdir()} == {"lamina.db", "relay", "restored", "server.lock"}
    checks = [
        damage.database_check(second),
        damage.documents_check(second, repaired=[]),
        damage.clock_check(second, NOON),
    ]
    assert [check.state for check in checks] == ["ok"] * 3
    modes = {
        stat.S_IMODE(path.stat().st_mode) for path in (second / "lamina.db", *(second / "restored").iterdir())
    }
    assert modes == {0o600}


def test_a_backup_under_writes_is_of_one_moment(data: Path, tmp_path: Path) -> None:
    store = opened(data)
    over, begun = threading.Event(), threading.Event()

    def write(number: int) -> None:
        while not over.is_set():
            append(store, *(f"{number} says {n}" for n in range(3)))
            document(store, number)
            begun.set()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(300)
    try:
        made = backed_up(data)
        again = backed_up(data)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    for number, backup in enumerate((made, again)):
        put_back(backup.path, tmp_path / f"second-{number}")
        second = SqliteStore(tmp_path / f"second-{number}", durable=False)
        log = second.log.walk(TENANT, 0, 1_000_000)
        assert log == store.log.walk(TENANT, 0, len(log))
        assert backup.manifest.tenants[TENANT].position == len(log)
        assert sorted(second.jobs.backlog().values())[-1] > 0
        commits = second.documents.commits(TENANT, 0, 1_000_000)
        assert commits == store.documents.commits(TENANT, 0, len(commits))
        assert not [chain for chain in check_chains(second.audit, {}, None) if chain.broken]
        second.close()
    assert again.manifest.tenants[TENANT].position >= made.manifest.tenants[TENANT].position > EVENTS
    store.close()


def test_a_database_that_is_damaged_is_not_backed_up(data: Path) -> None:
    made = backed_up(data)
    database = bytearray((data / "lamina.db").read_bytes())
    for page in range(10, len(database) // 4096, 3):
        database[page * 4096 : page * 4096 + 64] = os.urandom(64)
    (data / "lamina.db").write_bytes(database)
    with pytest.raises(LaminaError) as caught:
        backed_up(data)
    assert caught.value.code == "DATABASE_DAMAGED"
    assert list(made.path.parent.glob("*.backup*")) == [made.path]
    assert not (data / "backing-up").exists()


def test_a_folder_with_something_in_it_is_refused_and_left_alone(data: Path, tmp_path: Path) -> None:
    made = backed_up(data)
    assert code_of(made.path, data) == "FOLDER_NOT_EMPTY"
    (tmp_path / "file").write_text("x")
    assert code_of(made.path, tmp_path / "file") == "FOLDER_NOT_EMPTY"
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "notes.txt").write_text("mine")
    assert code_of(made.path, tmp_path / "second") == "FOLDER_NOT_EMPTY"
    assert [path.name for path in (tmp_path / "second").iterdir()] == ["notes.txt"]


def test_a_folder_that_a_process_holds_is_refused(data: Path, tmp_path: Path) -> None:
    made = backed_up(data)
    second = tmp_path / "second"
    lock = lock_of(second)
    assert lock is not None
    with lock:
        assert code_of(made.path, second) == "FOLDER_IN_USE"
    with (second / "worker.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert code_of(made.path, second) == "FOLDER_IN_USE"
    put_back(made.path, second)


def test_no_memory_begins_where_a_restore_was_interrupted(data: Path, tmp_path: Path) -> None:
    made = backed_up(data)
    second = tmp_path / "second"
    (second / "restoring").mkdir(parents=True)
    (second / "restoring" / "placing").touch()
    (second / "relay").mkdir()
    (second / "relay" / "half").touch()
    with pytest.raises(Unavailable, match="run lamina restore again"):
        SqliteStore(second)
    put_back(made.path, second)
    (second / "restoring").mkdir()
    SqliteStore(second).close()
    assert not (second / "restoring").exists()
    assert not (second / "relay" / "half").exists()


def test_a_database_with_a_trigger_is_refused(data: Path, tmp_path: Path) -> None:
    with contextlib.closing(apsw.Connection(str(data / "lamina.db"))) as connection:
        connection.execute("CREATE TRIGGER spy AFTER INSERT ON event BEGIN DELETE FROM audit; END")
    assert code_of(backed_up(data).path, tmp_path / "second") == "INVALID_BACKUP"
    assert {path.name for path in (tmp_path / "second").iterdir()} == {"server.lock"}


def test_a_damaged_backup_leaves_the_folder_as_it_was(data: Path, tmp_path: Path) -> None:
    made = backed_up(data)
    content = bytearray(made.path.read_bytes())
    content[-40] ^= 1
    made.path.write_bytes(content)
    assert code_of(made.path, tmp_path / "second") == "INVALID_BACKUP"
    content[-40] ^= 1
    content[len(content) // 2] ^= 1
    made.path.write_bytes(content)
    assert code_of(made.path, tmp_path / "second") == "INVALID_BACKUP"
    assert {path.name for path in (tmp_path / "second").glob("*")} <= {"server.lock"}
    assert code_of(tmp_path / "nowhere", tmp_path / "second") == "BACKUP_NOT_FOUND"
    os.mkfifo(tmp_path / "pipe")
    assert code_of(tmp_path / "pipe", tmp_path / "second") == "INVALID_BACKUP"
    assert code_of(tmp_path, tmp_path / "second") == "INVALID_BACKUP"


def test_two_folders_of_one_name_do_not_delete_each_others_backups(data: Path, tmp_path: Path) -> None:
    ours = backed_up(data).path
    namesake = memory(tmp_path / "elsewhere" / data.name)
    theirs = BackupFolder(data.with_name("backups"), namesake)
    with pytest.raises(Invalid, match="INVALID_SETTING") as refused:
        backed_up(namesake, into=theirs)
    assert str(data) in refused.value.message
    assert list(ours.parent.glob("*.backup*")) == [ours]
    data.rename(tmp_path / "moved-away")
    assert backed_up(namesake, into=theirs, made_at=NOON + HOUR)  # whose they were is no more


def test_the_newest_are_kept_and_nothing_else_is_deleted(data: Path) -> None:
    folder = BackupFolder(data.with_name("backups"), data)
    made = [backed_up(data, made_at=NOON + number // 2 * HOUR).path for number in range(4)]
    others = [
        made[0].with_name(name) for name in ("data-notes.backup", "other-20260513T120000Z.backup", "data")
    ]
    left = made[0].with_name("data-20260513T110000Z.backup.unfinished")
    for path in (*others, left):
        path.write_text("x")
    assert folder.listed() == made
    assert folder.keep(3, made[3]) == made[:1]
    assert folder.listed() == made[1:]
    backed_up(data)
    assert not left.exists()
    assert all(path.exists() for path in others)
    assert stat.S_IMODE(made[1].stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("work", ["backup", "restore"])
def test_a_kill_at_any_moment_leaves_all_of_it_or_nothing(data: Path, tmp_path: Path, work: str) -> None:
    backups = tmp_path / "backups"
    script = str(Path(__file__).parents[1] / "killed.py")
    done = ran(script, work, str(data), str(backups), str(ROUNDS), "7", seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n") == ROUNDS
    for path in backups.glob("*.backup*"):
        assert path.suffix == ".backup"
        verify(path, lambda _: None)
    restored = list(tmp_path.glob("restored*")) if work == "restore" else [data]
    assert restored
    source = SqliteStore(data, durable=False)
    for folder in restored:
        store = SqliteStore(folder, durable=False)
        assert list(store.snapshot()) == list(source.snapshot())
        assert store.log.walk(TENANT, 0, 1000) == source.log.walk(TENANT, 0, 1000)
        store.close()
        assert damage.documents_check(folder, repaired=[]).state == "ok"
        assert {"backing-up", "restoring"}.isdisjoint(path.name for path in folder.iterdir())
    source.close()


def test_an_erasure_takes_the_copy_away_that_a_killed_backup_left(data: Path) -> None:
    """The database as it was, with all that is erased, and unsealed: the next backup may come in a year."""
    store = SqliteStore(data, durable=False)
    with copying(data) as copies:
        (copies / "lamina.db").write_bytes(b"as it was")
        store.traces.scrub()
        assert copies.exists(), "the one that makes it takes it away"
    (data / "backing-up").mkdir()
    (data / "backing-up" / "lamina.db").write_bytes(b"as it was")
    assert any("backup" in found for found in store.traces.look())
    store.traces.scrub()
    assert not (data / "backing-up").exists()
    assert store.traces.look() == ()
    store.close()
