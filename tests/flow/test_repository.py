"""The repository of documents, seen with git itself, and after crashes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pygit2
import pytest

from given import NOON, TENANT, CountedIds, ManualClock
from lamina import limits
from lamina.errors import Unavailable
from lamina.store.documents.gathering import DamagedPack, gathered
from lamina.store.documents.projector import LOCK
from lamina.store.documents.repository import folder_name, repositories_aside
from lamina.store.ports.documents import Change, ChangeKind, Commit, Write
from lamina.store.sqlite import SqliteStore
from processes import wait_until

PUT, APPEND, REMOVE = ChangeKind.PUT, ChangeKind.APPEND, ChangeKind.REMOVE

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def write(store: SqliteStore, *changes: Change, tenant_id: str = TENANT, message: str = "write: x") -> Commit:
    made = Write(tenant_id=tenant_id, author="agent:nia", message=message, changes=changes)
    return store.documents.write([made])[0].commit


def repository(folder: Path, tenant_id: str = TENANT) -> Path:
    return folder / "relay" / folder_name(tenant_id)


def git(path: Path, *arguments: str) -> str:
    command = ["git", "-C", str(path), "-c", "safe.directory=*", *arguments]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300)
    return done.stdout.decode("utf-8", "replace")


def history(folder: Path, tenant_id: str = TENANT) -> list[str]:
    return git(repository(folder, tenant_id), "rev-list", "--reverse", "main").split()


def files(folder: Path, tenant_id: str = TENANT) -> dict[str, str]:
    path = repository(folder, tenant_id)
    names = git(path, "ls-tree", "-r", "-z", "--name-only", "main").split("\0")
    return {name: git(path, "show", f"main:{name}") for name in names if name}


@pytest.fixture
def store(tmp_path: Path):
    made = SqliteStore(tmp_path, clock=ManualClock(), ids=CountedIds(), durable=False)
    yield made
    made.close()


@needs_git
def test_git_shows_who_wrote_what_and_when(store: SqliteStore, tmp_path: Path) -> None:
    write(store, Change("memory/a.json", PUT, b"{}\n"), message="continuity: upsert user maya")
    second = write(store, Change("memory/a.json", PUT, b"{1}\n"), Change("log.jsonl", APPEND, b"1\n"))
    third = write(store, Change("log.jsonl", APPEND, b"2\n"), message="append: log.jsonl")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repository(tmp_path)), str(clone))
    assert (clone / "memory" / "a.json").read_bytes() == b"{1}\n"
    log = git(clone, "log", "--format=%H|%an|%ae|%cn|%at|%ct|%s").splitlines()
    assert log[0] == (
        f"{third.sha}|agent:nia|agent.nia@lamina.invalid|agent:nia|{NOON // 10**6}|{NOON // 10**6}|append: log.jsonl"
    )
    assert log[1].startswith(second.sha)
    assert log[2].endswith("continuity: upsert user maya")
    blamed = [line.split()[0] for line in git(clone, "blame", "-l", "-s", "log.jsonl").splitlines()]
    assert blamed == [second.sha, third.sha]
    assert "+{1}" in git(clone, "log", "-p", "-1", second.sha)
    assert git(clone, "fsck", "--full", "--strict") == ""


@needs_git
def test_folders_come_and_go_as_git_has_them(store: SqliteStore, tmp_path: Path) -> None:
    for path in ["a/b/c", "a.b", "a0", "a-", "z/y", "ü/ö"]:
        write(store, Change(path, PUT, path.encode()))
    write(store, Change("a/b/c", REMOVE), Change("a", PUT, b"now a file"))
    write(store, Change("z/y", REMOVE))
    assert files(tmp_path) == {"a": "now a file", "a.b": "a.b", "a0": "a0", "a-": "a-", "ü/ö": "ü/ö"}
    for path in ["a", "a.b", "a0", "a-", "ü/ö"]:
        head = write(store, Change(path, REMOVE))
    assert files(tmp_path) == {}
    assert history(tmp_path)[-1] == head.sha
    assert git(repository(tmp_path), "fsck", "--full", "--strict") == ""


def test_the_same_rows_give_the_same_hashes(tmp_path: Path) -> None:
    heads = []
    for name in ("one", "two"):
        made = SqliteStore(tmp_path / name, clock=ManualClock(), ids=CountedIds(), durable=False)
        heads.append([write(made, Change(f"d{n % 3}/f{n}", PUT, b"%d" % n)).sha for n in range(20)])
        made.close()
    assert heads[0] == heads[1]


@needs_git
def test_ids_of_tenants_choose_no_place(store: SqliteStore, tmp_path: Path) -> None:
    hostile = ["../../up", "UP", "a/b", ".git", "", "x" * 500, "\ud800", "con.git", "=1"]
    assert len({folder_name(tenant_id) for tenant_id in hostile}) == len(hostile)
    for tenant_id in hostile[:4]:
        write(store, Change("a", PUT, tenant_id.encode()), tenant_id=tenant_id)
        assert files(tmp_path, tenant_id) == {"a": tenant_id}
    found = {path.name for path in (tmp_path / "relay").iterdir()}
    assert found == {"projector.lock", *(folder_name(tenant_id) for tenant_id in hostile[:4])}
    assert {path.name for path in tmp_path.parent.iterdir() if path.name == "up.git"} == set()


@needs_git
def test_writers_at_once_share_batches_and_lose_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    shas: list[str] = []

    def writer(number: int) -> None:
        for turn in range(12):
            shas.append(write(store, Change(f"w{number}.jsonl", APPEND, b"%d\n" % turn)).sha)

    threads = [threading.Thread(target=writer, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(shas) == sorted(history(tmp_path))
    assert files(tmp_path) == {f"w{n}.jsonl": "".join(f"{t}\n" for t in range(12)) for n in range(8)}
    store.close()


def packs(folder: Path) -> list[Path]:
    return sorted((repository(folder) / "objects" / "pack").glob("*.pack"))


@needs_git
def test_writes_of_one_document_beside_many_share_their_folder(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, durable=False)
    many = [Change(f"d/{'long-name-' * 5}{number}", PUT, b"%d" % number) for number in range(2000)]
    write(store, *many)
    first = sum(path.stat().st_size for path in packs(tmp_path))
    for number in range(60):
        write(store, Change(many[number * 31].path, PUT, b"again %d" % number))
    store.close()
    assert len(packs(tmp_path)) <= 3
    # A folder of 2,000 stands in two or three packs, not in sixty.
    assert sum(path.stat().st_size for path in packs(tmp_path)) < 4 * first
    assert git(repository(tmp_path), "fsck", "--full", "--strict") == ""
    assert len(history(tmp_path)) == 61


@needs_git
def test_a_clone_beside_writes_is_whole(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    write(store, *(Change(f"d/{number}", PUT, b"%d" % number) for number in range(300)))
    done = threading.Event()

    def writer() -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            write(store, Change(f"d/{turn % 300}", PUT, b"again %d" % turn))

    thread = threading.Thread(target=writer)
    thread.start()
    try:
        for number in range(5):
            clone = tmp_path / f"clone-{number}"
            git(tmp_path, "clone", "--quiet", "--bare", str(repository(tmp_path)), str(clone))
            assert git(clone, "fsck", "--full", "--strict", "--no-dangling") == ""
    finally:
        done.set()
        thread.join()
        store.close()


@needs_git
def test_gathered_packs_hold_what_they_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.store.documents.repository._PACKS_MAX", 3)
    monkeypatch.setattr("lamina.store.documents.growing._CARRIED_BYTES_MIN", 1000)
    store = SqliteStore(tmp_path, durable=False)
    for number in range(150):
        write(store, Change(f"d/{number % 60}", PUT, b"text %d\n" % number * 40))
    store.close()
    path = repository(tmp_path)
    assert len(packs(tmp_path)) < 20
    assert git(path, "fsck", "--full", "--strict") == ""
    assert len(history(tmp_path)) == 150
    again = SqliteStore(tmp_path, durable=False)
    write(again, Change("d/0", PUT, b"goes on"))
    assert files(tmp_path)["d/0"] == "goes on"
    again.close()


def test_a_pack_that_is_not_as_it_was_written_is_not_gathered(tmp_path: Path) -> None:
    for number in range(3):
        store = SqliteStore(tmp_path, durable=False)
        write(store, Change("a", PUT, b"text %d " % number * 40))
        store.close()
    found = packs(tmp_path)
    damaged = bytearray(found[1].read_bytes())
    damaged[40] ^= 1
    found[1].chmod(0o644)
    found[1].write_bytes(damaged)
    with pytest.raises(DamagedPack):
        gathered(found, found[0].parent, durable=False)
    assert sorted(found[0].parent.glob("*.pack")) == found
    assert list(repository(tmp_path).rglob("tmp_*")) == []


@needs_git
def test_repositories_take_turns_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REPOSITORIES_GROWING_MAX", 1)
    store = SqliteStore(tmp_path, durable=False)
    for number in range(9):
        write(store, Change("a", PUT, b"%d" % number), tenant_id="acme" if number % 3 else "other")
    store.close()
    for tenant_id, count in (("acme", 6), ("other", 3)):
        assert len(history(tmp_path, tenant_id)) == count
        assert git(repository(tmp_path, tenant_id), "fsck", "--full", "--strict") == ""


@needs_git
def test_a_write_after_a_disk_that_refused_makes_both_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path, durable=False)
    write(store, Change("a", PUT, b"1"))
    with monkeypatch.context() as broken:
        broken.setattr("lamina.store.documents.growing.place_pack", refused)
        with pytest.raises(Unavailable) as caught:
            write(store, Change("a", PUT, b"2"))
    assert caught.value.code == "REPOSITORY_UNAVAILABLE"
    head = write(store, Change("b", PUT, b"3"))
    assert history(tmp_path)[-1] == head.sha
    assert len(history(tmp_path)) == 3
    assert files(tmp_path) == {"a": "2", "b": "3"}
    assert git(repository(tmp_path), "fsck", "--full", "--strict") == ""
    store.close()


def refused(*_: object, **__: object) -> Path:
    raise OSError(28, "No space left on device")


def test_hashes_are_known_before_their_rows_say_them(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    made = [write(store, Change("a", PUT, b"%d" % number)) for number in range(20)]
    assert [each.commit for each in store.documents.history(TENANT, "a")] == made[::-1]
    assert [each.commit for each in store.documents.commits(TENANT, 0, 100)] == made
    assert [store.documents.commit_of(TENANT, each.sha[:12]) for each in made] == made
    store.close()
    again = SqliteStore(tmp_path)
    assert [each.commit for each in again.documents.commits(TENANT, 0, 100)] == made
    again.close()


# ---- after trouble


@needs_git
@pytest.mark.parametrize("lost", ["all", "branch", "packs", "config"])
def test_a_damaged_repository_is_made_whole_from_the_rows(tmp_path: Path, lost: str) -> None:
    store = SqliteStore(tmp_path, durable=False)
    shas = [write(store, Change(f"a/{n}", PUT, b"%d" % n)).sha for n in range(5)]
    store.close()
    path = repository(tmp_path)
    damage = {
        "all": lambda: shutil.rmtree(path),
        "branch": lambda: (path / "refs" / "heads" / "main").write_text(""),
        "packs": lambda: [each.unlink() for each in (path / "objects" / "pack").iterdir()],
        "config": lambda: (path / "HEAD").unlink(),
    }
    damage[lost]()
    again = SqliteStore(tmp_path, durable=False)
    shas.append(write(again, Change("a/9", PUT, b"9")).sha)
    assert history(tmp_path) == shas
    again.close()


@pytest.mark.parametrize("seen", ["at the start", "by a check"])
def test_a_repository_that_cannot_be_opened_is_put_aside_and_told(tmp_path: Path, seen: str) -> None:
    store = SqliteStore(tmp_path, durable=False)
    write(store, Change("a", PUT, b"1"))
    path = repository(tmp_path)
    packs = {each.name for each in (path / "objects" / "pack").iterdir()}
    if seen == "at the start":
        store.close()
    (path / "HEAD").unlink()
    if seen == "at the start":
        store = SqliteStore(tmp_path, durable=False)
        store.documents.recover()
    else:
        store.documents.rebuild([TENANT])
        wait_until(lambda: store.upkeep.state().repositories_behind == 0)
    assert store.upkeep.state().repositories_aside == 1
    (aside,) = repositories_aside(path.parent, path.name)
    assert packs <= {each.name for each in (aside / "objects" / "pack").iterdir()}
    assert store.traces.look() == (f"{aside.name}: a repository that could not be opened, put aside",)
    assert write(store, Change("b", PUT, b"2")).number == 2
    store.close()


def test_a_repository_without_objects_that_cannot_be_opened_goes(tmp_path: Path) -> None:
    SqliteStore(tmp_path, durable=False).close()
    (repository(tmp_path) / "objects" / "pack").mkdir(parents=True)
    store = SqliteStore(tmp_path, durable=False)
    write(store, Change("a", PUT, b"1"))
    assert repositories_aside(tmp_path / "relay") == []
    store.close()


@pytest.mark.parametrize("path", ["alice", "carol"], ids=["of the rows", "of none"])
def test_what_lies_aside_goes_with_the_documents_that_are_erased(tmp_path: Path, path: str) -> None:
    store = SqliteStore(tmp_path, durable=False)
    write(store, Change("alice", PUT, b"1"), Change("bob", PUT, b"1"))
    write(store, Change("bob", PUT, b"1"), tenant_id="other")
    store.close()
    for tenant_id in (TENANT, "other"):
        (repository(tmp_path, tenant_id) / "HEAD").unlink()
    store = SqliteStore(tmp_path, durable=False)
    store.documents.recover()
    assert len(repositories_aside(tmp_path / "relay")) == 2
    store.traces.erase_documents(TENANT, [])
    assert len(repositories_aside(tmp_path / "relay")) == 2
    # Nobody knows what it tells of: of a path that the rows do not have it may have been, too.
    store.traces.erase_documents(TENANT, [path])
    store.close()
    assert repositories_aside(tmp_path / "relay", folder_name(TENANT)) == []
    assert len(repositories_aside(tmp_path / "relay")) == 1


def torn(pack: Path, how: str) -> None:
    """A pack as a power cut leaves it: its name is on disk, its bytes are not, or not all of them."""
    for path in (pack, pack.with_suffix(".idx")):
        path.chmod(0o644)
    data, index = pack.read_bytes(), pack.with_suffix(".idx").read_bytes()
    pack.write_bytes({"empty": b"", "short": data[:40], "zeros": bytes(len(data))}.get(how, data))
    if how in ("empty", "short index"):
        pack.with_suffix(".idx").write_bytes(index[:500] if how == "short index" else b"")


@needs_git
@pytest.mark.parametrize("how", ["empty", "short", "zeros", "short index"])
@pytest.mark.parametrize("which", [0, -1], ids=["oldest", "newest"])
def test_a_torn_pack_is_made_whole_when_the_server_starts(tmp_path: Path, how: str, which: int) -> None:
    shas = []
    for number in range(3):
        store = SqliteStore(tmp_path, durable=False)
        shas.append(write(store, Change(f"a/{number}", PUT, b"%d" % number * 100)).sha)
        store.close()
    # A copy: libgit2 may still have what was closed in its memory.
    after = shutil.copytree(tmp_path, tmp_path / "after")
    torn(sorted(packs(after), key=lambda path: path.stat().st_mtime_ns)[which], how)
    again = SqliteStore(after, durable=False)
    again.documents.recover()
    shas.append(write(again, Change("a/9", PUT, b"9")).sha)
    assert history(after) == shas
    assert git(repository(after), "fsck", "--full", "--strict") == ""
    again.close()


def test_a_torn_pack_beside_the_others_fails_no_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("lamina.store.documents.repository._PACKS_MAX", 2)
    for number in range(4):
        store = SqliteStore(tmp_path, durable=False)
        write(store, Change(f"a/{number}", PUT, b"%d" % number * 100))
        if number < 3:
            store.close()
    (repository(tmp_path) / "objects" / "pack" / f"pack-{'0' * 40}.pack").write_bytes(b"")
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda n: write(store, Change(f"b/{n}", PUT, b"%d" % n)).sha, range(80)))
    assert len(set(made)) == 80
    store.close()
    again = SqliteStore(tmp_path, durable=False)
    again.documents.recover()
    assert [path for path in packs(tmp_path) if not path.stat().st_size] == []
    again.close()


def test_a_pack_that_is_being_written_is_nothing_that_a_clone_would_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path)
    write(store, Change("a", PUT, b"1"))
    below = repository(tmp_path) / "objects"
    before = sorted(below.rglob("*"))
    meanwhile = []
    with monkeypatch.context() as watched:
        watched.setattr(
            "lamina.store.documents.packs._flushed", lambda *_: meanwhile.append(sorted(below.rglob("*")))
        )
        write(store, Change("a", PUT, b"2"))
    assert meanwhile == [before]
    store.close()


def test_what_a_crash_left_unfinished_is_taken_away(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    write(store, Change("a", PUT, b"1"))
    store.close()
    for folder in (repository(tmp_path), repository(tmp_path) / "objects" / "pack"):
        (folder / "tmp_pack_of_the_dead").write_bytes(b"half")
    again = SqliteStore(tmp_path)
    write(again, Change("a", PUT, b"2"))
    again.close()
    assert list(repository(tmp_path).rglob("tmp_*")) == []


def test_a_pack_has_its_name_only_once_it_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path)
    write(store, Change("a", PUT, b"1"))
    before = packs(tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr("lamina.store.documents.packs._flushed", refused)
        with pytest.raises(Unavailable):
            write(store, Change("a", PUT, b"2"))
    assert packs(tmp_path) == before
    assert list(repository(tmp_path).rglob("tmp_*")) == []
    write(store, Change("a", PUT, b"3"))
    store.close()


def packs_by_age(folder: Path, count: int) -> list[Path]:
    """A repository in so many packs, each of a server of its own, oldest first."""
    for number in range(count):
        store = SqliteStore(folder, durable=False)
        write(store, Change(f"memory/deep/{number}/one.md", PUT, b"text %d\n" % number * 40))
        store.close()
    return sorted(packs(folder), key=lambda path: path.stat().st_mtime_ns)


@needs_git
@pytest.mark.parametrize("taken", range(4))
@pytest.mark.parametrize("how", ["gone", "altered"])
def test_a_repository_that_lost_a_pack_is_made_whole_before_anybody_writes(
    tmp_path: Path, taken: int, how: str
) -> None:
    pack = packs_by_age(tmp_path, 4)[taken]
    before = history(tmp_path)
    pack.chmod(0o644)
    if how == "gone":
        pack.unlink()
        pack.with_suffix(".idx").unlink()
    else:
        data = pack.read_bytes()
        pack.write_bytes(data[:12] + bytes(len(data) - 12))
    store = SqliteStore(tmp_path, durable=False)
    store.documents.recover()
    made = write(store, Change("memory/deep/0/one.md", APPEND, b"once\n")).sha
    assert store.documents.read(TENANT, "memory/deep/0/one.md").content.endswith(b"\nonce\n")
    assert history(tmp_path) == [*before, made]
    assert store.upkeep.state().repositories_behind == 0
    store.close()
    assert git(repository(tmp_path), "fsck", "--full", "--strict") == ""


@needs_git
def test_what_a_write_finds_missing_is_made_anew_from_the_rows(tmp_path: Path) -> None:
    oldest = packs_by_age(tmp_path, 3)[0]
    store = SqliteStore(tmp_path, durable=False)
    store.documents.recover()
    followed = store._projector._followed[TENANT]
    followed.worktree.forget()
    oldest.unlink()
    oldest.with_suffix(".idx").unlink()
    followed.repository._git = pygit2.Repository(str(followed.repository.path))
    made = [write(store, Change("memory/deep/0/one.md", APPEND, b"%d\n" % n)).sha for n in range(3)]
    assert history(tmp_path)[-3:] == made
    assert store.upkeep.state().repositories_behind == 0
    store.close()
    assert git(repository(tmp_path), "fsck", "--full", "--strict") == ""


def test_a_repository_that_cannot_be_written_is_told_as_long_as_it_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path, durable=False)
    write(store, Change("a", PUT, b"1"))
    write(store, Change("a", PUT, b"1"), tenant_id="other")
    assert store.upkeep.state().repositories_behind == 0
    with monkeypatch.context() as broken:
        broken.setattr("lamina.store.documents.growing.place_pack", refused)
        with pytest.raises(Unavailable):
            write(store, Change("a", PUT, b"2"))
        assert store.upkeep.state().repositories_behind == 1
    write(store, Change("a", PUT, b"3"))
    assert store.upkeep.state().repositories_behind == 0
    store.close()


def test_a_lock_that_cannot_be_made_refuses_the_write_and_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "relay" / LOCK).mkdir(parents=True)
    store = SqliteStore(tmp_path, durable=False)
    with pytest.raises(Unavailable) as refused:
        write(store, Change("a", PUT, b"1"))
    assert (refused.value.code, store.documents.head(TENANT)) == ("WAL_UNAVAILABLE", None)
    (tmp_path / "relay" / LOCK).rmdir()
    write(store, Change("a", PUT, b"1"))
    store.close()


@needs_git
def test_what_a_disk_refused_is_committed_once_it_works_though_nobody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path, durable=False)
    write(store, Change("a", PUT, b"1"))
    with monkeypatch.context() as broken:
        broken.setattr("lamina.store.documents.growing.place_pack", refused)
        with pytest.raises(Unavailable):
            write(store, Change("a", PUT, b"2"))
    wait_until(lambda: store.upkeep.state().repositories_behind == 0, 20.0)
    assert store.upkeep.state().failing == {}
    assert files(tmp_path) == {"a": "2"}
    store.close()


@needs_git
def test_building_anew_takes_out_what_the_rows_hold_no_more(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, durable=False)
    write(store, Change("a", PUT, b"a secret"))
    old = write(store, Change("a", PUT, b"harmless"))
    store.close()
    connection = apsw.Connection(str(tmp_path / "lamina.db"))
    connection.execute("UPDATE document_version SET content = x'' WHERE version = 1")
    connection.close()
    shutil.rmtree(repository(tmp_path))
    store = SqliteStore(tmp_path, durable=False)
    store.documents.recover()
    head = store.documents.head(TENANT)
    assert head is not None
    assert head.sha != old.sha
    assert history(tmp_path)[-1] == head.sha
    everything = git(repository(tmp_path), "cat-file", "--batch-all-objects", "--batch")
    assert "harmless" in everything
    assert "secret" not in everything
    assert store.documents.history(TENANT, "a")[0].commit.sha == head.sha
    store.close()


def test_a_second_process_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    write(store, Change("a", PUT, b"1"))
    second = SqliteStore(tmp_path, durable=False)
    with pytest.raises(Unavailable) as caught:
        write(second, Change("a", PUT, b"2"))
    assert caught.value.code == "DOCUMENTS_IN_USE"
    assert second.documents.read(TENANT, "a").content == b"1"
    second.close()


WRITER = """
import sys, threading
from pathlib import Path
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]))

def write(number):
    turn = 0
    while True:
        turn += 1
        changes = [Change(f"w{number}.jsonl", ChangeKind.APPEND, b"%d\\n" % turn),
                   Change(f"d/{number}-{turn % 3}", ChangeKind.PUT, b"%d" % turn)]
        one = Write(tenant_id="acme", author=f"agent:{number}", message=f"turn {turn}", changes=changes)
        sys.stdout.write(store.documents.write([one])[0].commit.sha + "\\n")
        sys.stdout.flush()

for number in range(4):
    threading.Thread(target=write, args=(number,)).start()
"""


@needs_git
@pytest.mark.slow
def test_after_a_kill_git_says_the_same_as_the_database(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    for wait_s in (0.03, 0.11, 0.24):
        acknowledged += killed_after(wait_s, tmp_path)
        store = SqliteStore(tmp_path)
        store.documents.recover()
        commits = store.documents.commits(TENANT, 0, 100_000)
        assert [each.commit.sha for each in commits] == history(tmp_path)
        assert set(acknowledged) - set(history(tmp_path)) == set()
        stood = {
            each.path: each.content.decode() for each in store.documents.below(TENANT, "", with_content=True)
        }
        assert files(tmp_path) == stood
        assert git(repository(tmp_path), "fsck", "--full", "--strict") == ""
        store.close()


def killed_after(wait_s: float, folder: Path) -> list[str]:
    """Hashes that a writing process had acknowledged when it was killed, a while after its first."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(wait_s)
    process.kill()
    rest, _ = process.communicate(timeout=300)
    return (first + rest).rpartition("\n")[0].split()


def keep_writing(store: SqliteStore, name: int, ends: list[str]) -> None:
    try:
        for number in range(100_000):
            write(store, Change(f"memory/{name}-{number}.md", PUT, b"x"))
    except Unavailable as error:
        ends.append(error.code)


def test_no_writer_hangs_when_the_store_closes_under_it(tmp_path):
    for turn in range(3):
        store = SqliteStore(tmp_path / str(turn), durable=False)
        write(store, Change("memory/first.md", PUT, b"x"))
        ends: list[str] = []
        writers = [
            threading.Thread(target=keep_writing, args=(store, name, ends), daemon=True) for name in range(4)
        ]
        for writer in writers:
            writer.start()
        time.sleep(0.1)
        store.close()
        for writer in writers:
            writer.join()
        assert set(ends) <= {"WAL_UNAVAILABLE", "REPOSITORY_UNAVAILABLE"}
        assert len(ends) == 4


def test_a_closed_store_refuses_documents_at_once(tmp_path):
    opened, never = SqliteStore(tmp_path / "a", durable=False), SqliteStore(tmp_path / "b", durable=False)
    write(opened, Change("memory/first.md", PUT, b"x"))
    for store in (opened, never):
        store.close()
        store.close()
        with pytest.raises(Unavailable):
            write(store, Change("memory/late.md", PUT, b"x"))
        assert not store._projector._thread.is_alive()


def test_a_write_that_lands_as_the_store_closes_says_so_and_is_committed_at_the_next_start(
    tmp_path, monkeypatch
):
    store = SqliteStore(tmp_path, durable=False)
    write(store, Change("memory/first.md", PUT, b"x"))
    projector, stand = store._projector, store._projector.stand

    def closed_before(commits):
        projector.close()
        return stand(commits)

    monkeypatch.setattr(projector, "stand", closed_before)
    with pytest.raises(Unavailable) as caught:
        write(store, Change("memory/second.md", PUT, b"y"))
    assert caught.value.code == "REPOSITORY_UNAVAILABLE"
    store.close()
    again = SqliteStore(tmp_path, durable=False)
    again.documents.recover()
    head = again.documents.head(TENANT)
    assert head is not None
    assert (head.number, len(head.sha)) == (2, 40)
    again.close()
