"""Token vectors of rows that were asked for lately.

What is talked about is asked about again: in a conversation of a thousand turns nearly every row is here after some
questions. A row's vectors never change, and when rows of a scope were removed or excluded all of that scope are let go.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from lamina import limits
from lamina.index.scope import ScopeIndex
from lamina.kernel.scopes import Scope
from lamina.store.ports.index import IndexRows

__all__ = ["RecentTokens"]


@dataclass(slots=True, eq=False)
class _Kept:
    changes: int
    # Ordered, since a plain dictionary passes over all that was popped before at each look for its first key.
    rows: OrderedDict[int, bytes] = field(default_factory=OrderedDict)


class RecentTokens:
    """Serialised token vectors by row number, up to a number of bytes in all. Safe for any thread.

    Scopes asked for longest ago go first; where only one is left, the rows that were read first.
    """

    def __init__(self, rows: IndexRows, *, bytes_max: int = limits.TOKENS_KEPT_BYTES_MAX) -> None:
        self._rows = rows
        self._bytes_max = bytes_max
        self._bytes = 0
        self._kept: OrderedDict[tuple[str, Scope], _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, tenant_id: str, wanted: Sequence[tuple[ScopeIndex, Sequence[int]]]) -> dict[int, bytes]:
        """The token vectors of rows, scope by scope; a row that is gone is left out."""
        found: dict[int, bytes] = {}
        with self._lock:
            for index, numbers in wanted:
                rows = self._of_scope(index).rows
                found |= {number: rows[number] for number in numbers if number in rows}
        missing = [number for _, numbers in wanted for number in numbers if number not in found]
        if missing:
            read = self._rows.tokens(tenant_id, missing)
            self._keep(wanted, read)
            found |= read
        return found

    def _of_scope(self, index: ScopeIndex) -> _Kept:
        key = (index.tenant_id, index.scope)
        kept = self._kept.get(key)
        if kept is None or kept.changes != index.changes:
            self._let_go(kept)
            kept = self._kept[key] = _Kept(index.changes)
        self._kept.move_to_end(key)
        return kept

    def _let_go(self, kept: _Kept | None) -> None:
        self._bytes -= sum(map(len, kept.rows.values())) if kept else 0

    def _keep(self, wanted: Sequence[tuple[ScopeIndex, Sequence[int]]], read: dict[int, bytes]) -> None:
        with self._lock:
            for index, numbers in wanted:
                rows = self._of_scope(index).rows
                new = {number: read[number] for number in numbers if number in read and number not in rows}
                rows |= new
                self._bytes += sum(map(len, new.values()))
            while self._bytes > self._bytes_max:
                if len(self._kept) > 1:
                    self._let_go(self._kept.popitem(last=False)[1])
                else:
                    (last,) = self._kept.values()
                    self._bytes -= len(last.rows.popitem(last=False)[1])
