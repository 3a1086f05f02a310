"""What is told of a step of forgetting: tombstones, rows of the lifecycle, and counts for whoever asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lamina.kernel.events import Event
from lamina.kernel.records import Layer, is_event
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.erasing import Erased, Erasure, Tombstone
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.rules.erasing_ground import Ground
from lamina.store.rules.erasing_rows import ErasureChanges

__all__ = ["RecordOutcomes", "report"]


@dataclass(frozen=True, slots=True)
class RecordOutcomes:
    """The ids of records by what became of them, and the entries of the scopes that keep some."""

    gone: Collection[str]
    kept: Collection[str]
    remade: Collection[str]
    lowered: Collection[str]
    entries: Mapping[Scope, Event]


def report(ground: Ground, out: ErasureChanges, outcome: RecordOutcomes, now: Instant) -> None:
    """Put into ``out`` what is told of it; what it deletes and redacts stands there."""
    erasure, entries = ground.erasure, outcome.entries
    by_layer: dict[Layer, list[str]] = defaultdict(list)
    places: dict[str, tuple[Layer, Scope]] = {}
    for key in sorted(outcome.gone):
        last = ground.last(key)
        by_layer[last.layer].append(key)
        places[key] = (last.layer, last.scope)
    places |= {event.id: (Layer.EVENTS, event.scope) for event in out.deleted}
    out.tombstones = [
        _tombstone(erasure, key, layer, scope, now) for key, (layer, scope) in sorted(places.items())
    ]
    out.derived_once = _derived_once(ground, out, places)
    counts = Counter(
        [(scope, layer) for layer, scope in places.values()]
        + [(event.scope, Layer.EVENTS) for event in out.redacted]
    )
    out.lifecycle = [
        _forgotten(erasure, scope, layer, counts[scope, layer]) for scope, layer in sorted(counts)
    ]
    worded = {event.scope for event in (*out.deleted, *out.redacted)}
    out.touched = {versions[-1].scope for versions in ground.versions.values()} | worded
    kept = {key: ground.last(key).scope for key in sorted(outcome.kept)}
    anew = {*kept.values(), *(ground.last(key).scope for key in outcome.remade), *worded}
    out.erased = Erased(
        deleted=[event.id for event in out.deleted],
        redacted=[event.id for event in out.redacted],
        gone=dict(by_layer),
        kept={scope: [key for key, place in kept.items() if place == scope] for scope in sorted(entries)},
        demoted=sorted(set(outcome.lowered) & kept.keys()),
        entries=[entries[scope].id for scope in sorted(entries)],
        remade=sorted(anew - ground.inside),
    )


def _derived_once(
    ground: Ground, out: ErasureChanges, places: Mapping[str, tuple[Layer, Scope]]
) -> list[tuple[str, str]]:
    """Events, each with what rested on it and goes, where the id of that tells nothing. Whoever loses the words of one does so in this
    step or in one that comes after it; they are read of events without words alone."""
    if ground.erasure.cascade == "derived_only":
        return []
    telling = [key for key, (layer, _) in places.items() if layer in (Layer.FACTS, Layer.EPISODES)]
    pairs = [(each.source_id, key) for key in telling for each in ground.supports.get(key, ())]
    deleted = {event.id for event in out.deleted}
    return sorted({pair for pair in pairs if is_event(pair[0]) and pair[0] not in deleted})


def _tombstone(erasure: Erasure, key: str, layer: Layer, scope: Scope, now: Instant) -> Tombstone:
    return Tombstone(
        tenant_id=erasure.tenant_id,
        id=key,
        layer=layer,
        scope=scope,
        cascade=erasure.cascade,
        erasure_id=erasure.erasure_id,
        audit_id=erasure.audit_id,
        erased_at=now,
    )


def _forgotten(erasure: Erasure, scope: Scope, layer: Layer, count: int) -> LifecycleDraft:
    return LifecycleDraft(
        tenant_id=erasure.tenant_id,
        name="forgotten",
        scope=scope,
        job_id=erasure.erasure_id,
        payload={
            "layer": layer.value,
            "count": count,
            "by_actor": erasure.by_actor,
            "cascade": erasure.cascade,
        },
    )
