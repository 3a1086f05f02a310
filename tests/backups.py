"""What tests of backups start from: a folder with a memory, and a backup of it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from given import NOON, TENANT, CountedIds, ManualClock, append, audit_draft, fact, land
from lamina.store.backups.folder import BackupFolder
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.writes import Writes
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.backup import Backup, BackupRequest, back_up

__all__ = ["EVENTS", "backed_up", "document", "memory", "opened"]

EVENTS = 21


def opened(folder: Path) -> SqliteStore:
    return SqliteStore(folder, clock=ManualClock(), ids=CountedIds(), durable=False)


def memory(folder: Path) -> Path:
    """Two tenants, the first with events, derived rows, an audit row and documents, the other with a document."""
    store = opened(folder)
    for number in range(20):
        append(store, f"tea at {number}")
        document(store, number)
    document(store, 0, "other/tenant")
    land(store, Writes(records=[fact()]))
    store.audit.note(audit_draft())
    store.close()
    return folder


def document(store: SqliteStore, number: int, tenant: str = TENANT) -> None:
    change = Change(f"memory/n{number % 3}.md", ChangeKind.PUT, f"note {number}".encode())
    write = Write(tenant_id=tenant, author="agent:nia", message=f"{number}", changes=[change])
    store.documents.write([write])


def backed_up(data: Path, **more: Any) -> Backup:
    """A backup beside the folder, not sealed."""
    request = BackupRequest(BackupFolder(data.with_name("backups"), data), NOON, os.urandom)
    made = back_up(data, replace(request, **more))
    assert made is not None
    return made
