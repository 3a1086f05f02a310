"""What calls noted in their audit rows, read back: the log's own answer to what was used of late."""

from __future__ import annotations

import json
from collections.abc import Collection

from lamina import limits
from lamina.kernel.time import Instant
from lamina.store.ports.audit import Audit, AuditQuery, Peppers

__all__ = ["AuditedUses"]

_PAGE = 1000


class AuditedUses:
    """``Uses`` over the audit chain: the newest rows of a tenant, as far as they are on disk."""

    def __init__(self, audit: Audit, peppers: Peppers) -> None:
        self._audit = audit
        self._peppers = peppers

    def noted(self, tenant_id: str, name: str, since: Instant, among: Collection[str]) -> Collection[str]:
        """Mirrors ``Uses.noted``; older rows than the newest ``limits.AUDIT_USES_ROWS_MAX`` are not looked at."""
        found: set[str] = set()
        named: dict[int, dict[str, str]] = {}
        before, left = None, limits.AUDIT_USES_ROWS_MAX
        while left > 0:
            wanted = min(_PAGE, left)
            page = self._audit.query(
                AuditQuery(tenant_id=tenant_id, since=since, before=before, limit=wanted)
            )
            for row in page:
                if row.draft.detail is not None and row.draft.decision == "allow":
                    version = row.draft.pepper_version
                    if version not in named:
                        named[version] = self._named(tenant_id, version, among)
                    noted = json.loads(row.draft.detail).get(name, ())
                    found.update(named[version][each] for each in noted if each in named[version])
            if len(page) < wanted:
                break
            before, left = page[-1].number, left - wanted
        return found

    def _named(self, tenant_id: str, version: int, among: Collection[str]) -> dict[str, str]:
        """What stands for some entries in rows of a pepper, and in rows from before there were hashes of them."""
        pepper = self._peppers.get(tenant_id, version)
        hidden = {} if pepper is None else {pepper.hash(each.encode()): each for each in among}
        return {each: each for each in among} | hidden
