"""A long erasure as many short ones, so that nobody who writes waits for it (seed 002, 11.3, phases 4 and 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from lamina import limits
from lamina.kernel.records import Layer
from lamina.store.ports.erasing import Erased, Erasure
from lamina.store.ports.store import Store
from lamina.store.ports.tombstones import ListedErasure, TombstoneList
from lamina.store.ports.traces import ErasedBeside

__all__ = ["erase_part", "erased_in_steps"]


def erase_part(
    store: Store, tombstones: TombstoneList, erasure: Erasure, listed: ListedErasure
) -> Counter[Layer]:
    """Forget a part of a scope, everywhere, and say how much of which layer; ``listed`` is its line in the list of what was erased."""
    if erasure.redact or erasure.records:
        tombstones.append(listed)
    beside = ErasedBeside(tenant_id=erasure.tenant_id, event_ids=frozenset(erasure.redact))
    if erasure.redact:
        # Before, since a call that is made again after a crash finds no more events to select; and after, for what was under way.
        store.traces.erase_beside(beside)
    counts = Counter[Layer]()
    for step in erased_in_steps(store, erasure):
        counts[Layer.EVENTS] += len(step.redacted)
        counts.update({layer: len(ids) for layer, ids in step.gone.items()})
    if erasure.redact:
        store.traces.erase_beside(beside)
    return counts


def erased_in_steps(store: Store, erasure: Erasure) -> Iterator[Erased]:
    """Do an erasure of any size, a transaction for each ``ERASURE_STEP_MAX`` events or records; what each did comes as it lands.

    Records that go themselves come first, then events of which others' claims rest. Whoever stops in between, or is
    killed, calls it again with the same ids: what was done is passed over.
    """
    worded = [(key, "redact") for key in sorted(set(erasure.redact))]
    worded += [(key, "delete") for key in sorted(set(erasure.delete) - set(erasure.redact))]
    nothing = replace(erasure, redact=(), delete=(), records=())
    records = sorted(set(erasure.records))
    for start in range(0, len(records), limits.ERASURE_STEP_MAX):
        part_of = records[start : start + limits.ERASURE_STEP_MAX]
        yield store.erasing.erase(replace(nothing, records=part_of))
    for start in range(0, len(worded), limits.ERASURE_STEP_MAX):
        part = worded[start : start + limits.ERASURE_STEP_MAX]
        redact, delete = ([key for key, how in part if how == each] for each in ("redact", "delete"))
        yield store.erasing.erase(replace(nothing, redact=redact, delete=delete))
    while erasure.scopes:
        swept = store.erasing.erase(replace(nothing, sweeps=True))
        yield swept
        if not swept.gone:
            break
