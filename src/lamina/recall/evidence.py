"""What a recall has read, as values: what follows from it is worked out by plain functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lamina.kernel.events import Event
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.views import ConceptStanding
from lamina.recall.changed import Changes
from lamina.recall.score import ScoredRecord
from lamina.store.queries import Links
from lamina.store.redactions import Redactions

__all__ = ["Behind", "ClaimEnds", "DerivedLayers", "Displayed", "Rendered", "SlotPlace"]

SlotPlace = tuple[Scope, str | None]
"""A slot of a scope."""


@dataclass(frozen=True, slots=True)
class ClaimEnds:
    """The ``facts`` that rest on events, as the plan sees them, and of the ``closed`` ones what may stand in their place.

    ``ended_by`` are the ids of what told that they are over. ``holders`` hold their slots now; ``known`` are the facts at hand, with those that the chains of what replaced them lead to.
    """

    facts: Mapping[str, RecordHead] = field(default_factory=dict)
    closed: Mapping[str, RecordHead] = field(default_factory=dict)
    ended_by: Mapping[str, Collection[str]] = field(default_factory=dict)
    holders: Mapping[SlotPlace, RecordHead] = field(default_factory=dict)
    known: Mapping[str, RecordHead] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind the best events and shares words with the question.

    ``graph`` is the best score among the events that a record rests on, ``about`` the entities that the question is about, ``named`` the
    records about those that it names. ``candidates`` are the records that the plan sees, in the order of their ids, and ``added_by_graph`` how
    many of those that were read share no word with the question.
    """

    graph: Mapping[str, float]
    about: Collection[str]
    named: Collection[str]
    candidates: Sequence[RecordHead]
    added_by_graph: int
    ends: ClaimEnds


@dataclass(frozen=True, slots=True)
class DerivedLayers:
    """The best records of each layer, at least as many as may be shown, and how many the graph brought. ``kept_out`` are records that
    would have been among them but for what their words hold, with the reasons."""

    by_layer: Mapping[Layer, list[ScoredRecord]]
    added_by_graph: int
    entities: int
    kept_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Displayed:
    """What may be shown: events by their ids, the derived layers in the words that the reader sees, which of their facts may have
    changed, and what rests on the events."""

    events: Mapping[str, Event]
    derived: DerivedLayers
    changes: Changes
    links: Links


@dataclass(frozen=True, slots=True)
class Rendered:
    """What explains what is shown: the why graph around it, what came of the inputs of its concepts, and what was redacted behind it."""

    links: Links
    standings: Mapping[str, ConceptStanding]
    redactions: Redactions
