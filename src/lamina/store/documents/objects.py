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

__all__ = [
    "ID_BYTES",
    "CommitPerson",
    "GitObject",
    "Worktree",
    "commit_data",
    "git_object",
    "parse_commit",
    "parse_tree",
]

_FILE = b"100644 "
_FOLDER = b"40000 "
ID_BYTES = 20
_GROUP = 256  # entries whose sizes are summed up to find one of them
_HASHED_BYTES = 128 * 1024  # at once: each time, other threads get their turn


@dataclass(frozen=True, slots=True)
class GitObject:
    """A blob, tree or commit. ``base`` is the object that stood at its place before: much of it is the same.

    ``replaced`` are the places of the ids by which alone it differs from its base; None where that is not known.
    """

    kind: str
    id: bytes
    data: bytes
    base: bytes | None = None
    replaced: tuple[int, ...] | None = None


def git_object(kind: str, data: bytes, base: bytes | None = None) -> GitObject:
    """The object with its id: SHA-1 of kind, size and content, as Git has it."""
    digest = _hash_of(kind, len(data))
    digest.update(data)
    return GitObject(kind, digest.digest(), data, base)


def _hash_of(kind: str, size: int) -> hashlib._Hash:
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), size), usedforsecurity=False)


@dataclass(frozen=True, slots=True)
class CommitPerson:
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
    person = f"{CommitPerson(author).line} {at // SECOND_US} +0000"
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
        entries.append((data[start:space], data[space + 1 : end], data[end + 1 : end + 1 + ID_BYTES]))
        start = end + 1 + ID_BYTES
    return entries


class _Folder:
    """A tree that is being changed: its bytes, and the keys by which Git sorts its entries.

    An id is replaced in its place, and the hash is kept at every few steps, so that a change of one entry among ten
    thousand neither joins the others anew nor hashes again what stands before it.
    """

    def __init__(self, data: bytes = b"", id_: bytes | None = None) -> None:
        self.id = id_
        parsed = parse_tree(data)
        self._keys = [name + b"/" if mode == b"40000" else name for mode, name, _ in parsed]
        self._sizes = [len(mode) + len(name) + ID_BYTES + 2 for mode, name, _ in parsed]
        self._data = bytearray(data)
        self._starts = [0]  # of every group of entries, known up to where an entry came or went
        self._hashes: list[hashlib._Hash] = []  # of the header and the steps before each
        self._replaced: set[int] | None = set()  # places of ids since it was a tree; None when entries moved

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, key: bytes) -> bytes | None:
        """The id under a key; a folder's key ends in a slash."""
        index = bisect_left(self._keys, key)
        if index == len(self._keys) or self._keys[index] != key:
            return None
        end = self._start(index) + self._sizes[index]
        return bytes(self._data[end - ID_BYTES : end])

    def put(self, key: bytes, id_: bytes) -> None:
        """Set an entry."""
        index = bisect_left(self._keys, key)
        start = self._start(index)
        if index < len(self._keys) and self._keys[index] == key:
            place = start + self._sizes[index] - ID_BYTES
            self._data[place : place + ID_BYTES] = id_
            del self._hashes[place // _HASHED_BYTES + 1 :]
            if self._replaced is not None:
                self._replaced.add(place)
        else:
            entry = (_FOLDER if key.endswith(b"/") else _FILE) + key.removesuffix(b"/") + b"\0" + id_
            self._keys.insert(index, key)
            self._sizes.insert(index, len(entry))
            self._data[start:start] = entry
            self._moved(index)

    def drop(self, key: bytes) -> None:
        """Take an entry out, where it is there."""
        index = bisect_left(self._keys, key)
        if index < len(self._keys) and self._keys[index] == key:
            start = self._start(index)
            del self._data[start : start + self._sizes[index]]
            del self._keys[index], self._sizes[index]
            self._moved(index)

    def tree(self) -> GitObject:
        """The tree as it is now, beside the one that it was."""
        if not self._hashes:
            self._hashes.append(_hash_of("tree", len(self._data)))
        with memoryview(self._data) as data:
            for start in range((len(self._hashes) - 1) * _HASHED_BYTES, len(data), _HASHED_BYTES):
                digest = self._hashes[-1].copy()
                digest.update(data[start : start + _HASHED_BYTES])
                self._hashes.append(digest)
        replaced = None if self._replaced is None else tuple(sorted(self._replaced))
        tree = GitObject("tree", self._hashes[-1].digest(), bytes(self._data), self.id, replaced)
        self.id, self._replaced = tree.id, set()
        return tree

    def _start(self, index: int) -> int:
        """Where the entry under the key at an index begins, or would begin."""
        for group in range(len(self._starts) - 1, index // _GROUP):
            size = sum(self._sizes[group * _GROUP : (group + 1) * _GROUP])
            self._starts.append(self._starts[group] + size)
        group = index // _GROUP
        return self._starts[group] + sum(self._sizes[group * _GROUP : index])

    def _moved(self, index: int) -> None:
        del self._starts[index // _GROUP + 1 :]
        self._hashes.clear()  # they begin with the size of the whole
        self._replaced = None


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
        if tree.id != tree.base:
            objects.append(tree)
        if path:
            self._folder(above).put(name.encode() + b"/", tree.id)


def _lineage(path: str) -> list[str]:
    """A folder and those above it, nearest first, the root last."""
    parts = path.split("/") if path else []
    return ["/".join(parts[:depth]) for depth in range(len(parts), -1, -1)]
