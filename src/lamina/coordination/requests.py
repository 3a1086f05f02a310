"""Request and result types of the schedule (seed 000, Schedule Reminders)."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, model_validator

from lamina import limits
from lamina.coordination.rules import FieldReader, FieldRule
from lamina.errors import Invalid
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import Request, Result

__all__ = [
    "AcknowledgeItem",
    "Acknowledgement",
    "BareItem",
    "ChangeItem",
    "ChangedItem",
    "CreateItem",
    "CreatedItem",
    "DueItems",
    "FoundItem",
    "ItemChanges",
    "ItemList",
    "ItemView",
    "ListItems",
    "ReadItem",
    "RetireItem",
    "Retirement",
    "ScheduleContext",
    "UpcomingItems",
    "codes_of",
]

_ID_PATTERN = r"sched_[a-z0-9][a-z0-9_-]{0,57}"
_SUBJECT_KINDS = ("user", "peer", "thread", "task")
_STATUSES = ("pending", "acknowledged", "done", "retired")

_ID = FieldRule(invalid_code="INVALID_SCHEDULE_ID")
_PAYLOAD = FieldRule(invalid_code="INVALID_SCHEDULE_PAYLOAD")
_KIND = FieldRule(invalid_code="INVALID_SCHEDULE_KIND")
_TITLE = FieldRule(invalid_code="INVALID_SCHEDULE_TITLE")
_NOTE = FieldRule(invalid_code="INVALID_SCHEDULE_NOTE")
_DUE_AT = FieldRule(invalid_code="INVALID_SCHEDULE_DUE_AT")
_LINK = FieldRule(invalid_code="INVALID_SCHEDULE_LINK")
_SUBJECT = FieldRule(invalid_code="INVALID_SCHEDULE_SUBJECT")
_METADATA = FieldRule(invalid_code="INVALID_SCHEDULE_METADATA")
_VERSION = FieldRule(invalid_code="INVALID_SCHEDULE_VERSION")
_STATUS = FieldRule(invalid_code="INVALID_SCHEDULE_STATUS")
_REASON = FieldRule(invalid_code="INVALID_SCHEDULE_REASON")
_QUERY = FieldRule(invalid_code="INVALID_SCHEDULE_QUERY")

_LONG = limits.SCHEDULE_LINK_LENGTH_MAX
_ScheduleId = Annotated[str, _ID.matching(_ID_PATTERN)]
_Note = Annotated[str | None, _NOTE.text(limits.SCHEDULE_NOTE_LENGTH_MAX, least=0, null=True)]
_Link = Annotated[str | None, _LINK.text(_LONG, null=True)]
_SubjectKind = Annotated[str | None, _SUBJECT.choice(*_SUBJECT_KINDS, null=True)]
_SubjectId = Annotated[str | None, _SUBJECT.text(_LONG, null=True)]
_Metadata = Annotated[dict[str, Any], _METADATA.flat_object()]
_Reason = Annotated[str | None, _REASON.text(limits.SCHEDULE_REASON_LENGTH_MAX, least=0, null=True)]


class _ScheduleRequest(Request):
    """A request whose fields refuse under their own codes, those that are left out too."""

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        if isinstance(given, cls):
            return given
        if not isinstance(given, dict):
            raise Invalid(
                "INVALID_SCHEDULE_PAYLOAD", "the body must be a JSON object", details={"field": "body"}
            )
        unknown = sorted(set(given) - set(cls.model_fields))
        if unknown:
            raise Invalid(
                "INVALID_SCHEDULE_PAYLOAD",
                f"{unknown[0][:64]} is not known here",
                hint="known: " + ", ".join(cls.model_fields),
                details={"field": unknown[0][:64]},
            )
        required = [name for name, field in cls.model_fields.items() if field.is_required()]
        return dict.fromkeys(required) | given


def _check_pair(kind: str | None, subject_id: str | None, *, code: str, prefix: str = "") -> None:
    if (kind is None) != (subject_id is None):
        missing = "subject_kind" if kind is None else "subject_id"
        raise Invalid(
            code,
            "subject_kind and subject_id come together",
            details={"field": f"{prefix}{missing}"},
        )


class CreateItem(_ScheduleRequest):
    """A new reminder."""

    schedule_id: Annotated[str | None, _ID.matching(_ID_PATTERN, null=True)] = None
    idempotency_key: Annotated[str | None, _PAYLOAD.text(limits.SCHEDULE_KEY_LENGTH_MAX, null=True)] = None
    kind: Annotated[str, _KIND.choice("reminder", "task_nudge")]
    title: Annotated[str, _TITLE.text(limits.SCHEDULE_TITLE_LENGTH_MAX)]
    note: _Note = None
    due_at: Annotated[int, _DUE_AT.exact_second()]
    task_id: _Link = None
    thread_id: _Link = None
    subject_kind: _SubjectKind = None
    subject_id: _SubjectId = None
    metadata: _Metadata = Field(default_factory=dict)

    @model_validator(mode="after")
    def _paired(self) -> Self:
        _check_pair(self.subject_kind, self.subject_id, code="INVALID_SCHEDULE_SUBJECT")
        return self


class ReadItem(_ScheduleRequest):
    """One item."""

    schedule_id: _ScheduleId


class ListItems(_ScheduleRequest):
    """Which items, by due time. Without ``status`` and ``include_retired`` retired ones stay away."""

    status: Annotated[str | None, _QUERY.choice(*_STATUSES, null=True)] = None
    due: Annotated[bool | None, _QUERY.boolean(null=True)] = None
    task_id: Annotated[str | None, _QUERY.text(_LONG, null=True)] = None
    thread_id: Annotated[str | None, _QUERY.text(_LONG, null=True)] = None
    subject_kind: Annotated[str | None, _QUERY.choice(*_SUBJECT_KINDS, null=True)] = None
    subject_id: Annotated[str | None, _QUERY.text(_LONG, null=True)] = None
    include_retired: Annotated[bool, _QUERY.boolean()] = False
    limit: Annotated[int, _QUERY.whole(1, limits.SCHEDULE_LIST_LIMIT_MAX)] = limits.PAGE_LIMIT_DEFAULT
    offset: Annotated[int, _QUERY.whole(0, limits.SCHEDULE_OFFSET_MAX)] = 0

    @model_validator(mode="after")
    def _paired(self) -> Self:
        _check_pair(self.subject_kind, self.subject_id, code="INVALID_SCHEDULE_QUERY", prefix="query.")
        return self


class ItemChanges(_ScheduleRequest):
    """What changes of a pending item. Null clears a note, a link or the subject; a subject changes whole."""

    expected_version: Annotated[int, _VERSION.whole(1, None)]
    kind: Annotated[str | None, _KIND.choice("reminder", "task_nudge")] = None
    title: Annotated[str | None, _TITLE.text(limits.SCHEDULE_TITLE_LENGTH_MAX)] = None
    note: _Note = None
    due_at: Annotated[int | None, _DUE_AT.exact_second()] = None
    task_id: _Link = None
    thread_id: _Link = None
    subject_kind: _SubjectKind = None
    subject_id: _SubjectId = None
    metadata: _Metadata = Field(default_factory=dict)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        sent = self.model_fields_set - {"expected_version"}
        if not sent:
            raise Invalid(
                "INVALID_SCHEDULE_PAYLOAD",
                "nothing is to change",
                hint="send one of: "
                + ", ".join(name for name in type(self).model_fields if name != "expected_version"),
                details={"field": "body"},
            )
        pair = {"subject_kind", "subject_id"}
        if len(sent & pair) == 1:
            (missing,) = pair - sent
            raise Invalid(
                "INVALID_SCHEDULE_SUBJECT",
                "subject_kind and subject_id are set or cleared together",
                details={"field": missing},
            )
        _check_pair(self.subject_kind, self.subject_id, code="INVALID_SCHEDULE_SUBJECT")
        return self


class ChangeItem(_ScheduleRequest):
    """A change of an item."""

    schedule_id: _ScheduleId
    changes: ItemChanges


class Acknowledgement(_ScheduleRequest):
    """That a pending item was seen to. ``expected_version`` is required while it is pending."""

    expected_version: Annotated[int | None, _VERSION.whole(1, None, null=True)] = None
    status: Annotated[str, _STATUS.choice("acknowledged", "done")] = "acknowledged"
    reason: _Reason = None


class AcknowledgeItem(_ScheduleRequest):
    """The acknowledgement of an item."""

    schedule_id: _ScheduleId
    acknowledgement: Acknowledgement


class Retirement(_ScheduleRequest):
    """That an item is wanted no more. ``expected_version`` is required unless it is retired already."""

    expected_version: Annotated[int | None, _VERSION.whole(1, None, null=True)] = None
    reason: _Reason = None


class RetireItem(_ScheduleRequest):
    """The retirement of an item."""

    schedule_id: _ScheduleId
    retirement: Retirement


def codes_of(request: type[BaseModel]) -> list[str]:
    """The codes under which a request and its parts refuse what is sent."""
    found = {"INVALID_SCHEDULE_PAYLOAD"}
    for info in request.model_fields.values():
        found.update(each.invalid_code for each in info.metadata if isinstance(each, FieldReader))
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            found.update(codes_of(info.annotation))
    return sorted(found)


# ---- results


class ItemView(Result):
    """An item. ``derived_state`` is ``terminal``, ``due`` or ``scheduled`` as of the answer."""

    schedule_id: str
    kind: str
    status: str
    derived_state: str
    title: str
    note: str | None
    due_at: Stamp
    created_at: Stamp
    updated_at: Stamp
    created_by: str
    updated_by: str
    terminal_at: Stamp | None
    terminal_by: str | None
    terminal_reason: str | None
    task_id: str | None
    thread_id: str | None
    subject_kind: str | None
    subject_id: str | None
    idempotency_key: str | None
    metadata: dict[str, Any]
    version: int


class BareItem(Result):
    """What callers who may not read the schedule are told of an item that they changed."""

    schedule_id: str
    status: str
    version: int


class FoundItem(Result):
    """One item; ``ok`` is false when the store could not be asked, and ``warnings`` say why."""

    ok: bool = True
    item: ItemView | None
    warnings: tuple[str, ...] = ()


class CreatedItem(Result):
    """The item that stands now, as far as the caller may read it, and whether this call made it."""

    ok: bool = True
    created: bool
    item: ItemView | BareItem
    warnings: tuple[str, ...] = ()


class ChangedItem(Result):
    """The item that stands now, as far as the caller may read it, and whether this call changed it."""

    ok: bool = True
    updated: bool
    item: ItemView | BareItem
    warnings: tuple[str, ...] = ()


class ItemList(Result):
    """A page of items by due time, then id. ``count`` is how many are here, ``total`` how many there are."""

    ok: bool = True
    count: int
    total: int
    limit: int
    offset: int
    items: tuple[ItemView, ...]
    warnings: tuple[str, ...] = ()


class DueItems(Result):
    """Items whose time has come."""

    items: tuple[ItemView, ...] = ()
    count: int = 0
    truncated: bool = False


class UpcomingItems(Result):
    """Items whose time comes within the window."""

    window_hours: int
    items: tuple[ItemView, ...] = ()
    count: int = 0
    truncated: bool = False


class ScheduleContext(Result):
    """What is due and upcoming about some subjects: the ``schedule_context`` of an orientation."""

    due: DueItems
    upcoming: UpcomingItems
    warnings: tuple[str, ...] = ()
