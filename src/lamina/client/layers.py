"""The layers of a ``Client``: ``client.events``, ``client.facts`` and so on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar, Unpack

from pydantic import BaseModel

from lamina.client import layer_asks as asks
from lamina.client.asks import Ask
from lamina.client.identity import Identity
from lamina.client.options import (
    BeliefFilters,
    ConceptFilters,
    CorrectionOptions,
    EpisodeFilters,
    EventFilters,
    FactFilters,
    Time,
    TimelineFilters,
    View,
)
from lamina.kernel.views import BeliefView, ConceptView, EpisodeView, EventView, FactView
from lamina.types.layers import (
    BeliefPage,
    ConceptPage,
    Coverage,
    EntityView,
    EpisodePage,
    EventPage,
    FactPage,
    RelatedPage,
    Timeline,
    Why,
)
from lamina.types.lifecycle import AnswerForgotten
from lamina.types.writes import CorrectionCaptured, DecisionCaptured, SynthesisAccepted

__all__ = ["Beliefs", "Entities", "Episodes", "Events", "Facts", "Sender", "Understanding"]

ResultT = TypeVar("ResultT", bound=BaseModel)


class Sender(Protocol):
    """Sends an ask and gives its result."""

    def __call__(self, asked: Ask[ResultT], /) -> ResultT:
        """The result; raises one of ``lamina.errors``."""
        ...


class _Layer:
    def __init__(self, identity: Identity, send: Sender) -> None:
        self._identity = identity
        self._send = send

    def _pages(self, asked: Ask[Any]) -> Iterator[Any]:  # Any: the items of whichever page
        while True:
            page = self._send(asked)
            yield from page.items
            if page.next_cursor is None:
                return
            asked = asked.after(page.next_cursor)


class Events(_Layer):
    """Entries of the log, newest first."""

    def list(self, **filters: Unpack[EventFilters]) -> EventPage:
        """One page of events."""
        return self._send(asks.events(self._identity, filters))

    def iterate(self, **filters: Unpack[EventFilters]) -> Iterator[EventView]:
        """Every event that the filters let through, page after page; ``limit`` is the size of a page."""
        return self._pages(asks.events(self._identity, filters))

    def get(self, event_id: str) -> EventView:
        """One event."""
        return self._send(asks.event(event_id))

    def forget_answer(self, event_id: str) -> AnswerForgotten:
        """Forget what a language model read in a turn, for who runs the server: the rules' reading comes back, behind the answer."""
        return self._send(asks.forget_answer(event_id))


class Episodes(_Layer):
    """Bounded spans of related events."""

    def list(self, **filters: Unpack[EpisodeFilters]) -> EpisodePage:
        """One page of episodes."""
        return self._send(asks.episodes(self._identity, filters))

    def iterate(self, **filters: Unpack[EpisodeFilters]) -> Iterator[EpisodeView]:
        """Every episode, page after page."""
        return self._pages(asks.episodes(self._identity, filters))

    def get(self, episode_id: str, *, as_of: Time | None = None) -> EpisodeView:
        """One episode, as it was held at ``as_of`` where that is given."""
        return self._send(asks.episode(episode_id, as_of))


class Facts(_Layer):
    """Claims with the time in which they hold."""

    def list(self, **filters: Unpack[FactFilters]) -> FactPage:
        """One page of facts."""
        return self._send(asks.facts(self._identity, filters))

    def iterate(self, **filters: Unpack[FactFilters]) -> Iterator[FactView]:
        """Every fact, page after page."""
        return self._pages(asks.facts(self._identity, filters))

    def get(self, fact_id: str, *, as_of: Time | None = None) -> FactView:
        """One fact."""
        return self._send(asks.fact(fact_id, as_of))

    def correct(
        self,
        fact_id: str,
        value: Any,
        *,
        valid_from: Time | None = None,
        **options: Unpack[CorrectionOptions],
    ) -> CorrectionCaptured:
        """Put another value in the place of one fact's, from its beginning or from ``valid_from`` on.

        The correction is an event of its own; nothing is erased. Raises ``Conflict`` (FACT_ENDED) for a fact that holds no more.

            client.facts.correct(fact.id, "Lisbon", why="I misspoke")
        """
        return self._send(asks.correct(fact_id, value, valid_from, options))

    def retract(
        self, fact_id: str, *, valid_to: Time | None = None, **options: Unpack[CorrectionOptions]
    ) -> CorrectionCaptured:
        """Say that one fact holds no more, now or from ``valid_to`` on; otherwise as ``correct``."""
        return self._send(asks.retract(fact_id, valid_to, options))

    def timeline(
        self,
        subject: str,
        predicate: str,
        **filters: Unpack[TimelineFilters],
    ) -> Timeline:
        """The values that a subject's predicate has held, in the order in which they held."""
        return self._send(asks.timeline(self._identity, subject, predicate, filters))


class Beliefs(_Layer):
    """What the evidence makes likely. The endpoints are beta."""

    def list(self, **filters: Unpack[BeliefFilters]) -> BeliefPage:
        """One page of beliefs."""
        return self._send(asks.beliefs(self._identity, filters))

    def iterate(self, **filters: Unpack[BeliefFilters]) -> Iterator[BeliefView]:
        """Every belief, page after page."""
        return self._pages(asks.beliefs(self._identity, filters))

    def get(self, belief_id: str, *, as_of: Time | None = None) -> BeliefView:
        """One belief."""
        return self._send(asks.belief(belief_id, as_of))

    def why(self, belief_id: str, *, as_of: Time | None = None) -> Why:
        """What a belief rests on, down to the events, as a graph and in words."""
        return self._send(asks.why(belief_id, as_of))


class Understanding(_Layer):
    """Concepts: what the memory has understood. The endpoints are beta."""

    def list(self, **filters: Unpack[ConceptFilters]) -> ConceptPage:
        """One page of concepts."""
        return self._send(asks.concepts(self._identity, filters))

    def iterate(self, **filters: Unpack[ConceptFilters]) -> Iterator[ConceptView]:
        """Every concept, page after page."""
        return self._pages(asks.concepts(self._identity, filters))

    def get(self, concept_id: str, *, version: int | None = None, as_of: Time | None = None) -> ConceptView:
        """One concept, in its newest version or the one that is named."""
        return self._send(asks.concept(concept_id, version, as_of))

    def related(
        self, concept_id: str, *, relation: str | None = None, depth: int = 1, limit: int = 50
    ) -> RelatedPage:
        """The concepts that a concept leads to, over at most ``depth`` edges."""
        return self._send(asks.related(concept_id, relation, depth, limit))

    def coverage(self, *, scope: str | None = None, view: View | None = None) -> Coverage:
        """How much of a scope is understood."""
        return self._send(asks.coverage(self._identity, scope, view))

    def synthesize(
        self, topics: Sequence[str] = (), *, scope: str | None = None, force: bool = False
    ) -> SynthesisAccepted:
        """Have concepts made anew, behind the answer: those of some topics and names, or all. With ``force`` also where nothing changed."""
        return self._send(asks.synthesize(self._identity, topics, scope, force=force))


class Entities(_Layer):
    """Whom and what the memory speaks of. The endpoints are beta."""

    def get(self, entity_id: str, *, scope: str | None = None, as_of: Time | None = None) -> EntityView:
        """One entity as a scope knows it: its names there, and what was decided of which it is."""
        return self._send(asks.entity(self._identity, entity_id, scope, as_of))

    def merge(
        self, entity_id: str, into: str, *, scope: str | None = None, why: str | None = None
    ) -> DecisionCaptured:
        """Say that an entity is another one, in a scope. Nothing is erased, and ``split`` takes it back."""
        return self._send(asks.merge(self._identity, entity_id, into, scope, why))

    def split(
        self,
        entity_id: str,
        name: str,
        *,
        facts: Sequence[str] = (),
        scope: str | None = None,
        why: str | None = None,
    ) -> DecisionCaptured:
        """Say that what the turns behind some facts say of an entity is of another one, called ``name``; or take a merged name out again."""
        return self._send(asks.split(self._identity, entity_id, name, facts, scope, why))
