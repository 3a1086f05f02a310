"""What is past its time to live, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.kernel.events import EXPIRY, Event, Stage
from lamina.kernel.expiry import Expiry, expiry_of
from lamina.kernel.ids import IdSource
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Clock, Instant
from lamina.store.memory.erasures import refuse_erased
from lamina.store.memory.exclusion import hide_event
from lamina.store.memory.lifecycle import put_lifecycle
from lamina.store.memory.log import MemoryLog
from lamina.store.memory.tables import Memory, Tables
from lamina.store.memory.unfolding import unfold
from lamina.store.ports.expiries import OldEvent, OldRecord
from lamina.store.rules.log import expired_row, expiry_entry

__all__ = ["MemoryExpiries"]


class MemoryExpiries:
    """``Expiries`` over the tables."""

    def __init__(self, memory: Memory, clock: Clock, ids: IdSource, log: MemoryLog) -> None:
        self._memory = memory
        self._clock = clock
        self._ids = ids
        self._log = log

    def scopes(self, tenant_id: str, *, after: str = "", limit: int) -> list[Scope]:
        """Mirrors ``Expiries.scopes``."""
        written = (path for tenant, path in self._memory.tables.scopes if tenant == tenant_id)
        return sorted(path for path in written if path > after)[:limit]

    def due(
        self, tenant_id: str, now: Instant, *, after: tuple[Instant, str] = (0, ""), limit: int
    ) -> list[OldEvent]:
        """Mirrors ``Expiries.due``."""
        tables = self._memory.tables
        found = [
            _old(event)
            for event in _of_tenant(tables, tenant_id)
            if event.directives.event_ttl_us is not None and not event.excluded and not _waits(tables, event)
        ]
        over = [each for each in found if each.expires_at <= now and (each.expires_at, each.id) > after]
        return sorted(over, key=lambda each: (each.expires_at, each.id))[:limit]

    def through(self, tenant_id: str, scope: Scope) -> int:
        """Mirrors ``Expiries.through``."""
        said = [expiry_of(each) for each in _of_tenant(self._memory.tables, tenant_id) if each.scope == scope]
        return max((each.through for each in said if each is not None), default=0)

    def older(
        self, tenant_id: str, scope: Scope, before: Instant, *, after: int, limit: int
    ) -> list[OldEvent]:
        """Mirrors ``Expiries.older``."""
        tables, found = self._memory.tables, list[OldEvent]()
        for event in _of_tenant(tables, tenant_id):
            if event.scope != scope or event.position <= after:
                continue
            if event.recorded_at >= before or _waits(tables, event) or len(found) == limit:
                break
            found.append(_old(event)._replace(expires_at=0))
        return found

    def unrenewed(
        self,
        tenant_id: str,
        scope: Scope,
        layer: Layer,
        before: Instant,
        *,
        after: OldRecord | None = None,
        limit: int,
    ) -> list[OldRecord]:
        """Mirrors ``Expiries.unrenewed``."""
        tables = self._memory.tables
        renewed = {
            edge.record_id
            for edge in tables.supports.values()
            if edge.tenant_id == tenant_id and edge.polarity != "against" and edge.recorded_at > before
        }
        found = [
            OldRecord(record.recorded_from, record.id)
            for record in tables.records.values()
            if (record.tenant_id, record.scope, record.layer) == (tenant_id, scope, layer)
            and record.recorded_to is None
            and not record.excluded
            and record.recorded_from <= before
            and record.id not in renewed
        ]
        return sorted(each for each in found if after is None or each > after)[:limit]

    def is_waiting(self, tenant_id: str, scope: Scope) -> bool:
        """Mirrors ``Expiries.is_waiting``."""
        return any(
            tenant == tenant_id and job.event.scope == scope and expiry_of(job.event) is not None
            for (tenant, _), job in self._memory.tables.jobs.items()
        )

    def expire(self, tenant_id: str, scope: Scope, into: Scope | None, expiry: Expiry) -> Event | None:
        """Mirrors ``Expiries.expire``."""
        now = self._clock.now()
        with self._memory.change() as tables:
            refuse_erased(tables, [expiry_entry(tenant_id, scope, into, expiry, now)])
            over = expiry
            if expiry.layer is Layer.EVENTS:
                wanted = set(expiry.ids)
                events = [
                    event
                    for event in _of_tenant(tables, tenant_id)
                    if event.id in wanted
                    and event.scope == scope
                    and not event.excluded
                    and not _waits(tables, event)
                ]
                for event in events:
                    tables.events[tenant_id, event.id] = replace(
                        event, cancelled_after=Stage.COMPRESSED, bears_out=True
                    )
                    hide_event(tables, event)
                    unfold(tables, event)
                over = replace(expiry, ids=tuple(event.id for event in events))
            if not over.ids:
                return None
            entry = self._log.enter(tables, expiry_entry(tenant_id, scope, into, over, now))
            put_lifecycle(tables, [expired_row(entry, over)], self._clock)
            tables.about = entry.id
            return entry

    def entered(self, tenant_id: str, *, after: int) -> dict[Scope, int]:
        """Mirrors ``Expiries.entered``."""
        found = [
            each
            for each in _of_tenant(self._memory.tables, tenant_id)
            if each.position > after and each.origin.channel == EXPIRY
        ]
        return {each.scope: each.position for each in sorted(found, key=lambda each: each.position)}

    def entries(self, tenant_id: str, scope: Scope, *, after: int, limit: int) -> Sequence[Event]:
        """Mirrors ``Expiries.entries``."""
        found = [
            each
            for each in _of_tenant(self._memory.tables, tenant_id)
            if each.scope == scope and each.position > after
        ]
        return [each for each in found if expiry_of(each) is not None][:limit]


def _of_tenant(tables: Tables, tenant_id: str) -> list[Event]:
    return [event for (tenant, _), event in tables.events.items() if tenant == tenant_id]


def _waits(tables: Tables, event: Event) -> bool:
    job = tables.jobs.get((event.tenant_id, event.id))
    return job is not None and job.state != "failed"


def _old(event: Event) -> OldEvent:
    said = event.directives
    ends = event.context.observed_at + (said.event_ttl_us or 0)
    return OldEvent(event.id, event.scope, event.position, said.consolidate_into, ends, event.excluded)
