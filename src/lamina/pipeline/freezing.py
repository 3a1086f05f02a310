"""What rests on erased words is not derived: it lands as it was kept, each version at its place in the log (decision 0043).

An event that is still there may have added to such a record, ended a version of it or touched a belief that another scope holds. What it
makes of these when it is derived again is left out, with all else of the same matter, and what it had made of them lands instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lamina.kernel.events import Event
from lamina.kernel.predicates import family_of
from lamina.kernel.records import Belief, Claim, Fact, Layer, Record, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.pipeline.matters import is_shared
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
    ending = {each.closed_by for each in writes.closings}
    writes.audits = [each for each in writes.audits if not frozen or each.id in ending]
    writes.records += [each for each in kept.records if each.layer is layer]
    writes.closings += [each for each in kept.closings if layer_of(each.id) is layer]
    writes.supports += [each for each in kept.supports if layer_of(each.record_id) is layer]
    return writes


def kept_of(
    store: Store, view: View, record_ids: Collection[str], *, gone: str | None = None
) -> tuple[Writes, Mapping[Scope, Instant]]:
    """Those of some records that are kept, as they were left, and by scope the instant after which events add to them again.

    What the event ``gone`` made of them is left out: its words are not erased, and it counts no more.
    """
    tenant_id = view.event.tenant_id
    if not store.erasing.has_frozen(tenant_id):
        return Writes(), {}
    instants = store.erasing.frozen_until(tenant_id, record_ids)
    versions = {key: view.versions(key) for key in sorted(instants)}
    left_out = () if gone is None else view.events([gone]).values()
    made = {each.position for each in left_out}
    until: dict[Scope, Instant] = {}
    for key, instant in instants.items():
        scope = versions[key][0].scope
        until[scope] = max(instant, until.get(scope, 0))
    supports = view.supports_of(versions)
    standing: list[Record] = []
    opened: list[Fact] = []
    lost = set() if gone is None else {gone}
    # Facts come before the beliefs that rest on them.
    for key, of_record in sorted(versions.items(), key=lambda each: isinstance(each[1][0], Belief)):
        sources = {each.source_id for each in supports.get(key, ()) if each.polarity == "supports"}
        if sources and sources <= lost:
            lost.add(key)
            continue
        at = until[of_record[0].scope]
        kept = [each for each in of_record if each.recorded_from <= at]
        counting = [each for each in kept if each.position not in made]
        if not counting or (len(counting) == len(kept) and (kept[-1].recorded_to or at + 1) <= at):
            continue
        last = counting[-1]
        if len(counting) < len(kept) and isinstance(last, Fact) and last.valid_to is None:
            opened.append(last)
        else:
            standing.append(last)
    standing += [_ended_by_next(each, [*standing, *opened]) for each in opened]
    return Writes(
        records=[replace(each, recorded_to=None, closed_by=None) for each in standing],
        supports=[
            support
            for each in standing
            for support in supports.get(each.id, ())
            if support.recorded_at <= until[each.scope] and support.source_id not in lost
        ],
    ), until


def _ended_by_next(fact: Fact, others: Sequence[Record]) -> Fact:
    """A fact that something gone had ended, as it is without that: it held until the next value of its slot."""
    if fact.slot is None or is_shared(fact):
        return fact
    in_slot = (
        each
        for each in others
        if isinstance(each, Fact) and (each.scope, each.slot) == (fact.scope, fact.slot) and not each.negated
    )
    later = [each for each in in_slot if (each.valid_from, each.position) > (fact.valid_from, fact.position)]
    if not later:
        return fact
    following = min(later, key=lambda each: (each.valid_from, each.position, each.id))
    return replace(
        fact, valid_to=following.valid_from, to_offset=following.from_offset, superseded_by=following.id
    )


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
