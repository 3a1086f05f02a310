"""How audit rows end: past their retention they are deleted, oldest first, and the chain says so itself.

What is left begins at an anchor: the number and hash of the last deleted row. The deletion is a row of the chain,
whose body hash is the anchor's, so that an anchor cannot be moved without breaking the chain behind it. Rows marked
``gdpr`` stay for ever.
"""

from __future__ import annotations

from collections.abc import Callable

from lamina import limits
from lamina.access.rules import AuditRules
from lamina.errors import Fault
from lamina.kernel.audit import GENESIS, Anchor, AuditDraft, AuditRow, holds, kept_digest, own_row
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.time import Clock, Instant
from lamina.store.ports.store import Store

__all__ = ["Retention"]


class Retention:
    """Deletes what is past its time, by each tenant's rules."""

    def __init__(self, store: Store, ids: IdSource, clock: Clock, rules: Callable[[str], AuditRules]) -> None:
        self._store = store
        self._ids = ids
        self._clock = clock
        self._rules = rules

    def run(self) -> int:
        """Prune every tenant's rows and peppers; returns how many rows were deleted. One tenant's failure is raised when the
        others are done."""
        deleted, failure = 0, None
        for head in self._store.audit.heads():
            try:
                deleted += self.prune(head.tenant_id)
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return deleted

    def prune(self, tenant_id: str) -> int:
        """Prune one tenant's; raises ``Fault`` (AUDIT_CHAIN_BROKEN) rather than delete rows that were tampered with."""
        rules, now = self._rules(tenant_id), self._clock.now()
        deleted = 0
        while batch := self._past(tenant_id, now - rules.retention_us):
            deleted += self._delete(tenant_id, batch, now)
            if len(batch) < limits.AUDIT_PRUNE_ROWS_MAX:
                break
        self._store.peppers.prune(tenant_id, now - rules.retention_us - rules.pepper_buffer_us)
        return deleted

    def _past(self, tenant_id: str, before: Instant) -> list[AuditRow]:
        """The first rows behind the anchor, as far as they are older than an instant; checked."""
        anchor = self._store.audit.anchor(tenant_id)
        number, previous = (anchor.number, anchor.hash) if anchor else (0, GENESIS)
        batch: list[AuditRow] = []
        for row in self._store.audit.walk(tenant_id, number, limits.AUDIT_PRUNE_ROWS_MAX):
            if row.draft.at >= before:
                break
            if not holds(row) or row.previous != previous or row.number != number + 1:
                raise Fault(
                    "AUDIT_CHAIN_BROKEN",
                    f"audit row {row.number} of {tenant_id} is not as it was written; nothing was deleted",
                    hint="see lamina audit verify",
                )
            number, previous = row.number, row.hash
            batch.append(row)
        return batch

    def _delete(self, tenant_id: str, batch: list[AuditRow], now: Instant) -> int:
        last = batch[-1]
        kept = [*self._kept(tenant_id, batch[0].number), *(row for row in batch if row.draft.gdpr)]
        audit_id = self._ids.stamped(Prefix.AUDIT, now)
        anchor = Anchor(tenant_id, last.number, last.hash, kept_digest(kept), audit_id)
        return self._store.audit.prune(anchor, self._draft(anchor, now))

    def _kept(self, tenant_id: str, before: int) -> list[AuditRow]:
        kept: list[AuditRow] = []
        after = 0
        while page := self._store.audit.walk(tenant_id, after, limits.AUDIT_BATCH_MAX):
            kept += [row for row in page if row.number < before]
            after = page[-1].number
            if after >= before:
                break
        return kept

    def _draft(self, anchor: Anchor, now: Instant) -> AuditDraft:
        return own_row(
            tenant_id=anchor.tenant_id,
            id=anchor.row_id,
            at=now,
            actor="system:retention",
            scope=None,
            endpoint="audit retention",
            capability="audit.retention",
            tier="deployment",
            body_hash=anchor.digest(),
            request_id=self._ids.stamped(Prefix.REQUEST, now),
        )
