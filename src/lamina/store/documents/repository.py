"""A tenant's git repository: bare, one branch, written in packs and read with libgit2.

``git clone``, ``log`` and ``blame`` work on it at any time. Objects are flushed to disk before the branch points at
them. The branch itself is not flushed: the rows know where it belongs, and ``Projector`` puts it there.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import struct
import uuid
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from lamina.store.documents.checking import AHEAD, kept_ahead, opened, stands
from lamina.store.documents.gathering import gathered
from lamina.store.documents.git import pygit2
from lamina.store.documents.growing import GrowingPack
from lamina.store.documents.objects import GitObject
from lamina.store.documents.packs import UNFINISHED, is_whole, objects_in, remove_pack
from lamina.store.flushing import sync_folder

__all__ = [
    "BRANCH",
    "DamagedRepository",
    "GitRepository",
    "folder_name",
    "remove_unfinished",
    "replace_repository",
    "repositories_aside",
]

_LOG = logging.getLogger("lamina.store")
BRANCH = "main"
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ASIDE = ".unreadable-"
_PACKS_MAX = 64
_GATHER_BYTES_MAX = 256 * 1024 * 1024


class DamagedRepository(Exception):
    """An object that the repository should have cannot be read. The rows have everything: it is to be built anew."""


def folder_name(tenant_id: str) -> str:
    """The name of a tenant's repository. Ids that are no plain names get one that no plain id has."""
    if _PLAIN.fullmatch(tenant_id):
        return f"{tenant_id}.git"
    return f"={hashlib.sha256(tenant_id.encode('utf-8', 'surrogatepass')).hexdigest()}.git"


def repositories_aside(folder: Path, name: str = "*.git") -> list[Path]:
    """The repositories that could not be opened and lie aside; those of one, by its name, or all in a folder."""
    return sorted(folder.glob(f"{name}{_ASIDE}*"))


def remove_unfinished(folder: Path, name: str = "*.git") -> None:
    """Take away what was left by whoever ended while they made or replaced a repository; of one, by its name, or of all in a folder."""
    for end in ("new", "old"):
        for each in folder.glob(f"{name}.{end}-*"):
            shutil.rmtree(each, ignore_errors=True)


class GitRepository:
    """The repository at ``path``, made there when it is missing or cannot be opened; what is there then is put aside."""

    def __init__(self, path: Path, *, durable: bool) -> None:
        self.path = path
        self._durable = durable
        self._packs = path / "objects" / "pack"
        self._git = self._opened()
        self.is_damaged = self._torn()
        """Whether a pack was found torn, as a power cut leaves it: what is missing may be anywhere in the history."""
        self._branch.parent.mkdir(parents=True, exist_ok=True)
        for folder, left in (
            (self.path, f"{UNFINISHED}*"),
            (self._packs, f"{UNFINISHED}*"),  # of versions that wrote there
            (self._branch.parent, "*.lock"),
        ):
            for each in folder.glob(left):
                each.unlink(missing_ok=True)
        self._newest = GrowingPack(self._packs, durable=durable)
        self._scattered = self._count() > _PACKS_MAX

    def _opened(self) -> pygit2.Repository:
        try:
            return opened(self.path)
        except pygit2.GitError:
            _put_aside(self.path)
        # Made beside its place and moved there: a process that ends meanwhile leaves nothing half made.
        fresh = self.path.with_name(f"{self.path.name}.new-{uuid.uuid4().hex}")
        pygit2.init_repository(str(fresh), bare=True, initial_head=BRANCH)
        (fresh / "objects" / "pack").mkdir(exist_ok=True)
        fresh.rename(self.path)
        if self._durable:
            sync_folder(self.path.parent)
        return opened(self.path)

    def carry_ahead(self, old: Path) -> None:
        """Take over what another repository keeps of commits that the database lost, as far as that can be read there; one that cannot be
        opened is put aside."""
        try:
            opened(old)
        except pygit2.GitError:
            _put_aside(old)
        for name in kept_ahead(old):
            with suppress(KeyError, ValueError, pygit2.GitError):
                self._git.remotes.create_anonymous(str(old)).fetch([f"+{name}:{name}"])
        (self.path / "FETCH_HEAD").unlink(missing_ok=True)

    def _torn(self) -> bool:
        packs, indexes = (
            {path.stem for path in self._packs.glob(f"pack-*{end}")} for end in (".pack", ".idx")
        )
        for left in packs - indexes:
            # A process ended while it put a pack there, or took one away: nothing needs it.
            (self._packs / f"{left}.pack").unlink()
        return not indexes <= packs or not all(is_whole(self._packs / f"{name}.pack") for name in indexes)

    def tidy(self) -> None:
        """Take away packs that were written anew. Nobody needs to wait for it."""
        self._newest.tidy()

    def settle(self) -> None:
        """Hold nothing in memory, no file open, and nothing on disk, that only the next write would use."""
        self._newest.settle()
        self._git.free()  # its packs, each of which keeps a file open once it was read; the next reading opens them again

    @property
    def _branch(self) -> Path:
        return self.path / "refs" / "heads" / BRANCH

    def read(self, id_: bytes) -> bytes:
        """An object's content; raises ``DamagedRepository``."""
        try:
            data: bytes = self._git.odb.read(pygit2.Oid(raw=id_))[1]
        except (KeyError, pygit2.GitError) as error:
            raise DamagedRepository(f"object {id_.hex()} cannot be read") from error
        return data

    def holds(self, commit_sha: str) -> bool:
        """Whether a commit stands, with what is in it."""
        return stands(self._git, bytes.fromhex(commit_sha))

    def tip(self) -> str | None:
        """The commit that the branch points at."""
        try:
            return self._branch.read_text(encoding="ascii").strip() or None
        except (FileNotFoundError, UnicodeDecodeError):
            return None

    def ahead(self, commit_sha: str | None, most: int) -> int:
        """How many commits the branch has that a commit does not follow, up to so many; 0 where they cannot be read."""
        try:
            walk = self._git.walk(pygit2.Oid(hex=self.tip() or ""))
            if commit_sha is not None:
                walk.hide(pygit2.Oid(hex=commit_sha))
            return sum(1 for _ in islice(walk, most))
        except (KeyError, ValueError, pygit2.GitError):
            return 0

    def keep(self) -> str:
        """The name of a reference beside the branch, under which stays what this points at."""
        tip = self.tip() or ""
        name = f"{AHEAD}{tip[:12]}"
        self._git.references.create(name, pygit2.Oid(hex=tip), force=True)
        return name

    def add(self, objects: Sequence[GitObject]) -> None:
        """Write objects, on disk when it returns."""
        if self._newest.add(objects):
            self._scattered = self._count() > _PACKS_MAX

    def point(self, head: bytes | None) -> None:
        """Point the branch at a commit, or at none."""
        branch = str(self._branch)
        if head is None:
            Path(branch).unlink(missing_ok=True)
            return
        lock = f"{branch}.lock"
        with open(lock, "w", encoding="ascii") as file:
            file.write(f"{head.hex()}\n")
        os.rename(lock, branch)

    # ---- keeping the number of packs small

    @property
    def is_scattered(self) -> bool:
        """Whether there are so many packs that reading suffers."""
        return self._scattered

    def to_gather(self) -> list[Path]:
        """The packs that are worth putting together, in the order of their writing; none that cannot be read."""
        self._scattered = False
        try:
            return self._smaller_packs()
        except (OSError, struct.error) as error:
            _LOG.warning("packs of a repository cannot be put together: %s", error)
            return []

    def gather(self, packs: Sequence[Path]) -> None:
        """Put packs into one. Whoever reads meanwhile finds every object in the old packs or in the new one.

        May run beside writes.
        """
        if len(packs) < 2:
            return
        made = gathered(packs, self._packs, durable=self._durable)
        if self._durable:
            sync_folder(self._packs)
        for path in packs:
            if path != made:
                remove_pack(path)

    def _count(self) -> int:
        return sum(name.endswith(".pack") for name in os.listdir(self._packs)) - len(self._newest.files)

    def _smaller_packs(self) -> list[Path]:
        """Packs up to the first that has twice the objects of all before it.

        So each object is copied again as often as the repository doubles, not each time.
        """
        settled = set(self._packs.glob("pack-*.pack")) - self._newest.files
        counted = sorted((objects_in(path), path) for path in settled)
        chosen: list[Path] = []
        total, size = 0, 0
        for count, path in counted:
            size += path.stat().st_size
            if (len(chosen) >= 2 and count > 2 * total) or size > _GATHER_BYTES_MAX:
                break
            chosen.append(path)
            total += count
        return sorted(chosen, key=lambda path: path.stat().st_mtime_ns)


def _put_aside(path: Path) -> None:
    """Give a repository that cannot be opened another name: it may have commits that the database lost. Where it has no object it goes."""
    if not any(each.is_file() for each in path.glob("objects/**/*")):
        shutil.rmtree(path, ignore_errors=True)
        return
    aside = path.with_name(f"{path.name}{_ASIDE}{uuid.uuid4().hex}")
    path.rename(aside)
    _LOG.error("a repository of documents cannot be opened, and is put aside: %s", aside.name)


def replace_repository(path: Path, fresh: GitRepository, *, keeps: bool, durable: bool) -> None:
    """Put a repository in the place of another. A process that ends in between leaves none, which is seen.

    Unless it ``keeps`` what the database lost, that goes, with all that lies aside: it may be of what was erased.
    """
    if keeps:
        fresh.carry_ahead(path)
    old = path.with_name(f"{path.name}.old-{uuid.uuid4().hex}")
    if path.exists():
        path.rename(old)
    fresh.path.rename(path)
    if durable:
        sync_folder(path.parent)
    for each in [old] if keeps else [old, *repositories_aside(path.parent, path.name)]:
        shutil.rmtree(each, ignore_errors=True)
