"""What is over by its time to live, erased where the tenant's policy says so: by the machinery that forgets (decision 0052).

What is left to erase is told by the entries of the log and by what stands, so that whoever is interrupted begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from lamina import limits
from lamina.forget.planning import RulesOf
from lamina.forget.stepping import erase_part
from lamina.kernel.audit import AuditDraft, own_row
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Event
from lamina.kernel.expiry import Expiry, TtlRules, expiry_of
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Belief, Concept, Layer, Record, Stance, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Clock, Instant
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.store import Store
from lamina.store.ports.tombstones import ListedErasure, TombstoneList

__all__ = ["ExpiredEraser", "LeftToErase", "TtlRulesOf"]

_PART: Final = "expiry"
_EXPIRER: Final = "system:expiry"

TtlRulesOf = Callable[[str, Scope], TtlRules]
"""What is laid down for the records of a scope of a tenant."""


@dataclass(frozen=True, slots=True)
class LeftToErase:
    """What is left to erase of an entry of the log."""

    entry: Event
    expiry: Expiry
    events: tuple[str, ...]
    records: tuple[str, ...]


@dataclass(slots=True)
class _Looked:
    """How far the entries of a tenant were looked at: the position of the newest, the scopes in which something may be left, and in each
    through which position it was looked, with the entries up to there of which something was left, or was still to be derived."""

    newest: int = 0
    open: set[Scope] = field(default_factory=set)
    through: dict[Scope, int] = field(default_factory=dict)
    waiting: dict[Scope, set[str]] = field(default_factory=dict)


class ExpiredEraser:
    """Erases what entries of the log say is over, once that is derived. Each part is put into the list of ``tombstones`` before it goes."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        rules: TtlRulesOf,
        erasure_rules: RulesOf,
        tombstones: TombstoneList,
    ) -> None:
        self._store = store
        self._clock = clock
        self._rules = rules
        self._erasure_rules = erasure_rules
        self._tombstones = tombstones
        self._looked: dict[str, _Looked] = {}

    def erase(self, tenant_id: str) -> None:
        """Erase all that is left of a tenant's."""
        for each in self.left(tenant_id):
            self._erase(each)

    def left(self, tenant_id: str) -> Iterator[LeftToErase]:
        """What is left to erase of the entries of a tenant, scope by scope and oldest first, where its policy says so and no legal hold
        keeps the scope. What was found to be done is not looked at again."""
        looked = self._looked.setdefault(tenant_id, _Looked())
        entered = self._store.expiries.entered(tenant_id, after=looked.newest)
        looked.newest = max(entered.values(), default=looked.newest)
        looked.open.update(entered)
        for scope in sorted(looked.open):
            rules = self._rules(tenant_id, scope)
            if rules.erases and not rules.keeps(scope):
                yield from self._left_in(tenant_id, scope, looked)

    def _left_in(self, tenant_id: str, scope: Scope, looked: _Looked) -> Iterator[LeftToErase]:
        waiting = looked.waiting.setdefault(scope, set())
        for entry in self._entries(tenant_id, scope, looked):
            waiting.add(entry.id)
            looked.through[scope] = max(entry.position, looked.through.get(scope, 0))
            if self._store.jobs.of_event(tenant_id, entry.id):
                continue  # what is to be erased with it is still held
            left = self._left_of(entry)
            if left.events or left.records:
                yield left
            else:
                waiting.discard(entry.id)
        if not waiting:
            looked.open.discard(scope)

    def _entries(self, tenant_id: str, scope: Scope, looked: _Looked) -> Iterator[Event]:
        """Those that waited before, but for what is gone, and those that are new."""
        held = self._store.log.get(tenant_id, looked.waiting[scope])
        there = [each for each in held.values() if expiry_of(each) is not None]
        looked.waiting[scope].intersection_update([each.id for each in there])
        yield from sorted(there, key=lambda each: each.position)
        after = looked.through.get(scope, 0)
        while page := self._store.expiries.entries(tenant_id, scope, after=after, limit=limits.FORGET_PAGE):
            yield from page
            after = page[-1].position

    def _left_of(self, entry: Event) -> LeftToErase:
        expiry = expiry_of(entry)
        assert expiry is not None, "it is an entry of expiry"
        events: list[str] = []
        if expiry.layer is Layer.EVENTS:
            found = self._store.log.get(entry.tenant_id, expiry.ids)
            events = sorted(key for key, each in found.items() if each.redacted_by is None)
        ties = self._store.records.dependants_of(entry.tenant_id, [entry.id]).get(entry.id, ())
        tied = {each.record_id for each in ties if each.relation == Tie.EXPIRED_BY}
        ids = sorted(each for each in tied if layer_of(each) not in (None, Layer.EVENTS))
        ended = {each.id for each in self._records(entry, ids) if _has_ended(each)}
        above = self._store.records.dependants_of(entry.tenant_id, ids)
        sent = {each.record_id for found in above.values() for each in found} - set(ids)
        # What another scope believed of it ended there at the same instant, without a tie.
        ended |= {
            each.id for each in self._records(entry, sorted(sent)) if each.recorded_to == entry.recorded_at
        }
        return LeftToErase(entry, expiry, tuple(events), tuple(sorted(ended)))

    def _records(self, entry: Event, ids: Collection[str]) -> Collection[Record]:
        return self._store.records.get(entry.tenant_id, ids).values() if ids else ()

    def _erase(self, left: LeftToErase) -> None:
        """Erase what is left of an entry, with an audit row and a line in the list of what was erased."""
        entry, rules = left.entry, self._erasure_rules(left.entry.tenant_id)
        audit_id = derived_id(Prefix.AUDIT, entry.recorded_at, entry.id, _PART)
        if self._store.audit.get(entry.tenant_id, audit_id) is None:
            self._store.audit.note(_audit_of(left, audit_id, self._clock.now()))
            self._store.audit.flush()
        erasure = Erasure(
            tenant_id=entry.tenant_id,
            erasure_id=audit_id,
            by_actor=_EXPIRER,
            cascade="redact_events",
            redact=left.events,
            records=left.records,
            audit_id=audit_id,
            factor=rules.factor,
            floor=rules.floor,
        )
        erase_part(self._store, self._tombstones, erasure, _listed(erasure, entry, self._clock.now()))
        self._looked[entry.tenant_id].waiting[entry.scope].discard(entry.id)


def _has_ended(record: Record) -> bool:
    deprecated = isinstance(record, Concept | Belief) and record.stance is Stance.DEPRECATED
    return deprecated or record.recorded_to is not None


def _listed(erasure: Erasure, entry: Event, now: Instant) -> ListedErasure:
    return ListedErasure(
        tenant_id=erasure.tenant_id,
        id=erasure.erasure_id,
        at=now,
        by_actor=erasure.by_actor,
        cascade=erasure.cascade,
        scope=entry.scope,
        events=tuple(sorted(erasure.redact)),
        records=tuple(sorted(erasure.records)),
        audit_id=erasure.audit_id,
        factor=erasure.factor,
        floor=erasure.floor,
    )


def _audit_of(left: LeftToErase, audit_id: str, now: Instant) -> AuditDraft:
    """The row that stays: ids and counts alone."""
    entry = left.entry
    what = {
        "entry_id": entry.id,
        "layer": left.expiry.layer.value,
        "events": len(left.events),
        "records": len(left.records),
    }
    return own_row(
        tenant_id=entry.tenant_id,
        id=audit_id,
        at=now,
        actor=_EXPIRER,
        scope=entry.scope,
        endpoint=_PART,
        capability=Capability.FORGET_REDACT_EVENTS,
        tier="tenant",
        what=what,
        event_id=entry.id,
        request_id=derived_id(Prefix.REQUEST, entry.recorded_at, entry.id, _PART),
    )
