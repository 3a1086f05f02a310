"""A clone's history as writes: what a repository of documents says is enough to have the documents again.

Each commit is a write with its author, message and time. A history that this server made comes back with the same
hashes. Another one (of another server of the same layout) is taken where every commit has one parent and every entry
is a plain file; its hashes change where Git lets the same content be said in several ways. A put of the bytes that
stood there already left no trace to restore.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.documents.checking import opened
from lamina.store.documents.git import pygit2
from lamina.store.documents.paths import document_path, holds_secrets
from lamina.store.ports.documents import Change, ChangeKind, PastWrite, Write

__all__ = ["clone_head", "past_writes"]

_FILES = (0o100644, 0o100755)


def clone_head(clone: Path) -> str:
    """The hash of the clone's newest commit; raises ``Invalid`` (INVALID_CLONE)."""
    try:
        return str(_repository(clone).head.target)
    except pygit2.GitError as error:
        raise _invalid(f"{clone} is damaged: its newest commit cannot be told") from error


def past_writes(clone: Path, tenant_id: str, now: Instant, left_out: set[str]) -> Iterator[PastWrite]:
    """The clone's commits, oldest first, as writes of a tenant; raises ``Invalid`` (INVALID_CLONE).

    What another server keeps secret there is left out, and its paths are added to ``left_out``. Each document is stamped after the one before it, so a commit of the future would date all that is written later.
    """
    latest = now + limits.RESTORED_AHEAD_S_MAX * SECOND_US
    git = _repository(clone)
    try:
        for past in _writes(git, tenant_id, latest):
            yield from _without_secrets(past, left_out)
    except (KeyError, pygit2.GitError) as error:
        raise _invalid(
            f"{clone} is damaged: something of its history cannot be read",
            hint="git fsck names it; make another clone, of a repository that lamina doctor calls whole",
        ) from error


def _writes(git: pygit2.Repository, tenant_id: str, latest: Instant) -> Iterator[PastWrite]:
    before: Any = None  # a pygit2 tree
    for commit in git.walk(
        git.head.target, pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.REVERSE
    ):
        if len(commit.parent_ids) > 1:
            raise _invalid(f"commit {commit.id} has several parents")
        at = commit.commit_time * SECOND_US
        if at > latest:
            raise _invalid(f"commit {commit.id} is dated in the future")
        changes = _changes(git, before, commit.tree)
        try:
            message, author = commit.message.removesuffix("\n"), commit.author.name
        except LookupError as error:
            raise _invalid(f"commit {commit.id} is in an encoding that is not known") from error
        write = Write(tenant_id=tenant_id, author=author, message=message, changes=changes)
        yield PastWrite(write, at)
        before = commit.tree


def _without_secrets(past: PastWrite, left_out: set[str]) -> Iterator[PastWrite]:
    """A write without what is secret; none where it was nothing else."""
    secrets = {change.path for change in past.write.changes if holds_secrets(change.path)}
    if not secrets:
        yield past
        return
    left_out |= secrets
    changes = [change for change in past.write.changes if change.path not in secrets]
    if changes:
        yield replace(past, write=replace(past.write, changes=changes))


def _repository(clone: Path) -> pygit2.Repository:
    try:
        git = opened(clone)
    except pygit2.GitError as error:
        raise _invalid(f"{clone} is no git repository") from error
    if git.is_empty or git.head_is_unborn:
        raise _invalid(f"{clone} has no commits")
    if git.is_shallow:
        raise _invalid(
            f"{clone} is shallow: it has the newest commits only",
            hint="fetch the rest with git fetch --unshallow, or make another clone",
        )
    return git


def _changes(git: pygit2.Repository, before: Any, after: Any) -> list[Change]:  # pygit2 trees
    """What differs between two trees; what goes away first, since a folder may become a file."""
    diff = after.diff_to_tree(swap=True) if before is None else before.diff_to_tree(after)
    removed: list[Change] = []
    written: list[Change] = []
    for each in diff.deltas:
        if each.status is pygit2.enums.DeltaStatus.DELETED:
            removed.append(Change(_path(each.old_file), ChangeKind.REMOVE))
            continue
        if each.new_file.mode not in _FILES:
            raise _invalid(f"{each.new_file.path!r} is no plain file")
        content = _blob(git, each.new_file.id)
        known = each.status is pygit2.enums.DeltaStatus.MODIFIED
        written.append(
            _written(_path(each.new_file), content, _blob(git, each.old_file.id) if known else b"")
        )
    return removed + written


def _blob(git: pygit2.Repository, id_: pygit2.Oid) -> bytes:
    content: bytes = git.odb.read(id_)[1]
    return content


def _written(path: str, content: bytes, before: bytes) -> Change:
    """An append where the file only grew, so that a journal does not come back as a copy for each of its lines."""
    if before and len(content) > len(before) and content.startswith(before):
        return Change(path, ChangeKind.APPEND, content[len(before) :])
    return Change(path, ChangeKind.PUT, content)


def _path(file: Any) -> str:  # a pygit2 file of a difference
    try:
        text = file.raw_path.decode()
        path = document_path(text)
    except (UnicodeDecodeError, Invalid) as error:
        raise _invalid(f"{file.path!r} is no path of a document") from error
    if path != text:
        raise _invalid(f"{file.path!r} is not in Unicode's NFC")
    return path


def _invalid(reason: str, hint: str = "name a clone of a documents repository") -> Invalid:
    return Invalid("INVALID_CLONE", f"the documents cannot be restored: {reason}", hint=hint)
