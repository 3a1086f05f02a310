"""What callers may ask of the lifecycle, and what they get (seed 002, 8.9 and 13)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.events import LifecycleRow
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import Limit, Request, Result, ScopePath, Text, id_field

__all__ = [
    "AnswerForgotten",
    "CancelRequest",
    "Cancelled",
    "ForgetAnswer",
    "LifecycleFilters",
    "LifecycleId",
    "LifecycleList",
    "LifecycleName",
    "LifecyclePage",
    "LifecycleRowView",
    "MemoryEventId",
    "MemoryEventState",
    "StageError",
    "StreamRequest",
    "StreamedRow",
    "row_view",
]


class LifecycleName(StrEnum):
    """Everything that can happen, but for what only a stream says of itself."""

    CAPTURED = "captured"
    EXTRACTED = "extracted"
    INDEXED = "indexed"
    CONSOLIDATED = "consolidated"
    COMPRESSED = "compressed"
    FORGOTTEN = "forgotten"
    EXPIRED = "expired"
    POLICY_CHANGED = "policy_changed"
    IMPORT_PROGRESS = "import_progress"
    IMPORT_COMPLETE = "import_complete"
    IMPORT_ERROR = "import_error"
    EXPORT_PROGRESS = "export_progress"
    EXPORT_COMPLETE = "export_complete"
    ERASURE_PROGRESS = "erasure_progress"
    ERASURE_COMPLETE = "erasure_complete"


_EventId = Annotated[str, id_field(Prefix.EVENT)]
_LifecycleId = Annotated[str, id_field(Prefix.LIFECYCLE)]


_JOBS: Final = frozenset(
    {Prefix.JOB, Prefix.BATCH, Prefix.IMPORT, Prefix.EXPORT, Prefix.ERASURE, Prefix.EVENT}
)


def _job_id(text: str) -> str:
    """What an answer calls ``job_id``: some jobs are an entry of the log, and have its id."""
    if prefix_of(text) not in _JOBS:
        raise Invalid(
            "INVALID_ID",
            f"expected the id of a job, got {text[:64]!r}",
            hint="ids of different kinds are not interchangeable; use the id exactly as the server returned it",
            details={"field": "job_id"},
        )
    return text


class LifecycleFilters(Request):
    """Which rows are wanted; what is left out is not filtered.

    ``scope`` means that scope and everything below it, as far as the caller may read. At most one job is named; one that is an entry of
    the log is followed as an event is.
    ``since_lifecycle_id`` begins after that row.
    """

    scope: ScopePath | None = None
    event_id: _EventId | None = None
    job_id: Annotated[str, Field(max_length=64), AfterValidator(_job_id)] | None = None
    batch_id: Annotated[str, id_field(Prefix.BATCH)] | None = None
    import_id: Annotated[str, id_field(Prefix.IMPORT)] | None = None
    export_id: Annotated[str, id_field(Prefix.EXPORT)] | None = None
    erasure_id: Annotated[str, id_field(Prefix.ERASURE)] | None = None
    events: Annotated[list[LifecycleName], Field(min_length=1, max_length=len(LifecycleName))] | None = None
    since_lifecycle_id: _LifecycleId | None = None

    @property
    def job(self) -> str | None:
        """The job that is named, by whichever of its names, where it is no entry of the log."""
        named = next((job for job in self._jobs() if job is not None), None)
        return None if named == self.event else named

    @property
    def event(self) -> str | None:
        """The event that is named, also as a job."""
        if self.event_id is not None or self.job_id is None:
            return self.event_id
        return self.job_id if prefix_of(self.job_id) is Prefix.EVENT else None

    def _jobs(self) -> tuple[str | None, ...]:
        return (self.job_id, self.batch_id, self.import_id, self.export_id, self.erasure_id)

    @model_validator(mode="after")
    def _one_job(self) -> Self:
        if sum(job is not None for job in self._jobs()) > 1:
            raise Invalid(
                "INVALID_REQUEST",
                "more than one of job_id, batch_id, import_id, export_id and erasure_id is given",
                hint="follow one job at a time",
                details={"field": "job_id"},
            )
        return self


class LifecycleList(LifecycleFilters):
    """A page of rows in order of arrival."""

    limit: Limit = limits.PAGE_LIMIT_DEFAULT
    cursor: str | None = None


class StreamRequest(LifecycleFilters):
    """A stream. ``Last-Event-ID``, which browsers send by themselves, wins over ``since_lifecycle_id``."""

    last_event_id: _LifecycleId | None = None


class LifecycleId(Request):
    """One row."""

    lce_id: _LifecycleId


class MemoryEventId(Request):
    """One event of the log."""

    evt_id: _EventId


class ForgetAnswer(Request):
    """The turn whose reading by a model is to be forgotten."""

    event_id: _EventId


class AnswerForgotten(Result):
    """How many answers of models about the turn are gone, 0 where there was none. What was made of them is derived anew behind the answer, by the
    rules' reading."""

    event_id: str
    forgotten: int


class CancelRequest(MemoryEventId):
    """The event whose derivation is to stop, and why."""

    audit_note: Annotated[Text, Field(max_length=limits.AUDIT_NOTE_LENGTH_MAX)] | None = None


class LifecycleRowView(Result):
    """Something that happened. ``sequence`` counts per event from 1, in the order of the stages."""

    lifecycle_id: str
    event_id: str | None
    job_id: str | None
    stage: str
    ts: Stamp
    scope: str
    sequence: int
    payload: Mapping[str, Any]  # Any: by stage, seed 002, 13


class StreamedRow(Result):
    """The data of a streamed row; its id and its stage are the id and the name of the server-sent event."""

    event_id: str | None
    job_id: str | None
    timestamp: Stamp
    scope: str
    sequence: int
    payload: Mapping[str, Any]  # Any: by stage, seed 002, 13


def row_view(row: LifecycleRow) -> LifecycleRowView:
    """The view of a row."""
    return LifecycleRowView(
        lifecycle_id=row.id,
        event_id=row.event_id,
        job_id=row.job_id,
        stage=row.name,
        ts=row.arrived_at,
        scope=row.scope,
        sequence=row.number,
        payload=row.payload,
    )


class LifecyclePage(Result):
    """Rows in order of arrival. After the last page, go on with ``since_lifecycle_id`` of the last row."""

    items: list[LifecycleRowView]
    next_cursor: str | None
    has_more: bool


class StageError(Result):
    """A stage that failed for good, after ``attempts`` tries."""

    stage: str
    error: str | None
    attempts: int


class MemoryEventState(Result):
    """How far an event has come, and what rests on it."""

    event_id: str
    stages_completed: list[str]
    stages_pending: list[str]
    lifecycle_event_ids: list[str]
    derives: list[str]
    errors: list[StageError]
    excluded_from_recall: bool


class Cancelled(Result):
    """What cancelling did; the same each time it is asked, but for ``audit_id``, which names the row of the call."""

    event_id: str
    stages_cancelled: list[str]
    stages_already_completed: list[str]
    excluded_from_recall: bool
    audit_id: str | None
