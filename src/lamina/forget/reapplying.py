"""What was erased after a backup is erased from the folder that it was restored into, before anybody reads there."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.forget.planning import Unnaming
from lamina.forget.runner import Eraser
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.records import Layer, layer_of
from lamina.kernel.time import SECOND_US, Clock, Instant
from lamina.store.ports.erasing import Erasure, Tombstone
from lamina.store.ports.erasures import ErasedPlace, ErasureJob
from lamina.store.ports.store import Store
from lamina.store.ports.tombstones import ListedErasure, TombstoneList
from lamina.store.ports.traces import About, ErasedBeside

__all__ = ["apply_again"]

_OWNER = "restore"
_OF_EVENTS = frozenset({Layer.EPISODES, Layer.FACTS, Layer.BELIEFS})
"""The layers whose ids are made of an event's."""
_FORGETTING_S_MAX = 3600
"""From a call that forgets to its first step, under any load."""


def apply_again(
    store: Store,
    listed: Iterable[ListedErasure],
    clock: Clock,
    *,
    as_of: Instant,
    about: About,
    tombstones: TombstoneList,
    unnaming: Unnaming | None = None,
) -> int:
    """Do what is listed again, oldest first, where the folder as of its backup does not know of it; how many that were.

    Erasures that were under way in the backup go on, here or in the worker: what they hide is hidden meanwhile. Those that were
    cancelled since, before they took anything, end. ``tombstones`` is the folder's own list from now on, in which they may not stand yet.
    """
    told = list(listed)
    taken = {each.id for each in told if not each.cancelled}
    for each in told:
        if each.cancelled and each.id not in taken:
            store.erasures.cancel(each.tenant_id, each.id)
    eraser = Eraser(store, clock, _OWNER, about=about, unnaming=unnaming, tombstones=tombstones, sleep=_go_on)
    store.erasures.take_over()
    while eraser.step():
        pass
    done = 0
    for each in told:
        if each.cancelled:
            continue
        if each.cascade == "gdpr":
            if store.erasures.get(each.tenant_id, each.id) is None:
                store.erasures.begin(_job(each))
                eraser.step()
                done += 1
        elif each.cascade == "redact_events" or not _was_over(store, each, as_of):
            # What was forgotten but for its words, and brought back by a replay before the backup, stays.
            done += _forgotten_again(store, each)
    if store.traces.scrub_due():
        store.traces.scrub()
    return done


def _was_over(store: Store, listed: ListedErasure, as_of: Instant) -> bool:
    """Whether all of it had gone when the backup was made: it was asked for before, and its steps may have come after.

    Its audit row lands with its first step; and a replay, which brings back what was forgotten, takes every mark.
    """
    if listed.at > as_of or store.traces.remains(listed.tenant_id, listed.id).marks:
        return False
    if as_of - listed.at > _FORGETTING_S_MAX * SECOND_US:  # its audit row may be past its time
        return True
    return listed.audit_id is None or store.audit.get(listed.tenant_id, listed.audit_id) is not None


def _go_on(_: float) -> None:
    """Nobody writes there yet, for whom it would have to pause."""


def _job(listed: ListedErasure) -> ErasureJob:
    return ErasureJob(
        tenant_id=listed.tenant_id,
        id=listed.id,
        scope=listed.scope,
        place=ErasedPlace(listed.id, (listed.scope,), listed.held, listed.actors),
        requested_by=listed.by_actor,
        audit_note="done again after a restore",
        started_at=listed.at,
        crosses=True,
        unregisters=listed.unregisters,
        factor=listed.factor,
        floor=listed.floor,
    )


def _forgotten_again(store: Store, listed: ListedErasure) -> bool:
    erasure = Erasure(
        tenant_id=listed.tenant_id,
        erasure_id=listed.id,
        by_actor=listed.by_actor,
        cascade=listed.cascade,
        redact=listed.events,
        records=listed.records,
        audit_id=listed.audit_id,
        factor=listed.factor,
        floor=listed.floor,
    )
    unmade = _unmade(store, listed)
    steps = list(erased_in_steps(store, erasure))
    if listed.events:
        store.traces.erase_beside(ErasedBeside(tenant_id=listed.tenant_id, event_ids=listed.events))
    if unmade:
        store.erasing.mark(unmade)
        # What waits is derived as ever, and then its scope once more, without what has a mark.
        store.rederivation.ask(listed.tenant_id, [listed.scope])
    return bool(unmade) or any(step.redacted or step.gone for step in steps)


def _unmade(store: Store, listed: ListedErasure) -> list[Tombstone]:
    """Marks of the records that were forgotten and that the folder has not derived yet: they would come of events that wait.

    Understanding is told by what it is about: what is drawn of it later is another.
    """
    waiting = listed.cascade == "derived_only" and store.upkeep.backlog(listed.tenant_id).events
    known = store.records.get(listed.tenant_id, listed.records) if waiting else {}
    return [
        Tombstone(
            tenant_id=listed.tenant_id,
            id=id_,
            layer=layer,
            scope=listed.scope,
            cascade="derived_only",
            erasure_id=listed.id,
            audit_id=listed.audit_id,
            erased_at=listed.at,
        )
        for id_ in (listed.records if waiting else ())
        if id_ not in known and (layer := layer_of(id_)) is not None and layer in _OF_EVENTS
    ]
