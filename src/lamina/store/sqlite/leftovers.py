"""Looking for what should not be in a folder's files any more: bytes in free pages, objects of a repository that no commit names, copies
aside."""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lamina.store.documents.checking import opened
from lamina.store.documents.git import pygit2
from lamina.store.documents.repository import repositories_aside
from lamina.store.sqlite.connection import open_connection, pragma_number
from lamina.store.sqlite.copies import COPIES
from lamina.store.sqlite.rederivation import ASIDE
from lamina.store.sqlite.upkeep import REPOSITORIES

__all__ = ["leftovers"]

_TRUNK: Final = struct.Struct(">II")
_LOOKS: Final = 5
_AGAIN_S: Final = 0.1


def leftovers(path: Path) -> tuple[str, ...]:
    """What is left beside a database file and in it, in words that name no content."""
    folder = path.parent
    found = [*_in_database(path)]
    if (folder / ASIDE).exists():
        found.append("a copy of the log is being derived anew")
    if (folder / COPIES).exists():
        found.append("a backup has a copy of the database, or was killed with it")
    aside = repositories_aside(folder / REPOSITORIES)
    found += [f"{each.name}: a repository that could not be opened, put aside" for each in aside]
    for repository in sorted({*(folder / REPOSITORIES).glob("*.git*")}.difference(aside)):
        found += [f"{repository.name}: {fault}" for fault in _in_repository(repository)]
    return tuple(found)


def _in_database(path: Path) -> Iterator[str]:
    with contextlib.closing(open_connection(path, durable=False, read_only=True)) as connection:
        # What this reads from stays as it is while the transaction is open: nothing newer is moved into the file.
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM migration LIMIT 1").fetchall()
        dirty = _dirty_pages(path, pragma_number(connection, "page_size"))
        if dirty:
            yield f"{dirty} free pages of the database hold something"


def _dirty_pages(path: Path, size: int) -> int:
    """How many free pages hold anything: SQLite's file format, 1.5."""
    dirty = 0
    with path.open("rb") as file:
        file.seek(32)
        (trunk,) = struct.unpack(">I", file.read(4))
        seen: set[int] = set()
        while trunk and trunk not in seen:
            seen.add(trunk)
            page = _page(file.fileno(), trunk, size)
            following, count = _TRUNK.unpack_from(page)
            leaves = struct.unpack_from(f">{count}I", page, _TRUNK.size)
            dirty += any(page[_TRUNK.size + 4 * count :])
            dirty += sum(any(_page(file.fileno(), leaf, size)) for leaf in leaves)
            trunk = following
    return dirty


def _page(descriptor: int, number: int, size: int) -> bytes:
    return os.pread(descriptor, size, (number - 1) * size)


def _in_repository(path: Path) -> Iterator[str]:
    if ".git." in path.name:
        yield "left of a repository that was written anew"
        return
    if any(len(each.name) == 2 for each in (path / "objects").iterdir()):
        yield "it has loose objects, which Lamina does not write"
    if (path / "logs").exists():
        yield "it has a log of where its branches pointed"
    strangers = _strangers(path)
    if strangers:
        yield f"{strangers} objects are named by no commit"


def _strangers(path: Path) -> int:
    """How many objects no commit leads to. Packs are put together beside the writes, and commits made: then it looks again."""
    strangers = 0
    for _ in range(_LOOKS):
        try:
            git = opened(path)
            ids = list(git)
            named = _named(git)
        except (KeyError, OSError, pygit2.GitError):
            time.sleep(_AGAIN_S)
            continue
        strangers = sum(id_ not in named for id_ in ids)
        if not strangers:
            break
        time.sleep(_AGAIN_S)
    return strangers


def _named(git: pygit2.Repository) -> set[pygit2.Oid]:
    """Everything that the branch leads to."""
    named: set[pygit2.Oid] = set()
    if git.head_is_unborn:
        return named
    for commit in git.walk(git.head.target):
        named.add(commit.id)
        waiting = [commit.tree_id]
        while waiting:
            id_ = waiting.pop()
            if id_ in named:
                continue
            named.add(id_)
            entry = git[id_]
            if isinstance(entry, pygit2.Tree):
                waiting += [each.id for each in entry]
    return named
