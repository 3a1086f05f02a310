"""Looking up what happened: rows, pages of rows, and how far one event has come; and cancelling it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina import limits
from lamina.errors import Invalid, NotFound
from lamina.kernel.canonical import digest
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Event, LifecycleRow, Stage, stages_done
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.wire import decode_cursor, encode_cursor
from lamina.lifecycle.access import place_after, query_of, subscribe_grant, visible
from lamina.store.ports.jobs import JobState
from lamina.store.ports.lifecycle import LifecycleQuery
from lamina.store.ports.store import Store
from lamina.store.queries import Shown
from lamina.types.lifecycle import (
    Cancelled,
    CancelRequest,
    LifecycleId,
    LifecycleList,
    LifecyclePage,
    MemoryEventId,
    MemoryEventState,
    StageError,
    row_view,
)

__all__ = ["LifecycleReads"]

_STAGES = list(Stage)
_ROWS_OF_EVENT_MAX = 64


class LifecycleReads:
    """Handlers of the lifecycle operations that answer at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rows(self, request: LifecycleList, call: Call) -> Answer:
        """A page of rows in order of arrival, of scopes that the caller may follow."""
        tenant_id = call.principal.tenant_id
        asked = request.model_dump(mode="json", exclude={"cursor", "limit", "since_lifecycle_id"})
        filters = digest(asked)[7:19]
        if request.cursor is not None:
            parts = decode_cursor(request.cursor, f=str, n=int)
            if parts["f"] != filters:
                raise Invalid(
                    "INVALID_CURSOR",
                    "the cursor belongs to another list or to other filters",
                    hint="repeat the filters of the first page, or leave the cursor out to start over",
                )
            after = parts["n"]
        elif request.since_lifecycle_id is not None:
            after = place_after(self._store.lifecycle, call, request.since_lifecycle_id).sequence
        else:
            after = 0
        query = replace(query_of(request, tenant_id), after=after)
        rows, goes_on = self._page(query, request.limit, call)
        # By its number: the row may be one that the caller may not see, and no id of such is told.
        cursor = encode_cursor({"f": filters, "n": goes_on.sequence}) if goes_on else None
        return Answer(
            LifecyclePage(
                items=[row_view(row) for row in rows], next_cursor=cursor, has_more=goes_on is not None
            )
        )

    def _page(
        self, query: LifecycleQuery, limit: int, call: Call
    ) -> tuple[list[LifecycleRow], LifecycleRow | None]:
        """Up to ``limit`` visible rows, and the row after which there may be more, None when there is none."""
        found: list[LifecycleRow] = []
        size, looked_at = limit + 1, 0
        while True:
            batch = self._store.lifecycle.query(replace(query, limit=size))
            found += visible(batch, call.permits)
            if len(found) > limit:
                return found[:limit], found[limit - 1]
            looked_at += len(batch)
            if len(batch) < size:
                return found, None
            if looked_at >= limits.LIST_SCAN_MAX:
                return found, batch[-1]
            query = replace(query, after=batch[-1].sequence)

    def row(self, request: LifecycleId, call: Call) -> Answer:
        """One row."""
        row = self._store.lifecycle.get(call.principal.tenant_id, request.lce_id)
        missing = NotFound(
            "NOT_FOUND", "there is no lifecycle event of this id", details={"id": request.lce_id}
        )
        scope = None if row is None else row.scope
        call.require_known(scope, missing, subscribe_grant(scope).capability)
        assert row is not None, "it lies in a scope"
        return Answer(row_view(row))

    def memory_event(self, request: MemoryEventId, call: Call) -> Answer:
        """How far an event has come: stages done and to do, what rests on it, what failed for good."""
        event = self._event(request.evt_id, call)
        call.require_known(None if event is None else event.scope, _no_event(request.evt_id))
        assert event is not None, "it lies in a scope"
        tenant_id = event.tenant_id
        # Jobs first: a stage that ends between the two looks is then both pending and done, never neither.
        jobs = self._store.jobs.of_event(tenant_id, event.id)
        rows = self._store.lifecycle.query(
            LifecycleQuery(tenant_id=tenant_id, event_id=event.id, limit=_ROWS_OF_EVENT_MAX)
        )
        done = stages_done(rows)
        derives = (
            Shown(self._store.records, tenant_id, call.may_read).derived_from([event.id]).get(event.id, [])
        )
        result = MemoryEventState(
            event_id=event.id,
            stages_completed=[stage.value for stage in done],
            stages_pending=[stage.value for stage in _pending(jobs) if stage not in done],
            lifecycle_event_ids=[row.id for row in rows],
            derives=derives,
            errors=[
                StageError(stage=job.stage.value, error=job.last_error, attempts=job.attempts)
                for job in jobs
                if job.state == "failed"
            ],
            excluded_from_recall=event.excluded,
        )
        return Answer(result)

    def cancel(self, request: CancelRequest, call: Call) -> Answer:
        """Drop an event's queued stages and keep it, and what rests on it alone, out of recall and lists.

        Only who wrote the event, or who administers its scope, may. Again, it changes nothing and answers the same.
        """
        event = self._event(request.evt_id, call)
        if event is None or not call.permits.allows(Grant(Capability.SCOPE_WRITE, event.scope)):
            call.require_known(None if event is None else event.scope, _no_event(request.evt_id))
        assert event is not None, "it lies in a scope"
        call.permits.require(Grant(Capability.SCOPE_WRITE, event.scope))
        if event.caller != call.principal.actor:
            call.permits.require(Grant(Capability.POLICY_ADMINISTER_SCOPE, event.scope))
        self._store.log.cancel(event.tenant_id, event.id)
        cancelled = self._event(event.id, call)
        assert cancelled is not None, "events stay"
        assert cancelled.cancelled_after is not None, "a cancelled event says how far it had come"
        done = _STAGES.index(cancelled.cancelled_after) + 1
        result = Cancelled(
            event_id=event.id,
            stages_cancelled=[stage.value for stage in _STAGES[done:]],
            stages_already_completed=[stage.value for stage in _STAGES[:done]],
            excluded_from_recall=True,
            audit_id=call.audit_id,
        )
        return Answer(result, warnings=("audit_note_not_kept",) if request.audit_note else ())

    def _event(self, event_id: str, call: Call) -> Event | None:
        return self._store.log.get(call.principal.tenant_id, [event_id]).get(event_id)


def _no_event(event_id: str) -> NotFound:
    return NotFound("NOT_FOUND", "there is no event of this id", details={"id": event_id})


def _pending(jobs: Sequence[JobState]) -> list[Stage]:
    """The stages still to come: from the queued one on, none behind a stage that failed for good."""
    queued = [job.stage for job in jobs if job.state != "failed"]
    return _STAGES[_STAGES.index(queued[0]) :] if queued else []
