"""A memory as Mem0's clients know one, over what Lamina keeps: a fact with what took its place, or a turn from which none came."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal

from pydantic import BaseModel

from lamina.http.mem0.entities import OwnerIds
from lamina.http.mem0.tags import entities_behind, tags_of
from lamina.kernel.time import Instant, rfc3339, rfc3339_or_none
from lamina.kernel.views import EventView, FactView

__all__ = [
    "MEMORY",
    "Mem0Memory",
    "MemoryShown",
    "Origin",
    "as_json",
    "memory_of_fact",
    "memory_of_turn",
    "text_of_fact",
    "text_of_turn",
]

MEMORY: Final = "mem_"
"""How the id of a memory begins that is a fact and what took its place: the rest is that of the first fact's id."""


class Origin(BaseModel):
    """Where a memory is found in Lamina's own API: ``record_id`` under ``/v1/facts`` or ``/v1/events``."""

    type: Literal["fact", "turn"]
    record_id: str
    scope: str
    valid_from: str | None = None
    valid_to: str | None = None
    may_have_changed: str | None = None
    """When a later turn was said that speaks of the same matter with a sign of change."""


class MemoryShown(BaseModel):
    """A memory on the wire. Times are RFC 3339 in UTC; ``timestamp`` is when it was said."""

    id: str
    memory: str
    user_id: str | None
    agent_id: str | None
    app_id: str | None
    run_id: str | None
    metadata: dict[str, Any] | None  # Any: JSON of the client's own
    categories: list[str]
    created_at: str
    updated_at: str
    timestamp: str
    expiration_date: str | None
    superseded_by: str | None = None
    score: float | None = None
    lamina: Origin


@dataclass(frozen=True, slots=True)
class Mem0Memory:
    """A memory as a call reads it. ``behind`` is the turn by which it is shown, where there is one."""

    id: str
    text: str
    origin: Origin
    categories: tuple[str, ...]
    created_at: Instant
    updated_at: Instant
    said_at: Instant
    behind: EventView | None
    superseded_by: str | None = None

    @property
    def entities(self) -> OwnerIds:
        """Whose it is."""
        return entities_behind(self.origin.scope, self.behind)

    @property
    def metadata(self) -> dict[str, Any]:  # Any: JSON of the client's own
        """What the client kept with it."""
        return tags_of(self.behind).metadata or {}

    def expired(self, today: date) -> bool:
        """Whether the client said that it should not be shown any more by now."""
        last = tags_of(self.behind).expiration_date
        return last is not None and last < today


def memory_of_fact(
    fact: FactView,
    memory_id: str,
    behind: EventView | None,
    *,
    first: EventView | None,
    superseded_by: str | None,
) -> Mem0Memory:
    """The memory of a fact, as ``behind`` shows it; ``first`` is the turn that began what it stands for."""
    began = fact.recorded_from if first is None else first.context.recorded_at
    origin = Origin(
        type="fact",
        record_id=fact.id,
        scope=fact.scope,
        valid_from=rfc3339(fact.valid_from),
        valid_to=rfc3339_or_none(fact.valid_to),
        may_have_changed=None
        if fact.may_have_changed is None
        else rfc3339(fact.may_have_changed.observed_at),
    )
    return Mem0Memory(
        id=memory_id,
        text=text_of_fact(fact),
        origin=origin,
        categories=(fact.kind,),
        created_at=min(began, fact.recorded_from),
        updated_at=fact.recorded_from,
        said_at=fact.valid_from if behind is None else behind.context.observed_at,
        behind=behind,
        superseded_by=superseded_by,
    )


def memory_of_turn(event: EventView, memory_id: str) -> Mem0Memory:
    """The memory that a turn is by itself."""
    return Mem0Memory(
        id=memory_id,
        text=text_of_turn(event),
        origin=Origin(type="turn", record_id=event.id, scope=event.scope),
        categories=(),
        created_at=event.context.recorded_at,
        updated_at=event.context.recorded_at,
        said_at=event.context.observed_at,
        behind=event,
    )


def text_of_fact(fact: FactView) -> str:
    """What a fact says."""
    if fact.text:
        return fact.text
    thing = fact.object.value if fact.object.type == "literal" else fact.object.name
    return f"{fact.subject.name} {fact.predicate} {thing}"


def text_of_turn(event: EventView) -> str:
    """What a turn says; empty where it holds no words."""
    said = (event.content or {}).get("text")
    return said if isinstance(said, str) else ""


def as_json(
    memory: Mem0Memory, score: float | None = None, fields: Collection[str] = ()
) -> dict[str, Any]:  # Any: JSON
    """A memory on the wire, or those ``fields`` of it that a client asks for."""
    entities, tags = memory.entities, tags_of(memory.behind)
    whole = MemoryShown(
        id=memory.id,
        memory=memory.text,
        user_id=entities.user_id,
        agent_id=entities.agent_id,
        app_id=entities.app_id,
        run_id=entities.run_id,
        metadata=tags.metadata,
        categories=list(memory.categories),
        created_at=rfc3339(memory.created_at),
        updated_at=rfc3339(memory.updated_at),
        timestamp=rfc3339(memory.said_at),
        expiration_date=None if tags.expiration_date is None else tags.expiration_date.isoformat(),
        superseded_by=memory.superseded_by,
        score=score,
        lamina=memory.origin,
    )
    left_out = {name for name in ("superseded_by", "score") if getattr(whole, name) is None}
    kept = {"id", "memory", "score", *fields} if fields else set(MemoryShown.model_fields)
    return whole.model_dump(mode="json", include=kept - left_out)
