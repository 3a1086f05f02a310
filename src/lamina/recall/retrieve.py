"""Gathering: bounded candidates from every arm, all inside the allowed scopes. Only this module touches ports.

The text arm ranks by BM25, the vector arm by pooled cosine; the turns around the best of both join them. A time that
the question names adds the best inside it, and a question without content words adds what is newest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lamina.index.resident import Entry, ResidentIndexes, ScopeIndex, idf
from lamina.kernel.events import Event
from lamina.kernel.records import Layer
from lamina.kernel.time import Instant
from lamina.language.tokens import analyse
from lamina.models.ports import Embedder, Encoded, Float32Array, TokenMatrix
from lamina.recall.plan import Plan
from lamina.recall.signals import ScopeStatistics, persons_named
from lamina.store.ports import Store

__all__ = ["Candidate", "EventPool", "Retriever"]

TEXT_TOP: Final = 200
VECTOR_TOP: Final = 150
EXPANDED_TOP: Final = 60
TIME_TOP: Final = 50
NEWEST_TOP: Final = 50
WIDEN_MAX: Final = 64
"""A filter that leaves too little makes the arms reach this many times further, step by step."""

_Place = tuple[int, int]
"""A scope's number in the plan, and a place in its index."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A turn of the pool; ``previous`` and ``next`` are places in the pool."""

    entry: Entry
    tokens: TokenMatrix | None
    pooled: Float32Array
    cosine: float
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True, eq=False)
class EventPool:
    """The candidates of one question, with the figures of the searched scopes and what each arm brought."""

    candidates: tuple[Candidate, ...]
    statistics: ScopeStatistics
    persons: frozenset[str]
    encoded: Encoded
    events: Mapping[str, Event]
    """The candidates' events by id, where a filter had to look at them."""
    arms: Mapping[str, int]


class Retriever:
    """Draws candidates for plans."""

    def __init__(self, store: Store, indexes: ResidentIndexes, embedder: Embedder) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder

    def gather(self, plan: Plan) -> EventPool:
        """The pool of a plan; wider when a filter leaves fewer than the events asked for."""
        encoded = self._embedder.encode([plan.question])
        width = 1
        while True:
            pool, exhausted = self._gather(plan, encoded, width)
            wanted = min(plan.limits.get(Layer.EVENTS, 0), TEXT_TOP)
            if not plan.filter or exhausted or len(pool.candidates) >= wanted or width >= WIDEN_MAX:
                return pool
            width *= 4

    def _gather(self, plan: Plan, encoded: Encoded, width: int) -> tuple[EventPool, bool]:
        with self._indexes.lock:
            indexes = [self._indexes.of(plan.tenant_id, scope) for scope in plan.scopes]
            statistics = scope_statistics(indexes, plan.terms)
            arms = _draw(plan, indexes, statistics, encoded.pooled[0], width)
            places = sorted({place for arm in arms.values() for place in arm})
            exhausted = len(places) >= sum(index.events for index in indexes)
            entries = {place: indexes[place[0]].entry(place[1]) for place in places}
            cosines = _cosines(indexes, places, encoded.pooled[0])
            pooled = _pooled(indexes, places, len(encoded.pooled[0]))
            persons = _persons(plan, indexes)
        events: Mapping[str, Event] = {}
        if plan.filter:
            events = self._store.log.get(plan.tenant_id, [entry.record_id for entry in entries.values()])
            places = [p for p in places if (e := events.get(entries[p].record_id)) and plan.filter.passes(e)]
        tokens = self._tokens(plan, [entries[place] for place in places])
        spot = {place: at for at, place in enumerate(places)}
        candidates = tuple(
            Candidate(
                entry=(entry := entries[place]),
                tokens=tokens.get(entry.record_id),
                pooled=pooled[place],
                cosine=cosines.get(place, 0.0),
                previous=None if entry.previous is None else spot.get((place[0], entry.previous)),
                next=None if entry.next is None else spot.get((place[0], entry.next)),
            )
            for place in places
        )
        counts = {name: len(arm) for name, arm in arms.items()}
        return EventPool(candidates, statistics, persons, encoded, events, counts), exhausted

    def _tokens(self, plan: Plan, entries: Sequence[Entry]) -> dict[str, TokenMatrix]:
        ids = [entry.record_id for entry in entries]
        found = self._store.index.tokens(plan.tenant_id, ids, self._embedder.name)
        return {record_id: TokenMatrix.from_bytes(payload) for record_id, payload in found.items()}


def scope_statistics(indexes: Sequence[ScopeIndex], terms: Sequence[str]) -> ScopeStatistics:
    """The figures of all searched scopes together, of their events alone."""
    events = sum(index.events for index in indexes)
    return ScopeStatistics(
        turns=events,
        terms_mean=sum(index.terms_total for index in indexes) / max(events, 1),
        speakers=len({name for index in indexes for name in index.speakers}),
        turns_with_term={term: sum(index.frequency(term) for index in indexes) for term in terms},
    )


def _draw(
    plan: Plan, indexes: Sequence[ScopeIndex], statistics: ScopeStatistics, query: Float32Array, width: int
) -> dict[str, list[_Place]]:
    """The places that each arm brings."""
    weights = {term: idf(statistics.turns_with_term[term], statistics.turns) for term in plan.terms}
    mean = statistics.terms_mean
    text: list[tuple[float, _Place]] = []
    vector: list[tuple[float, _Place]] = []
    timed: list[_Place] = []
    newest: list[_Place] = []
    recorded_from, recorded_to = _recorded(plan)
    masks = [
        index.mask(Layer.EVENTS, recorded_to=recorded_to, recorded_from=recorded_from, observed=plan.observed)
        for index in indexes
    ]
    for number, (index, mask) in enumerate(zip(indexes, masks, strict=True)):
        if not index.events:
            continue
        words = index.match(Layer.EVENTS, plan.terms, weights, mean, mask, TEXT_TOP * width)
        text += [(score, (number, place)) for place, score in words]
        vector += [
            (score, (number, place)) for place, score in index.nearest(query, mask, VECTOR_TOP * width)
        ]
        if plan.window is not None:
            inside = mask & index.mask(Layer.EVENTS, observed=plan.window)
            hits = index.match(Layer.EVENTS, plan.terms, weights, mean, inside, TIME_TOP)
            hits += index.nearest(query, inside, TIME_TOP)
            timed += [(number, place) for place, _ in hits]
        if plan.kind == "OPEN" or not plan.terms:
            newest += [(number, place) for place in index.newest(mask, NEWEST_TOP)]
    by_text, by_vector = _top(text, TEXT_TOP * width), _top(vector, VECTOR_TOP * width)
    best = dict.fromkeys([*by_text[: EXPANDED_TOP * width], *by_vector[: EXPANDED_TOP * width]])
    around = [
        (number, near) for number, place in best for near in indexes[number].neighbours(place, masks[number])
    ]
    return {"text": by_text, "vector": by_vector, "around": around, "time": timed, "newest": newest}


def _recorded(plan: Plan) -> tuple[Instant | None, Instant]:
    during = plan.axes.recorded_during
    if during is None:
        return None, plan.axes.seen_at
    end = plan.axes.seen_at if during.end is None else min(plan.axes.seen_at, during.end - 1)
    return during.start, end


def _top(scored: list[tuple[float, _Place]], limit: int) -> list[_Place]:
    return [place for _, place in sorted(scored, key=lambda item: (-item[0], item[1]))[:limit]]


def _cosines(
    indexes: Sequence[ScopeIndex], places: Sequence[_Place], query: Float32Array
) -> dict[_Place, float]:
    found: dict[_Place, float] = {}
    for number, index in enumerate(indexes):
        own = [place for at, place in places if at == number]
        found |= {(number, place): cosine for place, cosine in index.cosines(query, own).items()}
    return found


def _pooled(
    indexes: Sequence[ScopeIndex], places: Sequence[_Place], dimensions: int
) -> dict[_Place, Float32Array]:
    found: dict[_Place, Float32Array] = {}
    for number, index in enumerate(indexes):
        own = [place for at, place in places if at == number]
        rows = index.pooled(own)
        found |= {(number, place): rows[at] for at, place in enumerate(own)}
    assert all(len(row) == dimensions for row in found.values()), "one model, one width"
    return found


def _persons(plan: Plan, indexes: Sequence[ScopeIndex]) -> frozenset[str]:
    speakers = {name: analyse(name) for index in indexes for name in index.speakers}
    named = persons_named(plan.all_terms, speakers)
    return named | {plan.asker} if plan.asker in speakers else named
