"""The five layers as the contract shows them: wire shapes, and how kernel values become them (seed 002, 7.1 to 7.5).

A view is built from values already at hand; nothing here reads a store.
"""

from lamina.kernel.views.beliefs import BeliefLens, BeliefView, belief_fields, belief_view
from lamina.kernel.views.concepts import (
    ConceptStanding,
    ConceptView,
    concept_fields,
    concept_view,
    consulted_supports,
)
from lamina.kernel.views.episodes import EpisodeView, episode_fields, episode_view
from lamina.kernel.views.events import EventView, event_fields, event_view
from lamina.kernel.views.facts import FactView, fact_fields, fact_view

__all__ = [
    "BeliefLens",
    "BeliefView",
    "ConceptStanding",
    "ConceptView",
    "EpisodeView",
    "EventView",
    "FactView",
    "belief_fields",
    "belief_view",
    "concept_fields",
    "concept_view",
    "consulted_supports",
    "episode_fields",
    "episode_view",
    "event_fields",
    "event_view",
    "fact_fields",
    "fact_view",
]
