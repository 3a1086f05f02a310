"""Index rows in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lamina.kernel.events import Event, Stage
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.memory.tables import JobRow, Memory, Tables
from lamina.store.ports.index import TextRow, Tip, VectorRow

__all__ = ["MemoryIndexRows", "put_text", "put_vector"]


def put_text(tables: Tables, row: TextRow) -> None:
    """Make a record findable; one that is already there is replaced, and stays findable from when it first was."""
    place = (row.tenant_id, row.record_id)
    old = tables.texts.pop(place, None)
    if old is not None:
        tables.hidden_texts.discard(place)
        row = row._replace(recorded_at=min(row.recorded_at, old.recorded_at))
        if old.scope != row.scope:
            tables.note_index_change(row.tenant_id, old.scope)
    tables.texts[place] = row._replace(row=tables.next_row())
    event = tables.events.get(place)
    kept_out = event is not None and not event.counts
    if kept_out or any(record.excluded for key, record in tables.records.items() if key[:2] == place):
        tables.hidden_texts.add(place)


def put_vector(tables: Tables, row: VectorRow) -> None:
    """Keep a record's vectors; those that are already there stay. Its text row wants them no longer."""
    place = (row.tenant_id, row.record_id, row.model)
    if place not in tables.vectors:
        tables.vectors[place] = (tables.next_row(), row)
    if place[:2] in tables.texts:
        tables.texts[place[:2]] = tables.texts[place[:2]]._replace(wants_vector=False)


class MemoryIndexRows:
    """``IndexRows`` over dictionaries in the order of indexing."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def tip(self, tenant_id: str, scope: Scope, model: str) -> Tip:
        """Mirrors ``IndexRows.tip``."""
        tables = self._memory.tables
        texts = (row.row for row in tables.texts.values() if (row.tenant_id, row.scope) == (tenant_id, scope))
        wanted = (tenant_id, scope, model)
        vectors = (n for n, row in tables.vectors.values() if (row.tenant_id, row.scope, row.model) == wanted)
        return Tip(
            self.changes(tenant_id, scope),
            max(texts, default=0),
            max(vectors, default=0),
            self.last_end(tenant_id, scope),
            log=max((event.position for event in self._log(tenant_id, scope)), default=0),
            waiting_since=min((job.event.recorded_at for job in self._jobs(tenant_id, scope)), default=None),
        )

    def waiting(self, tenant_id: str, scope: Scope, after: int, limit: int) -> list[Event]:
        """Mirrors ``IndexRows.waiting``."""
        jobs = self._memory.tables.jobs
        waiting = [
            event
            for event in self._log(tenant_id, scope)
            if event.position > after
            and (job := jobs.get((tenant_id, event.id))) is not None
            and job.stage in (Stage.EXTRACTED, Stage.INDEXED)
        ][-limit:]
        return [event for event in waiting if not event.excluded]

    def texts_after(self, tenant_id: str, scope: Scope, after: int, limit: int) -> list[TextRow]:
        """Mirrors ``IndexRows.texts_after``."""
        return [row for row in self._visible(tenant_id, (scope,)) if row.row > after][:limit]

    def vectors_after(
        self, tenant_id: str, scope: Scope, model: str, after: int, limit: int
    ) -> list[tuple[int, str, bytes]]:
        """Mirrors ``IndexRows.vectors_after``."""
        wanted = (tenant_id, scope, model)
        return [
            (number, row.record_id, row.pooled)
            for number, row in self._memory.tables.vectors.values()
            if (row.tenant_id, row.scope, row.model) == wanted and number > after
        ][:limit]

    def tokens(self, tenant_id: str, rows: Collection[int]) -> dict[int, bytes]:
        """Mirrors ``IndexRows.tokens``."""
        wanted = set(rows)
        vectors = self._memory.tables.vectors.values()
        return {
            number: row.tokens for number, row in vectors if number in wanted and row.tenant_id == tenant_id
        }

    def unembedded(self, limit: int) -> list[tuple[str, str]]:
        """Mirrors ``IndexRows.unembedded``."""
        texts = self._memory.tables.texts
        return [place for place, row in texts.items() if row.wants_vector][:limit]

    def embed(self, vectors: Sequence[VectorRow]) -> None:
        """Mirrors ``IndexRows.embed``."""
        with self._memory.change() as tables:
            for vector in vectors:
                # Words may be erased while vectors are made of them.
                if (vector.tenant_id, vector.record_id) in tables.texts:
                    put_vector(tables, vector)

    def ends_after(self, tenant_id: str, scope: Scope, after: int) -> list[tuple[int, str, Instant]]:
        """Mirrors ``IndexRows.ends_after``."""
        return sorted(
            (told.ended_number, event_id, told.ended_at)
            for (tenant, event_id), told in self._memory.tables.document_events.items()
            if (tenant, told.scope) == (tenant_id, scope) and told.ended_number > after
        )

    def last_end(self, tenant_id: str, scope: Scope) -> int:
        """Mirrors ``IndexRows.last_end``."""
        return max((number for number, _, _ in self.ends_after(tenant_id, scope, 0)), default=0)

    def changes(self, tenant_id: str, scope: Scope) -> int:
        """Mirrors ``IndexRows.changes``."""
        return self._memory.tables.index_changes.get((tenant_id, scope), 0)

    def _log(self, tenant_id: str, scope: Scope) -> list[Event]:
        events = self._memory.tables.events.values()
        return [event for event in events if (event.tenant_id, event.scope) == (tenant_id, scope)]

    def _jobs(self, tenant_id: str, scope: Scope) -> list[JobRow]:
        return [
            job
            for job in self._memory.tables.jobs.values()
            if (job.event.tenant_id, job.event.scope) == (tenant_id, scope) and job.state != "failed"
        ]

    def _visible(self, tenant_id: str, scopes: Collection[Scope]) -> list[TextRow]:
        tables = self._memory.tables
        return [
            row
            for place, row in tables.texts.items()
            if place not in tables.hidden_texts and row.tenant_id == tenant_id and row.scope in scopes
        ]
