"""Concepts as the contract shows them (seed 002, 7.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from lamina.kernel.records import Concept, Layer, Stance, Support, layer_of
from lamina.kernel.understanding import INVALIDATION_THRESHOLD
from lamina.kernel.views.parts import DerivedView, Stamp, common_fields, supports_held
from lamina.kernel.wire import Result

__all__ = ["ConceptStanding", "ConceptView", "concept_fields", "concept_view", "consulted_supports"]


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


class SentenceView(Result):
    """A sentence of a summary, with the ids of the facts that say it."""

    text: str
    cites: list[str]


class EdgeView(Result):
    """A relation to another concept."""

    to: str
    relation: str
    weight: float
    vocabulary: str = "default"


_PreviousVersion = Annotated[
    int | None,
    # The contract's example has an id there; every version has the same, so that its number is sent.
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),
]


class ConceptView(DerivedView):
    """A node of understanding. Its id is the same in every version; ``?version=`` reads an earlier one, ``previous_version`` is the number
    of the one before.

    ``coverage_score`` is the share of what there was to make it from that was consulted; below 1 the concept is ``_partial``, and that share
    its ``_progress``. ``staleness_score`` is the share of the inputs that changed after ``last_synthesized_at``, with a reason once it is stale;
    ``support_loss_fraction`` the share of its supports that are gone since. A concept with a ``canonical_id`` was taken in by that one.
    ``summary_sentences`` are those of a summary that a language model worded; without them it is in the facts' own sentences.
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
    previous_version: _PreviousVersion
    derived_from: list[str]
    summary: str | None
    summary_sentences: list[SentenceView] = Field(default_factory=list)
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


@dataclass(frozen=True, slots=True)
class ConceptStanding:
    """What came of a concept's inputs after it was made: shares in 0..1, and a reason where it is stale."""

    staleness: float = 0.0
    reason: str | None = None
    lost: float = 0.0


def concept_view(
    concept: Concept, supports: Sequence[Support] = (), standing: ConceptStanding | None = None
) -> ConceptView:
    """The view of a concept; ``supports`` are those of the record."""
    return ConceptView(**concept_fields(concept, supports, standing))


def concept_fields(
    concept: Concept, supports: Sequence[Support] = (), standing: ConceptStanding | None = None
) -> dict[str, Any]:
    """The fields of ``concept_view``."""
    by_layer: dict[str, Any] = {key: [] for key in _KEYS.values()}
    for support in consulted_supports(concept, supports):
        layer = layer_of(support.source_id)
        if layer is not None:
            by_layer[_KEYS[layer]].append(support.source_id)
    synthesizer, _, version = concept.synthesizer.partition("/")
    standing = standing or ConceptStanding()
    lost = max(standing.lost, concept.support_lost)
    is_invalid = lost > INVALIDATION_THRESHOLD
    return {
        **common_fields(concept),
        **_partial_fields(concept),
        "name": concept.name,
        "topic": concept.topic,
        "canonical_id": concept.canonical_id,
        "derived_from": list(concept.derived_from),
        "previous_version": concept.version - 1 if concept.version > 1 else None,
        "summary": concept.summary,
        "summary_sentences": [{"text": text, "cites": list(cites)} for text, cites in concept.sentences],
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
        "stance": Stance.DEPRECATED if is_invalid else concept.stance,
        "staleness_score": standing.staleness,
        "staleness_reason": standing.reason,
        "support_loss_fraction": lost,
        "coverage_score": _coverage(concept),
    }


def consulted_supports(concept: Concept, supports: Sequence[Support]) -> list[Support]:
    """Those of a concept's supports that its version was made from; of one that an older release derived, all that it knew."""
    if not concept.inputs and concept.about is None:
        return supports_held(concept, supports)
    own = frozenset(concept.inputs)
    return [support for support in supports if support.source_id in own]


def _coverage(concept: Concept) -> float:
    return round(concept.consulted / concept.available, 4) if concept.available else 0.0


def _partial_fields(concept: Concept) -> dict[str, Any]:
    if concept.consulted == 0:
        return {"partial": True, "partial_reason": "insufficient_supporting_facts", "progress": 0.0}
    if concept.consulted >= concept.available:
        return {}
    # Facts are read up to a bound; a whole layer that is not read has no reader yet.
    bounded = Layer.FACTS.value in concept.unread or not concept.unread
    reason = "consolidation_in_progress" if bounded else "no_implementation_yet"
    return {"partial": True, "partial_reason": reason, "progress": _coverage(concept)}
