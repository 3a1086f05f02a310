"""Asks that read the five layers (seed 002, 8.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from lamina import limits
from lamina.client.asks import Ask, ask
from lamina.client.identity import Identity
from lamina.client.options import (
    BeliefFilters,
    ConceptFilters,
    CorrectionOptions,
    EpisodeFilters,
    EventFilters,
    FactFilters,
    Time,
    TimelineFilters,
    View,
)
from lamina.client.reads import list_ask, one_ask
from lamina.client.session import new_key
from lamina.kernel.views import BeliefView, ConceptView, EpisodeView, EventView, FactView
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
from lamina.types.lifecycle import AnswerForgotten
from lamina.types.writes import CorrectionCaptured, DecisionCaptured, SynthesisAccepted

__all__ = [
    "belief",
    "beliefs",
    "concept",
    "concepts",
    "correct",
    "coverage",
    "entity",
    "episode",
    "episodes",
    "event",
    "events",
    "fact",
    "facts",
    "forget_answer",
    "merge",
    "related",
    "retract",
    "split",
    "synthesize",
    "timeline",
    "why",
    "why_record",
]

ResultT = TypeVar("ResultT", bound=BaseModel)


def events(identity: Identity, filters: EventFilters) -> Ask[EventPage]:
    """A page of events."""
    return list_ask(identity, "/v1/events", EventPage, filters)


def event(event_id: str) -> Ask[EventView]:
    """One event."""
    return one_ask("/v1/events/{event_id}", EventView, "event_id", event_id)


def forget_answer(event_id: str) -> Ask[AnswerForgotten]:
    """Forget what a model read in a turn."""
    path, names = "/v1/events/{event_id}/forget-answer", {"event_id": event_id}
    return ask("POST", path, AnswerForgotten, names=names, body={"idempotency_key": new_key()})


def episodes(identity: Identity, filters: EpisodeFilters) -> Ask[EpisodePage]:
    """A page of episodes."""
    return list_ask(identity, "/v1/episodes", EpisodePage, filters)


def episode(episode_id: str, as_of: Time | None) -> Ask[EpisodeView]:
    """One episode."""
    return one_ask("/v1/episodes/{episode_id}", EpisodeView, "episode_id", episode_id, as_of=as_of)


def facts(identity: Identity, filters: FactFilters) -> Ask[FactPage]:
    """A page of facts."""
    return list_ask(identity, "/v1/facts", FactPage, filters)


def fact(fact_id: str, as_of: Time | None) -> Ask[FactView]:
    """One fact."""
    return one_ask("/v1/facts/{fact_id}", FactView, "fact_id", fact_id, as_of=as_of)


def correct(
    fact_id: str, value: Any, valid_from: Time | None, options: CorrectionOptions
) -> Ask[CorrectionCaptured]:
    """Put another value in the place of a fact's."""
    return _correction(fact_id, "correct", {"object": value, "valid_from": valid_from}, options)


def retract(fact_id: str, valid_to: Time | None, options: CorrectionOptions) -> Ask[CorrectionCaptured]:
    """Say that a fact holds no more."""
    return _correction(fact_id, "retract", {"valid_to": valid_to}, options)


def _correction(
    fact_id: str, action: str, said: Mapping[str, Any], options: CorrectionOptions
) -> Ask[CorrectionCaptured]:
    given = {name: value for name, value in {**said, **options}.items() if value is not None}
    if isinstance(given.get("observed_actor"), str):
        given["observed_actor"] = {"id": given["observed_actor"]}
    given.setdefault("idempotency_key", new_key())
    return ask(
        "POST",
        f"/v1/facts/{{fact_id}}/{action}",
        CorrectionCaptured,
        names={"fact_id": fact_id},
        body=to_jsonable_python(given),
        held_s=limits.WAIT_S_MAX if given.get("wait") in ("indexed", "consolidated") else 0.0,
    )


def timeline(
    identity: Identity,
    subject: str,
    predicate: str,
    filters: TimelineFilters,
) -> Ask[Timeline]:
    """The values that a subject's predicate has held."""
    asked = {**filters, "subject": subject, "predicate": predicate}
    return list_ask(identity, "/v1/facts/timeline", Timeline, asked)


def beliefs(identity: Identity, filters: BeliefFilters) -> Ask[BeliefPage]:
    """A page of beliefs."""
    return list_ask(identity, "/v1/beliefs", BeliefPage, filters)


def belief(belief_id: str, as_of: Time | None) -> Ask[BeliefView]:
    """One belief."""
    return one_ask("/v1/beliefs/{belief_id}", BeliefView, "belief_id", belief_id, as_of=as_of)


def why(belief_id: str, as_of: Time | None) -> Ask[Why]:
    """Why a belief is held."""
    return ask("GET", "/v1/beliefs/why", Why, query={"belief_id": belief_id, "as_of": as_of})


def why_record(record_id: str, as_of: Time | None) -> Ask[WhyRecord]:
    """Why a record of any layer is held."""
    return one_ask("/v1/why/{record_id}", WhyRecord, "record_id", record_id, as_of=as_of)


def concepts(identity: Identity, filters: ConceptFilters) -> Ask[ConceptPage]:
    """A page of concepts."""
    return list_ask(identity, "/v1/understanding", ConceptPage, filters)


def concept(concept_id: str, version: int | None, as_of: Time | None) -> Ask[ConceptView]:
    """One concept."""
    path = "/v1/understanding/{concept_id}"
    return one_ask(path, ConceptView, "concept_id", concept_id, version=version, as_of=as_of)


def related(concept_id: str, relation: str | None, depth: int, limit: int) -> Ask[RelatedPage]:
    """What a concept leads to."""
    path = "/v1/understanding/{concept_id}/related"
    return one_ask(path, RelatedPage, "concept_id", concept_id, relation=relation, depth=depth, limit=limit)


def coverage(identity: Identity, scope: str | None, view: View | None) -> Ask[Coverage]:
    """How much of a scope is understood."""
    return list_ask(identity, "/v1/understanding/coverage", Coverage, {"scope": scope, "view": view})


def synthesize(
    identity: Identity, topics: Sequence[str], scope: str | None, *, force: bool
) -> Ask[SynthesisAccepted]:
    """Have what a scope understands made anew."""
    body = {"topics": list(topics), "force": force}
    return _decision("/v1/understanding/synthesize", SynthesisAccepted, {}, body, identity, scope)


def entity(identity: Identity, entity_id: str, scope: str | None, as_of: Time | None) -> Ask[EntityView]:
    """One entity as a scope knows it."""
    path = "/v1/entities/{entity_id}"
    return one_ask(path, EntityView, "entity_id", entity_id, scope=identity.scope_for(scope), as_of=as_of)


def merge(
    identity: Identity, entity_id: str, into: str, scope: str | None, why: str | None
) -> Ask[DecisionCaptured]:
    """Say that two entities are one."""
    path, names = "/v1/entities/{entity_id}/merge", {"entity_id": entity_id}
    return _decision(path, DecisionCaptured, names, {"into": into, "why": why}, identity, scope)


def split(
    identity: Identity, entity_id: str, name: str, facts: Sequence[str], scope: str | None, why: str | None
) -> Ask[DecisionCaptured]:
    """Say that one entity is two."""
    path, names = "/v1/entities/{entity_id}/split", {"entity_id": entity_id}
    body = {"name": name, "facts": list(facts), "why": why}
    return _decision(path, DecisionCaptured, names, body, identity, scope)


def _decision(
    path: str,
    result: type[ResultT],
    names: Mapping[str, str],
    said: Mapping[str, Any],  # Any: JSON
    identity: Identity,
    scope: str | None,
) -> Ask[ResultT]:
    given = {name: value for name, value in said.items() if value is not None}
    body = {**given, "scope": identity.scope_for(scope), "idempotency_key": new_key()}
    return ask("POST", path, result, names=names, body=body)
