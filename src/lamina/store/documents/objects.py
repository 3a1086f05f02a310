"""Git objects as bytes: what a commit of documents becomes, as a pure function of its rows and its parent.

The same rows give the same hashes, in every engine. Formats: Git's ``gitformat-pack`` and the object formats of the
Git book, chapter 10.2. A folder's entries are kept sorted, so that a change touches one entry of each tree above it
and no other tree.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lamina.kernel.time import SECOND_US, Instant

__all__ = ["GitObject", "Person", "Worktree", "commit_data", "git_object", "parse_commit", "parse_tree"]

_FILE = b"100644 "
_FOLDER = b"40000 "
_ID_BYTES = 20
_GROUP = 256  # entries that are joined anew when one of them changes
_HASHED_GROUPS = 16  # that are hashed at once: each time, other threads get their turn


@dataclass(frozen=True, slots=True)
class GitObject:
    """A blob, tree or commit. ``base`` is the object that stood at its place before: much of it is the same."""

    kind: str
    id: bytes
    data: bytes
    base: bytes | None = None


def git_object(kind: str, data: bytes, base: bytes | None = None) -> GitObject:
    """The object with its id: SHA-1 of kind, size and content, as Git has it."""
    digest = _hash_of(kind, len(data))
    digest.update(data)
    return GitObject(kind, digest.digest(), data, base)


def _hash_of(kind: str, size: int) -> hashlib._Hash:
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), size), usedforsecurity=False)


@dataclass(frozen=True, slots=True)
class Person:
    """Author and committer of a commit. Git takes no angle brackets, line ends or dots at the ends of a name."""

    name: str

    @property
    def line(self) -> str:
        """``name <email>``; the email is made of the name and leads nowhere (RFC 2606)."""
        name = re.sub(r"[<>\x00-\x1f\x7f]", "-", self.name).strip(" .,:;\"'\\") or "unknown"
        local = re.sub(r"[^A-Za-z0-9.+_-]+", ".", name).strip(".") or "unknown"
        return f"{name} <{local}@lamina.invalid>"


def commit_data(tree: bytes, parent: bytes | None, author: str, message: str, at: Instant) -> bytes:
    """A commit's content; its time is whole seconds, UTC."""
    person = f"{Person(author).line} {at // SECOND_US} +0000"
    lines = [f"tree {tree.hex()}"]
    if parent is not None:
        lines.append(f"parent {parent.hex()}")
    lines += [f"author {person}", f"committer {person}", "", message.replace("\0", ""), ""]
    return "\n".join(lines).encode("utf-8", "replace")


def parse_commit(data: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """The tree and the parents that a commit names."""
    header = data.split(b"\n\n", 1)[0].split(b"\n")
    named = [line.split(b" ", 1) for line in header]
    trees = [bytes.fromhex(value.decode()) for key, value in named if key == b"tree"]
    parents = [bytes.fromhex(value.decode()) for key, value in named if key == b"parent"]
    return trees[0], tuple(parents)


def parse_tree(data: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """(mode, name, id) of every entry, in Git's order."""
    entries = []
    start = 0
    while start < len(data):
        space = data.index(b" ", start)
        end = data.index(b"\0", space)
        entries.append((data[start:space], data[space + 1 : end], data[end + 1 : end + 1 + _ID_BYTES]))
        start = end + 1 + _ID_BYTES
    return entries


class _Folder:
    """A tree that is being changed: its entries as bytes, under the keys by which Git sorts them.

    The entries are joined by groups that are kept, so that a change of one among ten thousand joins a few hundred.
    The hash is kept after every few groups: what stands before the change is not hashed again.
    """

    def __init__(self, data: bytes = b"", id_: bytes | None = None) -> None:
        self.id = id_
        parsed = parse_tree(data)
        self._keys = [name + b"/" if mode == b"40000" else name for mode, name, _ in parsed]
        self._entries = [b"%s %s\0%s" % entry for entry in parsed]
        self._size = len(data)
        self._groups: list[bytes] = []  # joined so far, from the first on
        self._hashes: list[hashlib._Hash] = []  # of the header and the groups before each that is kept

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, key: bytes) -> bytes | None:
        """The id under a key; a folder's key ends in a slash."""
        index = bisect_left(self._keys, key)
        if index < len(self._keys) and self._keys[index] == key:
            return self._entries[index][-_ID_BYTES:]
        return None

    def put(self, key: bytes, id_: bytes) -> None:
        """Set an entry."""
        name = key.removesuffix(b"/")
        entry = (_FOLDER if key.endswith(b"/") else _FILE) + name + b"\0" + id_
        index = bisect_left(self._keys, key)
        if index < len(self._keys) and self._keys[index] == key:
            self._entries[index] = entry
            self._replaced(index)
        else:
            self._keys.insert(index, key)
            self._entries.insert(index, entry)
            self._moved(index, len(entry))

    def drop(self, key: bytes) -> None:
        """Take an entry out, where it is there."""
        index = bisect_left(self._keys, key)
        if index < len(self._keys) and self._keys[index] == key:
            size = len(self._entries[index])
            del self._keys[index], self._entries[index]
            self._moved(index, -size)

    def tree(self) -> GitObject:
        """The tree as it is now, beside the one that it was."""
        for start in range(len(self._groups) * _GROUP, len(self._entries), _GROUP):
            self._groups.append(b"".join(self._entries[start : start + _GROUP]))
        if not self._hashes:
            self._hashes.append(_hash_of("tree", self._size))
        data = b"".join(self._groups)
        start = sum(map(len, self._groups[: (len(self._hashes) - 1) * _HASHED_GROUPS]))
        for first in range((len(self._hashes) - 1) * _HASHED_GROUPS, len(self._groups), _HASHED_GROUPS):
            end = start + sum(map(len, self._groups[first : first + _HASHED_GROUPS]))
            digest = self._hashes[-1].copy()
            digest.update(data[start:end])
            self._hashes.append(digest)
            start = end
        return GitObject("tree", self._hashes[-1].digest(), data, self.id)

    def _replaced(self, index: int) -> None:
        group = index // _GROUP
        if group < len(self._groups):
            start = group * _GROUP
            self._groups[group] = b"".join(self._entries[start : start + _GROUP])
        del self._hashes[group // _HASHED_GROUPS + 1 :]

    def _moved(self, index: int, size: int) -> None:
        del self._groups[index // _GROUP :]
        self._hashes.clear()  # they begin with the size of the whole
        self._size += size


class Worktree:
    """The trees of one commit, read as they are needed and kept for the next.

    ``read`` gives an object's content by its id. After an exception the worktree is of no use: make another.
    """

    def __init__(self, head: bytes | None, read: Callable[[bytes], bytes]) -> None:
        self.head = head
        self._read = read
        self._folders: dict[str, _Folder] = {}

    def commit(
        self, changes: Mapping[str, bytes | None], author: str, message: str, at: Instant
    ) -> list[GitObject]:
        """Put content at paths, None takes away; every new object, blobs first and the commit last."""
        objects: list[GitObject] = []
        touched: set[str] = {""}
        self._folder("")
        for path, content in changes.items():
            place, _, name = path.rpartition("/")
            folder, key = self._folder(place), name.encode()
            touched.update(_lineage(place))
            if content is None:
                folder.drop(key)
            else:
                blob = git_object("blob", content, folder.find(key))
                objects.append(blob)
                folder.put(key, blob.id)
        for path in sorted(touched, key=lambda each: (-len(_lineage(each)), each)):
            self._close(path, objects)
        root = self._folders[""].id
        assert root is not None, "the root was closed last"
        objects.append(git_object("commit", commit_data(root, self.head, author, message, at)))
        self.head = objects[-1].id
        return objects

    @property
    def folders(self) -> int:
        """How many are kept."""
        return len(self._folders)

    def forget(self) -> None:
        """Let go of the trees that were kept."""
        self._folders = {}

    def _folder(self, path: str) -> _Folder:
        known = self._folders.get(path)
        if known is not None:
            return known
        if path == "":
            id_ = None if self.head is None else parse_commit(self._read(self.head))[0]
        else:
            above, _, name = path.rpartition("/")
            id_ = self._folder(above).find(name.encode() + b"/")
        folder = _Folder() if id_ is None else _Folder(self._read(id_), id_)
        self._folders[path] = folder
        return folder

    def _close(self, path: str, objects: list[GitObject]) -> None:
        """Turn a changed folder into a tree and enter it above; an empty one goes away, but for the root."""
        folder = self._folder(path)
        above, _, name = path.rpartition("/")
        if path and not len(folder):
            self._folder(above).drop(name.encode() + b"/")
            del self._folders[path]
            return
        tree = folder.tree()
        if tree.id != folder.id:
            objects.append(tree)
            folder.id = tree.id
        if path:
            self._folder(above).put(name.encode() + b"/", tree.id)


def _lineage(path: str) -> list[str]:
    """A folder and those above it, nearest first, the root last."""
    parts = path.split("/") if path else []
    return ["/".join(parts[:depth]) for depth in range(len(parts), -1, -1)]
