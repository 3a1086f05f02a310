"""Documents written by several processes over one folder: one of them makes the commits, whichever is left."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pygit2
import pytest

from given import TENANT
from lamina.errors import Unavailable
from lamina.store.documents.repository import folder_name
from lamina.store.ports.documents import Change, ChangeKind, Commit, Landed, Write
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.documents import DocumentRows

Opened = Callable[[], SqliteStore]


def write(store: SqliteStore, path: str) -> Commit:
    change = Change(path, ChangeKind.PUT, path.encode())
    made = Write(tenant_id=TENANT, author="agent:nia", message=f"write: {path}", changes=[change])
    return store.documents.write([made])[0].commit


def history(folder: Path) -> list[str]:
    """The hashes of the repository, oldest first, as git has them."""
    repository = pygit2.Repository(str(folder / "relay" / folder_name(TENANT)))
    newest_first = repository.walk(repository.references["refs/heads/main"].target)
    return [str(commit.id) for commit in newest_first][::-1]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens a store as one of several processes does; each has its own locks."""
    stores: list[SqliteStore] = []

    def opened() -> SqliteStore:
        stores.append(SqliteStore(tmp_path, durable=False, shared=True))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()


def test_each_of_several_writes_and_all_read_the_same(opened: Opened, tmp_path: Path) -> None:
    first, second = opened(), opened()
    commits = [write(first, "a"), write(second, "b"), write(first, "c"), write(second, "d")]
    assert [each.number for each in commits] == [1, 2, 3, 4]
    assert [each.sha for each in commits] == history(tmp_path)
    for store in (first, second):
        assert store.documents.head(TENANT) == commits[-1]
        assert [store.documents.commit_of(TENANT, each.sha) for each in commits] == commits


def test_many_writers_of_several_processes_get_each_their_own_commit(opened: Opened, tmp_path: Path) -> None:
    stores = [opened(), opened()]
    with ThreadPoolExecutor(8) as pool:
        commits = list(pool.map(lambda n: write(stores[n % 2], f"f{n}"), range(40)))
    in_order = sorted(commits, key=lambda each: each.number)
    assert [each.sha for each in in_order] == history(tmp_path)
    assert [each.number for each in in_order] == list(range(1, 41))


def test_who_is_left_goes_on_where_the_other_stopped(opened: Opened, tmp_path: Path) -> None:
    first, second = opened(), opened()
    made = [write(first, "a"), write(second, "b")]
    first.close()
    made.append(write(second, "c"))
    assert [each.sha for each in made] == history(tmp_path)
    # The answer to this one was lost with the process that made it.
    assert second._projector.stand([Landed(TENANT, made[0])]) == [made[0].sha]


def test_what_the_maker_refuses_is_refused_to_the_others(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = opened(), opened()
    write(first, "a")
    with monkeypatch.context() as broken:
        broken.setattr("lamina.store.documents.growing.place_pack", refused)
        with pytest.raises(Unavailable) as caught:
            write(second, "b")
        assert caught.value.code == "REPOSITORY_UNAVAILABLE"
        assert first.upkeep.state().repositories_behind == second.upkeep.state().repositories_behind == 1
    write(second, "c")
    assert first.upkeep.state().repositories_behind == second.upkeep.state().repositories_behind == 0


def refused(*_: object, **__: object) -> None:
    raise OSError("the disk refuses")


MAKER = """
import sys
from pathlib import Path
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]), durable=False, shared=True)
change = Change("a", ChangeKind.PUT, b"1")
store.documents.write([Write(tenant_id="acme", author="a", message="m", changes=[change])])
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_maker_that_is_killed_is_followed_by_who_writes_next(opened: Opened, tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAKER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None
        assert maker.stdout.readline() == "ready\n"
        left = opened()
        made = [write(left, "b")]
        maker.kill()
        maker.wait()
        made.append(write(left, "c"))
    assert [each.sha for each in made] == history(tmp_path)[1:]


def test_what_has_landed_is_told_to_be_kept_whatever_fails_behind_it(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = opened(), opened()
    write(first, "a")
    with monkeypatch.context() as full:

        def refused(*_: object, **__: object) -> None:
            raise Unavailable("WAL_UNAVAILABLE", "the log cannot be reached: FullError")

        full.setattr(DocumentRows, "note", refused)
        for store, path in ((first, "b"), (second, "c")):
            with pytest.raises(Unavailable) as told:
                write(store, path)
            assert told.value.code == "REPOSITORY_UNAVAILABLE"
    assert [each.path for each in first.documents.below(TENANT, "", after="", limit=9)] == ["a", "b", "c"]
    assert write(first, "d").number == 4


def test_without_room_for_another_open_file_nothing_is_written_and_that_is_said(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened()
    with monkeypatch.context() as full:

        def refused(*_: object) -> None:
            raise OSError(errno.EMFILE, "Too many open files")

        full.setattr("lamina.store.documents.shared.socket.socket", refused)
        with pytest.raises(Unavailable) as told:
            write(store, "a")
    assert (told.value.code, store.documents.head(TENANT)) == ("WAL_UNAVAILABLE", None)
    assert write(store, "a").number == 1
