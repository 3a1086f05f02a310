"""Handlers of ``/v1/schedule/items``, and the block of reminders that an orientation shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from lamina.coordination.requests import (
    AcknowledgeItem,
    BareItem,
    ChangedItem,
    ChangeItem,
    CreatedItem,
    CreateItem,
    DueItems,
    FoundItem,
    ItemList,
    ItemView,
    ListItems,
    ReadItem,
    RetireItem,
    ScheduleContext,
    UpcomingItems,
)
from lamina.coordination.schedule import (
    changed,
    check_due,
    check_pending,
    check_version,
    ended,
    new_item,
    query_of,
    view_of,
    whole_second,
)
from lamina.errors import NotFound, Unavailable
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight
from lamina.kernel.time import SECOND_US, Instant
from lamina.store.ports.schedule import Created, ItemSubject, Schedule, ScheduleItem

__all__ = ["SCHEDULE_PLACE", "Reminding", "Windows", "may_read_schedule"]

SCHEDULE_PLACE: Final = "memory/schedule/schedule.db"
"""Where the contract has the reminders: namespaces are compared with it. Nothing stands there."""

_UNAVAILABLE: Final = "schedule_db_unavailable"


@dataclass(frozen=True, slots=True)
class Windows:
    """How much of the schedule an orientation shows: how many items, and how many hours ahead."""

    due_limit: int
    upcoming_limit: int
    upcoming_window_hours: int


class Reminding:
    """One-shot reminders. Each call takes one look at the clock: the gateway's, to the second."""

    def __init__(self, schedule: Schedule, windows: Windows) -> None:
        self._schedule = schedule
        self._windows = windows

    def create(self, request: CreateItem, call: Call) -> Answer:
        """Keep a reminder; a creation repeated gives the one that stands, whatever its due time."""
        now = whole_second(call.now)
        item = new_item(request, tenant_id=call.principal.tenant_id, actor=call.principal.actor, now=now)
        known = self._schedule.matching(item)
        if known is None:
            check_due(item.due_at, now)
            made = self._schedule.create(item)
        else:
            made = Created(known, created=False)
        result = CreatedItem(created=made.created, item=_shown(made.item, call))
        return Answer(result, created=made.created)

    def read(self, request: ReadItem, call: Call) -> Answer:
        """One item; raises ``NotFound`` (SCHEDULE_NOT_FOUND)."""
        try:
            item = self._item(request.schedule_id, call)
        except Unavailable:
            return Answer(FoundItem(ok=False, item=None, warnings=(_UNAVAILABLE,)))
        return Answer(FoundItem(item=view_of(item, whole_second(call.now))))

    def listed(self, request: ListItems, call: Call) -> Answer:
        """A page of items by due time."""
        now, limit, offset = whole_second(call.now), request.limit, request.offset
        try:
            page = self._schedule.query(query_of(request, tenant_id=call.principal.tenant_id, now=now))
        except Unavailable:
            return Answer(
                ItemList(
                    ok=False, count=0, total=0, items=(), warnings=(_UNAVAILABLE,), limit=limit, offset=offset
                )
            )
        items = tuple(view_of(item, now) for item in page.items)
        return Answer(ItemList(count=len(items), total=page.total, items=items, limit=limit, offset=offset))

    def change(self, request: ChangeItem, call: Call) -> Answer:
        """Change a pending item that is still at the version the caller has seen."""
        now, changes = whole_second(call.now), request.changes
        item = self._item(request.schedule_id, call)
        check_version(item, changes.expected_version)
        check_pending(item)
        if changes.due_at is not None:
            check_due(changes.due_at, now)
        return self._put(item, changed(item, changes, actor=call.principal.actor, now=now), call)

    def acknowledge(self, request: AcknowledgeItem, call: Call) -> Answer:
        """End a pending item as seen to; the same acknowledgement again changes nothing."""
        now, said = whole_second(call.now), request.acknowledgement
        status, reason = cast(Literal["acknowledged", "done"], said.status), said.reason or None
        item = self._item(request.schedule_id, call)
        if item.ending is not None and (item.status, item.ending.reason) == (status, reason):
            return self._put(item, None, call)
        check_pending(item)
        check_version(item, said.expected_version)
        return self._put(item, ended(item, status, reason, actor=call.principal.actor, now=now), call)

    def retire(self, request: RetireItem, call: Call) -> Answer:
        """End an item as wanted no more, also one that was acknowledged; again it changes nothing."""
        now, said = whole_second(call.now), request.retirement
        item = self._item(request.schedule_id, call)
        if item.status == "retired" and item.ending is not None:
            if said.reason and said.reason != item.ending.reason:
                check_pending(item)
            return self._put(item, None, call)
        check_version(item, said.expected_version)
        after = ended(item, "retired", said.reason or None, actor=call.principal.actor, now=now)
        return self._put(item, after, call)

    def context(self, tenant_id: str, now: Instant, subjects: Sequence[ItemSubject]) -> ScheduleContext:
        """What is due and upcoming about any of the subjects; nothing without subjects.

        A thread or task is matched by the items' ``thread_id`` and ``task_id`` too. Callers ask policy before.
        When the store cannot be asked the block is empty and warns of it.
        """
        windows, now = self._windows, whole_second(now)
        ahead = now + windows.upcoming_window_hours * 3600 * SECOND_US
        try:
            due = self._about(tenant_id, subjects, None, now, windows.due_limit)
            upcoming = self._about(tenant_id, subjects, now, ahead, windows.upcoming_limit)
        except Unavailable:
            return self.unavailable()
        shown = tuple(view_of(item, now) for item in due[: windows.due_limit])
        later = tuple(view_of(item, now) for item in upcoming[: windows.upcoming_limit])
        return ScheduleContext(
            due=DueItems(items=shown, count=len(shown), truncated=len(due) > len(shown)),
            upcoming=UpcomingItems(
                window_hours=windows.upcoming_window_hours,
                items=later,
                count=len(later),
                truncated=len(upcoming) > len(later),
            ),
        )

    def unavailable(self) -> ScheduleContext:
        """The empty block, with its warning."""
        empty = UpcomingItems(window_hours=self._windows.upcoming_window_hours)
        return ScheduleContext(due=DueItems(), upcoming=empty, warnings=(_UNAVAILABLE,))

    def _about(
        self,
        tenant_id: str,
        subjects: Sequence[ItemSubject],
        after: Instant | None,
        until: Instant,
        limit: int,
    ) -> list[ScheduleItem]:
        """The first items about any of the subjects, one more than asked for where there are more."""
        found: dict[str, ScheduleItem] = {}
        for subject in subjects:
            rows = self._schedule.pending_about(tenant_id, subject, after=after, until=until, limit=limit + 1)
            found |= {item.schedule_id: item for item in rows}
        return sorted(found.values(), key=lambda item: (item.due_at, item.schedule_id))[: limit + 1]

    def _item(self, schedule_id: str, call: Call) -> ScheduleItem:
        item = self._schedule.get(call.principal.tenant_id, schedule_id)
        if item is None:
            raise NotFound(
                "SCHEDULE_NOT_FOUND",
                f"there is no item {schedule_id}",
                hint="GET /v1/schedule/items lists them; retired ones with include_retired=true",
                details={"schedule_id": schedule_id},
            )
        return item

    def _put(self, before: ScheduleItem, after: ScheduleItem | None, call: Call) -> Answer:
        if after is not None:
            self._schedule.replace(after, expected_version=before.version)
        return Answer(ChangedItem(updated=after is not None, item=_shown(after or before, call)))


def _shown(item: ScheduleItem, call: Call) -> ItemView | BareItem:
    """What a write answers: writing takes no right to read, so what others wrote is for those who have one."""
    if may_read_schedule(call):
        return view_of(item, whole_second(call.now))
    return BareItem(schedule_id=item.schedule_id, status=item.status, version=item.version)


def may_read_schedule(call: Call) -> bool:
    """Whether the caller may read reminders."""
    return call.relay.allows(RelayRight.READ_FILES, "read", SCHEDULE_PLACE)
