"""What calls noted in their audit rows, read back: the log's own answer to what was used of late."""

from __future__ import annotations

import json
from collections.abc import Collection

from lamina import limits
from lamina.kernel.time import Instant
from lamina.store.ports.audit import Audit, AuditQuery

__all__ = ["AuditedUses"]

_PAGE = 1000


class AuditedUses:
    """``Uses`` over the audit chain: the newest rows of a tenant, as far as they are on disk."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    def noted(self, tenant_id: str, name: str, since: Instant) -> Collection[str]:
        """Mirrors ``Uses.noted``; older rows than the newest ``limits.AUDIT_USES_ROWS_MAX`` are not looked at."""
        found: set[str] = set()
        before, left = None, limits.AUDIT_USES_ROWS_MAX
        while left > 0:
            wanted = min(_PAGE, left)
            page = self._audit.query(
                AuditQuery(tenant_id=tenant_id, since=since, before=before, limit=wanted)
            )
            for row in page:
                if row.draft.detail is not None and row.draft.decision == "allow":
                    found.update(json.loads(row.draft.detail).get(name, ()))
            if len(page) < wanted:
                break
            before, left = page[-1].number, left - wanted
        return found
