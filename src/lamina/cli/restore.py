"""``lamina restore``: documents from a clone of their repository."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lamina.continuity.restoring import Unreadable, telling, unreadable
from lamina.coordination.messages.restoring import restored_posts
from lamina.kernel.time import SystemClock
from lamina.settings import Settings
from lamina.store.documents.restore import clone_head, past_writes
from lamina.store.opening import open_store

__all__ = ["Restored", "run_restore"]


@dataclass(frozen=True, slots=True)
class Restored:
    """How many commits came back, whether with the hashes that they had, which capsules cannot be read, and which files of
    secrets were left out."""

    commits: int
    same_hashes: bool
    unreadable: Sequence[Unreadable]
    left_out: Sequence[str] = ()


def run_restore(settings: Settings, clone: Path, tenant_id: str) -> Restored:
    """Restore a tenant's documents."""
    head = clone_head(clone)
    clock = SystemClock()
    left_out: set[str] = set()
    store = open_store(settings, clock=clock)
    try:
        past = past_writes(clone, tenant_id, clock.now(), left_out)
        commit = store.documents.restore(tenant_id, past, telling(tenant_id))
        store.messages.restore(tenant_id, restored_posts(store.documents, tenant_id))
        lost = list(unreadable(store.documents, tenant_id))
    finally:
        store.close()
    return Restored(commit.number, commit.sha == head, lost, sorted(left_out))
