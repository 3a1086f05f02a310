"""Taking turns: each becomes an event of the log and moves the window of its session, durable on return."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from lamina.kernel.canonical import digest
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Context, Directives, EventDraft, Modality, Origin, Party, Trust
from lamina.kernel.local import LocalTime
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.session.names import actor_of_agent, actor_of_user, scope_of
from lamina.store.ports.idempotency import IdempotencyKey
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store
from lamina.types.sessions import Ingest, Ingested, Role

__all__ = ["FAMILY", "Ingesting", "new_session", "speaker", "turn_capture", "write_grants"]

FAMILY = "/ingest"
_DIRECTIVES = Directives()


def new_session() -> str:
    """An id for a session that its caller did not name."""
    return f"session-{secrets.token_hex(16)}"


def write_grants(scope: Scope, actors: Sequence[str], principal: Principal) -> list[Grant]:
    """What writing the words of these actors takes: the scope, and to speak for them where the caller is another."""
    grants = [Grant(Capability.SCOPE_WRITE, scope)]
    if any(actor != principal.actor for actor in actors):
        grants.append(Grant(Capability.SCOPE_WRITE_ON_BEHALF_OF, scope))
    return grants


def speaker(role: Role, user: str, persona: str | None) -> str:
    """The actor of a turn."""
    return actor_of_user(user) if role == "user" else actor_of_agent(persona or "assistant")


def turn_capture(
    principal: Principal,
    scope: Scope,
    *,
    actor: str,
    persona: str | None,
    role: Role,
    text: str,
    at: LocalTime,
    session: str,
    named: str | None,
    key: str | None = None,
) -> Capture:
    """A turn as the log takes it. ``named`` is the session as the caller gave it, part of what a repetition repeats.

    The clock by which it is told is no part of that: the same instant is the same turn. Another assistant's words are another turn, the user's are the same whomever they were said to: a session that is
    taken in as a whole may not say it. Under one key both are a conflict.
    """
    content = {"kind": "message", "role": role, "text": text}
    if persona is not None:
        content["persona"] = persona
    said = [named, role, text, at.at]
    spoken = [*said, actor] if role == "assistant" else said
    unique = digest([scope, "turn", *spoken] if key is None else [scope, "key", key])
    body = digest(spoken if key is None else [*said, persona])
    draft = EventDraft(
        tenant_id=principal.tenant_id,
        scope=scope,
        caller=principal.actor,
        observed_actor=Party.of(actor),
        subject=Party.of(actor),
        session=session,
        modality=Modality.CONVERSATION.value,
        content=content,
        context=Context(observed_at=at.at, observed_offset=at.offset),
        directives=_DIRECTIVES,
        origin=Origin(
            principal.actor,
            principal.channel,
            Trust.PRINCIPAL if actor == principal.actor else Trust.DELEGATED,
        ),
    )
    return Capture(draft, IdempotencyKey(principal.tenant_id, principal.actor, FAMILY, unique), body)


class Ingesting:
    """Handler of ``POST /ingest``."""

    def __init__(self, store: Store, *, session_of: Callable[[], str] = new_session) -> None:
        self._store = store
        self._session_of = session_of

    def grants(self, request: Ingest, principal: Principal) -> list[Grant]:
        """What a turn takes."""
        actor = speaker(request.role, request.user_id, request.persona_id)
        return write_grants(scope_of(request.tenant_id, request.user_id), [actor], principal)

    def ingest(self, request: Ingest, call: Call) -> Answer:
        """Store one turn."""
        named = request.session_id
        if named is None and request.metadata is not None:
            named = request.metadata.session_id
        capture = turn_capture(
            call.principal,
            scope_of(request.tenant_id, request.user_id),
            actor=speaker(request.role, request.user_id, request.persona_id),
            persona=request.persona_id,
            role=request.role,
            text=request.text,
            at=request.timestamp,
            session=named or self._session_of(),
            named=named,
            key=request.idempotency_key,
        )
        (taken,) = self._store.sessions.take([capture])
        assert taken.event.session is not None, "a turn names its session"
        return Answer(Ingested(session_id=taken.event.session), replayed=taken.replayed)
