"""A repository of documents that was damaged, cannot be written, or was left unfinished by a crash."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pygit2
import pytest

from given import TENANT, CountedIds, ManualClock
from lamina.errors import Unavailable
from lamina.store.documents.projector import LOCK
from lamina.store.documents.repository import folder_name, repositories_aside
from lamina.store.ports.documents import Change
from lamina.store.sqlite import SqliteStore
from processes import wait_until
from repositories import APPEND, PUT, files, git, history, needs_git, packs, repository, write


@pytest.fixture
def store(tmp_path: Path):
    made = SqliteStore(tmp_path, clock=ManualClock(), ids=CountedIds(), durable=False)
    yield made
    made.close()


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
