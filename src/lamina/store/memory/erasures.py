"""Previews, manifests and jobs of erasures in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lamina import limits
from lamina.kernel.audit import AuditDraft
from lamina.kernel.events import EventDraft
from lamina.kernel.ids import IdSource
from lamina.kernel.records import Layer
from lamina.kernel.time import SECOND_US, Clock, Instant
from lamina.store.memory.audit import put_audits
from lamina.store.memory.lifecycle import put_lifecycle
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.erasures import ErasedPlace, ErasureJob, ErasureLine, LineKind, Preview
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.rules.attempts import kept_error
from lamina.store.rules.erasures import (
    PACE_OF,
    PATH_LINES,
    check_no_overlap,
    check_not_erased,
    check_not_erased_actor,
    pace_of,
)

__all__ = ["MemoryErasures", "refuse_erased", "refuse_erased_actor"]


def refuse_erased(tables: Tables, drafts: Iterable[EventDraft]) -> None:
    """Mirrors the other engine's, inside somebody's change."""
    for draft in drafts:
        check_not_erased([each.place for each in _running(tables, draft.tenant_id)], [draft])


def refuse_erased_actor(tables: Tables, tenant_id: str, actor: str) -> None:
    """Mirrors the other engine's, inside somebody's change."""
    check_not_erased_actor([each.place for each in _running(tables, tenant_id)], actor)


class MemoryErasures:
    """``Erasures`` over dictionaries."""

    def __init__(self, memory: Memory, clock: Clock, ids: IdSource) -> None:
        self._memory = memory
        self._clock = clock
        self._ids = ids

    # ---- plans

    def put_preview(self, preview: Preview, lines: Sequence[ErasureLine]) -> None:
        """Mirrors ``Erasures.put_preview``."""
        with self._memory.change() as tables:
            tables.erasure_previews[preview.tenant_id, preview.id] = preview
            tables.erasure_lines[preview.tenant_id, preview.id] = tuple(sorted(set(lines)))

    def prune(self, now: Instant) -> None:
        """Mirrors ``Erasures.prune``."""
        forgotten = now - limits.PREVIEW_REMEMBERED_S * SECOND_US
        with self._memory.change() as tables:
            for key, each in list(tables.erasure_previews.items()):
                if each.expires_at <= now:
                    tables.erasure_lines.pop(key, None)
                if each.expires_at < forgotten:
                    del tables.erasure_previews[key]

    def preview(self, tenant_id: str, preview_id: str) -> Preview | None:
        """Mirrors ``Erasures.preview``."""
        return self._memory.tables.erasure_previews.get((tenant_id, preview_id))

    def put_lines(self, tenant_id: str, plan_id: str, lines: Sequence[ErasureLine]) -> None:
        """Mirrors ``Erasures.put_lines``."""
        with self._memory.change() as tables:
            tables.erasure_lines[tenant_id, plan_id] = tuple(sorted(set(lines)))

    def lines(
        self, tenant_id: str, plan_id: str, *, after: ErasureLine | None = None, limit: int
    ) -> list[ErasureLine]:
        """Mirrors ``Erasures.lines``."""
        lines = self._memory.tables.erasure_lines.get((tenant_id, plan_id), ())
        return [line for line in lines if after is None or line > after][:limit]

    def ids(self, tenant_id: str, plan_id: str, kind: LineKind) -> list[str]:
        """Mirrors ``Erasures.ids``."""
        lines = self._memory.tables.erasure_lines.get((tenant_id, plan_id), ())
        return sorted({line.id for line in lines if line.kind is kind})

    # ---- jobs

    def begin(self, erasure: ErasureJob) -> ErasureJob:
        """Mirrors ``Erasures.begin``."""
        with self._memory.change() as tables:
            check_no_overlap([each.place for each in _running(tables, erasure.tenant_id)], erasure)
            tables.erasures[erasure.tenant_id, erasure.id] = erasure
            tables.access_version += 1
            return erasure

    def get(self, tenant_id: str, erasure_id: str) -> ErasureJob | None:
        """Mirrors ``Erasures.get``."""
        return self._memory.tables.erasures.get((tenant_id, erasure_id))

    def listed(self, tenant_id: str, *, before: str | None = None, limit: int) -> list[ErasureJob]:
        """Mirrors ``Erasures.listed``."""
        erasures = self._memory.tables.erasures
        ids = sorted((id_ for tenant, id_ in erasures if tenant == tenant_id), reverse=True)
        return [erasures[tenant_id, id_] for id_ in ids if before is None or id_ < before][:limit]

    def places(self, tenant_id: str) -> list[ErasedPlace]:
        """Mirrors ``Erasures.places``."""
        return [each.place for each in _running(self._memory.tables, tenant_id)]

    def cancel(self, tenant_id: str, erasure_id: str) -> ErasureJob | None:
        """Mirrors ``Erasures.cancel``."""
        with self._memory.change() as tables:
            known = tables.erasures.get((tenant_id, erasure_id))
            if known is not None and known.status == "running":
                known = replace(known, cancelling=True, next_attempt_at=0)
                tables.erasures[tenant_id, erasure_id] = known
            return known

    def claim(self, *, now: Instant, lease_until: Instant, owner: str) -> ErasureJob | None:
        """Mirrors ``Erasures.claim``."""
        with self._memory.change() as tables:
            due = [each for each in tables.erasures.values() if each.is_due(now)]
            if not due:
                return None
            oldest = min(due, key=lambda each: each.id)
            leased = replace(oldest, lease_until=lease_until, lease_owner=owner, fence=tables.next_fence())
            tables.erasures[leased.tenant_id, leased.id] = leased
            return leased

    def advance(
        self, erasure: ErasureJob, *, lease_until: Instant, told: Sequence[LifecycleDraft] = ()
    ) -> ErasureJob | None:
        """Mirrors ``Erasures.advance``."""
        held = replace(erasure, lease_until=lease_until, attempts=0, next_attempt_at=0, last_error=None)
        with self._memory.change() as tables:
            before = tables.erasures.get((erasure.tenant_id, erasure.id))
            if not _keep(tables, held):
                return None
            if before is not None and before.place != held.place:
                tables.access_version += 1
            put_lifecycle(tables, told, self._clock)
            return tables.erasures[erasure.tenant_id, erasure.id]

    def put_off(self, erasure: ErasureJob, error: str, *, retry_at: Instant) -> None:
        """Mirrors ``Erasures.put_off``."""
        with self._memory.change() as tables:
            _keep(
                tables,
                replace(
                    erasure,
                    attempts=erasure.attempts + 1,
                    last_error=kept_error(error),
                    next_attempt_at=retry_at,
                    lease_until=None,
                    lease_owner=None,
                ),
            )

    def take_over(self) -> int:
        """Mirrors ``Erasures.take_over``."""
        with self._memory.change() as tables:
            held = [
                (key, each)
                for key, each in tables.erasures.items()
                if each.status == "running" and each.lease_until is not None
            ]
            for key, each in held:
                tables.erasures[key] = replace(each, lease_until=None, lease_owner=None)
            return len(held)

    def end(
        self, erasure: ErasureJob, *, told: Sequence[LifecycleDraft] = (), audit: AuditDraft | None = None
    ) -> bool:
        """Mirrors ``Erasures.end``."""
        with self._memory.change() as tables:
            if not _keep(tables, replace(erasure, lease_until=None, lease_owner=None)):
                return False
            tables.access_version += 1
            if erasure.status == "completed":
                _clear(tables, erasure)
            put_lifecycle(tables, told, self._clock)
            if audit is not None:
                put_audits(tables, [audit])
            return True

    def counted(self, tenant_id: str, erasure_id: str) -> dict[Layer, int]:
        """Mirrors ``Erasures.counted``."""
        marks = self._memory.tables.tombstones.items()
        layers = [
            mark.layer for (tenant, _), mark in marks if tenant == tenant_id and mark.erasure_id == erasure_id
        ]
        return {layer: layers.count(layer) for layer in sorted(set(layers))}

    def pace(self) -> tuple[int, int]:
        """Mirrors ``Erasures.pace``."""
        completed = [each for each in self._memory.tables.erasures.values() if each.status == "completed"]
        return pace_of(sorted(completed, key=lambda each: each.id, reverse=True)[:PACE_OF])


def _running(tables: Tables, tenant_id: str) -> list[ErasureJob]:
    found = [each for (tenant, _), each in tables.erasures.items() if tenant == tenant_id]
    return sorted((each for each in found if each.status == "running"), key=lambda each: each.id)


def _clear(tables: Tables, erasure: ErasureJob) -> None:
    """Mirrors the other engine's."""
    for key, preview in list(tables.erasure_previews.items()):
        if key[0] == erasure.tenant_id and preview.scope == erasure.scope:
            del tables.erasure_previews[key]
            tables.erasure_lines.pop(key, None)
    own = (erasure.tenant_id, erasure.id)
    if own in tables.erasure_lines:
        tables.erasure_lines[own] = tuple(
            each for each in tables.erasure_lines[own] if each.kind not in PATH_LINES
        )


def _keep(tables: Tables, erasure: ErasureJob) -> bool:
    """Put an erasure in place of itself, by who holds it; whether they still do."""
    key = (erasure.tenant_id, erasure.id)
    known = tables.erasures.get(key)
    if known is None or known.status != "running" or known.fence != erasure.fence:
        return False
    tables.erasures[key] = replace(erasure, cancelling=known.cancelling)
    return True
