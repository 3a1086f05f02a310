"""Which concept stands for an entity: ids stay, two that turn out to be one coalesce, one that was two is split (seed 002, 7.5.1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Concept, Stance
from lamina.kernel.understanding import WHOLE
from lamina.pipeline.versions import next_version
from lamina.pipeline.view import View
from lamina.store.ports.writes import Closing, Writes

__all__ = ["Coalescence", "ConceptIdentity", "identity_of_concept"]


class ConceptIdentity(NamedTuple):
    """The id of the concept of an entity, its last version where there is one, and the concept that it was split from."""

    id: str
    held: Concept | None
    split_from: str | None


def identity_of_concept(view: View, entity: str, topic: str) -> ConceptIdentity:
    """The concept that stands for one side of an entity. Its id is made from scope, entity and topic; an alias leads to its canonical
    concept, and one that was split to the half that the entity is now."""
    event = view.event
    side = "" if topic == WHOLE else topic
    record_id, source = derived_id(Prefix.CONCEPT, 0, event.tenant_id, event.scope, entity, side), None
    while isinstance(held := view.record(record_id), Concept):
        if held.canonical_id is not None:
            record_id = held.canonical_id
        elif held.valid_to is not None:
            source = record_id
            parts = (event.tenant_id, event.scope, entity, side, record_id, held.version)
            record_id = derived_id(Prefix.CONCEPT, 0, *parts)
        else:
            return ConceptIdentity(record_id, held, source)
    return ConceptIdentity(record_id, None, source)


class Coalescence:
    """What a decision of which entity an entity is makes of their concepts."""

    def __init__(self, view: View) -> None:
        self._view = view

    def merged(self, into: str, entity: str, topics: Collection[str]) -> Writes:
        """Of two concepts the older is canonical; the other becomes its alias and is deprecated. Of one that stands alone the entity's
        own becomes the alias."""
        writes, event = Writes(), self._view.event
        for topic in sorted({WHOLE, *topics}):
            own, other = (identity_of_concept(self._view, each, topic) for each in (into, entity))
            if other.held is None or other.id == own.id:
                continue
            if own.held is None:
                writes.records.append(
                    _alias(event, replace(other.held, id=own.id, version=0, about=into), other.id)
                )
                # It keeps the words, so that it goes where what they rest on does.
                writes.supports += [
                    each._replace(record_id=own.id, recorded_at=event.recorded_at)
                    for each in self._view.supports_of([other.id]).get(other.id, ())
                ]
                canonical = other.held
            else:
                canonical, alias = sorted(
                    (own.held, other.held), key=lambda each: (self._view.began(each.id), each.id)
                )
                _close(event, alias, writes)
                writes.records.append(_alias(event, alias, canonical.id))
            if canonical.about != into:
                _close(event, canonical, writes)
                writes.records.append(next_version(event, canonical, replace(canonical, about=into)))
        return writes

    def ended(self, entity: str, topics: Collection[str]) -> Writes:
        """The concepts of an entity that was two end; what they were is in two new ones."""
        writes, event = Writes(), self._view.event
        for topic in sorted({WHOLE, *topics}):
            held = identity_of_concept(self._view, entity, topic).held
            if held is not None:
                _close(event, held, writes)
                until = max(event.context.observed_at, held.valid_from + 1)
                writes.records.append(next_version(event, held, replace(held, valid_to=until)))
        return writes


def _alias(event: Event, concept: Concept, canonical_id: str) -> Concept:
    alias = replace(concept, canonical_id=canonical_id, stance=Stance.DEPRECATED)
    return next_version(event, concept, alias)


def _close(event: Event, held: Concept, writes: Writes) -> None:
    if held.recorded_to is None:
        writes.closings.append(Closing.of(held, event.recorded_at))
