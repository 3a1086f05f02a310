"""What audit asks of a store: rows that join the commits of others, chains that can be walked, peppers.

A row lands in one of two ways. One that *rides* lands in the very transaction of its thread's next write, so a
write and its row are both there or both not, and cost one flush of the disk together. One that is *noted* waits in a
bounded queue for the next commit of anybody, or for a short time; ``flush`` returns once it is on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from lamina.kernel.audit import Anchor, AuditDraft, AuditRow, Head, Pepper
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["Audit", "AuditQuery", "MakeDraft", "Peppers", "Ride"]

MakeDraft = Callable[[str | None], AuditDraft]
"""Makes the row of a write at its commit, from the id of the event that it was about."""


@dataclass(slots=True)
class Ride:
    """Whether a row that rides has landed."""

    landed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """Which audit rows are wanted, newest first; None means any. ``before`` is the number to go on from.

    ``within`` is a scope and all below it.
    """

    tenant_id: str
    within: Scope | None = None
    actor: str | None = None
    capability: str | None = None
    decision: str | None = None
    endpoint: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    before: int | None = None
    limit: int = 50


class Audit(Protocol):
    """The audit chains, one per tenant."""

    def ride(self, make: MakeDraft) -> AbstractContextManager[Ride]:
        """Inside the block, this thread's next write lands the row that ``make`` gives, or neither lands.

        The first write that lands takes it; one that failed leaves it to the next. Where none did, ``Ride.landed`` stays false and the row is the caller's to note.
        """
        ...

    def note(self, draft: AuditDraft) -> None:
        """Queue a row for a coming commit. When the queue is full it waits for one, and raises ``Unavailable``
        when there is none. A row that no store can hold is set aside; the log has its id."""
        ...

    def flush(self) -> None:
        """Return once every row noted before is on disk; raises ``Unavailable`` (WAL_UNAVAILABLE)."""
        ...

    def get(self, tenant_id: str, audit_id: str) -> AuditRow | None:
        """One row, or None."""
        ...

    def query(self, query: AuditQuery) -> list[AuditRow]:
        """The rows that a query wants, newest first."""
        ...

    def walk(self, tenant_id: str, after: int, limit: int) -> list[AuditRow]:
        """A tenant's rows past a number, in order: for checking and export."""
        ...

    def heads(self) -> list[Head]:
        """The newest row of each tenant, by tenant; number 0 where a damaged row names a tenant that is no text."""
        ...

    def anchor(self, tenant_id: str) -> Anchor | None:
        """Where the tenant's chain begins, None when nothing of it was ever deleted."""
        ...

    def prune(self, anchor: Anchor, draft: AuditDraft) -> int:
        """Delete the rows up to the anchor but for those marked ``gdpr``; ``draft`` joins the chain in the same
        transaction. Returns how many rows were deleted; nothing happens where the chain already begins later."""
        ...


class Peppers(Protocol):
    """The peppers of each tenant, numbered from 1."""

    def current(self, tenant_id: str) -> Pepper | None:
        """The tenant's newest pepper; None where it has none yet."""
        ...

    def get(self, tenant_id: str, version: int) -> Pepper | None:
        """One of them, or None when it never was or is no longer kept."""
        ...

    def add(self, pepper: Pepper) -> Pepper:
        """Keep a new one; returns the one that stands under its version, an older one if there is one."""
        ...

    def prune(self, tenant_id: str, before: Instant) -> int:
        """Forget those whose successor was made before an instant and that no row was hashed with; how many."""
        ...
