"""``lamina restore``: documents from a clone of their repository."""

from __future__ import annotations

from pathlib import Path

from lamina.continuity.restoring import telling
from lamina.kernel.time import SystemClock
from lamina.settings import Settings
from lamina.store.documents.restore import clone_head, past_writes
from lamina.store.sqlite import SqliteStore

__all__ = ["run_restore"]


def run_restore(settings: Settings, clone: Path, tenant_id: str) -> tuple[int, bool]:
    """Restore a tenant's documents; how many commits, and whether they have the hashes that they had."""
    head = clone_head(clone)
    clock = SystemClock()
    store = SqliteStore(settings.data, clock=clock)
    try:
        past = past_writes(clone, tenant_id, clock.now())
        commit = store.documents.restore(tenant_id, past, telling(tenant_id))
    finally:
        store.close()
    return commit.number, commit.sha == head
