"""What any record rests on, read record by record: for ``lamina why`` of what the server explains no further."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from lamina import limits
from lamina.client import Client
from lamina.errors import Forbidden, Gone, Invalid, NotFound
from lamina.kernel.events import text_of
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.local import LocalTime, day_text, offset_of_or_none
from lamina.kernel.records import Stance
from lamina.kernel.time import rfc3339
from lamina.kernel.views import BeliefView, ConceptView, EpisodeView, EventView, FactView
from lamina.kernel.views.parts import ClaimedView, DerivedView, LiteralView, kind_of
from lamina.recall.layers.results import SupportGraph, WhyEdge, WhyNode

__all__ = ["Reasons", "reasons_of", "record_of", "require_explicable", "words_of"]

NODES_MAX: Final = 60
"""Each is read by a call of its own: what a person looks at, and not what a memory holds."""

WORDED_MAX: Final = 20
"""How many records a page says in words beside their ids; each takes a call of its own as well."""

_GONE: Final = "(gone, no longer held, or not yours to read)"


@dataclass(frozen=True, slots=True)
class _Told:
    """A record in words, and what it rests on: relation, weight and id of each."""

    words: str
    said_of_it: str = ""
    doubt: str = ""
    rests_on: tuple[tuple[str, float | None, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reasons:
    """A record in words, and the graph below it."""

    id: str
    words: str
    said_of_it: str
    graph: SupportGraph


@dataclass(slots=True)
class _Walk:
    nodes: list[WhyNode] = field(default_factory=list)
    edges: list[WhyEdge] = field(default_factory=list)
    truncated: bool = False


def require_explicable(record_id: str) -> Prefix:
    """The kind of a record that ``why`` explains; raises ``Invalid`` (INVALID_ID) for an id of another kind."""
    prefix = prefix_of(record_id)
    if prefix is None or prefix not in _READ:
        raise Invalid(
            "INVALID_ID",
            f"{record_id[:64]!r} names no memory",
            hint="why takes the ids that recall shows: belief_…, fact_…, ep_…, concept_… and evt_…",
        )
    return prefix


def words_of(client: Client, record_ids: Sequence[str]) -> dict[str, str]:
    """The first records in words, by their ids, with the stance of a belief that is doubted; those that are not the caller's to read have none."""
    found = {record_id: _found(client, record_id) for record_id in record_ids[:WORDED_MAX]}
    return {
        record_id: _cut(told.words) + (f" ({told.doubt})" if told.doubt else "")
        for record_id, told in found.items()
        if told is not None
    }


def reasons_of(client: Client, record_id: str) -> Reasons:
    """A record and what it rests on, nearest first, down to the events; of an event, what rests on it."""
    told = _told(client, record_id)
    walk = _Walk()
    frontier, seen = [(record_id, told)], {record_id}
    goes_on = prefix_of(record_id) is not Prefix.EVENT
    for _ in range(limits.WHY_DEPTH_MAX if goes_on else 1):
        reached: list[tuple[str, _Told]] = []
        for parent, known in frontier:
            for relation, weight, child in known.rests_on:
                if child not in seen:
                    if len(walk.nodes) == NODES_MAX:
                        walk.truncated = True
                        continue
                    seen.add(child)
                    found = _found(client, child)
                    words = _GONE if found is None else _cut(found.words)
                    walk.nodes.append(WhyNode(id=child, type=kind_of(child), weight=weight, summary=words))
                    if found is not None and prefix_of(child) is not Prefix.EVENT:
                        reached.append((child, found))
                walk.edges.append(WhyEdge(source=parent, to=child, relation=relation))
        frontier = reached
    graph = SupportGraph(nodes=walk.nodes, edges=walk.edges, truncated=walk.truncated)
    return Reasons(record_id, told.words, told.said_of_it, graph)


def _told(client: Client, record_id: str) -> _Told:
    return _READ[require_explicable(record_id)](client, record_id)


def _found(client: Client, record_id: str) -> _Told | None:
    try:
        return _told(client, record_id)
    except (NotFound, Forbidden, Gone, Invalid):
        return None


def _fact(client: Client, record_id: str) -> _Told:
    fact = client.facts.get(record_id)
    said = f"fact, {_holds(fact)}"
    if fact.superseded_by is not None:
        said += f", superseded by {fact.superseded_by}"
    return _Told(
        _claimed(fact), said, rests_on=tuple(("extracted_from", None, each) for each in fact.supports)
    )


def _belief(client: Client, record_id: str) -> _Told:
    belief = client.beliefs.get(record_id)
    rests_on = tuple(
        ("contradicted_by" if each.polarity == "against" else "supported_by", each.weight, each.id)
        for each in belief.supports
    )
    doubt = "" if belief.stance is Stance.SUPPORTED else belief.stance.value
    return _Told(_claimed(belief), f"belief, {_holds(belief)}", doubt, rests_on)


def _episode(client: Client, record_id: str) -> _Told:
    episode = client.episodes.get(record_id)
    span = f"{rfc3339(episode.started_at)[:16]} to {rfc3339(episode.ended_at)[:16]}"
    who = ", ".join(episode.actors_involved)
    rests_on = tuple(("contains", None, each) for each in episode.events)
    return _Told(episode.name, f"episode, {span}" + (f", with {who}" if who else ""), rests_on=rests_on)


def _concept(client: Client, record_id: str) -> _Told:
    concept = client.understanding.get(record_id)
    known = concept.supported_by
    each_kind = (known.concepts, known.beliefs, known.facts, known.episodes, known.events)
    rests_on = tuple(("synthesized_from", None, each) for ids in each_kind for each in ids)
    words = f"{concept.name}: {concept.summary}" if concept.summary else concept.name
    return _Told(words, f"concept, {_holds(concept)}", rests_on=rests_on)


def _event(client: Client, record_id: str) -> _Told:
    event = client.events.get(record_id)
    said = (
        f"event, happened {_happened(event)}, recorded {rfc3339(event.context.recorded_at)} in {event.scope}"
    )
    words = f"{event.observed_actor.name or event.actor}: {text_of(event.content or {})}"
    return _Told(words, said, rests_on=tuple(("led_to", None, each) for each in event.derives))


def _happened(event: EventView) -> str:
    context = event.context
    return str(LocalTime(context.observed_at, offset_of_or_none(context.observed_offset)))


_READ: Final[dict[Prefix, Callable[[Client, str], _Told]]] = {
    Prefix.FACT: _fact,
    Prefix.BELIEF: _belief,
    Prefix.EPISODE: _episode,
    Prefix.CONCEPT: _concept,
    Prefix.EVENT: _event,
}


def record_of(client: Client, record_id: str) -> EventView | EpisodeView | FactView | ConceptView:
    """The record itself, as the HTTP API words it."""
    reads: dict[Prefix, Callable[[str], EventView | EpisodeView | FactView | ConceptView]] = {
        Prefix.FACT: client.facts.get,
        Prefix.EPISODE: client.episodes.get,
        Prefix.CONCEPT: client.understanding.get,
        Prefix.EVENT: client.events.get,
    }
    return reads[require_explicable(record_id)](record_id)


def _claimed(record: FactView | BeliefView) -> str:
    if isinstance(record, FactView):
        if record.text:
            return record.text
        subject, predicate, value, negated = record.subject, record.predicate, record.object, record.negated
    else:
        claim = record.claim
        subject, predicate, value, negated = claim.subject, claim.predicate, claim.object, claim.negated
    said = str(value.value) if isinstance(value, LiteralView) else value.name or value.id
    said = "" if said == "True" else said
    return f"{subject.name or subject.id} {'not ' if negated else ''}{predicate.replace('_', ' ')} {said}".strip()


def _holds(record: DerivedView) -> str:
    from_offset, to_offset = (
        (record.valid_from_offset, record.valid_to_offset)
        if isinstance(record, ClaimedView)
        else (None, None)
    )
    until = "" if record.valid_to is None else f" until {_day(record.valid_to, to_offset)}"
    return (
        f"holds since {_day(record.valid_from, from_offset)}{until}, confidence {record.confidence:.2f},"
        f" recorded {rfc3339(record.recorded_from)} in {record.scope}"
    )


def _day(at: int, offset: str | None) -> str:
    return day_text(at, offset_of_or_none(offset))


def _cut(text: str) -> str:
    words = " ".join(text.split())
    longest = limits.SUMMARY_LENGTH_MAX
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"
