"""Reading concepts: lists, one, what it leads to, and how much of a scope is understood (seed 002, 8.7.7 to 8.7.10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.records import Concept, Layer, Stance, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant, duration_text
from lamina.kernel.views import ConceptView, concept_view
from lamina.recall.layers.pages import Place, place_of
from lamina.recall.layers.reach import Reach, reach_of, traversed
from lamina.recall.layers.reading import cursor_after, one_record, one_seen_at, present, records_page
from lamina.recall.layers.requests import ConceptId, ConceptsRequest, CoverageRequest, RelatedRequest
from lamina.recall.layers.results import (
    ConceptPage,
    Coverage,
    RelatedConcept,
    RelatedPage,
    TopicCoverage,
)
from lamina.recall.layers.words import axes_of
from lamina.recall.wording import without_cancelled
from lamina.store.ports.log import EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.queries import Shown

__all__ = ["ConceptReads"]


@dataclass(frozen=True, slots=True)
class _Step:
    """A concept reached over an edge."""

    concept: Concept
    relation: str
    weight: float
    depth: int
    source: str


class ConceptReads:
    """Handlers of the reads of understanding."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concepts(self, request: ConceptsRequest, call: Call) -> Answer:
        """A page of concepts, with their neighbours when ``depth`` is more than 1."""
        reach = reach_of(self._store.scopes, call, request.scope, request.view, Capability.UNDERSTANDING_READ)
        place = place_of(request, present(self._store.log, call, reach.scopes, request.as_of), call.now)
        words = _words(request.topic or "")
        query = RecordQuery(
            tenant_id=call.principal.tenant_id,
            layer=Layer.UNDERSTANDING,
            scopes=reach.scopes,
            axes=axes_of(self._store.definitions, call, request, place),
            min_confidence=request.min_confidence,
            stances=None if request.include_deprecated else _SHOWN,
        )
        page = records_page(
            self._store.records,
            Concept,
            query,
            place,
            limit=request.limit,
            wanted=(lambda each: words <= _words(f"{each.topic} {each.name}")) if words else None,
        )
        seen_at = query.axes.seen_at
        steps = self._steps(page.rows, None, request.depth - 1, request.limit, call, reach, seen_at)
        result = ConceptPage(
            items=self._views(page.rows, call, seen_at),
            related=self._views([step.concept for step in steps[: request.limit]], call, seen_at),
            next_cursor=cursor_after(place, page),
            has_more=page.last is not None,
            scopes_traversed=traversed(reach, self._store.log, call, page.rows),
        )
        return Answer(result, warnings=reach.warnings)

    def concept(self, request: ConceptId, call: Call) -> Answer:
        """One concept."""
        seen_at = one_seen_at(self._store.log, call, request.as_of)
        concept = one_record(
            self._store.records,
            call,
            Concept,
            request.concept_id,
            as_of=seen_at,
            version=request.version,
            capabilities=[Capability.UNDERSTANDING_READ],
        )
        return Answer(self._views([concept], call, seen_at)[0])

    def related(self, request: RelatedRequest, call: Call) -> Answer:
        """The concepts that one leads to."""
        concept = one_record(
            self._store.records,
            call,
            Concept,
            request.concept_id,
            capabilities=[Capability.UNDERSTANDING_READ],
        )
        steps = self._steps(
            [concept], request.relation, request.depth, request.limit, call, Reach([concept.scope]), None
        )
        shown = steps[: request.limit]
        views = self._views([step.concept for step in shown], call, None)
        items = [
            RelatedConcept(
                concept=view, relation=step.relation, weight=step.weight, depth=step.depth, source=step.source
            )
            for step, view in zip(shown, views, strict=True)
        ]
        return Answer(RelatedPage(items=items, has_more=len(steps) > len(shown)))

    def coverage(self, request: CoverageRequest, call: Call) -> Answer:
        """How much of a scope is understood."""
        reach = reach_of(self._store.scopes, call, request.scope, request.view, Capability.UNDERSTANDING_READ)
        tenant_id = call.principal.tenant_id
        now = present(self._store.log, call, reach.scopes)
        query = RecordQuery(
            tenant_id=tenant_id,
            layer=Layer.UNDERSTANDING,
            scopes=reach.scopes,
            axes=Axes.at(now),
            stances=_SHOWN,
        )
        page = records_page(
            self._store.records, Concept, query, Place(now, "", call.now), limit=limits.COVERAGE_CONCEPTS_MAX
        )
        lag_us = self._lag_us(tenant_id, reach, page.rows)
        available = sum(each.available for each in page.rows)
        result = Coverage(
            scope=request.scope,
            concept_count=len(page.rows),
            by_topic=_by_topic(page.rows),
            coverage_score=round(sum(e.consulted for e in page.rows) / available, 4) if available else 0.0,
            synthesis_lag=duration_text(lag_us or 0),
            partial=lag_us is not None or page.last is not None,
        )
        return Answer(result, warnings=reach.warnings)

    def _lag_us(self, tenant_id: str, reach: Reach, concepts: Sequence[Concept]) -> int | None:
        """How far synthesis is behind the newest event; None when nothing is left to do for that one.

        Derivation keeps the order of the log inside a scope: when the last event is done, all are.
        """
        query = EventQuery(tenant_id=tenant_id, scopes=reach.scopes, limit=1)
        newest = self._store.log.query(query)
        if not newest or not self._store.jobs.of_event(tenant_id, newest[0].id):
            return None
        synthesised_at = max((each.recorded_from for each in concepts), default=None)
        if synthesised_at is None:
            synthesised_at = self._store.log.query(replace(query, ascending=True))[0].recorded_at
        return max(0, newest[0].recorded_at - synthesised_at)

    def _steps(
        self,
        start: Sequence[Concept],
        relation: str | None,
        depth: int,
        limit: int,
        call: Call,
        reach: Reach,
        seen_at: Instant | None,
    ) -> list[_Step]:
        """Breadth first over edges, heaviest first; one more than ``limit`` tells that there are more."""
        seen = {concept.id for concept in start}
        steps: list[_Step] = []
        frontier: Sequence[Concept] = start
        for level in range(1, depth + 1):
            edges = [
                (edge.to, edge.relation, edge.weight, concept.id)
                for concept in frontier
                for edge in concept.edges
                if relation in (None, edge.relation) and edge.to not in seen
            ]
            edges.sort(key=lambda edge: (-edge[2], edge[0], edge[1]))
            found = self._readable({edge[0] for edge in edges}, call, reach, seen_at)
            for to, name, weight, source in edges:
                if to in found and to not in seen and len(steps) <= limit:
                    seen.add(to)
                    steps.append(_Step(found[to], name, weight, level, source))
            frontier = [step.concept for step in steps if step.depth == level]
            if not frontier or len(steps) > limit:
                break
        return steps

    def _readable(
        self, ids: set[str], call: Call, reach: Reach, seen_at: Instant | None
    ) -> dict[str, Concept]:
        found = self._store.records.get(call.principal.tenant_id, ids, seen_at=seen_at)
        return {
            key: each
            for key, each in found.items()
            if isinstance(each, Concept)
            and not each.excluded
            and each.stance is not Stance.DEPRECATED
            and (each.scope in reach.scopes or _may_cross(call, each.scope))
        }

    def _views(self, concepts: Sequence[Concept], call: Call, seen_at: Instant | None) -> list[ConceptView]:
        records, tenant_id = self._store.records, call.principal.tenant_id
        shown = Shown(records, tenant_id, call.may_read, seen_at=seen_at)
        supports = shown.supports_of({concept.id for concept in concepts})
        sources = {each.source_id for group in supports.values() for each in group}
        found = records.get(tenant_id, {each for each in sources if layer_of(each) is not Layer.EVENTS})
        events = self._store.log.get(tenant_id, {each for each in sources if layer_of(each) is Layer.EVENTS})
        lost: Mapping[str, bool] = {
            each: (each not in found or found[each].excluded) if each not in events else events[each].excluded
            for each in sources
        }
        views = []
        for concept in without_cancelled(self._store, tenant_id, concepts, seen_at=seen_at):
            own = supports.get(concept.id, [])
            gone = sum(lost[support.source_id] for support in own)
            fraction = round(gone / len(own), 4) if own else 0.0
            views.append(concept_view(concept, own, support_loss_fraction=fraction))
        return views


_SHOWN = [stance.value for stance in Stance if stance is not Stance.DEPRECATED]


def _may_cross(call: Call, scope: Scope) -> bool:
    return all(
        call.permits.allows(Grant(capability, scope))
        for capability in (
            Capability.SCOPE_READ_LOCAL,
            Capability.UNDERSTANDING_READ,
            Capability.UNDERSTANDING_READ_CROSS_SCOPE,
        )
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().replace("_", " ").split())


def _by_topic(concepts: Sequence[Concept]) -> list[TopicCoverage]:
    grouped: dict[str, list[float]] = defaultdict(list)
    for concept in concepts:
        grouped[concept.topic].append(concept.confidence)
    return [
        TopicCoverage(topic=topic, concepts=len(values), avg_confidence=round(sum(values) / len(values), 4))
        for topic, values in sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
