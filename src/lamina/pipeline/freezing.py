"""What rests on erased words is not derived: it lands as it was kept, each version at its place in the log (decision 0043).

An event that is still there may have added to such a record, ended a version of it or touched a belief that another scope holds. What it
makes of these when it is derived again is left out, with all else of the same matter, and what it had made of them lands instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from itertools import chain

from lamina.kernel.events import Event
from lamina.kernel.predicates import family_of
from lamina.kernel.records import Claim, Layer, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.pipeline.view import View
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes

__all__ = ["as_kept", "kept_of"]


def as_kept(store: Store, event: Event, layer: Layer, writes: Writes) -> Writes:
    """What an event derived for a layer, with what is frozen in the place of what it says of that."""
    if layer is Layer.UNDERSTANDING or not store.erasing.has_frozen(event.tenant_id):
        return writes
    frozen = _frozen(store, event, writes)
    kept = store.erasing.frozen_at(event)
    writes.records = [each for each in writes.records if each.id not in frozen]
    writes.closings = [each for each in writes.closings if each.id not in frozen]
    writes.supports = [each for each in writes.supports if each.record_id not in frozen]
    writes.texts = [each for each in writes.texts if each.record_id not in frozen]
    writes.audits = [] if frozen else writes.audits
    writes.records += [each for each in kept.records if each.layer is layer]
    writes.closings += [each for each in kept.closings if layer_of(each.id) is layer]
    writes.supports += [each for each in kept.supports if layer_of(each.record_id) is layer]
    return writes


def kept_of(store: Store, view: View, record_ids: Collection[str]) -> tuple[Writes, Instant]:
    """Those of some records that are kept, as they were left, and the instant after which events add to them again; 0 where none is."""
    tenant_id = view.event.tenant_id
    if not store.erasing.has_frozen(tenant_id):
        return Writes(), 0
    until = store.erasing.frozen_until(tenant_id, record_ids)
    at = max(until.values(), default=0)
    last = ([each for each in view.versions(key) if each.recorded_from <= at][-1:] for key in sorted(until))
    standing = [each for each in chain(*last) if each.recorded_to is None or each.recorded_to > at]
    supports = view.supports_of(sorted(until)).values()
    return Writes(
        records=[replace(each, recorded_to=None, closed_by=None) for each in standing],
        supports=[each for each in chain(*supports) if each.recorded_at <= at],
    ), at


def _frozen(store: Store, event: Event, writes: Writes) -> set[str]:
    """The ids of what an event derived that is kept as it was, or is of a matter that is."""
    touched = {each.id for each in writes.records} | {each.id for each in writes.closings}
    touched |= {each.record_id for each in writes.supports}
    until = store.erasing.frozen_until(event.tenant_id, touched)
    frozen = {key for key, instant in until.items() if event.recorded_at <= instant}
    matters: dict[Scope, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in writes.records:
        if isinstance(each, Claim) and each.id not in frozen:
            for predicate in family_of(each.predicate):
                matters[each.scope][each.subject.id, predicate].add(each.id)
    for scope, named in matters.items():
        held = store.erasing.frozen_matters(event.tenant_id, scope, named.keys())
        for matter, instant in held.items():
            if event.recorded_at <= instant:
                frozen |= named[matter]
    return frozen
