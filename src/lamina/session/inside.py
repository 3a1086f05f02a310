"""What stands behind the two calls, for those who run them: sessions, users and the outbox as they are.

Only with the deployment's internal token, and only what the caller may read anyway.
"""

from __future__ import annotations

import hmac
from typing import Annotated, Any

from pydantic import Field

from lamina import limits
from lamina.errors import Unauthenticated
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Event, text_of
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.records import Concept, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import rfc3339, rfc3339_or_none
from lamina.kernel.wire import Result
from lamina.recall.kept import closed_to_concepts
from lamina.recall.wording import without_cancelled
from lamina.session.identity import EVERYTHING
from lamina.session.loops import in_doubt, loop_row, open_loops
from lamina.session.names import names_of, scope_of, tenant_scope
from lamina.session.tier_one import SessionStates
from lamina.store.ports.log import EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.sessions import OutboxRow, SessionKey, Sitting
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Inquiry
from lamina.types.sessions import Name, SessionName, SessionRequest, SessionResult

__all__ = [
    "Inside",
    "OutboxInside",
    "OutboxShown",
    "Revive",
    "Revived",
    "SessionInside",
    "SessionShown",
    "UserInside",
    "UserShown",
]

_TRANSCRIPT_MAX = 500
_ENTITIES_MAX = 5


class InternalAsked(SessionRequest):
    """What every look inside takes: the token comes in the header ``X-Internal-Token``."""

    internal_token: str | None = None


class SessionInside(InternalAsked):
    """A session."""

    tenant_id: Name
    user_id: Name
    session_id: SessionName


class UserInside(InternalAsked):
    """A user."""

    tenant_id: Name
    user_id: Name


class OutboxInside(InternalAsked):
    """The outbox of a tenant's users, or of all that the caller may read."""

    tenant_id: Name | None = None
    limit: Annotated[int, Field(ge=1, le=limits.PAGE_LIMIT_MAX)] = 50


class SessionShown(SessionResult):
    """A session with everything that rests on it; nulls and empty lists where there is nothing."""

    session: dict[str, Any] | None  # Any: the row as it stands
    transcript: dict[str, Any] | None
    active_loops: list[dict[str, Any]]
    session_episode: dict[str, Any]


class UserShown(SessionResult):
    """A user's latest session, and what is open."""

    latest_session_id: str | None
    last_interaction_time: str | None
    episode_bridge: str | None
    active_loops: list[dict[str, Any]]  # Any: a loop in full
    top_entities: list[dict[str, Any]]


class Revive(InternalAsked):
    """The tenant whose rows are tried again."""

    tenant_id: Name


class OutboxShown(Result):
    """Rows that are pending or failed, and what a model is still to say about turns, or failed to; newest first."""

    rows: list[dict[str, Any]]  # Any: the row as it stands
    inquiries: list[dict[str, Any]]


class Revived(Result):
    """How many rows and inquiries that had failed for good are due again."""

    revived: int


class Inside:
    """Handlers of the looks inside."""

    def __init__(self, store: Store, token: str) -> None:
        self._store = store
        self._token = token
        self._states = SessionStates(store)

    def user_grants(self, request: Any, principal: Principal) -> list[Grant]:  # noqa: ARG002 # Any: each of these names a user
        """What looking at a user takes."""
        self._check(request)
        return [Grant(Capability.SCOPE_READ_LOCAL, scope_of(request.tenant_id, request.user_id))]

    def outbox_grants(self, request: OutboxInside, principal: Principal) -> list[Grant]:  # noqa: ARG002 - the shape of grants
        """What looking at an outbox takes; without a tenant each row's scope is asked for."""
        self._check(request)
        scope = None if request.tenant_id is None else tenant_scope(request.tenant_id)
        return [Grant(Capability.SCOPE_READ_LOCAL, scope)]

    def revive_grants(self, request: Revive, principal: Principal) -> list[Grant]:  # noqa: ARG002 - the shape of grants
        """What trying failed rows again takes."""
        self._check(request)
        return [Grant(Capability.SCOPE_WRITE, tenant_scope(request.tenant_id))]

    def _check(self, request: InternalAsked) -> None:
        shown = (request.internal_token or "").encode()
        if not self._token or not hmac.compare_digest(shown, self._token.encode()):
            raise Unauthenticated(
                "INTERNAL_TOKEN_REQUIRED",
                "Unauthorized",
                hint="send X-Internal-Token with the deployment's INTERNAL_TOKEN; without one this is closed",
            )

    def session(self, request: SessionInside, call: Call) -> Answer:
        """A session as it stands."""
        tenant_id = call.principal.tenant_id
        scope = scope_of(request.tenant_id, request.user_id)
        sitting = self._store.sessions.sitting(SessionKey(tenant_id, scope, request.session_id))
        bridge = None
        if sitting is not None and sitting.closed_at is not None:
            bridge = self._states.bridge_of(sitting)
        return Answer(
            SessionShown(
                session=None if sitting is None else self._row(sitting, request),
                transcript=self._transcript(tenant_id, scope, request.session_id),
                active_loops=self._loops(call, scope),
                session_episode={
                    "name": None if bridge is None or sitting is None else f"sitting {sitting.number}",
                    "text": bridge,
                },
            )
        )

    def _row(self, sitting: Sitting, request: SessionInside) -> dict[str, Any]:
        sitting, summary = self._states.told(sitting)
        events = self._states.events(sitting.place.tenant_id, sitting.buffered)
        return {
            "tenant_id": request.tenant_id,
            "session_id": request.session_id,
            "user_id": request.user_id,
            "messages": [_message(event) for event in events],
            "rolling_summary": summary,
            "session_state": {
                "sitting": sitting.number,
                "turns": sitting.turns,
                "folded": sitting.folded,
                "last_turn_at": rfc3339(sitting.last_turn_at),
            },
            "created_at": rfc3339(sitting.opened_at),
            "updated_at": rfc3339(sitting.touched_at),
            "closed_at": rfc3339_or_none(sitting.closed_at),
        }

    def _transcript(self, tenant_id: str, scope: Scope, session: str) -> dict[str, Any] | None:
        query = EventQuery(tenant_id=tenant_id, scopes=[scope], session=session, limit=_TRANSCRIPT_MAX)
        events = self._store.log.query(query)[::-1]
        if not events:
            return None
        return {
            "messages": [_message(event) for event in events],
            "created_at": rfc3339(events[0].recorded_at),
            "updated_at": rfc3339(events[-1].recorded_at),
        }

    def user(self, request: UserInside, call: Call) -> Answer:
        """A user as memory has them now."""
        tenant_id = call.principal.tenant_id
        scope = scope_of(request.tenant_id, request.user_id)
        newest = self._store.sessions.newest(tenant_id, scope, 1)
        return Answer(
            UserShown(
                latest_session_id=newest[0].place.session if newest else None,
                last_interaction_time=rfc3339(newest[0].last_turn_at) if newest else None,
                episode_bridge=self._states.bridge(tenant_id, scope, call.now) or None,
                active_loops=self._loops(call, scope),
                top_entities=[] if closed_to_concepts([scope], call) else self._entities(tenant_id, scope),
            )
        )

    def _entities(self, tenant_id: str, scope: Scope) -> list[dict[str, Any]]:
        query = RecordQuery(
            tenant_id=tenant_id,
            layer=Layer.UNDERSTANDING,
            scopes=[scope],
            axes=EVERYTHING,
            topic="entity",
            limit=_ENTITIES_MAX,
        )
        found = [each for each in self._store.records.query(query) if isinstance(each, Concept)]
        shown = without_cancelled(self._store, tenant_id, found)
        return [{"summary": concept.summary, "type": None, "uuid": concept.id} for concept in shown]

    def outbox(self, request: OutboxInside, call: Call) -> Answer:
        """What waits, and what failed."""
        within = None if request.tenant_id is None else tenant_scope(request.tenant_id)
        tenant_id = call.principal.tenant_id
        rows = self._store.sessions.outbox(tenant_id, within, request.limit)
        inquiries = self._store.inquiries.unsettled(tenant_id, within, request.limit)
        return Answer(
            OutboxShown(
                rows=[_outbox_row(row) for row in rows if call.may_read(row.place.scope)],
                inquiries=[_inquiry_row(each) for each in inquiries if call.may_read(each.scope)],
            )
        )

    def revive(self, request: Revive, call: Call) -> Answer:
        """Try again what had failed for good."""
        tenant_id, within = call.principal.tenant_id, tenant_scope(request.tenant_id)
        revived = self._store.sessions.revive(tenant_id, within)
        return Answer(Revived(revived=revived + self._store.inquiries.revive(tenant_id, within)))

    def _loops(self, call: Call, scope: Scope) -> list[dict[str, Any]]:
        found = open_loops(self._store.records, call.principal.tenant_id, scope)
        doubted = in_doubt(self._store, call.principal.tenant_id, found)
        return [loop_row(loop, call.now, doubted) for loop in found]


def _message(event: Event) -> dict[str, Any]:
    return {
        "role": event.content.get("role"),
        "text": text_of(event.content),
        "timestamp": rfc3339(event.context.observed_at),
    }


def _outbox_row(row: OutboxRow) -> dict[str, Any]:
    tenant, user = names_of(row.place.scope)
    return {
        "id": row.id,
        "tenant_id": tenant,
        "user_id": user,
        "session_id": row.place.session,
        "event_id": row.event_id,
        "status": row.state,
        "attempts": row.attempts,
        "next_attempt_at": rfc3339_or_none(row.next_attempt_at),
        "last_error": row.last_error,
        "folded_at": rfc3339_or_none(row.folded_at),
        "created_at": rfc3339(row.created_at),
        "sent_at": rfc3339_or_none(row.sent_at),
    }


def _inquiry_row(inquiry: Inquiry) -> dict[str, Any]:
    return {
        "id": inquiry.id,
        "scope": inquiry.scope,
        "event_id": inquiry.event_id,
        "task": inquiry.task,
        "status": inquiry.state,
        "attempts": inquiry.attempts,
        "next_attempt_at": rfc3339_or_none(inquiry.next_attempt_at),
        "last_error": inquiry.last_error,
        "created_at": rfc3339(inquiry.created_at),
    }
