"""What the reads of the layers answer (seed 002, 8.7). Clients have these types too, so nothing of a store is imported."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from lamina.kernel.views import BeliefView, ConceptView, EpisodeView, EventView, FactView
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import Result

__all__ = [
    "BeliefPage",
    "ConceptPage",
    "Coverage",
    "DeniedScope",
    "EntityDecision",
    "EntityView",
    "EpisodePage",
    "EventPage",
    "FactPage",
    "LayerCoverage",
    "Page",
    "RelatedConcept",
    "RelatedPage",
    "SupportGraph",
    "Timeline",
    "TimelineEntry",
    "TimelineSubject",
    "TopicCoverage",
    "TraversedScope",
    "Why",
    "WhyEdge",
    "WhyNode",
    "WhyRecord",
]

NARRATIVE_MODEL: Final = "extractive"


class TraversedScope(Result):
    """A scope that a read covered, and how many of the items shown are of it."""

    scope: str
    items: int


class DeniedScope(Result):
    """A scope below that the caller may not read: how many events it holds, and the tier that denies them."""

    scope: str
    denied: Literal[True]
    item_count: int
    denied_reason: str


class Page(Result):
    """A page. While ``has_more``, the next begins at ``next_cursor``; a page may be short and have more behind it."""

    next_cursor: str | None
    has_more: bool
    scopes_traversed: list[TraversedScope | DeniedScope] | None = None
    """The scopes that a view beyond ``local`` walked; null for a local one."""


class EventPage(Page):
    """Events, newest entry of the log first. Cancelled ones are left out."""

    items: list[EventView]


class EpisodePage(Page):
    """Episodes, the newest knowledge first."""

    items: list[EpisodeView]


class FactPage(Page):
    """Facts, the newest knowledge first."""

    items: list[FactView]


class BeliefPage(Page):
    """Beliefs, the newest knowledge first. Deleted ones are left out."""

    items: list[BeliefView]


class TimelineSubject(Result):
    """Whom a timeline is about; ``id`` is null for a name of whom it shows nothing."""

    id: str | None
    name: str | None


class TimelineEntry(Result):
    """A value, and the stretch of the world's time in which it held."""

    fact_id: str
    scope: str
    value: Any  # Any: a JSON scalar, or the name of an entity
    unit: str | None
    negated: bool
    valid_from: Stamp
    valid_to: Stamp | None
    confidence: float
    superseded_by: str | None
    version: int
    recorded_from: Stamp
    recorded_to: Stamp | None


class Timeline(Result):
    """The values that a subject's predicate has held, first to last in valid time.

    ``has_more`` says that there were more than can be shown; the newest are.
    """

    subject: TimelineSubject
    predicate: str
    timeline: list[TimelineEntry]
    has_more: bool


class ConceptPage(Page):
    """Concepts, the newest knowledge first. ``related`` holds their neighbours where ``depth`` asks for them."""

    items: list[ConceptView]
    related: list[ConceptView]


class RelatedConcept(Result):
    """A concept, and the edge over which it was reached first; ``depth`` counts edges from where one began."""

    concept: ConceptView
    relation: str
    weight: float
    depth: int
    source: str = Field(validation_alias="from", serialization_alias="from")


class RelatedPage(Result):
    """The concepts that a concept leads to, nearest first and then by weight; ``has_more`` where the limit cut."""

    items: list[RelatedConcept]
    has_more: bool


class TopicCoverage(Result):
    """How many concepts a topic has, and how firmly they stand on average."""

    topic: str
    concepts: int
    avg_confidence: float


class LayerCoverage(Result):
    """How many records of a layer the standing concepts were made from, of how many there are."""

    layer: str
    consulted: int
    available: int


class Coverage(Result):
    """How much of a scope is understood.

    ``coverage_score`` is the share of its facts, episodes and beliefs that its concepts were made from; ``inputs`` counts them by
    layer. ``synthesis_lag`` is how much later the newest one that none was made from is than the newest synthesis. ``_partial`` while there is
    any, or something left to derive.
    """

    scope: str
    concept_count: int
    by_topic: list[TopicCoverage]
    inputs: list[LayerCoverage]
    coverage_score: float
    synthesis_lag: str
    partial: bool = Field(validation_alias="_partial", serialization_alias="_partial")


class EntityDecision(Result):
    """That two entities were found to be one, or one to be two: by whom, when, and why."""

    event_id: str
    action: Literal["merge", "split"]
    entity_id: str
    other_id: str
    decided_by: str
    decided_at: Stamp
    why: str | None


class EntityView(Result):
    """An entity of a scope. ``canonical_id`` is the one as which it is known there, null where that is itself; ``known_as`` are those that
    it was found to be as well. ``names`` are as they were written in the scope, the newest first."""

    id: str
    scope: str
    type: str | None
    canonical_id: str | None
    known_as: list[str]
    names: list[str]
    decisions: list[EntityDecision]


class WhyNode(Result):
    """A record or an event that the belief rests on. ``summary`` is null for one that is gone or was cancelled."""

    id: str
    type: str
    weight: float | None
    summary: str | None


class WhyEdge(Result):
    """Which record rests on which."""

    source: str = Field(validation_alias="from", serialization_alias="from")
    to: str
    relation: str


class DeniedSupport(Result):
    """What a belief rests on in scopes that the caller may not read: how many records speak for it, or against it, and the tier that
    denies them. Nothing says which records these are, or where."""

    denied: Literal[True]
    type: str
    polarity: Literal["supports", "against"]
    item_count: int
    denied_reason: str


class SupportGraph(Result):
    """What the record rests on, nearest first; ``truncated`` says that there is more than is shown, ``denied`` what the caller may
    not read."""

    nodes: list[WhyNode]
    edges: list[WhyEdge]
    truncated: bool
    denied: list[DeniedSupport] = Field(default_factory=list)


class WhyRecord(Result):
    """A record of any layer, what it rests on down to the events, and that in words. The graph of an event is what was derived from it
    (``led_to``); that of a coordination artifact begins with what it was made from (``rests_on``), back to the capsule."""

    id: str
    type: str
    record: EventView | EpisodeView | FactView | BeliefView | ConceptView
    support_graph: SupportGraph
    narrative: str
    narrative_model: str = NARRATIVE_MODEL


class Why(Result):
    """A belief, what it rests on down to the events, and that in words."""

    belief: BeliefView
    support_graph: SupportGraph
    narrative: str
    narrative_model: str = NARRATIVE_MODEL
