"""How much of a scope is understood: what its concepts were made from, of all that there is (seed 002, 8.7.10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.heads import RecordHead
from lamina.kernel.operations import Answer, Call
from lamina.kernel.records import Concept, Layer, Stance
from lamina.kernel.time import Axes, Instant, duration_text
from lamina.kernel.views import consulted_supports
from lamina.recall.layers.pages import PageStart
from lamina.recall.layers.reach import Reach, reach_of
from lamina.recall.layers.reading import present, records_page
from lamina.store.ports.log import EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.types.layer_requests import CoverageRequest
from lamina.types.layers import Coverage, LayerCoverage, TopicCoverage

__all__ = ["CoverageReads"]

_INPUTS: Final = (Layer.FACTS, Layer.EPISODES, Layer.BELIEFS)
_SHOWN: Final = [stance.value for stance in Stance if stance is not Stance.DEPRECATED]


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What stands of a layer, newest first, and whether there was more than is looked at."""

    heads: Sequence[RecordHead]
    cut: bool

    def unread(self, read: frozenset[str]) -> Iterable[RecordHead]:
        return (each for each in self.heads if each.id not in read)


class CoverageReads:
    """Handler of coverage."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def coverage(self, request: CoverageRequest, call: Call) -> Answer:
        """How much of a scope is understood."""
        reach = reach_of(self._store, call, request.scope, request.view, Capability.UNDERSTANDING_READ)
        now = present(self._store.log, call, reach.scopes)
        query = RecordQuery(
            tenant_id=call.principal.tenant_id,
            layer=Layer.UNDERSTANDING,
            scopes=reach.scopes,
            axes=Axes.at(now),
            stances=_SHOWN,
        )
        page = records_page(
            self._store.records,
            Concept,
            query,
            PageStart(now, "", call.now),
            limit=limits.COVERAGE_CONCEPTS_MAX,
        )
        inputs = {layer: self._inputs(query, layer) for layer in _INPUTS}
        read = self._read(query.tenant_id, page.rows)
        waiting = self._waiting(query.tenant_id, reach)
        unread = [each.recorded_from for found in inputs.values() for each in found.unread(read)]
        by_layer = _by_layer(inputs, read)
        available = sum(each.available for each in by_layer)
        consulted = sum(each.consulted for each in by_layer)
        cut = page.last is not None or any(each.cut for each in inputs.values())
        result = Coverage(
            scope=request.scope,
            concept_count=len(page.rows),
            by_topic=_by_topic(page.rows),
            inputs=by_layer,
            coverage_score=round(consulted / available, 4) if available else 0.0,
            synthesis_lag=duration_text(_lag_us(page.rows, [*unread, *waiting])),
            partial=bool(waiting or unread or cut),
        )
        return Answer(result, warnings=reach.warnings)

    def _inputs(self, query: RecordQuery, layer: Layer) -> _Inputs:
        """What readers are shown of a layer, but for loops that state nothing."""
        limit = limits.COVERAGE_INPUTS_MAX
        found = self._store.records.query_heads(replace(query, layer=layer, stances=None, limit=limit + 1))
        return _Inputs([each for each in found[:limit] if each.is_stated], len(found) > limit)

    def _read(self, tenant_id: str, concepts: Sequence[Concept]) -> frozenset[str]:
        """The ids of what these versions of concepts were made from; those of an older release say it by what they rest on alone."""
        older = [each for each in concepts if not each.inputs and each.about is None]
        supports = self._store.records.supports_of(tenant_id, {each.id for each in older})
        said = (s.source_id for each in older for s in consulted_supports(each, supports.get(each.id, ())))
        return frozenset(chain(said, *(each.inputs for each in concepts)))

    def _waiting(self, tenant_id: str, reach: Reach) -> list[Instant]:
        """When the newest event was recorded, while there is something left to derive from it.

        Derivation keeps the order of the log inside a scope: when the last event is done, all are.
        """
        newest = self._store.log.query(EventQuery(tenant_id=tenant_id, scopes=reach.scopes, limit=1))
        return [each.recorded_at for each in newest if self._store.jobs.of_event(tenant_id, each.id)]


def _lag_us(concepts: Sequence[Concept], unread: Sequence[Instant]) -> int:
    """How much later the newest input that no concept was made from is than the newest synthesis, or than the first such input."""
    if not unread:
        return 0
    synthesised_at = max((each.recorded_from for each in concepts), default=min(unread))
    return max(0, max(unread) - synthesised_at)


def _by_layer(inputs: Mapping[Layer, _Inputs], read: frozenset[str]) -> list[LayerCoverage]:
    return [
        LayerCoverage(
            layer=layer.value,
            consulted=sum(each.id in read for each in found.heads),
            available=len(found.heads),
        )
        for layer, found in inputs.items()
    ]


def _by_topic(concepts: Sequence[Concept]) -> list[TopicCoverage]:
    grouped: dict[str, list[float]] = defaultdict(list)
    for concept in concepts:
        grouped[concept.topic].append(concept.confidence)
    return [
        TopicCoverage(topic=topic, concepts=len(values), avg_confidence=round(sum(values) / len(values), 4))
        for topic, values in sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
