"""Why a belief is held: its support graph walked down to the events, and the same in words (seed 002, 8.7.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Event, text_of
from lamina.kernel.local import day_text
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.records import (
    Belief,
    Claim,
    Concept,
    Episode,
    Fact,
    Layer,
    ObjectValue,
    Record,
    Support,
    layer_of,
)
from lamina.kernel.shown import shortened
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.kernel.views import BeliefView, consulted_supports
from lamina.kernel.views.parts import kind_of, supports_held
from lamina.models.belief_words import question_about_belief, reasons_by
from lamina.recall.layers.claims import held_belief, with_tensions
from lamina.recall.layers.reading import counting, one_seen_at
from lamina.recall.wording import without_cancelled
from lamina.store.ports.store import Store
from lamina.store.queries import Shown
from lamina.types.layer_requests import WhyRequest
from lamina.types.layers import NARRATIVE_MODEL, DeniedSupport, SupportGraph, Why, WhyEdge, WhyNode

__all__ = ["AGAINST", "BeliefReasons", "GraphWalk", "joined", "summary_of", "told_of", "walked"]

_CONTRADICTED_BY: Final = "contradicted_by"
_MAY_HAVE_CHANGED_BY: Final = "may_have_changed_by"
AGAINST: Final = frozenset({_CONTRADICTED_BY, _MAY_HAVE_CHANGED_BY})
"""The relations to what is no reason to hold a record."""

_NAMED_MAX = 3


@dataclass(slots=True)
class GraphWalk:
    """The graph as far as it was walked, breadth first."""

    order: list[str] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    edges: list[WhyEdge] = field(default_factory=list)
    truncated: bool = False
    denied: list[DeniedSupport] = field(default_factory=list)

    def read(self, store: Store, tenant_id: str, seen_at: Instant | None) -> dict[str, Record | Event]:
        """What was reached, without the words of what was cancelled."""
        rested = list(store.records.get(tenant_id, self.order, seen_at=seen_at).values())
        found: dict[str, Record | Event] = {
            each.id: each for each in without_cancelled(store, tenant_id, rested, seen_at=seen_at)
        }
        event_ids = [each for each in self.order if layer_of(each) is Layer.EVENTS]
        found.update(store.log.get(tenant_id, event_ids))
        return found

    def nodes(self, found: Mapping[str, Record | Event]) -> list[WhyNode]:
        """The nodes of the graph, in the order in which they were reached."""
        return [_node(each, found.get(each), self.weights.get(each)) for each in self.order]


class BeliefReasons:
    """Handler of ``GET /v1/beliefs/why``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def why(self, request: WhyRequest, call: Call) -> Answer:
        """The support graph of a belief, as far as it lies in scopes that the caller may read."""
        records, tenant_id = self._store.records, call.principal.tenant_id
        seen_at = one_seen_at(self._store.log, call, request.as_of)
        belief = held_belief(records, call, request.belief_id, seen_at)
        walk = walked(self._store, belief, call, seen_at)
        found = walk.read(self._store, tenant_id, seen_at)
        nodes = walk.nodes(found)
        (view,) = with_tensions(self._store, call, [belief], seen_at)
        summaries = {node.id: node.summary for node in nodes if node.summary is not None}
        told = self._told_by_model(belief, summaries, seen_at) or _Reasons(
            _told_by_rules(belief, view, summaries, found), NARRATIVE_MODEL
        )
        result = Why(
            belief=view,
            support_graph=SupportGraph(
                nodes=nodes, edges=walk.edges, truncated=walk.truncated, denied=walk.denied
            ),
            narrative=f"{told.text}{_changed(view, summaries, found)} {_figures(view, walk.denied)}",
            narrative_model=told.by,
        )
        return Answer(result)

    def _told_by_model(
        self, belief: Belief, shown: Collection[str], seen_at: Instant | None
    ) -> _Reasons | None:
        """Why it is held in the words of a language model, where one was asked about just these facts, and the caller may see all of them:
        each sentence with the ids of the facts that say it."""
        question = question_about_belief(self._store, belief, seen_at=seen_at)
        if question is None or not all(line.id in shown for line in question.lines):
            return None
        output = self._store.model_outputs.find(belief.tenant_id, question.input_hash)
        if output is None or (seen_at is not None and output.recorded_at > seen_at):
            return None
        reasons = " ".join(
            f"{each.text.rstrip('.')} ({', '.join(each.cites)})."
            for each in reasons_by(output.text, question)
        )
        return (
            _Reasons(f"{_stance(belief)} that {_claim(belief)}. {reasons}", output.model) if reasons else None
        )


def walked(store: Store, root: Record, call: Call, seen_at: Instant | None) -> GraphWalk:
    """What a record rests on, nearest first, as far as it lies in scopes that the caller may read."""
    walk, tenant_id = GraphWalk(), call.principal.tenant_id
    shown = Shown(store.records, tenant_id, call.may_read, seen_at=seen_at)
    seen = {root.id}
    frontier = [root.id]
    for depth in range(limits.WHY_DEPTH_MAX):
        supports = shown.supports_of(frontier)
        held = [root] if depth == 0 else store.records.get(tenant_id, frontier, seen_at=seen_at).values()
        supports = {each.id: _made_from(store, each, supports.get(each.id, ())) for each in held}
        if depth == 0 and isinstance(root, Belief):
            walk.denied = _denied(store, root, call, {each.source_id for each in supports[root.id]})
        reached: list[str] = []
        for record_id in frontier:
            for support in _strongest_first(supports.get(record_id, ())):
                if support.source_id not in seen:
                    if len(seen) > limits.WHY_NODES_MAX:
                        walk.truncated = True
                        continue
                    seen.add(support.source_id)
                    reached.append(support.source_id)
                    walk.weights[support.source_id] = support.weight
                edge = WhyEdge(source=record_id, to=support.source_id, relation=_relation(support))
                if edge not in walk.edges[-1:]:
                    walk.edges.append(edge)
        walk.order += reached
        frontier = [each for each in reached if layer_of(each) is not Layer.EVENTS]
        if not frontier:
            return walk
    walk.truncated = True
    return walk


def _made_from(store: Store, record: Record, supports: Sequence[Support]) -> list[Support]:
    """Those of a record's supports that its version was made from: a record keeps what its earlier versions rested on."""
    held = supports_held(record, supports)
    if isinstance(record, Belief):
        return counting(store.records, record, held)
    return consulted_supports(record, held) if isinstance(record, Concept) else held


def _denied(store: Store, belief: Belief, call: Call, shown: Collection[str]) -> list[DeniedSupport]:
    """The evidence of a belief that lies in scopes that the caller may not read, counted."""
    hidden = {each.source_id: each.polarity for each in belief.evidence if each.source_id not in shown}
    scopes = store.records.scopes_of(belief.tenant_id, hidden)
    counted = Counter(
        (kind_of(key), hidden[key], call.permits.tier_of(Grant(Capability.SCOPE_READ_LOCAL, scope)))
        for key, scope in scopes.items()
        if not call.may_read(scope)
    )
    return [
        DeniedSupport(denied=True, type=kind, polarity=polarity, item_count=count, denied_reason=tier)
        for (kind, polarity, tier), count in sorted(counted.items())
    ]


def _strongest_first(supports: Sequence[Support]) -> list[Support]:
    return sorted(supports, key=lambda each: (-each.weight, each.place, each.at or 0, each.source_id))


def _relation(support: Support) -> str:
    if support.relation == Tie.MAY_CHANGE:
        return _MAY_HAVE_CHANGED_BY
    is_of_fact = layer_of(support.record_id) is Layer.FACTS
    if support.polarity == "against" and not (is_of_fact and support.relation == Tie.EXTRACTED_FROM):
        return _CONTRADICTED_BY
    if is_of_fact:
        return "extracted_from"
    if layer_of(support.record_id) is Layer.EPISODES:
        return "contains"
    return "supported_by" if layer_of(support.record_id) is Layer.BELIEFS else "synthesized_from"


def _node(node_id: str, found: Record | Event | None, weight: float | None) -> WhyNode:
    summary = None if found is None or found.excluded else summary_of(found)
    return WhyNode(id=node_id, type=kind_of(node_id), weight=weight, summary=summary)


def summary_of(found: Record | Event) -> str:
    """A record in a line."""
    if isinstance(found, Event):
        return _cut(text_of(found.content))
    if isinstance(found, Fact):
        return _cut(found.text) if found.text else _claim(found)
    if isinstance(found, Belief):
        return _claim(found)
    if isinstance(found, Episode | Concept):
        return _cut(found.name)
    return ""


def _cut(text: str) -> str:
    return shortened(text, limits.SUMMARY_LENGTH_MAX)


def _claim(record: Claim) -> str:
    negation = "not " if record.negated else ""
    return (
        f"{record.subject.name} {negation}{record.predicate.replace('_', ' ')} {_said(record.object)}".strip()
    )


def _said(value: ObjectValue) -> str:
    return "" if value.datatype == "boolean" and value.value is True else value.text


class _Reasons(NamedTuple):
    """Why a belief is held, and who tells it."""

    text: str
    by: str


def _told_by_rules(
    belief: Belief, view: BeliefView, summaries: Mapping[str, str], found: Mapping[str, Record | Event]
) -> str:
    """The same words for the same state: the strongest supports of each side."""
    strongest = sorted(view.supports, key=lambda support: (-support.weight, support.id))
    told = {
        side: [
            told_of(support.id, summaries, found)
            for support in strongest
            if support.polarity == side and support.id in summaries
        ][:_NAMED_MAX]
        for side in ("supports", "against")
    }
    because = f" because {joined(told['supports'])}" if told["supports"] else ""
    against = f" Against it speaks {joined(told['against'])}." if told["against"] else ""
    return f"{_stance(belief)} that {_claim(belief)}{because}.{against}"


def _changed(view: BeliefView, summaries: Mapping[str, str], found: Mapping[str, Record | Event]) -> str:
    """By which turn it may have changed, if it may; of one that the graph has no room for, the id."""
    turn = view.may_have_changed
    if turn is None:
        return ""
    said = told_of(turn.event_id, summaries, found) if turn.event_id in summaries else turn.event_id
    return f" It may have changed since: {said}."


def _stance(belief: Belief) -> str:
    verb = {
        "contradicted": "I no longer think",
        "uncertain": "I am not sure",
        "deprecated": "I used to think",
    }
    return verb.get(belief.stance.value, "I think")


def _figures(view: BeliefView, denied: Sequence[DeniedSupport]) -> str:
    """How sure it is: the confidence and its interval."""
    interval = view.confidence_interval
    count = len(view.supports)
    elsewhere = sum(each.item_count for each in denied)
    closed = f", {elsewhere} of them in scopes that you may not read" if elsewhere else ""
    count += elsewhere
    return (
        f"The confidence is {view.confidence:.2f}, with {interval.level:.0%} between {interval.lower:.2f} and "
        f"{interval.upper:.2f}, from {count} support{'' if count == 1 else 's'}{closed}."
    )


def told_of(record_id: str, summaries: Mapping[str, str], found: Mapping[str, Record | Event]) -> str:
    """A record in its own words, with since when it holds."""
    record = found.get(record_id)
    offset = record.from_offset if isinstance(record, Claim) else None
    since = f"on {day_text(record.valid_from, offset)} " if isinstance(record, Record) else ""
    return f"{since}“{summaries[record_id]}” ({record_id})"


def joined(parts: Sequence[str]) -> str:
    """At least one part, as a list in words."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
