"""Reading the audit log (seed 002, 8.10): one's own rows with ``audit.read``, those of others with one capability more."""

from __future__ import annotations

import hmac
import json
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from lamina import limits
from lamina.errors import Invalid, NotFound
from lamina.kernel.audit import AuditRow
from lamina.kernel.canonical import digest
from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import Prefix, parse_id
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier
from lamina.kernel.scopes import Scope
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import (
    BoundText,
    Limit,
    Request,
    Result,
    ScopePath,
    Text,
    decode_cursor,
    encode_cursor,
)
from lamina.store.ports.audit import AuditQuery
from lamina.store.ports.store import Store

__all__ = ["AuditReads", "audit_operations"]

_Word = Annotated[Text, Field(min_length=1, max_length=limits.NAME_LENGTH_MAX)]


class AuditList(Request):
    """A page of rows, newest first. ``scope`` means it and all below; ``until`` is exclusive."""

    scope: ScopePath | None = None
    actor: _Word | None = None
    capability: _Word | None = None
    decision: Literal["allow", "deny"] | None = None
    endpoint: _Word | None = None
    since: BoundText | None = None
    until: BoundText | None = None
    limit: Limit = limits.PAGE_LIMIT_DEFAULT
    cursor: str | None = None


class AuditId(Request):
    """One row."""

    audit_id: str


class VerifyRequest(Request):
    """A row, and the body that the caller says it was made from, byte for byte."""

    audit_id: str
    body: Annotated[str, Field(max_length=limits.BODY_BYTES_MAX)]


class AskedView(Result):
    """What was asked. The hashes are peppered; ``body_bytes`` is left out where the tenant does not keep it."""

    method: str
    path: str
    body_hash: str
    headers_hash: str
    body_bytes: Annotated[int | None, Field(exclude_if=lambda value: value is None)] = None


class LinkView(Result):
    """Where the row stands in its chain, and the hashes that bind it."""

    number: int
    previous: str
    hash: str


class AuditRowView(Result):
    """A row of the audit log, and its link in the chain.

    In rows of other actors ``token_jti``, ``client_ip`` and ``detail`` are for administrators of the tenant, and so is
    ``scope`` where the caller may not read it: ``request.path`` is then that of the endpoint. ``chain.hash`` is that of
    the row as it is stored.
    """

    id: str
    ts: Stamp
    actor: str
    token_jti: str | None
    tenant_id: str
    scope: str | None
    endpoint: str
    capability: str
    decision: Literal["allow", "deny"]
    decided_by_tier: str
    request: AskedView
    response_status: int
    event_id: str | None
    client_ip: str | None
    user_agent: str | None
    request_id: str
    elapsed_ms: int
    gdpr: bool
    tenant_pepper_version: int
    detail: Annotated[dict[str, Any] | None, Field(exclude_if=lambda value: value is None)] = None
    """What the call noted: ``subjects`` whose capsules it gave out, ``admin_bypass`` what its token passed over."""
    chain: LinkView


class AuditPage(Result):
    """Rows, newest first."""

    items: list[AuditRowView]
    next_cursor: str | None
    has_more: bool


class Verified(Result):
    """Whether the body is the one of the row."""

    match: bool
    hashed_at: Stamp
    algorithm: str
    tenant_pepper_version: int


def row_view(row: AuditRow) -> AuditRowView:
    """The view of a row."""
    said = row.draft
    values = said._asdict()
    request = AskedView(**{name: values[name] for name in AskedView.model_fields})
    values["detail"] = None if said.detail is None else json.loads(said.detail)
    named = {name: values[name] for name in AuditRowView.model_fields if name in values}
    return AuditRowView(
        **named,
        ts=said.at // 1000 * 1000,
        request=request,
        tenant_pepper_version=said.pepper_version,
        chain=LinkView(number=row.number, previous=row.previous, hash=row.hash),
    )


class _Sight:
    """Which rows the caller may see, and what of them: their own, and those of others where they may read others' rows of
    its scope. Each scope is decided once per call.

    ``within_scope`` says that the page is of one scope. What stands there under a closed path is then left out: the
    filter would say what the row does not.
    """

    def __init__(self, call: Call, *, within_scope: bool = False) -> None:
        self._call = call
        self._within_scope = within_scope
        self._administers = call.permits.allows(Grant(Capability.POLICY_ADMINISTER_TENANT))
        self._allowed: dict[str | None, bool] = {}
        self._open: dict[str, bool] = {}

    def __call__(self, row: AuditRow) -> bool:
        scope = row.draft.scope
        if row.draft.actor == self._call.principal.actor:
            return True
        if scope not in self._allowed:
            self._allowed[scope] = self._call.permits.allows(_others(scope))
        return self._allowed[scope] and not (self._within_scope and self._is_closed(scope))

    def view(self, row: AuditRow) -> AuditRowView:
        """The row as the caller sees it."""
        shown = row_view(row)
        if self._administers or row.draft.actor == self._call.principal.actor:
            return shown
        shown = shown.model_copy(update={"token_jti": None, "client_ip": None, "detail": None})
        if not self._is_closed(row.draft.scope):
            return shown
        path = row.draft.endpoint.partition(" ")[2]
        return shown.model_copy(
            update={"scope": None, "request": shown.request.model_copy(update={"path": path})}
        )

    def _is_closed(self, scope: str | None) -> bool:
        """Whether the path of a scope is none of the caller's business."""
        if scope is None or self._administers:
            return False
        if scope not in self._open:
            self._open[scope] = self._call.may_read(Scope(scope))
        return not self._open[scope]


def _others(scope: str | None) -> Grant:
    """What seeing other actors' rows of a scope takes."""
    return Grant(Capability.AUDIT_READ_CROSS_ACTOR, None if scope is None else Scope(scope))


class AuditReads:
    """Handlers of the audit operations."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rows(self, request: AuditList, call: Call) -> Answer:
        """A page of rows of calls that were answered before this one: the caller's own, and others' by the row's scope."""
        scope = None if request.scope is None else Scope(request.scope)
        others = _others(request.scope)
        actor = request.actor
        if actor is None and not call.permits.allows(others):
            actor = call.principal.actor
        elif actor is not None and actor != call.principal.actor:
            call.permits.require(others)
        asked = request.model_dump(mode="json", exclude={"cursor", "limit"})
        filters = digest([asked, actor])[7:19]
        before = None
        if request.cursor is not None:
            parts = decode_cursor(request.cursor, f=str, n=int)
            if parts["f"] != filters:
                raise Invalid(
                    "INVALID_CURSOR",
                    "the cursor belongs to other filters",
                    hint="repeat the filters of the first page, or leave the cursor out to start over",
                )
            before = parts["n"]
        self._store.audit.flush()
        query = AuditQuery(
            tenant_id=call.principal.tenant_id,
            within=scope,
            actor=actor,
            capability=request.capability,
            decision=request.decision,
            endpoint=request.endpoint,
            since=request.since,
            until=request.until,
            before=before,
            limit=request.limit + 1,
        )
        sight = _Sight(call, within_scope=scope is not None)
        rows, goes_on = self._page(query, request.limit, sight)
        cursor = None if goes_on is None else encode_cursor({"f": filters, "n": goes_on.number})
        return Answer(
            AuditPage(
                items=[sight.view(row) for row in rows], next_cursor=cursor, has_more=goes_on is not None
            )
        )

    def _page(self, query: AuditQuery, limit: int, may_see: _Sight) -> tuple[list[AuditRow], AuditRow | None]:
        """Up to ``limit`` rows that the caller may see, and the row before which there may be more, None when there
        is none."""
        found: list[AuditRow] = []
        looked_at = 0
        while True:
            batch = self._store.audit.query(query)
            found += [row for row in batch if may_see(row)]
            if len(found) > limit:
                return found[:limit], found[limit - 1]
            looked_at += len(batch)
            if len(batch) < query.limit:
                return found, None
            if looked_at >= limits.LIST_SCAN_MAX:
                return found, batch[-1]
            query = replace(query, before=batch[-1].number)

    def row(self, request: AuditId, call: Call) -> Answer:
        """One row."""
        return Answer(_Sight(call).view(self._row(request.audit_id, call)))

    def verify(self, request: VerifyRequest, call: Call) -> Answer:
        """Whether a body is the one that a row was made from: hashed again with the pepper of that row."""
        said = self._row(request.audit_id, call).draft
        pepper = self._store.peppers.get(said.tenant_id, said.pepper_version)
        if pepper is None:
            raise NotFound(
                "NOT_FOUND",
                "this row was not made from a request: it has no pepper",
                details={"audit_id": said.id},
            )
        match = hmac.compare_digest(pepper.hash(request.body.encode()), said.body_hash)
        return Answer(
            Verified(
                match=match,
                hashed_at=said.at // 1000 * 1000,
                algorithm="sha256",
                tenant_pepper_version=said.pepper_version,
            )
        )

    def _row(self, audit_id: str, call: Call) -> AuditRow:
        """A row that the caller may see. Who may see only their own learns nothing of others, not that they exist."""
        parse_id(audit_id, Prefix.AUDIT)
        self._store.audit.flush()
        row = self._store.audit.get(call.principal.tenant_id, audit_id)
        if row is not None and (
            row.draft.actor == call.principal.actor or call.permits.allows(_others(row.draft.scope))
        ):
            return row
        call.permits.require(_others(None))
        raise NotFound("NOT_FOUND", "there is no audit row of this id", details={"id": audit_id})


def audit_operations(store: Store) -> list[Operation[Any]]:
    """The operations that read the audit log."""
    reads = AuditReads(store)
    return [
        Operation(
            name="audit",
            request=AuditList,
            result=AuditPage,
            capability=Capability.AUDIT_READ,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.AUDIT_READ, None if r.scope is None else Scope(r.scope))],  # noqa: ARG005 - the port's shape
            handler=reads.rows,
            summary="List who asked for what and what they were told, newest first.",
        ),
        Operation(
            name="audit_row",
            request=AuditId,
            result=AuditRowView,
            capability=Capability.AUDIT_READ,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.AUDIT_READ)],  # noqa: ARG005 - whose row it is shows on the way
            handler=reads.row,
            summary="Read one row of the audit log.",
            fails=("NOT_FOUND",),
        ),
        Operation(
            name="audit_verify",
            request=VerifyRequest,
            result=Verified,
            capability=Capability.AUDIT_READ,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.AUDIT_READ)],  # noqa: ARG005 - as above
            handler=reads.verify,
            summary="Check whether a body is the one that an audit row was made from.",
            fails=("NOT_FOUND",),
        ),
    ]
