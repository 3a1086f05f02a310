"""``lamina restore``: documents from a clone of their repository."""

from __future__ import annotations

from pathlib import Path

from lamina.continuity.restoring import telling
from lamina.settings import Settings
from lamina.store.documents.restore import clone_head, past_writes
from lamina.store.sqlite import SqliteStore

__all__ = ["run_restore"]


def run_restore(settings: Settings, clone: Path, tenant_id: str) -> tuple[int, bool]:
    """Restore a tenant's documents; how many commits, and whether they have the hashes that they had."""
    head = clone_head(clone)
    store = SqliteStore(settings.data)
    try:
        commit = store.documents.restore(tenant_id, past_writes(clone, tenant_id), telling(tenant_id))
    finally:
        store.close()
    return commit.number, commit.sha == head
