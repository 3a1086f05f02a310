"""Which scheduled item a repeated creation means, and what an item is about."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.errors import Conflict
from lamina.store.ports.schedule import ItemSubject, ScheduleItem

__all__ = ["about", "standing", "version_moved"]


def standing(item: ScheduleItem, others: Iterable[ScheduleItem]) -> ScheduleItem | None:
    """Which of the items with the same key or id stands for a repeated creation; ``Conflict`` where it is another."""
    rows = list(others)
    for row in rows:
        if item.idempotency_key is not None and row.idempotency_key == item.idempotency_key:
            if row.identity_hash != item.identity_hash:
                raise Conflict(
                    "IDEMPOTENCY_KEY_CONFLICT",
                    f"the idempotency key was used to create {row.schedule_id}, which is another item",
                    hint="use a new key for a new item; repeat the old creation unchanged to get it again",
                    details={"field": "idempotency_key"},
                )
            return row
    for row in rows:
        if row.identity_hash != item.identity_hash:
            raise Conflict(
                "SCHEDULE_ID_CONFLICT",
                f"{row.schedule_id} was created as another item",
                hint="choose another schedule_id, or leave it out",
                details={"field": "schedule_id"},
            )
        return row
    return None


def about(item: ScheduleItem, subject: ItemSubject) -> bool:
    """Whether an item is about a subject, by itself or as its thread or task."""
    return (
        item.subject == subject
        or (subject.kind == "task" and item.task_id == subject.id)
        or (subject.kind == "thread" and item.thread_id == subject.id)
    )


def version_moved(schedule_id: str, expected_version: int) -> Conflict:
    """The refusal of a change that was made with an older version in view."""
    return Conflict(
        "SCHEDULE_VERSION_CONFLICT",
        f"{schedule_id} is not at version {expected_version} any more",
        hint="read the item again, then decide anew",
        details={"field": "expected_version"},
    )
