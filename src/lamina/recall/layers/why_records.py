"""Why a record of any layer is held: ``GET /v1/why/{record_id}``, beside the contract's of beliefs."""

from __future__ import annotations

from typing import Any

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.records import Concept, Layer, layer_of
from lamina.kernel.relay import rests_on
from lamina.kernel.time import Instant, rfc3339_or_none
from lamina.kernel.views import BeliefView, ConceptView, EpisodeView, EventView, FactView
from lamina.kernel.views.parts import kind_of
from lamina.recall.layers.claims import ClaimReads
from lamina.recall.layers.events import EventReads
from lamina.recall.layers.reading import one_seen_at
from lamina.recall.layers.understanding import ConceptReads
from lamina.recall.layers.why import AGAINST, BeliefReasons, GraphWalk, joined, told_of, walked
from lamina.store.ports.store import Store
from lamina.types.layer_requests import ConceptId, EpisodeId, EventId, FactId, WhyRecordRequest, WhyRequest
from lamina.types.layers import SupportGraph, Why, WhyEdge, WhyNode, WhyRecord

__all__ = ["RecordReasons"]

_NAMED_MAX = 3
_RESTS_ON = "rests_on"
_NO_REASON = AGAINST | {_RESTS_ON}

RecordView = EventView | EpisodeView | FactView | BeliefView | ConceptView


class RecordReasons:
    """Handler of ``GET /v1/why/{record_id}``."""

    def __init__(self, store: Store, events: EventReads, claims: ClaimReads, concepts: ConceptReads) -> None:
        self._store = store
        self._events = events
        self._claims = claims
        self._concepts = concepts
        self._beliefs = BeliefReasons(store)

    def why(self, request: WhyRecordRequest, call: Call) -> Answer:
        """The record with its support graph, as far as that lies in scopes that the caller may read."""
        record_id = request.record_id
        if prefix_of(record_id) is Prefix.BELIEF:
            asked = WhyRequest(belief_id=record_id, as_of=_written(request.as_of))
            why: Why = self._beliefs.why(asked, call).result
            explained = _explained(record_id, why.belief, why.support_graph, why.narrative)
            return Answer(explained.model_copy(update={"narrative_model": why.narrative_model}))
        record = self._record(request, call)
        seen_at = one_seen_at(self._store.log, call, request.as_of)
        walk = (
            self._derived(record_id, call, seen_at)
            if isinstance(record, EventView)
            else self._rests_on(record_id, call, seen_at)
        )
        found = walk.read(self._store, call.principal.tenant_id, seen_at)
        nodes = [
            node.model_copy(update={"summary": None})
            if isinstance(each := found.get(node.id), Concept) and not _may_read_concept(call, each)
            else node
            for node in walk.nodes(found)
        ]
        summaries = {node.id: node.summary for node in nodes if node.summary is not None}
        own = [edge for edge in walk.edges if edge.source == record_id and edge.to in summaries]
        made_from = [told_of(edge.to, summaries, found) for edge in own if edge.relation == _RESTS_ON]
        told = [told_of(edge.to, summaries, found) for edge in own if edge.relation not in _NO_REASON]
        against = [told_of(edge.to, summaries, found) for edge in own if edge.relation in AGAINST]
        graph = SupportGraph(nodes=nodes, edges=walk.edges, truncated=walk.truncated)
        narrative = _narrative(record, told, graph.nodes)
        if made_from:
            narrative = f"It was made from {joined(made_from[:_NAMED_MAX])}. {narrative}"
        if against:
            narrative = f"{narrative} Against it, or with a sign of change: {joined(against[:_NAMED_MAX])}."
        return Answer(_explained(record_id, record, graph, narrative))

    def _record(self, request: WhyRecordRequest, call: Call) -> RecordView:
        record_id, as_of = request.record_id, _written(request.as_of)
        view: RecordView
        match prefix_of(record_id):
            case Prefix.FACT:
                view = self._claims.fact(FactId(fact_id=record_id, as_of=as_of), call).result
            case Prefix.EPISODE:
                view = self._events.episode(EpisodeId(episode_id=record_id, as_of=as_of), call).result
            case Prefix.CONCEPT:
                view = self._concepts.concept(ConceptId(concept_id=record_id, as_of=as_of), call).result
            case _:
                view = self._events.event(EventId(event_id=record_id), call).result
        return view

    def _rests_on(self, record_id: str, call: Call, seen_at: Instant | None) -> GraphWalk:
        tenant_id = call.principal.tenant_id
        root = self._store.records.get(tenant_id, [record_id], seen_at=seen_at)[record_id]
        return walked(self._store, root, call, seen_at)

    def _derived(self, event_id: str, call: Call, seen_at: Instant | None) -> GraphWalk:
        """What an event was made from, and what was derived from it, each as far as the caller may read its scope."""
        tenant_id, walk = call.principal.tenant_id, self._made_from(event_id, call)
        ids = self._store.records.resting_on(tenant_id, [event_id], seen_at=seen_at).get(event_id, [])
        scopes = self._store.records.scopes_of(tenant_id, ids)
        room = limits.WHY_NODES_MAX - len(walk.order)
        led_to = [each for each in ids if each in scopes and call.may_read(scopes[each])][:room]
        walk.order += led_to
        walk.edges += [WhyEdge(source=event_id, to=each, relation="led_to") for each in led_to]
        walk.truncated = walk.truncated or len(ids) > room
        return walk

    def _made_from(self, event_id: str, call: Call) -> GraphWalk:
        """The events that a document's event rests on, and those that these rest on, nearest first: through a handoff to a capsule."""
        log, tenant_id, walk = self._store.log, call.principal.tenant_id, GraphWalk()
        front = list(log.get(tenant_id, [event_id]).values())
        for _ in range(limits.WHY_DEPTH_MAX):
            found = log.get(tenant_id, {each for event in front for each in _sources(event)})
            edges = [
                WhyEdge(source=event.id, to=each, relation=_RESTS_ON)
                for event in front
                for each in _sources(event)
                if each in found and call.may_read(found[each].scope)
            ]
            walk.edges += edges
            reached = [each for each in dict.fromkeys(edge.to for edge in edges) if each not in walk.order]
            walk.order += reached
            front = [found[each] for each in reached]
            if not front:
                return walk
        walk.truncated = any(map(_sources, front))
        return walk


def _written(as_of: Instant | None) -> Any:  # Any: a request reads it again, as it came in
    return rfc3339_or_none(as_of)


def _sources(event: Event) -> tuple[str, ...]:
    return rests_on(event.content, event.origin.channel)


def _explained(record_id: str, record: RecordView, graph: SupportGraph, narrative: str) -> WhyRecord:
    return WhyRecord(
        id=record_id, type=kind_of(record_id), record=record, support_graph=graph, narrative=narrative
    )


def _may_read_concept(call: Call, concept: Concept) -> bool:
    return call.permits.allows(Grant(Capability.UNDERSTANDING_READ, concept.scope))


def _narrative(record: RecordView, told: list[str], nodes: list[WhyNode]) -> str:
    """The same words for the same state: what the record is, and the first of what it rests on."""
    because = joined(told[:_NAMED_MAX]) if told else "nothing that is yours to read"
    events = sum(layer_of(node.id) is Layer.EVENTS for node in nodes)
    said = f"{events} event{'' if events == 1 else 's'}"
    if isinstance(record, EventView):
        return (
            f"What was derived from it: {because}."
            if told
            else "Nothing was derived from it that is yours to read."
        )
    if isinstance(record, FactView):
        return f"It is held with a confidence of {record.confidence:.2f} because of {because}."
    if isinstance(record, EpisodeView):
        return f"The episode holds {said}, among them {because}." if told else f"The episode holds {said}."
    return f"It was put together from {because}, and goes back to {said}."
