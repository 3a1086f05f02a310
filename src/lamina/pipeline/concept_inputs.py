"""What a concept is made from: the facts of an entity, what is believed of them, and the episodes in which they were told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lamina.kernel.names import decoded
from lamina.kernel.records import Belief, Episode, Fact, Layer, Stance, Subject
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.understanding import facts_of_topic
from lamina.language.entities import entity_id, normalise_name
from lamina.pipeline.view import View

__all__ = ["FACTS_CONSULTED_MAX", "Consulted", "EntityInputs", "matter_of_scope"]

FACTS_CONSULTED_MAX: Final = 64
_READ_MAX: Final = 256
_EPISODES_READ_MAX: Final = 32
_SEALED: Final = "sealed"
_MATTERS: Final = frozenset({"project", "ws", "team", "dept"})
"""Scopes of these types are about what they are called after; the others are somebody's."""


@dataclass(frozen=True, slots=True)
class Consulted:
    """What went into a concept, the surest first, and what did not.

    ``available`` counts all inputs that there were; ``unread`` names the layers in which some were not read.
    """

    facts: tuple[Fact, ...]
    beliefs: tuple[Belief, ...]
    episodes: tuple[Episode, ...]
    available: int
    unread: tuple[str, ...]
    confidence: float

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of what was read."""
        return tuple(each.id for each in (*self.facts, *self.beliefs, *self.episodes))


class EntityInputs:
    """The inputs of the concepts of one entity, as they stood at a view's event."""

    def __init__(self, view: View, about: Subject, told_in: str | None = None) -> None:
        """``told_in`` is the episode of the view's event, which may not have landed."""
        self._view = view
        self._now_in = {view.event.id: {told_in}} if told_in is not None else {}
        self.about = about
        self.facts = self._named()
        self._beliefs: dict[str, Belief] | None = None
        self._episodes: dict[str, set[str]] | None = None
        self._sealed: dict[str, Episode] = {}

    def of_topic(self, topic: str) -> list[Fact]:
        """The facts from which the concept of a topic is made (``facts_of_topic``)."""
        at = self._view.event.context.observed_at
        return facts_of_topic(self.facts, self.about.id, topic, at)

    def consulted(self, facts: Sequence[Fact]) -> Consulted:
        """What of some facts, and of all that belongs to them, a concept is made from."""
        if self._beliefs is None or self._episodes is None:
            self._beliefs, self._episodes, self._sealed = self._believed(), self._told_in(), self._read()
        beliefs, episodes, read = self._beliefs, self._episodes, self._sealed
        # What comes up in several talks is more of somebody than what came up in one.
        talks: Callable[[Fact], int] = lambda fact: len(episodes.get(fact.id, set()) & read.keys())  # noqa: E731
        sure: Callable[[Fact], float] = lambda fact: (  # noqa: E731 - a key of a sort
            beliefs[fact.id].confidence if fact.id in beliefs else fact.confidence
        )
        held = [
            each
            for each in facts
            if each.id not in beliefs or beliefs[each.id].stance is not Stance.CONTRADICTED
        ]
        order = sorted(held, key=lambda fact: (-sure(fact), -talks(fact), -fact.valid_from, fact.id))
        best = order[:FACTS_CONSULTED_MAX]
        weighed = {beliefs[each.id].id: beliefs[each.id] for each in facts if each.id in beliefs}
        told_in = {episode for each in facts for episode in episodes.get(each.id, ())}
        unread = [Layer.FACTS.value] if len(held) > len(best) else []
        return Consulted(
            facts=tuple(best),
            beliefs=tuple(weighed[key] for key in sorted(weighed)),
            episodes=tuple(read[key] for key in sorted(told_in & read.keys())),
            available=len(facts) + len(weighed) + len(told_in),
            unread=(*unread, *([Layer.EPISODES.value] if told_in - read.keys() else [])),
            confidence=round(sum(map(sure, best)) / len(best), 4) if best else 0.0,
        )

    def _named(self) -> list[Fact]:
        named = [
            *self._view.query(Layer.FACTS, subject=self.about.id, limit=_READ_MAX),
            *self._view.query(Layer.FACTS, object_key=self.about.id, limit=_READ_MAX),
        ]
        return list({each.id: each for each in named if isinstance(each, Fact)}.values())

    def _believed(self) -> dict[str, Belief]:
        """By fact, the belief that counts it for what it says."""
        found = [
            *self._view.query(Layer.BELIEFS, subject=self.about.id, limit=_READ_MAX),
            *self._view.query(Layer.BELIEFS, object_key=self.about.id, limit=_READ_MAX),
        ]
        return {
            each.source_id: belief
            for belief in sorted(found, key=lambda belief: belief.id)
            if isinstance(belief, Belief)
            for each in belief.evidence
            if each.polarity == "supports"
        }

    def _read(self) -> dict[str, Episode]:
        """The newest episodes that are sealed: others may still say something else with the next event."""
        found = self._view.query(Layer.EPISODES, topic=_SEALED, limit=_EPISODES_READ_MAX)
        return {each.id: each for each in found if isinstance(each, Episode)}

    def _told_in(self) -> dict[str, set[str]]:
        """By fact, the episodes that hold what it was taken from."""
        ids = [fact.id for fact in self.facts]
        told: dict[str, set[str]] = {}
        for tie in (Tie.EXTRACTED_FROM, Tie.OPENED_BY, Tie.SAID_AGAIN_BY):
            for fact_id, sources in self._view.sources_of(ids, tie).items():
                told.setdefault(fact_id, set()).update(sources)
        episodes = self._view.episodes_of({source for found in told.values() for source in found})
        for event_id, found in self._now_in.items():
            episodes.setdefault(event_id, set()).update(found)
        return {
            fact_id: {episode for source in sources for episode in episodes.get(source, ())}
            for fact_id, sources in told.items()
        }


def matter_of_scope(tenant_id: str, scope: Scope) -> str | None:
    """The entity that a scope is called after, where it is the scope of a matter and not of somebody: of ``project:kestrel``, Kestrel."""
    if scope.type not in _MATTERS:
        return None
    name = decoded(scope.segments[-1].split(":", 1)[1]).replace("_", " ").replace("-", " ")
    return entity_id(tenant_id, normalise_name(name))
