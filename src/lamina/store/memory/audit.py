"""Audit chains and peppers in memory."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from lamina.kernel.audit import (
    GENESIS,
    Anchor,
    AuditDraft,
    AuditRow,
    Head,
    Pepper,
    chained,
    check_storable,
    row_of,
)
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.audit import AuditQuery, MakeDraft, Ride

__all__ = ["MemoryAudit", "MemoryPeppers", "put_audits"]

_LOG = logging.getLogger("lamina.store")


class MemoryAudit:
    """``Audit`` over a dictionary. What is noted stands at once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @contextlib.contextmanager
    def ride(self, make: MakeDraft) -> Iterator[Ride]:
        """Mirrors ``Audit.ride``."""
        ride = Ride()

        def board(tables: Tables) -> Callable[[], None]:
            _insert(tables, make(tables.about))
            return partial(setattr, ride, "landed", True)

        self._memory.local.rider = board
        try:
            yield ride
        finally:
            self._memory.local.rider = None

    def note(self, draft: AuditDraft) -> None:
        """Mirrors ``Audit.note``."""
        try:
            with self._memory.change() as tables:
                _insert(tables, draft)
        except ValueError:
            _LOG.error("the audit row %s cannot be stored and is set aside", draft.id)

    def flush(self) -> None:
        """Mirrors ``Audit.flush``. Nothing waits."""

    def get(self, tenant_id: str, audit_id: str) -> AuditRow | None:
        """Mirrors ``Audit.get``."""
        return next((row for row in self._rows(tenant_id) if row.draft.id == audit_id), None)

    def query(self, query: AuditQuery) -> list[AuditRow]:
        """Mirrors ``Audit.query``."""
        return [row for row in reversed(self._rows(query.tenant_id)) if _wanted(row, query)][: query.limit]

    def walk(self, tenant_id: str, after: int, limit: int) -> list[AuditRow]:
        """Mirrors ``Audit.walk``."""
        return [row for row in self._rows(tenant_id) if row.number > after][:limit]

    def heads(self) -> list[Head]:
        """Mirrors ``Audit.heads``."""
        newest = {tenant: row for (tenant, _), row in sorted(self._memory.tables.audit.items())}
        return [Head(tenant, row.number, row.hash) for tenant, row in newest.items()]

    def anchor(self, tenant_id: str) -> Anchor | None:
        """Mirrors ``Audit.anchor``."""
        return self._memory.tables.anchors.get(tenant_id)

    def prune(self, anchor: Anchor, draft: AuditDraft) -> int:
        """Mirrors ``Audit.prune``."""
        with self._memory.change() as tables:
            standing = tables.anchors.get(anchor.tenant_id)
            if standing is not None and standing.number >= anchor.number:
                return 0
            old = [
                place
                for place, row in tables.audit.items()
                if place[0] == anchor.tenant_id and row.number <= anchor.number and not row.draft.gdpr
            ]
            for place in old:
                del tables.audit[place]
            tables.anchors[anchor.tenant_id] = anchor
            _insert(tables, draft)
            return len(old)

    def _rows(self, tenant_id: str) -> list[AuditRow]:
        return [row for (tenant, _), row in self._memory.tables.audit.items() if tenant == tenant_id]


def put_audits(tables: Tables, drafts: Sequence[AuditDraft]) -> None:
    """Append rows to the chains of their tenants, each unless one of its id is there."""
    for draft in drafts:
        if all(row.draft.id != draft.id for row in tables.audit.values()):
            _insert(tables, draft)


def _insert(tables: Tables, draft: AuditDraft) -> None:
    check_storable(draft)
    # The rows of a chain stand in its order.
    number = next((number for tenant, number in reversed(tables.audit) if tenant == draft.tenant_id), 0)
    previous = tables.audit[draft.tenant_id, number].hash if number else GENESIS
    tables.audit[draft.tenant_id, number + 1] = row_of(chained(draft, number + 1, previous))


def _wanted(row: AuditRow, query: AuditQuery) -> bool:
    said = row.draft
    return (
        (query.before is None or row.number < query.before)
        and (query.within is None or (said.scope is not None and query.within.contains(Scope(said.scope))))
        and query.actor in (None, said.actor)
        and query.capability in (None, said.capability)
        and query.decision in (None, said.decision)
        and query.endpoint in (None, said.endpoint)
        and (query.since is None or said.at >= query.since)
        and (query.until is None or said.at < query.until)
    )


class MemoryPeppers:
    """``Peppers`` over a dictionary."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def current(self, tenant_id: str) -> Pepper | None:
        """Mirrors ``Peppers.current``."""
        kept = [pepper for (tenant, _), pepper in self._memory.tables.peppers.items() if tenant == tenant_id]
        return max(kept, key=lambda pepper: pepper.version, default=None)

    def get(self, tenant_id: str, version: int) -> Pepper | None:
        """Mirrors ``Peppers.get``."""
        return self._memory.tables.peppers.get((tenant_id, version))

    def add(self, pepper: Pepper) -> Pepper:
        """Mirrors ``Peppers.add``."""
        with self._memory.change() as tables:
            return tables.peppers.setdefault((pepper.tenant_id, pepper.version), pepper)

    def prune(self, tenant_id: str, before: Instant) -> int:
        """Mirrors ``Peppers.prune``."""
        with self._memory.change() as tables:
            used = {
                row.draft.pepper_version for (tenant, _), row in tables.audit.items() if tenant == tenant_id
            }
            old = [
                place
                for place, pepper in tables.peppers.items()
                if pepper.tenant_id == tenant_id
                and (after := tables.peppers.get((tenant_id, pepper.version + 1))) is not None
                and after.created_at < before
                and pepper.version not in used
            ]
            for place in old:
                del tables.peppers[place]
            return len(old)
