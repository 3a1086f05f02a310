"""Request and result types of the session calls (seed 003), in the camel case of their contract.

Fields that are not known here are passed over, as clients of this contract expect.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from lamina import limits
from lamina.kernel.shown import on_one_line, shown
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import InstantText, LocalTimeText, Request, Result, Text

__all__ = [
    "ActiveLoop",
    "Brief",
    "BriefAsked",
    "Closed",
    "EntitySeen",
    "Identity",
    "Ingest",
    "Ingested",
    "LoopInFull",
    "Metadata",
    "Name",
    "Remembered",
    "Role",
    "SessionName",
    "SessionRequest",
    "SessionResult",
    "TemporalAuthority",
    "TurnText",
    "WorkingTurn",
]

Role = Literal["user", "assistant"]


def _fits(name: str) -> str:
    if len(name.encode()) > limits.PARTICIPANT_ID_BYTES_MAX:
        raise ValueError(f"must be at most {limits.PARTICIPANT_ID_BYTES_MAX} bytes")
    return name


def _worded(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Name = Annotated[Text, Field(min_length=1), AfterValidator(_fits)]
"""An id of a tenant, a user or a persona: any text without NUL, up to 93 bytes."""

SessionName = Annotated[Text, Field(min_length=1, max_length=limits.SESSION_LENGTH_MAX)]
"""A session id, the caller's own."""

ShownText = Annotated[str, AfterValidator(shown)]
"""Stored text in an answer that goes into a prompt."""

ShownLine = Annotated[str, AfterValidator(on_one_line)]
"""The same where it is one item of several."""

_ShownScalar = Annotated[
    Any, AfterValidator(lambda value: on_one_line(value) if isinstance(value, str) else value)
]

TurnText = Annotated[Text, Field(max_length=limits.TEXT_LENGTH_MAX), AfterValidator(_worded)]
"""The words of a turn."""


class SessionRequest(Request):
    """What a session call takes."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True)


class SessionResult(Result):
    """What a session call gives."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Metadata(SessionRequest):
    """Where older clients put the session id; everything else in it is passed over."""

    session_id: SessionName | None = None


class Ingest(SessionRequest):
    """One turn. ``sessionId`` counts before ``metadata.sessionId``; without either the server makes one.

    A repeated delivery is stored once: by ``idempotencyKey``, or else by session, role, text and timestamp.
    """

    tenant_id: Name
    user_id: Name
    persona_id: Name
    role: Role
    text: TurnText
    timestamp: LocalTimeText
    session_id: SessionName | None = None
    metadata: Metadata | None = None
    idempotency_key: (
        Annotated[str, Field(min_length=1, max_length=limits.IDEMPOTENCY_KEY_LENGTH_MAX, pattern=r"^[ -~]+$")]
        | None
    ) = None


class Ingested(SessionResult):
    """The turn is on disk."""

    ok: Literal[True] = True
    session_id: str


class BriefAsked(SessionRequest):
    """What is wanted before a turn. ``now`` is the clock of the answer.

    Without ``mode`` it is ``session_start`` for a new session or after a gap of more than 30 minutes.
    """

    tenant_id: Name
    user_id: Name
    persona_id: Name
    now: InstantText
    session_id: SessionName | None = None
    mode: Literal["session_start", "in_session"] | None = None
    query: Annotated[Text, Field(max_length=limits.QUERY_LENGTH_MAX)] | None = None
    include_quarantined: bool = False


class Identity(SessionResult):
    """Who the user is, by the user's own words. ``facts`` maps what is known to its value."""

    name: ShownLine | None = None
    timezone: str | None = None
    facts: dict[str, _ShownScalar] = Field(default_factory=dict)  # Any: a JSON scalar


class TemporalAuthority(SessionResult):
    """What time it is, and how long ago the last turn was; null before the first."""

    now: Stamp
    last_interaction_time: Stamp | None
    time_since_last_interaction: str | None


class WorkingTurn(SessionResult):
    """A turn of the window."""

    role: str
    text: ShownText
    timestamp: Stamp


class ActiveLoop(SessionResult):
    """Something the user left open; ``due_date`` is the day that was named, YYYY-MM-DD, null where none was."""

    id: str
    type: str
    status: str
    text: ShownLine
    salience: int
    due_date: str | None


class LoopInFull(ActiveLoop):
    """A loop with what is known of it. ``confidence`` in 0..1; ``completed_at`` is null while it is open."""

    confidence: float
    time_horizon: str
    source_event_id: str
    created_at: Stamp
    last_seen_at: Stamp
    completed_at: Stamp | None


class Remembered(SessionResult):
    """Something that memory holds on the query; ``relevance`` in 0..1, higher is better."""

    text: ShownLine
    relevance: float
    source: str


class EntitySeen(SessionResult):
    """Somebody or something that the query leads to."""

    summary: ShownText
    type: str | None
    uuid: str


class Brief(SessionResult):
    """The memory for a turn. The last three fields are best effort and may be empty."""

    identity: Identity
    temporal_authority: TemporalAuthority
    working_memory: list[WorkingTurn]
    rolling_summary: ShownText
    active_loops: list[ActiveLoop]
    semantic_context: list[Remembered]
    entities: list[EntitySeen]
    episode_bridge: ShownText


class Closed(SessionResult):
    """Whether a session was closed, and which; ``reason`` says why none was."""

    closed: bool
    session_id: str | None = None
    reason: str | None = None
