"""The rules of reminders as functions of values: what is created, what a change makes of it, what is asked for."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any, Literal, cast, get_args

from lamina import limits
from lamina.coordination.requests import CreateItem, ItemChanges, ItemView, ListItems
from lamina.coordination.rules import canonical_text
from lamina.errors import Conflict, Invalid
from lamina.kernel.time import SECOND_US, Instant, rfc3339
from lamina.store.ports.schedule import ItemEnding, ItemKind, ItemQuery, ItemStatus, ItemSubject, ScheduleItem
from lamina.store.rules.schedule import version_moved

__all__ = [
    "changed",
    "check_due",
    "check_pending",
    "check_version",
    "derived_state",
    "ended",
    "new_item",
    "query_of",
    "view_of",
    "whole_second",
]

_STATUSES: tuple[ItemStatus, ...] = get_args(ItemStatus)
_FIELDS = ("kind", "title", "note", "due_at", "task_id", "thread_id")


def whole_second(now: Instant) -> Instant:
    """The second that an instant lies in: all times of an item are whole seconds."""
    return now - now % SECOND_US


def new_item(request: CreateItem, *, tenant_id: str, actor: str, now: Instant) -> ScheduleItem:
    """The item that a creation asks for. Without an id of its own it is named by what it was created with."""
    metadata = canonical_text(request.metadata)
    assert metadata is not None, "the request was checked"
    identity = _identity(request, actor)
    identity_hash = hashlib.sha256(identity.encode()).hexdigest()
    item = ScheduleItem(
        tenant_id=tenant_id,
        schedule_id=request.schedule_id or f"sched_{identity_hash[:32]}",
        kind=cast(ItemKind, request.kind),
        status="pending",
        title=request.title,
        note=request.note,
        due_at=request.due_at,
        task_id=request.task_id,
        thread_id=request.thread_id,
        subject=_subject(request.subject_kind, request.subject_id),
        idempotency_key=request.idempotency_key,
        metadata=metadata,
        identity=identity,
        identity_hash=identity_hash,
        version=1,
        created_at=now,
        created_by=actor,
        updated_at=now,
        updated_by=actor,
    )
    _check_linked(item)
    return item


def _identity(request: CreateItem, actor: str) -> str:
    asked = {
        "kind": request.kind,
        "title": request.title,
        "note": request.note,
        "due_at": rfc3339(request.due_at),
        "task_id": request.task_id,
        "thread_id": request.thread_id,
        "subject_kind": request.subject_kind,
        "subject_id": request.subject_id,
        "idempotency_key": request.idempotency_key,
        "metadata": request.metadata,
        "created_by": actor,
    }
    text = canonical_text(asked)
    assert text is not None, "every part was checked"
    size = len(text.encode())
    if size > limits.SCHEDULE_JSON_BYTES_MAX:
        raise Invalid(
            "INVALID_SCHEDULE_PAYLOAD",
            f"what identifies the item takes {size} bytes as JSON, at most {limits.SCHEDULE_JSON_BYTES_MAX} fit",
            hint="shorten the note or the metadata",
            details={"field": "body"},
        )
    return text


def _subject(kind: str | None, subject_id: str | None) -> ItemSubject | None:
    return None if kind is None or subject_id is None else ItemSubject(kind, subject_id)


def _check_linked(item: ScheduleItem) -> None:
    if item.kind == "task_nudge" and item.task_id is None and item.thread_id is None and item.subject is None:
        raise Invalid(
            "INVALID_SCHEDULE_LINK",
            "a task_nudge names what it is about",
            hint="send task_id, thread_id, or subject_kind with subject_id",
            details={"field": "task_id"},
        )


def check_due(due_at: Instant, now: Instant) -> None:
    """Refuse a due time that is not in the future."""
    if due_at <= now:
        raise Invalid(
            "DUE_AT_NOT_FUTURE",
            f"due_at is {rfc3339(due_at)}, and it is {rfc3339(now)} already",
            details={"field": "due_at"},
        )


def check_version(item: ScheduleItem, expected_version: int | None) -> None:
    """Refuse a change that was made with another version in view, or with none."""
    if expected_version is None:
        raise Invalid(
            "INVALID_SCHEDULE_VERSION",
            f"expected_version is required while the item is {item.status}",
            details={"field": "expected_version"},
        )
    if expected_version != item.version:
        raise version_moved(item.schedule_id, expected_version)


def check_pending(item: ScheduleItem) -> None:
    """Refuse what only a pending item takes."""
    if item.status != "pending":
        raise Conflict(
            "SCHEDULE_STATUS_CONFLICT",
            f"{item.schedule_id} is {item.status}",
            hint="create a new item; an ended one stays as it ended",
            details={"field": "status"},
        )


def changed(item: ScheduleItem, changes: ItemChanges, *, actor: str, now: Instant) -> ScheduleItem | None:
    """The next version of an item; None where the changes say what it says already."""
    sent = changes.model_fields_set
    values: dict[str, Any] = {name: getattr(changes, name) for name in _FIELDS if name in sent}
    if "subject_kind" in sent:
        values["subject"] = _subject(changes.subject_kind, changes.subject_id)
    if "metadata" in sent:
        # Compared as text: Python takes 1, 1.0 and true for equal, and JSON does not.
        values["metadata"] = canonical_text(changes.metadata)
    after: ScheduleItem = replace(item, **values)
    if after == item:
        return None
    _check_linked(after)
    return replace(after, version=item.version + 1, updated_at=now, updated_by=actor)


def ended(
    item: ScheduleItem,
    status: Literal["acknowledged", "done", "retired"],
    reason: str | None,
    *,
    actor: str,
    now: Instant,
) -> ScheduleItem:
    """The next version of an item that waits no more."""
    return replace(
        item,
        status=status,
        ending=ItemEnding(now, actor, reason),
        version=item.version + 1,
        updated_at=now,
        updated_by=actor,
    )


def query_of(request: ListItems, *, tenant_id: str, now: Instant) -> ItemQuery:
    """What a list asks of the store. ``due`` speaks of pending items only."""
    wanted = set(_STATUSES)
    if request.status is not None:
        wanted = {cast(ItemStatus, request.status)}
    elif not request.include_retired:
        wanted.discard("retired")
    if request.due is not None:
        wanted &= {"pending"}
    return ItemQuery(
        tenant_id=tenant_id,
        statuses=sorted(wanted),
        due_after=now if request.due is False else None,
        due_until=now if request.due else None,
        task_id=request.task_id,
        thread_id=request.thread_id,
        subject=_subject(request.subject_kind, request.subject_id),
        limit=request.limit,
        offset=request.offset,
    )


def derived_state(item: ScheduleItem, now: Instant) -> str:
    """``terminal`` once it ended, else ``due`` or ``scheduled`` as of an instant."""
    if item.ending is not None:
        return "terminal"
    return "due" if item.due_at <= now else "scheduled"


def view_of(item: ScheduleItem, now: Instant) -> ItemView:
    """An item as callers see it."""
    subject, ending = item.subject, item.ending
    return ItemView(
        schedule_id=item.schedule_id,
        kind=item.kind,
        status=item.status,
        derived_state=derived_state(item, now),
        title=item.title,
        note=item.note,
        due_at=item.due_at,
        created_at=item.created_at,
        updated_at=item.updated_at,
        created_by=item.created_by,
        updated_by=item.updated_by,
        terminal_at=None if ending is None else ending.at,
        terminal_by=None if ending is None else ending.by,
        terminal_reason=None if ending is None else ending.reason,
        task_id=item.task_id,
        thread_id=item.thread_id,
        subject_kind=None if subject is None else subject.kind,
        subject_id=None if subject is None else subject.id,
        idempotency_key=item.idempotency_key,
        metadata=json.loads(item.metadata),
        version=item.version,
    )
