"""Reading concepts: lists, one, and what it leads to (seed 002, 8.7.7 to 8.7.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from lamina.errors import Invalid
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.records import Concept, Layer, Stance
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.understanding import INVALIDATION_THRESHOLD, Relation, words_of_topic
from lamina.kernel.views import ConceptView, concept_view
from lamina.recall.layers.reach import Reach, reach_of, traversed
from lamina.recall.layers.reading import (
    cursor_after,
    one_record,
    one_seen_at,
    place_in,
    present,
    records_page,
)
from lamina.recall.layers.words import axes_of
from lamina.recall.understood import standings, with_edges_there
from lamina.recall.wording import without_cancelled
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.queries import Shown
from lamina.store.vocabularies import active_terms
from lamina.types.layer_requests import ConceptId, ConceptsRequest, RelatedRequest
from lamina.types.layers import ConceptPage, RelatedConcept, RelatedPage

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
        reach = reach_of(
            self._store, call, request.scope, request.view, Capability.UNDERSTANDING_READ, as_of=request.as_of
        )
        place = place_in(request, self._store.log, call, reach.scopes)
        words = words_of_topic(request.topic or "")
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
            wanted=lambda each: (
                words <= words_of_topic(f"{each.topic} {each.name}")
                and (request.include_deprecated or self._holds(each, call, query.axes.seen_at))
            ),
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
        self._require_relation(request.relation, concept)
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

    def _require_relation(self, relation: str | None, concept: Concept) -> None:
        """Raises ``Invalid`` for a relation that no edge of the scope could have."""
        if relation is None or relation in get_args(Relation):
            return
        own = active_terms(self._store.definitions, concept.tenant_id, concept.scope).relations
        if relation not in own:
            raise Invalid(
                "INVALID_REQUEST",
                "relation: is none of the contract or of an active vocabulary",
                hint=f"one of {', '.join((*get_args(Relation), *own))}",
                details={"field": "relation"},
            )

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
        tenant_id = call.principal.tenant_id
        shown = Shown(self._store.records, tenant_id, call.may_read, seen_at=seen_at)
        supports = shown.supports_of({concept.id for concept in concepts})
        states = standings(
            self._store,
            tenant_id,
            concepts,
            lambda each: supports.get(each, ()),
            now=present(self._store.log, call, {concept.scope for concept in concepts}),
            seen_at=seen_at,
        )
        worded = without_cancelled(self._store, tenant_id, concepts, seen_at=seen_at)
        linked = with_edges_there(worded, self._store.records, tenant_id, call.may_read, seen_at=seen_at)
        return [concept_view(each, supports.get(each.id, ()), states[each.id]) for each in linked]

    def _holds(self, concept: Concept, call: Call, seen_at: Instant) -> bool:
        """Whether a concept has not lost too much of what it rests on."""
        tenant_id = concept.tenant_id
        if self._store.index.changes(tenant_id, concept.scope) == 0:
            return True  # nothing was ever taken out of this scope
        supports = self._store.records.supports_of(tenant_id, [concept.id], seen_at=seen_at)
        states = standings(
            self._store,
            tenant_id,
            [concept],
            lambda each: supports.get(each, ()),
            now=call.now,
            seen_at=seen_at,
        )
        return states[concept.id].lost <= INVALIDATION_THRESHOLD


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
