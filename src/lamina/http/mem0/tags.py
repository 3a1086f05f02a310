"""What Mem0's clients say of a message beside its words, kept in the content of its turn under the key ``mem0``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from lamina.http.mem0.entities import OwnerIds, entities_of
from lamina.kernel.views import EventView

__all__ = ["REPLACES", "TAGS", "Tags", "entities_behind", "replaces_label", "tags_of"]

TAGS: Final = "mem0"
"""Under which key of a turn's content its tags are."""
REPLACES: Final = "mem0.replaces:"
"""How the label begins of a turn that took the place of a memory."""


class Tags(BaseModel):
    """What a client said. ``verbatim`` turns are memories as they stand; ``replaces`` is the memory whose place a turn took."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    agent_id: str | None = None
    run_id: str | None = None
    metadata: dict[str, Any] | None = None  # Any: JSON of the client's own
    expiration_date: date | None = None
    verbatim: bool = False
    replaces: str | None = None


def tags_of(event: EventView | None) -> Tags:
    """The tags of a turn; none of one that came through another door, whatever its content holds."""
    held: object = None if event is None or event.content is None else event.content.get(TAGS)
    if not isinstance(held, Mapping):
        return Tags()
    try:
        return Tags.model_validate(dict(held))
    except ValidationError:
        return Tags()


def entities_behind(scope: str, event: EventView | None) -> OwnerIds:
    """Whose memory a turn of a scope is: by the scope, and where that does not say, by the turn."""
    home, tags = entities_of(scope) or OwnerIds(), tags_of(event)
    session = None if event is None else event.observed_actor.session
    return OwnerIds(
        user_id=home.user_id,
        agent_id=home.agent_id or tags.agent_id,
        app_id=home.app_id,
        run_id=home.run_id or tags.run_id or session,
    )


def replaces_label(memory_id: str) -> str:
    """The label under which a turn is found that took a memory's place."""
    return f"{REPLACES}{memory_id}"
