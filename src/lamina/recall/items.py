"""Packed items as the contract shows them: each layer's view, with its place and its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from lamina.kernel.events import Event
from lamina.kernel.records import Belief, Concept, Episode, Fact, Layer, Support
from lamina.kernel.views import belief_view, concept_view, episode_view, event_view, fact_view
from lamina.recall.pack import Item
from lamina.recall.requests import (
    PackLayers,
    RankedBelief,
    RankedConcept,
    RankedEpisode,
    RankedEvent,
    RankedFact,
)

__all__ = ["layers_view"]

RankedT = TypeVar("RankedT", bound=BaseModel)


def layers_view(
    chosen: Mapping[Layer, Sequence[Item]],
    supports: Mapping[str, Sequence[Support]],
    derives: Mapping[str, Sequence[str]],
    *,
    exclude_content: bool,
    with_contributions: bool,
) -> PackLayers:
    """The layers of a pack. ``derives`` names what rests on each event."""

    def ranked(kind: type[RankedT], layer: Layer) -> list[RankedT]:
        return [
            _ranked(kind, item, place, supports, derives, exclude_content, with_contributions)
            for place, item in enumerate(chosen.get(layer, ()), start=1)
        ]

    return PackLayers(
        beliefs=ranked(RankedBelief, Layer.BELIEFS),
        facts=ranked(RankedFact, Layer.FACTS),
        episodes=ranked(RankedEpisode, Layer.EPISODES),
        events=ranked(RankedEvent, Layer.EVENTS),
        understanding=ranked(RankedConcept, Layer.UNDERSTANDING),
    )


def _ranked(
    kind: type[RankedT],
    item: Item,
    place: int,
    supports: Mapping[str, Sequence[Support]],
    derives: Mapping[str, Sequence[str]],
    exclude_content: bool,
    with_contributions: bool,
) -> RankedT:
    view = _view(item, supports.get(item.id, ()), derives.get(item.id, ()))
    fields: dict[str, Any] = dict(view)
    if exclude_content:
        fields |= {name: None for name in ("content", "summary") if name in fields}
    return kind.model_construct(
        **fields,
        ranked_position=place,
        score=item.score,
        contributions=dict(item.contributions) if with_contributions else None,
    )


def _view(item: Item, supports: Sequence[Support], derives: Sequence[str]) -> BaseModel:
    match item.value:
        case Event():
            return event_view(item.value, derives)
        case Fact():
            return fact_view(item.value, supports)
        case Belief():
            return belief_view(item.value, supports)
        case Episode():
            return episode_view(item.value, supports)
        case Concept():
            return concept_view(item.value, supports)
        case _:
            raise AssertionError("every layer has a view")
