"""Which entity a name stands for in a scope: two that were found to be one, and one that was two (decision 0031).

An entity's id is made from its name. That two names mean one, or that a name means two, is an entry of the log in the scope for which it was
decided; what is derived from there on, and anew at that place, goes by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lamina.kernel.events import IDENTITY, Event

__all__ = ["EntityMerge", "EntitySplit", "Sameness", "entities_of", "sameness_of", "standing_for"]


@dataclass(frozen=True, slots=True)
class EntityMerge:
    """What was known as ``entity`` is ``into``."""

    position: int
    entity: str
    into: str


@dataclass(frozen=True, slots=True)
class EntitySplit:
    """What some events said of ``entity``, they said of ``new``; so did whoever used the name of ``new``."""

    position: int
    entity: str
    new: str
    events: frozenset[str]


Sameness = EntityMerge | EntitySplit


def sameness_of(event: Event) -> Sameness | None:
    """The decision that an entry is, None for any other event, and for an entry that lost its content."""
    if event.origin.channel != IDENTITY or event.redacted_by is not None:
        return None
    said = event.content
    if said["action"] == "merge":
        return EntityMerge(event.position, str(said["entity_id"]), str(said["into"]))
    events = frozenset(str(each) for each in said["events"])
    return EntitySplit(event.position, str(said["entity_id"]), str(said["new_id"]), events)


def entities_of(decision: Sameness) -> tuple[str, str]:
    """The entities that a decision is about."""
    return decision.entity, decision.into if isinstance(decision, EntityMerge) else decision.new


def standing_for(entity: str, told_by: str | None, decisions: Callable[[str], Sequence[Sameness]]) -> str:
    """The entity that the id of a name stands for in an event's words (in nobody's with None), after all decisions.

    ``decisions`` gives those about an entity, in the order of the log. Each is followed once, in that order.
    """
    current, at = entity, 0
    while True:
        known = {each.position: each for each in (*decisions(current), *decisions(entity))}
        later = (known[position] for position in sorted(known) if position > at)
        step = next(
            ((each, to) for each in later if (to := _moved(each, entity, current, told_by)) is not None), None
        )
        if step is None:
            return current
        at, current = step[0].position, step[1]


def _moved(decision: Sameness, entity: str, current: str, told_by: str | None) -> str | None:
    if isinstance(decision, EntityMerge):
        return decision.into if current == decision.entity else None
    is_meant = current == decision.entity and told_by in decision.events
    return decision.new if is_meant or (entity == decision.new and current == decision.entity) else None
