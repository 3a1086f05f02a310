"""Packed items as the contract shows them: each layer's view, with its place and its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from lamina.kernel.events import Event
from lamina.kernel.records import Belief, Concept, Episode, Fact, Layer, Support
from lamina.kernel.views import (
    ConceptStanding,
    belief_fields,
    concept_fields,
    episode_fields,
    event_fields,
    fact_fields,
)
from lamina.recall.pack import Item
from lamina.store.queries import Links
from lamina.store.redactions import Redactions
from lamina.types.recall import (
    PackLayers,
    RankedBelief,
    RankedConcept,
    RankedEpisode,
    RankedEvent,
    RankedFact,
    Recall,
    SupersededView,
)

__all__ = ["layers_view"]

RankedT = TypeVar("RankedT", bound=BaseModel)


def layers_view(
    request: Recall,
    chosen: Mapping[Layer, Sequence[Item]],
    links: Links,
    standings: Mapping[str, ConceptStanding],
    redactions: Redactions,
) -> PackLayers:
    """The layers of a pack; a structured one has its statements in their place. ``standings`` says what came of concepts' inputs,
    ``redactions`` what of the evidence behind claims."""
    if request.view == "structured":
        return PackLayers.empty()
    records = (item.id for layer, items in chosen.items() if layer is not Layer.EVENTS for item in items)
    supports = links.supports_of(list(records))
    derives = links.derived_from([item.id for item in chosen.get(Layer.EVENTS, ())])

    def ranked(kind: type[RankedT], layer: Layer) -> list[RankedT]:
        return [
            kind(
                **_fields(item, supports, derives, standings, redactions) | hidden | _superseded(item),
                ranked_position=place,
                score=item.score,
                contributions=dict(item.contributions) if request.diagnostics == "full" else None,
            )
            for place, item in enumerate(chosen.get(layer, ()), start=1)
        ]

    words: dict[str, Any] = {"content": None, "text": None, "summary": None, "summary_sentences": []}
    hidden = words if request.exclude_content else {}
    return PackLayers(
        beliefs=ranked(RankedBelief, Layer.BELIEFS),
        facts=ranked(RankedFact, Layer.FACTS),
        episodes=ranked(RankedEpisode, Layer.EPISODES),
        events=ranked(RankedEvent, Layer.EVENTS),
        understanding=ranked(RankedConcept, Layer.UNDERSTANDING),
    )


def _superseded(item: Item) -> dict[str, Any]:
    end = item.superseded
    if end is None:
        return {}
    return {"superseded": SupersededView(at=end.at, by_fact=end.fact, by_event=end.event)}


def _fields(
    item: Item,
    supports: Mapping[str, Sequence[Support]],
    derives: Mapping[str, Sequence[str]],
    standings: Mapping[str, ConceptStanding],
    redactions: Redactions,
) -> dict[str, Any]:
    match item.value:
        case Event():
            return event_fields(item.value, derives.get(item.id, ()), item.quarantined)
        case Fact():
            return fact_fields(item.value, supports.get(item.id, ()), item.changed, redactions.events)
        case Belief():
            share = redactions.shares.get(item.id, 0.0)
            return belief_fields(item.value, supports.get(item.id, ()), item.changed, redacted_fraction=share)
        case Episode():
            return episode_fields(item.value, supports.get(item.id, ()))
        case Concept():
            return concept_fields(item.value, supports.get(item.id, ()), standings.get(item.id))
        case _:
            raise AssertionError("every layer has a view")
