"""The layers of an ``AsyncClient``; every method mirrors the one in ``layers.py``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
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

__all__ = [
    "AsyncBeliefs",
    "AsyncEntities",
    "AsyncEpisodes",
    "AsyncEvents",
    "AsyncFacts",
    "AsyncSender",
    "AsyncUnderstanding",
]

ResultT = TypeVar("ResultT", bound=BaseModel)


class AsyncSender(Protocol):
    """Sends an ask and gives its result."""

    async def __call__(self, asked: Ask[ResultT], /) -> ResultT:
        """The result; raises one of ``lamina.errors``."""
        ...


class _Layer:
    def __init__(self, identity: Identity, send: AsyncSender) -> None:
        self._identity = identity
        self._send = send

    async def _pages(self, asked: Ask[Any]) -> AsyncIterator[Any]:  # Any: the items of whichever page
        while True:
            page = await self._send(asked)
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            asked = asked.after(page.next_cursor)


class AsyncEvents(_Layer):
    """Mirrors ``Events``."""

    async def list(self, **filters: Unpack[EventFilters]) -> EventPage:
        """Mirrors ``Events.list``."""
        return await self._send(asks.events(self._identity, filters))

    def iterate(self, **filters: Unpack[EventFilters]) -> AsyncIterator[EventView]:
        """Mirrors ``Events.iterate``."""
        return self._pages(asks.events(self._identity, filters))

    async def get(self, event_id: str) -> EventView:
        """Mirrors ``Events.get``."""
        return await self._send(asks.event(event_id))

    async def forget_answer(self, event_id: str) -> AnswerForgotten:
        """Mirrors ``Events.forget_answer``."""
        return await self._send(asks.forget_answer(event_id))


class AsyncEpisodes(_Layer):
    """Mirrors ``Episodes``."""

    async def list(self, **filters: Unpack[EpisodeFilters]) -> EpisodePage:
        """Mirrors ``Episodes.list``."""
        return await self._send(asks.episodes(self._identity, filters))

    def iterate(self, **filters: Unpack[EpisodeFilters]) -> AsyncIterator[EpisodeView]:
        """Mirrors ``Episodes.iterate``."""
        return self._pages(asks.episodes(self._identity, filters))

    async def get(self, episode_id: str, *, as_of: Time | None = None) -> EpisodeView:
        """Mirrors ``Episodes.get``."""
        return await self._send(asks.episode(episode_id, as_of))


class AsyncFacts(_Layer):
    """Mirrors ``Facts``."""

    async def list(self, **filters: Unpack[FactFilters]) -> FactPage:
        """Mirrors ``Facts.list``."""
        return await self._send(asks.facts(self._identity, filters))

    def iterate(self, **filters: Unpack[FactFilters]) -> AsyncIterator[FactView]:
        """Mirrors ``Facts.iterate``."""
        return self._pages(asks.facts(self._identity, filters))

    async def get(self, fact_id: str, *, as_of: Time | None = None) -> FactView:
        """Mirrors ``Facts.get``."""
        return await self._send(asks.fact(fact_id, as_of))

    async def correct(
        self,
        fact_id: str,
        value: Any,
        *,
        valid_from: Time | None = None,
        **options: Unpack[CorrectionOptions],
    ) -> CorrectionCaptured:
        """Mirrors ``Facts.correct``."""
        return await self._send(asks.correct(fact_id, value, valid_from, options))

    async def retract(
        self, fact_id: str, *, valid_to: Time | None = None, **options: Unpack[CorrectionOptions]
    ) -> CorrectionCaptured:
        """Mirrors ``Facts.retract``."""
        return await self._send(asks.retract(fact_id, valid_to, options))

    async def timeline(
        self,
        subject: str,
        predicate: str,
        **filters: Unpack[TimelineFilters],
    ) -> Timeline:
        """Mirrors ``Facts.timeline``."""
        return await self._send(asks.timeline(self._identity, subject, predicate, filters))


class AsyncBeliefs(_Layer):
    """Mirrors ``Beliefs``."""

    async def list(self, **filters: Unpack[BeliefFilters]) -> BeliefPage:
        """Mirrors ``Beliefs.list``."""
        return await self._send(asks.beliefs(self._identity, filters))

    def iterate(self, **filters: Unpack[BeliefFilters]) -> AsyncIterator[BeliefView]:
        """Mirrors ``Beliefs.iterate``."""
        return self._pages(asks.beliefs(self._identity, filters))

    async def get(self, belief_id: str, *, as_of: Time | None = None) -> BeliefView:
        """Mirrors ``Beliefs.get``."""
        return await self._send(asks.belief(belief_id, as_of))

    async def why(self, belief_id: str, *, as_of: Time | None = None) -> Why:
        """Mirrors ``Beliefs.why``."""
        return await self._send(asks.why(belief_id, as_of))


class AsyncUnderstanding(_Layer):
    """Mirrors ``Understanding``."""

    async def list(self, **filters: Unpack[ConceptFilters]) -> ConceptPage:
        """Mirrors ``Understanding.list``."""
        return await self._send(asks.concepts(self._identity, filters))

    def iterate(self, **filters: Unpack[ConceptFilters]) -> AsyncIterator[ConceptView]:
        """Mirrors ``Understanding.iterate``."""
        return self._pages(asks.concepts(self._identity, filters))

    async def get(
        self, concept_id: str, *, version: int | None = None, as_of: Time | None = None
    ) -> ConceptView:
        """Mirrors ``Understanding.get``."""
        return await self._send(asks.concept(concept_id, version, as_of))

    async def related(
        self, concept_id: str, *, relation: str | None = None, depth: int = 1, limit: int = 50
    ) -> RelatedPage:
        """Mirrors ``Understanding.related``."""
        return await self._send(asks.related(concept_id, relation, depth, limit))

    async def coverage(self, *, scope: str | None = None, view: View | None = None) -> Coverage:
        """Mirrors ``Understanding.coverage``."""
        return await self._send(asks.coverage(self._identity, scope, view))

    async def synthesize(
        self, topics: Sequence[str] = (), *, scope: str | None = None, force: bool = False
    ) -> SynthesisAccepted:
        """Mirrors ``Understanding.synthesize``."""
        return await self._send(asks.synthesize(self._identity, topics, scope, force=force))


class AsyncEntities(_Layer):
    """Mirrors ``Entities``."""

    async def get(self, entity_id: str, *, scope: str | None = None, as_of: Time | None = None) -> EntityView:
        """Mirrors ``Entities.get``."""
        return await self._send(asks.entity(self._identity, entity_id, scope, as_of))

    async def merge(
        self, entity_id: str, into: str, *, scope: str | None = None, why: str | None = None
    ) -> DecisionCaptured:
        """Mirrors ``Entities.merge``."""
        return await self._send(asks.merge(self._identity, entity_id, into, scope, why))

    async def split(
        self,
        entity_id: str,
        name: str,
        *,
        facts: Sequence[str] = (),
        scope: str | None = None,
        why: str | None = None,
    ) -> DecisionCaptured:
        """Mirrors ``Entities.split``."""
        return await self._send(asks.split(self._identity, entity_id, name, facts, scope, why))
