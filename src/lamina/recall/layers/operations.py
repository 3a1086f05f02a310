"""The read operations of the five layers (seed 002, 8.7)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import BaseModel

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Principal, Tier
from lamina.kernel.scopes import Scope
from lamina.kernel.views import BeliefView, ConceptView, EpisodeView, EventView, FactView
from lamina.recall.layers.claims import ClaimReads
from lamina.recall.layers.coverage import CoverageReads
from lamina.recall.layers.entities import EntityReads, EntityRequest
from lamina.recall.layers.events import EventReads
from lamina.recall.layers.forgotten import telling_of_forgotten
from lamina.recall.layers.reach import view_grants
from lamina.recall.layers.understanding import ConceptReads
from lamina.recall.layers.why import BeliefReasons
from lamina.recall.layers.why_records import RecordReasons
from lamina.store.ports.store import Store
from lamina.types import layer_requests as requests
from lamina.types.layers import (
    BeliefPage,
    ConceptPage,
    Coverage,
    EntityView,
    EpisodePage,
    EventPage,
    FactPage,
    RelatedPage,
    Timeline,
    Why,
    WhyRecord,
)

__all__ = ["layer_operations"]


def layer_operations(store: Store) -> list[Operation[Any]]:
    """The operations that read events, episodes, facts, beliefs and concepts."""
    events, claims, reasons, concepts = (
        EventReads(store),
        ClaimReads(store),
        BeliefReasons(store),
        ConceptReads(store),
    )
    single = partial(_single, store)
    return [
        _listing("events", requests.EventsRequest, EventPage, events.events, "List events, newest first."),
        single("event", requests.EventId, EventView, events.event, "Read one event."),
        _listing("episodes", requests.EpisodesRequest, EpisodePage, events.episodes, "List episodes."),
        single("episode", requests.EpisodeId, EpisodeView, events.episode, "Read one episode."),
        _listing("facts", requests.FactsRequest, FactPage, claims.facts, "List facts."),
        single("fact", requests.FactId, FactView, claims.fact, "Read one fact."),
        _listing(
            "facts_timeline",
            requests.TimelineRequest,
            Timeline,
            claims.timeline,
            "The values that a subject's predicate has held, in the order in which they held.",
        ),
        _listing("beliefs", requests.BeliefsRequest, BeliefPage, claims.beliefs, "List beliefs.", Tier.BETA),
        single("belief", requests.BeliefId, BeliefView, claims.belief, "Read one belief.", Tier.BETA),
        single(
            "beliefs_why",
            requests.WhyRequest,
            Why,
            reasons.why,
            "Why a belief is held, down to the events.",
            Tier.BETA,
        ),
        single(
            "why",
            requests.WhyRecordRequest,
            WhyRecord,
            RecordReasons(store, events, claims, concepts).why,
            "Why a record of any layer is held, down to the events.",
            Tier.BETA,
        ),
        Operation(
            name="entity",
            request=EntityRequest,
            result=EntityView,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.BETA,
            grants=lambda r, p: [Grant(Capability.SCOPE_READ_LOCAL, Scope(r.scope))],  # noqa: ARG005 - the port's shape
            handler=EntityReads(store).entity,
            summary="Read one entity as a scope knows it, with what was decided of which it is.",
            fails=("NOT_FOUND",),
        ),
        _listing(
            "understanding",
            requests.ConceptsRequest,
            ConceptPage,
            concepts.concepts,
            "List concepts.",
            Tier.BETA,
            Capability.UNDERSTANDING_READ,
        ),
        single(
            "concept",
            requests.ConceptId,
            ConceptView,
            concepts.concept,
            "Read one concept.",
            Tier.BETA,
            Capability.UNDERSTANDING_READ,
        ),
        single(
            "concept_related",
            requests.RelatedRequest,
            RelatedPage,
            concepts.related,
            "The concepts that a concept leads to.",
            Tier.BETA,
            Capability.UNDERSTANDING_READ,
        ),
        _listing(
            "understanding_coverage",
            requests.CoverageRequest,
            Coverage,
            CoverageReads(store).coverage,
            "How much of a scope is understood.",
            Tier.BETA,
            Capability.UNDERSTANDING_READ,
        ),
    ]


_Handler = Callable[[Any, Call], Answer]


def _listing(
    name: str,
    request: type[BaseModel],
    result: type[BaseModel],
    handler: _Handler,
    summary: str,
    tier: Tier = Tier.STABLE,
    capability: Capability = Capability.SCOPE_READ_LOCAL,
) -> Operation[Any]:
    """An operation over a scope and a view of it."""
    more = [] if capability is Capability.SCOPE_READ_LOCAL else [capability]
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=capability,
        effect=Effect.READ,
        tier=tier,
        grants=lambda asked, _: view_grants(asked.scope, asked.view, *more),
        handler=handler,
        summary=summary,
    )


def _single(
    store: Store,
    name: str,
    request: type[BaseModel],
    result: type[BaseModel],
    handler: _Handler,
    summary: str,
    tier: Tier = Tier.STABLE,
    capability: Capability = Capability.SCOPE_READ_LOCAL,
) -> Operation[Any]:
    """An operation on one record, whose scope is checked once it is known."""

    def grants(asked: BaseModel, principal: Principal) -> list[Grant]:  # noqa: ARG001 - the port's shape
        return [Grant(capability, None)]

    return Operation(
        name=name,
        request=request,
        result=result,
        capability=capability,
        effect=Effect.READ,
        tier=tier,
        grants=grants,
        handler=telling_of_forgotten(store, handler),
        summary=summary,
        fails=("NOT_FOUND", "RESOURCE_DELETED"),
    )
