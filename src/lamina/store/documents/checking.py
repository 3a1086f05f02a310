"""Whether a repository has what it points at: asked when it is opened, and by who looks after a server."""

from __future__ import annotations

from pathlib import Path

import pygit2

from lamina import limits
from lamina.store.documents.objects import parse_commit, parse_tree

__all__ = ["incomplete", "stands"]

_FOLDER = b"40000"


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


def incomplete(folder: Path) -> list[str]:
    """The names of repositories below a folder that lack something of their newest commit or of their history."""
    return sorted(path.name for path in folder.glob("*.git") if not _whole(path))


def _whole(path: Path) -> bool:
    try:
        git = pygit2.Repository(str(path))
        if git.head_is_unborn:
            return True
        head = git.head.target
        return stands(git, bytes.fromhex(str(head))) and all(
            commit.tree_id in git.odb for commit in git.walk(head)
        )
    except (KeyError, pygit2.GitError):
        return False
