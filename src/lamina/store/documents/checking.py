"""Whether a repository has what it points at: asked when it is opened, and by who looks after a server."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from lamina import limits
from lamina.store.documents.git import pygit2
from lamina.store.documents.objects import parse_commit, parse_tree
from lamina.store.documents.packs import TRAILER_BYTES

__all__ = ["AHEAD", "fault_of", "kept_ahead", "opened", "stands", "torn_packs", "written_ahead"]

AHEAD = "refs/lamina/ahead/"
"""Where a repository keeps commits that the database had and lost."""

_FOLDER = b"40000"
_CHUNK_BYTES = 1024 * 1024
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}  # libgit2's numbers


def opened(path: Path) -> pygit2.Repository:
    """The repository of a folder, whoever owns it; raises ``pygit2.GitError``.

    Git leaves a folder of somebody else alone since it would run what that names. libgit2 runs nothing of it here, and a folder that was
    restored by root, or lies on a volume, is no damaged repository.
    """
    pygit2.option(pygit2.enums.Option.SET_OWNER_VALIDATION, False)
    return pygit2.Repository(str(path))


def stands(git: pygit2.Repository, commit: bytes) -> bool:
    """Whether a commit can be read, with its folders and the entries in them, the first many of them.

    Content is looked up, not read: that is the work of ``git fsck``.
    """
    odb = git.odb
    try:
        folders, entries = [parse_commit(odb.read(pygit2.Oid(raw=commit))[1])[0]], 0
        while folders and entries < limits.ENTRIES_CHECKED_MAX:
            for mode, _, id_ in parse_tree(odb.read(pygit2.Oid(raw=folders.pop()))[1]):
                entries += 1
                if mode == _FOLDER:
                    folders.append(id_)
                elif pygit2.Oid(raw=id_) not in odb:
                    return False
    except (KeyError, ValueError, IndexError, pygit2.GitError):
        return False
    return True


def kept_ahead(path: Path) -> list[str]:
    """The references of a repository to commits that the database lacks."""
    try:
        return [name for name in opened(path).references if name.startswith(AHEAD)]
    except pygit2.GitError:
        return []  # what is damaged is told by ``fault_of``


def written_ahead(path: Path) -> list[tuple[str, str]]:
    """The paths that commits which the database lacks changed, each with an author; what cannot be read of these is passed over."""
    names = kept_ahead(path) if path.exists() else []
    if not names:
        return []
    git = opened(path)
    found = set()
    for name in names:
        with suppress(KeyError, ValueError, pygit2.GitError):
            walk = git.walk(git.references[name].target)
            if not git.head_is_unborn:
                walk.hide(git.head.target)
            for commit in walk:
                found |= {(each, commit.author.name) for each in _changed(git, commit)}
    return sorted(found)


def _changed(git: pygit2.Repository, commit: pygit2.Commit) -> set[str]:
    before = git[commit.parent_ids[0]].tree if commit.parent_ids else None
    diff = commit.tree.diff_to_tree(swap=True) if before is None else before.diff_to_tree(commit.tree)
    return {side.path for each in diff.deltas for side in (each.old_file, each.new_file)}


def torn_packs(path: Path) -> list[str]:
    """The names of pack files of a repository whose bytes are not those that their checksums were made of.

    Every byte is read and nothing inflated: half a second for a gigabyte that is in memory. A pack that is written anew
    meanwhile is gone, which is no damage.
    """
    found = []
    for file in sorted((path / "objects" / "pack").glob("pack-*.*")):
        try:
            if file.suffix in (".pack", ".idx") and not _sums_up(file):
                found.append(file.name)
        except FileNotFoundError:
            continue
    return found


def _sums_up(file: Path) -> bool:
    digest = hashlib.sha1(usedforsecurity=False)
    with file.open("rb") as stream:
        left = os.fstat(stream.fileno()).st_size - TRAILER_BYTES
        if left < 0:
            return False
        while left:
            chunk = stream.read(min(left, _CHUNK_BYTES))
            if not chunk:
                return False
            digest.update(chunk)
            left -= len(chunk)
        return digest.digest() == stream.read(TRAILER_BYTES)


def fault_of(path: Path, head: str | None) -> str | None:
    """What is wrong with a repository, None where nothing is: every byte and every object of it is read, inflated and
    hashed. ``head`` is the newest commit that the rows know the hash of."""
    if not path.is_dir():
        return None if head is None else "it is not there"
    if torn := torn_packs(path):
        return f"{torn[0]} does not match its checksum"
    try:
        git = opened(path)
        for id_ in git:
            kind, data = git.odb.read(id_)
            if _hash(kind, data) != str(id_):
                return f"object {id_} has other content than its name says"
        if git.head_is_unborn:
            return None if head is None else "it has no commits, and the database has"
        known = set()
        for commit in git.walk(git.head.target):
            known.add(str(commit.id))
            if commit.tree_id not in git.odb:
                return f"commit {commit.id} lacks its folder"
        if not stands(git, bytes.fromhex(str(git.head.target))):
            return "the newest commit lacks something"
    except (KeyError, ValueError, OSError, pygit2.GitError) as error:
        return f"an object cannot be read ({type(error).__name__})"
    if head is not None and head not in known:
        return f"the newest commit of the database, {head[:12]}, is not in it"
    return None


def _hash(kind: int, data: bytes) -> str:
    header = f"{_KINDS.get(kind, kind)} {len(data)}\0".encode()
    return hashlib.sha1(header + data, usedforsecurity=False).hexdigest()
