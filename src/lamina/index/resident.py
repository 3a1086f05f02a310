"""The indexes of the scopes that were searched lately, held in memory and kept up to date with the store's rows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final

from lamina import limits
from lamina.index.blocks import Blocks
from lamina.index.heap import give_back
from lamina.index.scope import ScopeIndex
from lamina.index.vectors import VectorMatrix
from lamina.kernel.scopes import Scope
from lamina.store.ports.index import IndexRows

__all__ = ["ResidentIndexes"]

_MANY_ROWS: Final = 10_000
"""Rows that leave much memory free once they are taken in."""


@dataclass(slots=True, eq=False)
class _Held:
    """A scope's index, None before the first use and after an error, and who may touch it: one thread at a time."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    index: ScopeIndex | None = None
    bytes: int = 0
    """What it counts for among the bytes held."""


class ResidentIndexes:
    """The scopes that were searched lately, up to a number of bytes in all; the one searched last, however large."""

    def __init__(
        self,
        rows: IndexRows,
        model: str,
        dimensions: int,
        *,
        bytes_max: int = limits.INDEX_BYTES_MAX,
        blocks: Blocks | None = None,
    ) -> None:
        """``blocks`` are those that other processes have, too; without, this one has its own."""
        self._rows = rows
        self._model = model
        self._dimensions = dimensions
        self._bytes_max = bytes_max
        self._blocks = blocks
        self._indexes: OrderedDict[tuple[str, Scope], _Held] = OrderedDict()
        self._bytes_held = 0
        self._lock = threading.Lock()

    @contextmanager
    def reading(self, tenant_id: str, scopes: Sequence[Scope]) -> Iterator[list[ScopeIndex]]:
        """The indexes of scopes, in that order: up to date with what is committed, and still until the block ends.

        Loading a scope takes seconds where it is large, and holds up those alone who read the same scope.
        """
        held = {scope: self._held((tenant_id, scope)) for scope in sorted(set(scopes))}
        for scope, each in held.items():
            if each.index is None:
                with each.lock:
                    self._follow((tenant_id, scope), each)
        with ExitStack() as stack:
            # In the order of their names, so that two who read the same scopes do not wait for each other.
            for each in held.values():
                stack.enter_context(each.lock)
            followed = {scope: self._follow((tenant_id, scope), each) for scope, each in held.items()}
            # Who may read nothing is answered from an index of nothing.
            yield [followed[scope] for scope in scopes] or [self._nothing(tenant_id)]

    def warm(self, tenant_id: str, scope: Scope) -> bool:
        """Load a scope that will be asked for, unless half of the bytes are held already: whether there was room."""
        if self._bytes_held > self._bytes_max // 2:
            return False
        with self.reading(tenant_id, [scope]):
            return True

    def _nothing(self, tenant_id: str) -> ScopeIndex:
        return self._empty((tenant_id, Scope("")))

    def _empty(self, key: tuple[str, Scope]) -> ScopeIndex:
        return ScopeIndex(*key, self._model, VectorMatrix(self._dimensions, self._blocks))

    def _held(self, key: tuple[str, Scope]) -> _Held:
        with self._lock:
            if key not in self._indexes:
                self._indexes[key] = _Held()
            self._indexes.move_to_end(key)
            return self._indexes[key]

    def _follow(self, key: tuple[str, Scope], held: _Held) -> ScopeIndex:
        tip = self._rows.tip(*key, self._model)
        # Taken out while it follows: when that fails, what was half taken in is not used again.
        index, held.index = held.index, None
        if index is None or index.changes != tip.changes:
            index = self._empty(key)
            index.changes = tip.changes
        began_at = len(index)
        index.follow(self._rows, tip)
        held.index = index
        if len(index) - began_at >= _MANY_ROWS:
            give_back()
        self._count(key, held, index.held_bytes)
        return index

    def _count(self, key: tuple[str, Scope], held: _Held, taken: int) -> None:
        """Note the size of an index, and let go of those used longest ago."""
        with self._lock:
            if self._indexes.get(key) is not held:
                return  # let go of meanwhile: it lives as long as its readers
            self._bytes_held += taken - held.bytes
            held.bytes = taken
            while self._bytes_held > self._bytes_max and len(self._indexes) > 1:
                _, oldest = self._indexes.popitem(last=False)
                self._bytes_held -= oldest.bytes
