"""Erasures as callers see them: begun, looked at, cancelled (seed 002, 8.6.3 to 8.6.5). The work is a worker's (``runner.py``)."""

from __future__ import annotations

from lamina import limits
from lamina.errors import Conflict, Invalid, NotFound
from lamina.forget.planning import RulesOf, place_of_erasure
from lamina.forget.previewing import Previewing, require_erasing, standing_preview
from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.scopes import Scope
from lamina.kernel.wire import decode_cursor, encode_cursor
from lamina.store.ports.erasures import ErasureJob, LineKind, Preview
from lamina.store.ports.store import Store
from lamina.types.erasures import (
    CancelErasure,
    ErasureCancelled,
    ErasureId,
    ErasureList,
    ErasurePage,
    ErasureProgress,
    ErasureStarted,
    ErasureState,
    StartErasure,
)

__all__ = ["Executing"]

_EVENTS = (LineKind.DELETE, LineKind.REDACT, LineKind.HELD)


class Executing:
    """Handlers of ``/v1/erasures``."""

    def __init__(self, store: Store, previewing: Previewing, ids: IdSource, rules: RulesOf) -> None:
        self._store = store
        self._previewing = previewing
        self._ids = ids
        self._rules = rules

    def start(self, request: StartErasure, call: Call) -> Answer:
        """Begin an erasure: from here on nothing of the scope is served, and nothing new is taken.

        Raises ``Conflict`` (ERASURE_DRIFTED, ERASURE_RUNNING), ``Forbidden`` where it reaches beyond the scope and the caller may not.
        """
        erasure = self.begin(Scope(request.scope), request.audit_note, call, shown_in=request.from_preview_id)
        return Answer(_started(erasure), accepted=True)

    def begin(
        self, scope: Scope, note: str, call: Call, *, shown_in: str | None = None, unregisters: bool = False
    ) -> ErasureJob:
        """``start`` of the erasure of a scope; with ``unregisters`` its registration and its policy go with it."""
        tenant_id = call.principal.tenant_id
        shown = None if shown_in is None else standing_preview(self._store, shown_in, call)
        if shown is not None and shown.scope != scope:
            raise Invalid(
                "INVALID_REQUEST",
                "from_preview_id: the preview is of another scope",
                hint="name the scope that was previewed",
                details={"field": "from_preview_id"},
            )
        rules = self._rules(tenant_id)
        fresh, planned = self._previewing.planned(scope, call)
        if shown is not None:
            self._check_drift(shown, fresh, rules.drift_threshold)
        beyond = Grant(Capability.FORGET_GDPR_CROSS_WORKSPACE, scope)
        if planned.figures.touched:
            call.permits.require(beyond)
        erasure_id = self._ids.stamped(Prefix.ERASURE, call.now)
        erasure = ErasureJob(
            tenant_id=tenant_id,
            id=erasure_id,
            scope=scope,
            place=place_of_erasure(erasure_id, scope, rules),
            requested_by=call.principal.actor,
            audit_note=note,
            started_at=call.now,
            holds=planned.figures.holds,
            crosses=call.permits.allows(beyond),
            unregisters=unregisters,
            factor=rules.factor,
            floor=rules.floor,
        )
        self._store.erasures.begin(erasure)
        call.noted.setdefault("erasures", []).append({"erasure_id": erasure_id})
        return erasure

    def with_registration(self, scope: Scope, call: Call) -> str:
        """Begin the erasure of a scope after which its registration and its policy are gone, too; its id."""
        return self.begin(scope, f"{call.request_id}: the scope is deleted", call, unregisters=True).id

    def _check_drift(self, shown: Preview, fresh: Preview, threshold: int) -> None:
        drift = 0
        for kind in _EVENTS:
            before, now = (
                set(self._store.erasures.ids(each.tenant_id, each.id, kind)) for each in (shown, fresh)
            )
            drift += len(now - before)
            drift += len(before - now) if kind is LineKind.DELETE else 0
        if drift > threshold:
            raise Conflict(
                "ERASURE_DRIFTED",
                f"{drift} lines of the manifest are not as the preview showed them",
                hint="make a new preview with POST /v1/erasures/preview, and look at it again",
                details={"drift": drift, "drift_threshold": threshold, "preview_id": shown.id},
            )

    def state(self, request: ErasureId, call: Call) -> Answer:
        """How far an erasure is."""
        return Answer(_state(self._known(request.erasure_id, call)))

    def listed(self, request: ErasureList, call: Call) -> Answer:
        """Erasures, newest first, of scopes that the caller may erase."""
        last, skip = "", 0
        if request.cursor is not None:
            parts = decode_cursor(request.cursor, e=str, k=int)
            last, skip = parts["e"], parts["k"]
        shown: list[ErasureJob] = []
        before, looked_at, passed, more = last or None, 0, 0, True
        while more and len(shown) <= request.limit and looked_at < limits.LIST_SCAN_MAX:
            batch = self._store.erasures.listed(
                call.principal.tenant_id, before=before, limit=limits.ERASURES_LISTED_MAX
            )
            more = len(batch) == limits.ERASURES_LISTED_MAX
            for each in batch:
                before, passed = each.id, passed + 1
                looked_at += passed > skip
                if passed <= skip or not call.permits.allows(Grant(Capability.FORGET_GDPR, each.scope)):
                    continue
                shown.append(each)
                if len(shown) > request.limit:
                    break
                # A place is told by an erasure that the caller may know, and how far behind it the list has come.
                last, skip, passed = each.id, 0, 0
        page = shown[: request.limit]
        if len(shown) > request.limit:
            passed, more = 0, True
        cursor = encode_cursor({"e": last, "k": passed}) if more else None
        return Answer(ErasurePage(items=list(map(_state, page)), next_cursor=cursor, has_more=more))

    def cancel(self, request: CancelErasure, call: Call) -> Answer:
        """Have an erasure stop at its next phase; what was deleted stays deleted. One that has ended is not cancelled."""
        known = self._known(request.erasure_id, call)
        erasure = self._store.erasures.cancel(known.tenant_id, known.id) or known
        return Answer(
            ErasureCancelled(
                erasure_id=erasure.id,
                cancellation_accepted=erasure.cancelling,
                deleted_events_before_cancel=erasure.outcome.deleted_events,
                audit_id=call.audit_id,
            )
        )

    def _known(self, erasure_id: str, call: Call) -> ErasureJob:
        missing = NotFound("NOT_FOUND", "there is no such erasure", details={"erasure_id": erasure_id})
        erasure = self._store.erasures.get(call.principal.tenant_id, erasure_id)
        require_erasing(call, None if erasure is None else erasure.scope, missing)
        assert erasure is not None, "what is not there was refused"
        return erasure


def _started(erasure: ErasureJob) -> ErasureStarted:
    return ErasureStarted(
        erasure_id=erasure.id,
        status=erasure.status,
        manifest_url=f"/v1/erasures/{erasure.id}/manifest",
        lifecycle_stream=f"/v1/lifecycle/stream?erasure_id={erasure.id}",
    )


def _state(erasure: ErasureJob) -> ErasureState:
    outcome = erasure.outcome
    return ErasureState(
        erasure_id=erasure.id,
        scope=erasure.scope,
        status=erasure.status,
        phase=erasure.phase.value,
        fraction_complete=erasure.fraction,
        progress=ErasureProgress(
            deleted_events=outcome.deleted_events,
            redacted_events=outcome.redacted_events,
            held_events=outcome.held_events,
            deleted_records=outcome.deleted_records,
            demoted_beliefs=outcome.demoted_beliefs,
            elapsed_ms=outcome.took_us // 1000,
        ),
        legal_holds=list(erasure.holds),
        started_at=erasure.started_at,
        ended_at=erasure.ended_at,
        audit_id=erasure.audit_id,
        audit_note=erasure.audit_note,
    )
