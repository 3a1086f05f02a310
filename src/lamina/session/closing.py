"""Whole sessions: closing one, and taking one in that happened elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import EventDraft
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.time import SECOND_US, Instant
from lamina.kernel.wire import InstantText, LocalTimeText
from lamina.session.ingest import speaker, turn_capture, write_grants
from lamina.session.names import scope_of
from lamina.store.ports.log import Capture, EventQuery
from lamina.store.ports.sessions import End, SessionKey
from lamina.store.ports.store import Store
from lamina.types.sessions import Closed, Name, Role, SessionName, SessionRequest, SessionResult, TurnText

__all__ = ["Close", "Closed", "SessionClosing", "SessionTaken", "TakeSession"]

_OPEN_LOOKED_AT = 32


class Close(SessionRequest):
    """Which session is over: the one named, or the user's newest open one."""

    tenant_id: Name
    user_id: Name
    persona_id: Name | None = None
    session_id: SessionName | None = None


class Message(SessionRequest):
    """A turn of a session taken in as a whole."""

    role: Role
    text: TurnText
    timestamp: LocalTimeText


class TakeSession(SessionRequest):
    """A session that happened elsewhere. Turns that are known already are stored once.

    With ``endedAt`` it is closed, unless somebody spoke in it since.
    """

    tenant_id: Name
    user_id: Name
    persona_id: Name | None = None
    session_id: SessionName
    started_at: InstantText | None = None
    ended_at: InstantText | None = None
    messages: Annotated[list[Message], Field(max_length=limits.BULK_ITEMS_MAX)]


class SessionTaken(SessionResult):
    """The turns are on disk; ``graphitiAdded`` is false, since a graph has them later if at all."""

    status: Literal["ingested", "skipped_empty_transcript"]
    session_id: str
    graphiti_added: bool = False


_Said = tuple[str, str, str, Instant]


def _said(turn: EventDraft) -> _Said:
    """What makes a turn of a session the same: who said what, as whom and when."""
    content = turn.content
    role, text = str(content.get("role")), str(content.get("text"))
    return turn.observed_actor.id, role, text, turn.context.observed_at


class SessionClosing:
    """Handlers of whole sessions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def close_grants(self, request: Close, principal: Principal) -> list[Grant]:  # noqa: ARG002 - the shape of grants
        """What closing takes."""
        return [Grant(Capability.SCOPE_WRITE, scope_of(request.tenant_id, request.user_id))]

    def close(self, request: Close, call: Call) -> Answer:
        """Close a session: what is left in its window goes the way of all turns, and its bridge is written."""
        scope = scope_of(request.tenant_id, request.user_id)
        tenant_id = call.principal.tenant_id
        names: Sequence[str | None] = [request.session_id]
        if request.session_id is None:
            newest = self._store.sessions.newest(tenant_id, scope, _OPEN_LOOKED_AT)
            names = [sitting.place.session for sitting in newest if sitting.closed_at is None][:1]
        for name in filter(None, names):
            ended = self._store.sessions.close(SessionKey(tenant_id, scope, name), call.now)
            if ended is not None:
                # Writing takes no right to read: who named no session learns the id of theirs by reading alone.
                told = name if request.session_id is not None or call.may_read(scope) else None
                return Answer(Closed(closed=True, session_id=told))
        return Answer(Closed(closed=False, session_id=request.session_id, reason="no_open_session"))

    def take_grants(self, request: TakeSession, principal: Principal) -> list[Grant]:
        """What taking a session in takes."""
        actors = {speaker(message.role, request.user_id, request.persona_id) for message in request.messages}
        return write_grants(scope_of(request.tenant_id, request.user_id), sorted(actors), principal)

    def take(self, request: TakeSession, call: Call) -> Answer:
        """Store the turns of a session in the order of their times, all or none; those that it has are not stored again, whoever brought them
        and however long ago."""
        scope = scope_of(request.tenant_id, request.user_id)
        captures = [
            turn_capture(
                call.principal,
                scope,
                actor=speaker(message.role, request.user_id, request.persona_id),
                persona=request.persona_id,
                role=message.role,
                text=message.text,
                at=message.timestamp,
                session=request.session_id,
                named=request.session_id,
            )
            for message in sorted(request.messages, key=lambda message: message.timestamp.at)
        ]
        if not captures:
            return Answer(SessionTaken(status="skipped_empty_transcript", session_id=request.session_id))
        answer = SessionTaken(status="ingested", session_id=request.session_id)
        # Within a day their keys tell: a turn that was taken meanwhile is none that lacks here, but a repetition.
        lacking = self._lacking(captures, call.now)
        if not lacking:
            return Answer(answer, replayed=True)
        end = None if request.ended_at is None else End(request.ended_at, call.now)
        taken = self._store.sessions.take(lacking, end=end)
        return Answer(answer, replayed=all(entry.replayed for entry in taken))

    def _lacking(self, captures: Sequence[Capture], now: Instant) -> Sequence[Capture]:
        """The turns of one session, in the order of their times, without those that it has from before keys are remembered."""
        first, last = captures[0].draft, captures[-1].draft
        query = EventQuery(
            tenant_id=first.tenant_id,
            scopes=[first.scope],
            observed_from=first.context.observed_at,
            observed_to=last.context.observed_at + 1,
            recorded_to=now - limits.IDEMPOTENCY_TTL_S * SECOND_US,
            session=first.session,
            ascending=True,
            with_excluded=True,
            limit=limits.BULK_ITEMS_MAX,
        )
        known: set[_Said] = set()
        while page := self._store.log.query(query):
            known |= {_said(event) for event in page}
            query = replace(query, after=page[-1].position)
        return [each for each in captures if _said(each.draft) not in known]
