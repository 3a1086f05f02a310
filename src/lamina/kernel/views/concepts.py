"""Concepts as the contract shows them (seed 002, 7.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from lamina.kernel.records import Concept, Layer, Stance, Support, layer_of
from lamina.kernel.views.parts import DerivedView, Stamp, common_fields, supports_held
from lamina.kernel.wire import Result

__all__ = ["ConceptView", "concept_fields", "concept_view"]


class SynthesisInputsView(Result):
    """What this version was made from, and by what."""

    layers: list[str]
    filters: dict[str, str]
    as_of: Stamp
    synthesizer: str
    synthesizer_version: str | None


class SupportedByView(Result):
    """The records that the concept rests on, by layer."""

    events: list[str]
    facts: list[str]
    episodes: list[str]
    beliefs: list[str]
    concepts: list[str]
    external: list[dict[str, Any]]  # Any: references outside Lamina, as their source words them


class EdgeView(Result):
    """A relation to another concept."""

    to: str
    relation: str
    weight: float
    vocabulary: str = "default"


class ConceptView(DerivedView):
    """A node of understanding. Its id is the same in every version; ``?version=`` reads an earlier one.

    ``coverage_score`` is the share of the inputs in scope that were consulted, ``support_loss_fraction`` the
    share of its supports that are gone since.
    """

    partial_reason: (
        Literal[
            "consolidation_in_progress",
            "insufficient_supporting_facts",
            "synthesis_disabled_by_policy",
            "no_implementation_yet",
            "stale_inputs_pending_resynthesis",
        ]
        | None
    ) = Field(default=None, validation_alias="_partial_reason", serialization_alias="_partial_reason")
    name: str
    topic: str
    canonical_id: str | None = None
    previous_version: str | None
    derived_from: list[str]
    summary: str | None
    summary_embedding: list[float] | None = None
    synthesis_inputs: SynthesisInputsView
    supported_by: SupportedByView
    edges: list[EdgeView]
    last_synthesized_at: Stamp
    stance: Stance
    staleness_score: float = 0.0
    staleness_reason: str | None = None
    support_loss_fraction: float = 0.0
    coverage_score: float


_KEYS = {
    Layer.EVENTS: "events",
    Layer.FACTS: "facts",
    Layer.EPISODES: "episodes",
    Layer.BELIEFS: "beliefs",
    Layer.UNDERSTANDING: "concepts",
}


def concept_view(
    concept: Concept, supports: Sequence[Support] = (), *, support_loss_fraction: float = 0.0
) -> ConceptView:
    """The view of a concept; ``supports`` are those of the record."""
    return ConceptView(**concept_fields(concept, supports, support_loss_fraction=support_loss_fraction))


def concept_fields(
    concept: Concept, supports: Sequence[Support] = (), *, support_loss_fraction: float = 0.0
) -> dict[str, Any]:
    """The fields of ``concept_view``."""
    by_layer: dict[str, Any] = {key: [] for key in _KEYS.values()}
    for support in supports_held(concept, supports):
        layer = layer_of(support.source_id)
        if layer is not None:
            by_layer[_KEYS[layer]].append(support.source_id)
    partial: dict[str, Any] = {}
    if concept.consulted == 0:
        partial = {"partial": True, "partial_reason": "insufficient_supporting_facts", "progress": 0.0}
    synthesizer, _, version = concept.synthesizer.partition("/")
    return {
        **common_fields(concept),
        **partial,
        "name": concept.name,
        "topic": concept.topic,
        "derived_from": [],
        "previous_version": concept.id if concept.version > 1 else None,
        "summary": concept.summary,
        "synthesis_inputs": {
            "layers": [key for key, ids in by_layer.items() if ids],
            "filters": {"topic": concept.topic},
            "as_of": concept.recorded_from,
            "synthesizer": synthesizer,
            "synthesizer_version": version or None,
        },
        "supported_by": {**by_layer, "external": []},
        "edges": [
            {
                "to": edge.to,
                "relation": edge.relation,
                "weight": edge.weight,
                "vocabulary": edge.vocabulary,
            }
            for edge in concept.edges
        ],
        "last_synthesized_at": concept.recorded_from,
        "stance": concept.stance,
        "support_loss_fraction": support_loss_fraction,
        "coverage_score": round(concept.consulted / concept.available, 4) if concept.available else 0.0,
    }
