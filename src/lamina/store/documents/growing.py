"""The newest pack of a repository: each batch writes it anew with its own objects at the end, until it is full.

A folder of ten thousand documents has half a megabyte of names and hashes, and a pack has to hold all that its
differences rest on. So a pack for each batch would have every folder whole, while one that goes on has it once, and
what is carried along is copied as it stands. Git takes no pack that grows in place: the one before stays until the
new one is on disk.
"""

from __future__ import annotations

import logging
import zlib
from collections import OrderedDict, deque
from collections.abc import Iterable
from pathlib import Path

from lamina.store.documents.objects import GitObject
from lamina.store.documents.packs import (
    DEPTH_MAX,
    HEADER_BYTES,
    PackEntry,
    packed,
    place_pack,
    remove_pack,
)

__all__ = ["GrowingPack"]

_LOG = logging.getLogger("lamina.store")

_CARRIED_BYTES_MIN = 64 * 1024  # what is always carried along, beside as much as the folders weigh
_BASES_MAX = 64
_BASES_BYTES_MAX = 16 * 1024 * 1024
_REPLACED_MAX = 16  # that stay for whoever copies the repository meanwhile


class GrowingPack:
    """The pack that the next objects go to. After an exception it is of no use: make another."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._folder = folder
        self._durable = durable
        self._replaced: deque[Path] = deque()
        self._begin()

    def _begin(self) -> None:
        self._path: Path | None = None
        self._body = bytearray()
        self._entries: dict[bytes, PackEntry] = {}
        # The newest objects, which those that come may be differences from.
        self._bases: OrderedDict[bytes, bytes] = OrderedDict()
        self._bases_bytes = 0
        self._folders_bytes = 0  # of folders that stand whole
        self._deep = False

    @property
    def files(self) -> set[Path]:
        """The pack, and those before it that are still there: not to be gathered."""
        return {*self._replaced, *([] if self._path is None else [self._path])}

    def add(self, objects: Iterable[GitObject]) -> bool:
        """Write objects, on disk when it returns; whether a new pack was begun for them."""
        begins = self._path is None or self._is_full()
        if begins:
            self._begin()
        for each in objects:
            if each.id not in self._entries:
                self._put(each)
        path = place_pack(
            self._folder, [self._body], self._entries.values(), len(self._entries), durable=self._durable
        )
        if self._path not in (None, path):
            self._replaced.append(self._path)
        self._path = path
        return begins

    def tidy(self, kept: int = _REPLACED_MAX) -> None:
        """Take away the packs that this one replaced, but for the newest ones."""
        while len(self._replaced) > kept:
            replaced = self._replaced.popleft()
            try:
                remove_pack(replaced)
            except OSError as error:
                _LOG.warning("a pack that was written anew stays where it is: %s", error)

    def settle(self) -> None:
        """Begin another pack with the next objects, and hold nothing until then."""
        self.tidy(kept=0)
        self._begin()

    def _is_full(self) -> bool:
        """Whether carrying it along costs more than to write its folders whole once more."""
        carried = len(self._body) - self._folders_bytes
        return self._deep or carried > self._folders_bytes + _CARRIED_BYTES_MIN

    def _put(self, each: GitObject) -> None:
        base = None
        if each.base is not None and (data := self._bases.pop(each.base, None)) is not None:
            self._bases_bytes -= len(data)
            base = (self._entries[each.base], data)
        offset = HEADER_BYTES + len(self._body)
        content, depth = packed(each, offset, base)
        self._body += content
        self._entries[each.id] = PackEntry(each.id, offset, zlib.crc32(content), depth)
        self._deep = self._deep or depth == DEPTH_MAX
        if each.kind == "tree" and not depth:
            self._folders_bytes += len(content)
        if each.kind != "commit":
            self._bases[each.id] = each.data
            self._bases_bytes += len(each.data)
        while len(self._bases) > _BASES_MAX or self._bases_bytes > _BASES_BYTES_MAX:
            self._bases_bytes -= len(self._bases.popitem(last=False)[1])
