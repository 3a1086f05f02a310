"""The five layers as the contract shows them: wire shapes, and how kernel values become them (seed 002, 7.1 to 7.5).

A view is built from values already at hand; nothing here reads a store.
"""

from lamina.kernel.views.beliefs import BeliefView, belief_view
from lamina.kernel.views.concepts import ConceptView, concept_view
from lamina.kernel.views.episodes import EpisodeView, episode_view
from lamina.kernel.views.events import EventView, event_view
from lamina.kernel.views.facts import FactView, fact_view

__all__ = [
    "BeliefView",
    "ConceptView",
    "EpisodeView",
    "EventView",
    "FactView",
    "belief_view",
    "concept_view",
    "episode_view",
    "event_view",
    "fact_view",
]
