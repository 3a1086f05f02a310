"""Scheduled items: one-shot reminders of a tenant.

An item is never deleted but by an erasure. It has a version that rises with every change, and the identity that it was created with,
which never changes: by it a repeated creation is recognised, whatever became of the item since.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from lamina.kernel.time import Instant

__all__ = [
    "Created",
    "ItemEnding",
    "ItemKind",
    "ItemPage",
    "ItemQuery",
    "ItemStatus",
    "ItemSubject",
    "Schedule",
    "ScheduleItem",
]

ItemKind = Literal["reminder", "task_nudge"]
ItemStatus = Literal["pending", "acknowledged", "done", "retired"]


@dataclass(frozen=True, slots=True)
class ItemSubject:
    """Whom or what an item is about: a user, a peer, a thread or a task."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class ItemEnding:
    """How an item stopped to wait: when, by whom and why."""

    at: Instant
    by: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleItem:
    """A reminder. ``metadata`` and ``identity`` are canonical JSON; ``ending`` is None while it is pending."""

    tenant_id: str
    schedule_id: str
    kind: ItemKind
    status: ItemStatus
    title: str
    note: str | None
    due_at: Instant
    task_id: str | None
    thread_id: str | None
    subject: ItemSubject | None
    idempotency_key: str | None
    metadata: str
    identity: str
    identity_hash: str
    version: int
    created_at: Instant
    created_by: str
    updated_at: Instant
    updated_by: str
    ending: ItemEnding | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """The item that stands after a creation, and whether it is new."""

    item: ScheduleItem
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemQuery:
    """Which items are wanted, by due time and id. None means any; no statuses mean nothing."""

    tenant_id: str
    statuses: Collection[ItemStatus]
    due_after: Instant | None = None
    due_until: Instant | None = None
    """The last due time that counts."""
    task_id: str | None = None
    thread_id: str | None = None
    subject: ItemSubject | None = None
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ItemPage:
    """A page of items, and how many there are in all."""

    items: list[ScheduleItem]
    total: int


class Schedule(Protocol):
    """The scheduled items of each tenant."""

    def get(self, tenant_id: str, schedule_id: str) -> ScheduleItem | None:
        """The item, or None."""
        ...

    def matching(self, item: ScheduleItem) -> ScheduleItem | None:
        """The item that creating this one would find in its place, or None.

        Raises ``Conflict`` (SCHEDULE_ID_CONFLICT, IDEMPOTENCY_KEY_CONFLICT) where another one stands there.
        """
        ...

    def create(self, item: ScheduleItem) -> Created:
        """Keep a new item, or give the one that was created with the same identity; durable on return.

        Raises as ``matching`` does, and ``Conflict`` (ERASURE_RUNNING) while the memory of its author is being erased.
        """
        ...

    def replace(self, item: ScheduleItem, *, expected_version: int) -> None:
        """Put an item in place of its version before; raises ``Conflict`` (SCHEDULE_VERSION_CONFLICT), and as
        ``create`` for whom it is changed by."""
        ...

    def query(self, query: ItemQuery) -> ItemPage:
        """A page of items by due time, then id."""
        ...

    def pending_about(
        self, tenant_id: str, subject: ItemSubject, *, after: Instant | None, until: Instant, limit: int
    ) -> list[ScheduleItem]:
        """Pending items about a subject, due past ``after`` and no later than ``until``, by due time and id.

        A thread or a task is also what an item names as its ``thread_id`` or ``task_id``.
        """
        ...
