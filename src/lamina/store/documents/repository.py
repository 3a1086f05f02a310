"""A tenant's git repository: bare, one branch, written in packs and read with libgit2.

``git clone``, ``log`` and ``blame`` work on it at any time. Objects are flushed to disk before the branch points at
them. The branch itself is not flushed: the rows know where it belongs, and ``open_repository`` puts it there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pygit2

from lamina.store.documents.objects import GitObject, parse_commit
from lamina.store.documents.packs import PackIndex, objects_in, sync_folder, write_pack

__all__ = ["BRANCH", "GitRepository", "folder_name", "replace_repository"]

_LOG = logging.getLogger("lamina.store")
BRANCH = "main"
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_KINDS = {1: "commit", 2: "tree", 3: "blob"}
_PACKS_MAX = 64
_GATHER_BYTES_MAX = 256 * 1024 * 1024
_WINDOW = 8


def folder_name(tenant_id: str) -> str:
    """The name of a tenant's repository. Ids that are no plain names get one that no plain id has."""
    if _PLAIN.fullmatch(tenant_id):
        return f"{tenant_id}.git"
    return f"={hashlib.sha256(tenant_id.encode('utf-8', 'surrogatepass')).hexdigest()}.git"


class GitRepository:
    """The repository at ``path``, made there when it is missing or cannot be read."""

    def __init__(self, path: Path, *, durable: bool) -> None:
        self.path = path
        self._durable = durable
        self._git = self._opened()
        self._packs = path / "objects" / "pack"
        for left in [*self._packs.glob("tmp_*"), *self._branch.parent.glob("*.lock")]:
            left.unlink(missing_ok=True)

    def _opened(self) -> pygit2.Repository:
        try:
            return pygit2.Repository(str(self.path))
        except pygit2.GitError:
            shutil.rmtree(self.path, ignore_errors=True)
        # Made beside its place and moved there: a process that ends meanwhile leaves nothing half made.
        fresh = self.path.with_name(f"{self.path.name}.new-{uuid.uuid4().hex}")
        pygit2.init_repository(str(fresh), bare=True, initial_head=BRANCH)
        (fresh / "objects" / "pack").mkdir(exist_ok=True)
        fresh.rename(self.path)
        if self._durable:
            sync_folder(self.path.parent)
        return pygit2.Repository(str(self.path))

    @property
    def _branch(self) -> Path:
        return self.path / "refs" / "heads" / BRANCH

    def read(self, id_: bytes) -> bytes:
        """An object's content; raises ``KeyError``."""
        data: bytes = self._git.odb.read(pygit2.Oid(raw=id_))[1]
        return data

    def holds(self, commit_sha: str) -> bool:
        """Whether a commit and its tree can be read."""
        try:
            self.read(parse_commit(self.read(bytes.fromhex(commit_sha)))[0])
        except (KeyError, ValueError, IndexError, pygit2.GitError):
            return False
        return True

    def tip(self) -> str | None:
        """The commit that the branch points at."""
        try:
            return self._branch.read_text(encoding="ascii").strip() or None
        except (FileNotFoundError, UnicodeDecodeError):
            return None

    def add(self, objects: Sequence[GitObject], *, quick: bool = True) -> None:
        """Write objects, on disk when it returns."""
        unique = list({each.id: each for each in objects}.values())
        write_pack(self._packs, unique, len(unique), durable=self._durable, quick=quick)

    def point(self, head: bytes | None) -> None:
        """Point the branch at a commit, or at none."""
        if head is None:
            self._branch.unlink(missing_ok=True)
            return
        self._branch.parent.mkdir(parents=True, exist_ok=True)
        lock = self._branch.with_name(f"{BRANCH}.lock")
        lock.write_text(f"{head.hex()}\n", encoding="ascii")
        lock.rename(self._branch)

    # ---- keeping the number of packs small

    def is_scattered(self) -> bool:
        """Whether there are so many packs that reading suffers."""
        return sum(name.endswith(".pack") for name in os.listdir(self._packs)) > _PACKS_MAX

    def gather(self) -> None:
        """Put the smaller packs into one, where each tree and file is a difference from the one before.

        Whoever reads meanwhile finds every object in the old packs or in the new one.
        """
        chosen = self._smaller_packs()
        if len(chosen) < 2:
            return
        ids = list(dict.fromkeys(id_ for path in chosen for id_ in PackIndex(path).ids))
        git = pygit2.Repository(str(self.path))  # of this thread's own
        made = write_pack(
            self._packs, self._similar_first(git, ids), len(ids), durable=self._durable, quick=False
        )
        for path in chosen:
            if path != made:
                path.with_suffix(".idx").unlink(missing_ok=True)
                path.unlink(missing_ok=True)

    def _smaller_packs(self) -> list[Path]:
        """Packs up to the first that has twice the objects of all before it, in the order of their writing.

        So each object is written again as often as the repository doubles, not each time. Bytes would not tell: the
        folders of a fresh pack stand in it undeflated, and would weigh more than all that was gathered before.
        """
        counted = sorted((objects_in(path), path) for path in self._packs.glob("pack-*.pack"))
        chosen: list[Path] = []
        total, size = 0, 0
        for count, path in counted:
            size += path.stat().st_size
            if (len(chosen) >= 2 and count > 2 * total) or size > _GATHER_BYTES_MAX:
                break
            chosen.append(path)
            total += count
        return sorted(chosen, key=lambda path: path.stat().st_mtime_ns)

    def _similar_first(self, git: pygit2.Repository, ids: Sequence[bytes]) -> Iterator[GitObject]:
        """The objects, each with the one among the last few of its kind that is nearest in size as its base."""
        recent: dict[str, list[tuple[int, bytes]]] = {"commit": [], "tree": [], "blob": []}
        for id_ in ids:
            type_, data = git.odb.read(pygit2.Oid(raw=id_))
            kind = _KINDS[int(type_)]
            window = recent[kind]
            nearest = min(window, key=lambda each: abs(each[0] - len(data)), default=None)
            yield GitObject(kind, id_, data, nearest[1] if nearest else None)
            window.append((len(data), id_))
            del window[:-_WINDOW]


def replace_repository(path: Path, fresh: Path, *, durable: bool) -> None:
    """Put a repository in the place of another. A process that ends in between leaves none, which is seen."""
    old = path.with_name(f"{path.name}.old-{uuid.uuid4().hex}")
    if path.exists():
        path.rename(old)
    fresh.rename(path)
    if durable:
        sync_folder(path.parent)
    shutil.rmtree(old, ignore_errors=True)
