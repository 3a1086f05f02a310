"""``lamina restore``: documents from a clone of their repository."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lamina.continuity.restoring import Unreadable, telling, unreadable
from lamina.coordination.messages.restoring import restored_posts
from lamina.coordination.owned import documents_about_people
from lamina.coordination.replication.state import without_paths
from lamina.forget.reapplying import apply_again
from lamina.kernel.time import SECOND_US, Instant, SystemClock
from lamina.settings import Settings
from lamina.store.backups.tombstones import tombstone_file
from lamina.store.documents.restore import clone_head, past_writes
from lamina.store.opening import open_store
from lamina.store.ports.tombstones import ListedErasure

__all__ = ["Restored", "run_restore"]

_CLONED_WITHIN_US = 3600 * SECOND_US
"""A clone whose newest commit is so much younger than an erasure may have been made before that took documents."""


@dataclass(frozen=True, slots=True)
class Restored:
    """How many commits came back, whether with the hashes that they had, which capsules cannot be read, which files of secrets were
    left out, how many erasures were done again, and of when the newest commit is."""

    commits: int
    same_hashes: bool
    unreadable: Sequence[Unreadable]
    left_out: Sequence[str] = ()
    erased: int = 0
    newest: Instant = 0


def run_restore(
    settings: Settings, clone: Path, tenant_id: str, listed: Sequence[ListedErasure] = ()
) -> Restored:
    """Restore a tenant's documents, without what is ``listed`` as erased since the newest commit of the clone."""
    head = clone_head(clone)
    clock = SystemClock()
    left_out: set[str] = set()
    store = open_store(settings, clock=clock)
    try:
        past = past_writes(clone, tenant_id, clock.now(), left_out)
        commit = store.documents.restore(tenant_id, past, telling(tenant_id))
        store.messages.restore(tenant_id, restored_posts(store.documents, tenant_id))
        newest = commit.committed_at
        since = [
            each
            for each in listed
            if each.tenant_id == tenant_id and each.cascade == "gdpr" and each.at + _CLONED_WITHIN_US > newest
        ]
        about, unnaming = documents_about_people(store), without_paths(store.documents)
        tombstones = tombstone_file(settings)
        erased = apply_again(
            store, since, clock, as_of=newest, about=about, tombstones=tombstones, unnaming=unnaming
        )
        lost = list(unreadable(store.documents, tenant_id))
    finally:
        store.close()
    return Restored(commit.number, commit.sha == head, lost, sorted(left_out), erased, newest)
