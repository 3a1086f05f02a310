"""Citations in SQLite."""

from __future__ import annotations

from collections.abc import Collection

from lamina.kernel.events import ENTRIES
from lamina.kernel.records import Layer
from lamina.kernel.relay import DOCUMENTS_CHANNEL
from lamina.kernel.scopes import Scope
from lamina.store.blocks import load_blocks
from lamina.store.ports.citations import Citation, ErasureCandidate
from lamina.store.sqlite.codec import json_list
from lamina.store.sqlite.connection import Readers
from lamina.store.sqlite.paths import bounds_within

__all__ = ["SqliteCitations"]

_SQL = load_blocks("lamina.store.sqlite")
_NOT_TOLD = json_list(sorted({*ENTRIES, DOCUMENTS_CHANNEL}))


class SqliteCitations:
    """``Citations`` over events, supports and records."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def within(self, tenant_id: str, path: Scope) -> list[ErasureCandidate]:
        """Mirrors ``Citations.within``."""
        rows = self._readers.rows(_SQL["events_within"], (tenant_id, *bounds_within(path)))
        return _candidates(rows)

    def authored(self, tenant_id: str, actors: Collection[str]) -> list[ErasureCandidate]:
        """Mirrors ``Citations.authored``."""
        rows = self._readers.rows(_SQL["events_authored"], (tenant_id, json_list(actors), _NOT_TOLD))
        return _candidates(rows)

    def above(self, tenant_id: str, event_ids: Collection[str]) -> list[Citation]:
        """Mirrors ``Citations.above``."""
        scopes: dict[str, Scope] = {}
        rows = self._readers.rows(_SQL["citations_above"], (tenant_id, json_list(event_ids)))
        return [
            Citation(record_id, scopes.setdefault(scope, Scope(scope)), source_id, polarity)
            for record_id, scope, source_id, polarity in rows
            if scope is not None  # a support of what was deleted
        ]

    def naming(self, tenant_id: str, entity_ids: Collection[str]) -> list[tuple[str, Scope]]:
        """Mirrors ``Citations.naming``."""
        rows = self._readers.rows(_SQL["records_naming"], (tenant_id, json_list(sorted(entity_ids))))
        return [(record_id, Scope(scope)) for record_id, scope in rows]

    def records_within(self, tenant_id: str, path: Scope) -> dict[Layer, list[tuple[str, Scope]]]:
        """Mirrors ``Citations.records_within``."""
        found: dict[Layer, list[tuple[str, Scope]]] = {}
        rows = self._readers.rows(_SQL["records_of_place"], (tenant_id, *bounds_within(path)))
        for layer, record_id, scope in rows:
            found.setdefault(Layer(layer), []).append((record_id, Scope(scope)))
        return found


def _candidates(rows: Collection[tuple[str, str, int]]) -> list[ErasureCandidate]:
    scopes: dict[str, Scope] = {}
    return [
        ErasureCandidate(id_, scopes.setdefault(scope, Scope(scope)), position)
        for id_, scope, position in rows
    ]
