"""Previews of erasures and their manifests (seed 002, 8.6.1 and 8.6.2): what would happen, and nothing does."""

from __future__ import annotations

from collections.abc import Sequence

from lamina import limits
from lamina.errors import Gone, Invalid, NotFound
from lamina.forget.planning import PlannedErasure, Planner, RulesOf
from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.kernel.wire import decode_cursor, encode_cursor
from lamina.store.ports.erasures import ErasureFigures, ErasureLine, LineKind, Preview
from lamina.store.ports.store import Store
from lamina.store.ports.traces import About
from lamina.types.erasures import (
    AffectedWorkspace,
    CrossScopePropagation,
    CrossScopeReference,
    ErasureManifest,
    ErasureManifestId,
    ErasurePreview,
    ErasurePreviewId,
    LayerCounts,
    PreviewErasure,
    RefcountBreakdown,
    ResidueRecord,
)

__all__ = ["Previewing", "erasure_grants", "require_erasing", "standing_preview"]


def erasure_grants(scope: str) -> list[Grant]:
    """What planning or carrying out the erasure of a scope takes."""
    return [Grant(Capability.FORGET_GDPR, Scope(scope))]


class Previewing:
    """Handlers of ``/v1/erasures/preview``, and of the manifests of both."""

    def __init__(self, store: Store, ids: IdSource, rules: RulesOf, about: About | None = None) -> None:
        self._store = store
        self._ids = ids
        self._rules = rules
        self._planner = Planner(store, about)

    def preview(self, request: PreviewErasure, call: Call) -> Answer:
        """Plan the erasure of a scope and keep the plan for a day."""
        preview, _ = self.planned(Scope(request.scope), call)
        return Answer(_shown(preview, self._estimate_ms(preview.figures)))

    def planned(self, scope: Scope, call: Call) -> tuple[Preview, PlannedErasure]:
        """A plan of the erasure of a scope, kept under an id."""
        tenant_id = call.principal.tenant_id
        planned = self._planner.plan(tenant_id, scope, self._rules(tenant_id))
        preview = Preview(
            tenant_id=tenant_id,
            id=self._ids.stamped(Prefix.ERASURE_PREVIEW, call.now),
            scope=scope,
            made_by=call.principal.actor,
            made_at=call.now,
            expires_at=call.now + int(limits.PREVIEW_TTL_S * SECOND_US),
            figures=planned.figures,
        )
        self._store.erasures.put_preview(preview, planned.lines())
        return preview, planned

    def _estimate_ms(self, figures: ErasureFigures) -> int:
        """How long it will take by the erasures that were completed here, or by what was measured elsewhere."""
        events, took_us = self._store.erasures.pace()
        each_us = took_us / events if events else limits.ERASURE_EVENT_US
        return round((limits.ERASURE_BASE_US + figures.events * each_us) / 1000)

    def manifest_of_preview(self, request: ErasurePreviewId, call: Call) -> Answer:
        """A page of the manifest of a preview; raises ``Gone`` (PREVIEW_EXPIRED) past its day."""
        preview = standing_preview(self._store, request.preview_id, call)
        lines, cursor = self._page(preview.id, request.cursor, request.limit, call.principal)
        manifest = _manifest(preview.scope, lines, cursor, call)
        return Answer(
            manifest.model_copy(update={"preview_id": preview.id, "expires_at": preview.expires_at})
        )

    def manifest_of_erasure(self, request: ErasureManifestId, call: Call) -> Answer:
        """A page of the manifest of an erasure: what it does, or did."""
        missing = NotFound(
            "NOT_FOUND", "there is no such erasure", details={"erasure_id": request.erasure_id}
        )
        erasure = self._store.erasures.get(call.principal.tenant_id, request.erasure_id)
        require_erasing(call, None if erasure is None else erasure.scope, missing)
        assert erasure is not None, "what is not there was refused"
        lines, cursor = self._page(erasure.id, request.cursor, request.limit, call.principal)
        manifest = _manifest(erasure.scope, lines, cursor, call)
        return Answer(manifest.model_copy(update={"erasure_id": erasure.id}))

    def _page(
        self, plan_id: str, cursor: str | None, limit: int, principal: Principal
    ) -> tuple[list[ErasureLine], str | None]:
        after = None
        if cursor is not None:
            parts = decode_cursor(cursor, p=str, k=str, i=str, s=str, r=str)
            after = _line_of(parts, plan_id)
        lines = self._store.erasures.lines(principal.tenant_id, plan_id, after=after, limit=limit + 1)
        if len(lines) <= limit:
            return lines, None
        last = lines[limit - 1]
        place = {"p": plan_id, "k": last.kind.value, "i": last.id, "s": last.scope, "r": last.record_id}
        return lines[:limit], encode_cursor(place)


def require_erasing(call: Call, scope: Scope | None, missing: NotFound) -> None:
    """Nothing where the caller may erase what an id is about; ``missing`` where they may not, or where there is nothing."""
    if scope is not None and call.permits.allows(Grant(Capability.FORGET_GDPR, scope)):
        return
    call.permits.require(Grant(Capability.FORGET_GDPR))
    raise missing


def standing_preview(store: Store, preview_id: str, call: Call) -> Preview:
    """A preview that the caller may look at; raises ``NotFound``, and ``Gone`` (PREVIEW_EXPIRED) past its day."""
    missing = NotFound("NOT_FOUND", "there is no such preview", details={"preview_id": preview_id})
    preview = store.erasures.preview(call.principal.tenant_id, preview_id)
    require_erasing(call, None if preview is None else preview.scope, missing)
    assert preview is not None, "what is not there was refused"
    if preview.expires_at <= call.now:
        raise Gone(
            "PREVIEW_EXPIRED",
            "a preview holds for a day, and this one is older",
            hint="make a new one with POST /v1/erasures/preview",
            details={"preview_id": preview_id},
        )
    return preview


def _line_of(parts: dict[str, str], plan_id: str) -> ErasureLine:
    if parts["p"] != plan_id or parts["k"] not in set(LineKind):
        raise Invalid(
            "INVALID_CURSOR",
            "the cursor belongs to another manifest",
            hint="leave it out to start over",
        )
    return ErasureLine(LineKind(parts["k"]), parts["i"], Scope(parts["s"]), parts["r"])


def _manifest(scope: Scope, lines: Sequence[ErasureLine], cursor: str | None, call: Call) -> ErasureManifest:
    def ids(kind: LineKind) -> list[str]:
        return [line.id for line in lines if line.kind is kind]

    return ErasureManifest(
        scope=scope,
        events_to_delete=ids(LineKind.DELETE),
        events_to_redact=ids(LineKind.REDACT),
        events_under_legal_hold=ids(LineKind.HELD),
        beliefs_to_demote=ids(LineKind.DEMOTE),
        documents_to_delete=ids(LineKind.DOCUMENT),
        documents_shared=ids(LineKind.SHARED),
        cross_scope_references=[
            CrossScopeReference(event_id=line.id, record_id=line.record_id, scope=line.scope)
            for line in lines
            if line.kind is LineKind.REFERENCE
        ],
        # Of what is another's, what the caller may read.
        residue=[
            ResidueRecord(record_id=line.id, scope=line.scope)
            for line in lines
            if line.kind is LineKind.RESIDUE and call.may_read(line.scope)
        ],
        next_cursor=cursor,
        has_more=cursor is not None,
    )


def _shown(preview: Preview, estimated_ms: int) -> ErasurePreview:
    figures = preview.figures
    return ErasurePreview(
        preview_id=preview.id,
        scope=preview.scope,
        estimated_affected=LayerCounts(
            events=figures.events,
            episodes=figures.episodes,
            facts=figures.facts,
            beliefs=figures.beliefs,
            understanding=figures.understanding,
        ),
        refcount_breakdown=RefcountBreakdown(
            events_to_delete=figures.delete,
            events_to_redact=figures.redact,
            events_under_legal_hold=figures.held,
        ),
        cross_scope_propagation=CrossScopePropagation(
            affected_workspaces=[
                AffectedWorkspace(
                    scope=each.scope,
                    events_referenced=each.events,
                    co_owners=list(each.co_owners),
                    erased=each.erased,
                )
                for each in figures.touched
            ],
            requires_capability=Capability.FORGET_GDPR_CROSS_WORKSPACE if figures.touched else None,
        ),
        legal_holds=list(figures.holds),
        residue=figures.residue,
        estimated_duration_ms=estimated_ms,
        manifest_url=f"/v1/erasures/preview/{preview.id}/manifest",
    )
