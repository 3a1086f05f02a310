"""Everything beside log and derived rows, cleared of what an erasure takes: the places in their order, and the files last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lamina.kernel.scopes import Scope
from lamina.store.ports.documents import Change
from lamina.store.ports.store import Store
from lamina.store.ports.traces import ErasedBeside, ErasedDocuments, Owned

__all__ = ["Cleared", "clear_places"]


@dataclass(frozen=True, slots=True)
class Cleared:
    """What went: rows by table, documents, reminders."""

    rows: Mapping[str, int]
    documents: ErasedDocuments
    reminders: int


def clear_places(
    store: Store,
    tenant_id: str,
    *,
    scopes: Collection[Scope],
    event_ids: Collection[str],
    actors: Collection[str] = (),
    stand_in: str | None = None,
    held: Collection[Scope] = (),
    owned: Owned | None = None,
    renewed: Sequence[Change] = (),
) -> Cleared:
    """Erase what events and scopes left beside log and records, and what actors alone wrote there.

    Comes after ``erasing``, whose deleted rows the files are scrubbed of, and may be called again. ``event_ids`` are those that are
    deleted and those that lose their words, with ``owned.event_ids``; ``owned`` is what ``Traces.owned`` said before anything went. ``stand_in`` takes the place of the
    ``actors`` in entries of the log outside ``held``. What is ``renewed`` takes the place of documents that named what goes.
    Raises ``Unavailable``: then it is to be called again.
    """
    owned = owned or Owned()
    traces = store.traces
    traces.drop_aside()  # it may be a copy of the log from before
    beside = ErasedBeside(
        tenant_id=tenant_id,
        scopes=tuple(scopes),
        event_ids=frozenset(event_ids),
        actors=frozenset(actors),
        words=frozenset(owned.paths),
        stand_in=stand_in,
        held=tuple(held),
    )
    rows = traces.erase_beside(beside)
    documents = traces.erase_documents(tenant_id, owned.paths, renewed=renewed)
    reminders = traces.erase_schedule(tenant_id, owned.schedule_ids)
    traces.scrub()
    return Cleared(rows, documents, reminders)
