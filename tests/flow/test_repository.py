"""The repository of documents, seen with git itself."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from given import NOON, TENANT, CountedIds, ManualClock
from lamina import limits
from lamina.errors import Unavailable
from lamina.store.documents.gathering import DamagedPack, gathered
from lamina.store.documents.repository import folder_name
from lamina.store.ports.documents import Change
from lamina.store.sqlite import SqliteStore
from repositories import APPEND, PUT, REMOVE, files, git, history, needs_git, packs, repository, write


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


def test_a_start_looks_for_what_a_crash_left_but_not_for_each_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path, durable=False)
    tenants = ["acme", *(f"tenant-{number}" for number in range(6))]
    for tenant_id in tenants:
        write(store, Change("a", PUT, b"text"), tenant_id=tenant_id)
    store.close()
    folder = repository(tmp_path).parent
    left = [folder / f"acme.git.new-{'0' * 32}", folder / f"tenant-3.git.old-{'0' * 32}"]
    for each in left:
        shutil.copytree(repository(tmp_path), each)
    looks, scandir = [], os.scandir

    def counted(path: Any = ".") -> Any:
        looks.append(str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    again = SqliteStore(tmp_path, durable=False)
    again.documents.recover()
    again.close()
    assert looks.count(str(folder)) < len(tenants)
    assert not any(each.exists() for each in left)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are looked up there")
def test_repositories_that_wait_for_their_next_write_hold_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REPOSITORIES_GROWING_MAX", 1)
    store = SqliteStore(tmp_path, durable=False)
    for tenant_id in ("acme", "other", "third"):
        write(store, Change("a", PUT, b"text"), tenant_id=tenant_id)
    store.close()
    again = SqliteStore(tmp_path, durable=False)
    again.documents.recover()
    files = [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    held = {each.parents[2].name for each in files if each.suffix == ".pack" and tmp_path in each.parents}
    write(again, Change("a", PUT, b"more"), tenant_id="acme")
    again.close()
    assert held == {folder_name("third")}
    assert len(history(tmp_path, "acme")) == 2


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
