"""Gathering: bounded candidates from every arm, all inside the allowed scopes. Only this module touches the indexes.

The text arm ranks by BM25, the vector arm by pooled cosine; the turns around the best of both join them. A time that
the question names adds the best inside it, and a question without content words adds what is newest. Derived records
are found by their words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lamina.index.best import best
from lamina.index.columns import NONE, Rows
from lamina.index.resident import ResidentIndexes
from lamina.index.scope import ScopeIndex, idf
from lamina.index.tokens import RecentTokens
from lamina.kernel.events import Event
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.language.tokens import analyse
from lamina.models.ports import Embedder, Encoded, Float32Array, TokenRows
from lamina.models.recent import RecentQuestions
from lamina.recall.figures import (
    DERIVED,
    Words,
    derived_words,
    earlier_rows,
    event_figures,
    scope_statistics,
)
from lamina.recall.plan import Plan
from lamina.recall.signals import ALONE, ScopeStatistics, Turns, persons_named
from lamina.store.ports.store import Store
from lamina.store.queries import Home

__all__ = ["DERIVED", "EventPool", "Retriever", "Words"]

WIDEN_MAX: Final = 64
"""A filter that leaves too little makes the arms reach this many times further, step by step."""

_Spots = NDArray[np.int64]
"""Rows of all searched scopes: the scope's number in the plan in the upper half, the place in its index below."""
_SCOPE_BITS: Final = 32


@dataclass(frozen=True, slots=True, eq=False)
class EventPool:
    """The candidates of one question as columns, with the figures of the searched scopes and what each arm brought.

    ``pooled`` is (n, d): unit rows, zeros where a turn has no vector.
    """

    record_ids: Sequence[str]
    turns: Turns
    pooled: Float32Array
    statistics: ScopeStatistics
    persons: frozenset[str]
    encoded: Encoded
    words: Words
    arms: Mapping[str, int]
    home: Home
    """The scope of a record that is in one of the searched indexes; a record never moves, so that it stays right."""


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """What the indexes gave while they stood still: rows in the order of ``spots``, of all scopes together."""

    spots: _Spots
    rows: Rows
    cosines: Float32Array
    statistics: ScopeStatistics
    speakers: Sequence[Sequence[str]]
    """The names behind the numbers of speakers, scope by scope; empty for one who had not spoken yet."""
    arms: Mapping[str, int]
    exhausted: bool

    def kept(self, mask: NDArray[np.bool_]) -> _Drawn:
        """Those rows alone."""
        return replace(self, spots=self.spots[mask], rows=_taken(self.rows, mask), cosines=self.cosines[mask])


class Retriever:
    """Draws candidates for plans."""

    def __init__(self, store: Store, indexes: ResidentIndexes, embedder: Embedder) -> None:
        self._store = store
        self._indexes = indexes
        self._questions = RecentQuestions(embedder)
        self._tokens = RecentTokens(store.index)

    def gather(self, plan: Plan) -> EventPool:
        """The pool of a plan; wider when a filter leaves fewer than the events asked for."""
        encoded = self._questions.asked(plan.question)  # the model runs while words are looked for
        wanted = min(plan.limits.get(Layer.EVENTS, 0), plan.breadth.text)
        earlier = earlier_rows(self._store.records, plan)
        width = 1
        while True:
            with self._indexes.reading(plan.tenant_id, plan.scopes) as searched:
                words = derived_words(plan, searched, earlier)
                drawn = _draw(plan, searched, encoded, width)
            if plan.filter:
                drawn = drawn.kept(self._passing(plan, drawn.rows.record_ids))
            enough = drawn.exhausted or len(drawn.spots) >= wanted or width >= WIDEN_MAX
            if not plan.filter or enough:
                return self._pool(plan, drawn, words, encoded(), searched)
            width *= 4

    def _passing(self, plan: Plan, ids: Sequence[str]) -> NDArray[np.bool_]:
        events: Mapping[str, Event] = self._store.log.get(plan.tenant_id, ids)
        found = (events.get(record_id) for record_id in ids)
        return np.array([event is not None and plan.filter.passes(event) for event in found], np.bool_)

    def _pool(
        self, plan: Plan, drawn: _Drawn, words: Words, encoded: Encoded, searched: Sequence[ScopeIndex]
    ) -> EventPool:
        rows = drawn.rows
        persons = _persons(plan, drawn.speakers)
        embedded = [
            (searched[number], [each for each in rows.vector_rows[inside].tolist() if each != NONE])
            for number, inside in _parts(drawn.spots, len(searched))
        ]
        payloads = self._tokens.of(plan.tenant_id, embedded)
        turns = Turns(
            counts=rows.counts,
            lengths=rows.lengths,
            tokens=TokenRows.from_payloads([payloads.get(number) for number in rows.vector_rows.tolist()]),
            cosines=drawn.cosines.astype(np.float64),
            sessions=_told_apart(drawn.spots, rows.sessions),
            previous=_in_pool(drawn.spots, rows.previous),
            following=_in_pool(drawn.spots, rows.following),
            named=_named(drawn, persons),
            by_assistant=rows.by_assistant,
            observed_at=rows.observed_at,
            question_shares=rows.question_shares,
            self_shares=rows.self_shares,
        )
        return EventPool(
            rows.record_ids,
            turns,
            rows.pooled,
            drawn.statistics,
            persons,
            encoded,
            words,
            drawn.arms,
            _home(searched),
        )


def _home(indexes: Sequence[ScopeIndex]) -> Home:
    def home(record_id: str) -> Scope | None:
        for index in indexes:
            if record_id in index:
                return index.scope
        return None

    return home


def _draw(plan: Plan, indexes: Sequence[ScopeIndex], encoded: Callable[[], Encoded], width: int) -> _Drawn:
    """The rows that the arms bring."""
    figures = event_figures(plan, indexes)
    statistics = scope_statistics(figures, plan.terms)
    weights = {term: idf(found, statistics.turns) for term, found in statistics.turns_with_term.items()}
    recorded_from, recorded_to = _recorded(plan)
    breadth = plan.breadth
    text, vector, timed, newest = _Arm(), _Arm(), _Arm(), _Arm()
    masks, wanted = [], []
    for number, index in enumerate(indexes):
        mask = index.mask(
            Layer.EVENTS, recorded_to=recorded_to, recorded_from=recorded_from, observed=plan.observed
        )
        scores = index.bm25(
            Layer.EVENTS, plan.terms, weights, statistics.terms_mean, figures[number].frequencies
        )
        masks.append(mask)
        matched = mask & (scores > 0)
        by_words = best(scores, matched, breadth.text * width)
        text.add(number, by_words, scores[by_words])
        wanted.append([(mask, breadth.vector * width)])
        if plan.window is not None:
            inside = index.mask(Layer.EVENTS, observed=plan.window)
            timed.add(number, best(scores, matched & inside, breadth.timed))
            wanted[number].append((mask & inside, breadth.timed))
        if plan.kind == "OPEN" or not plan.terms:
            newest.add(number, index.newest(mask, breadth.newest))
    query = encoded().pooled[0]
    for number, index in enumerate(indexes):
        by_meaning, *by_meaning_inside = index.nearest(query, wanted[number])
        vector.add(number, *by_meaning)
        for places, _ in by_meaning_inside:
            timed.add(number, places)
    by_text, by_vector = text.top(breadth.text * width), vector.top(breadth.vector * width)
    nearest = np.unique(
        np.concatenate([by_text[: breadth.expanded * width], by_vector[: breadth.expanded * width]])
    )
    around = _Arm()
    for number, places in _by_scope(nearest, len(indexes)):
        around.add(number, indexes[number].neighbours(places, masks[number]))
    arms = {
        "text": by_text,
        "vector": by_vector,
        "around": around.spots,
        "time": timed.spots,
        "newest": newest.spots,
    }
    spots = np.unique(np.concatenate(list(arms.values())))
    apart = _by_scope(spots, len(indexes))
    rows = _joined([indexes[number].rows(places, plan.terms) for number, places in apart])
    return _Drawn(
        spots=spots,
        rows=rows,
        cosines=rows.pooled @ query,
        statistics=statistics,
        speakers=[
            [name if name in known.speakers else "" for name in index.speakers]
            for index, known in zip(indexes, figures, strict=True)
        ],
        arms={name: len(found) for name, found in arms.items()},
        exhausted=len(spots) >= statistics.turns,
    )


class _Arm:
    """The rows that one way of searching brings, with their scores."""

    def __init__(self) -> None:
        self._spots: list[_Spots] = [np.zeros(0, np.int64)]
        self._scores: list[Float32Array] = [np.zeros(0, np.float32)]

    def add(self, number: int, places: NDArray[np.intp], scores: Float32Array | None = None) -> None:
        """Places of a scope, with their scores where ``top`` is wanted."""
        self._spots.append((number << _SCOPE_BITS) | places.astype(np.int64))
        self._scores.append(np.zeros(len(places), np.float32) if scores is None else scores)

    @property
    def spots(self) -> _Spots:
        """All of them, in the order they came in."""
        return np.concatenate(self._spots)

    def top(self, limit: int) -> _Spots:
        """The best of all scopes, best first."""
        spots = self.spots
        return spots[np.lexsort((spots, -np.concatenate(self._scores)))[:limit]]


def _by_scope(spots: _Spots, scopes: int) -> list[tuple[int, NDArray[np.intp]]]:
    """The places of rising spots, scope by scope."""
    return [
        (number, (spots[inside] & ((1 << _SCOPE_BITS) - 1)).astype(np.intp))
        for number, inside in _parts(spots, scopes)
    ]


def _parts(spots: _Spots, scopes: int) -> list[tuple[int, slice]]:
    """Where among rising spots those of each scope are."""
    bounds = np.searchsorted(spots, np.arange(scopes + 1) << _SCOPE_BITS).tolist()
    return [(number, slice(bounds[number], bounds[number + 1])) for number in range(scopes)]


def _recorded(plan: Plan) -> tuple[Instant | None, Instant]:
    during = plan.axes.recorded_during
    if during is None:
        return None, plan.axes.seen_at
    end = plan.axes.seen_at if during.end is None else min(plan.axes.seen_at, during.end - 1)
    return during.start, end


def _joined(parts: Sequence[Rows]) -> Rows:
    """The rows of all scopes, one after the other."""

    def column(name: str) -> Any:  # Any: every column has its own type
        values = [getattr(part, name) for part in parts]
        return [*chain(*values)] if name == "record_ids" else np.concatenate(values)

    return parts[0] if len(parts) == 1 else Rows(**{each.name: column(each.name) for each in fields(Rows)})


def _taken(rows: Rows, mask: NDArray[np.bool_]) -> Rows:
    def column(name: str) -> Any:  # Any: every column has its own type
        values = getattr(rows, name)
        return [values[at] for at in np.flatnonzero(mask)] if name == "record_ids" else values[mask]

    return Rows(**{each.name: column(each.name) for each in fields(Rows)})


def _in_pool(spots: _Spots, places: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where in the pool the row at each place of the same scope is, n where it is not."""
    sought = ((spots >> _SCOPE_BITS) << _SCOPE_BITS) | np.maximum(places, 0)
    at = np.minimum(np.searchsorted(spots, sought), max(len(spots) - 1, 0))
    is_there = (places != NONE) & (spots[at] == sought) if len(spots) else np.zeros(0, np.bool_)
    return np.where(is_there, at, len(spots)).astype(np.intp)


def _told_apart(spots: _Spots, sessions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of sessions that are not the same in two scopes."""
    of_scope = ((spots >> _SCOPE_BITS) << _SCOPE_BITS) | sessions
    return np.where(sessions == NONE, ALONE, of_scope)


def _named(drawn: _Drawn, persons: frozenset[str]) -> NDArray[np.bool_]:
    """(n,) whether a turn is spoken by one of those persons."""
    wanted = [
        (number << _SCOPE_BITS) | speaker
        for number, names in enumerate(drawn.speakers)
        for speaker, name in enumerate(names)
        if name in persons
    ]
    spoken = ((drawn.spots >> _SCOPE_BITS) << _SCOPE_BITS) | drawn.rows.speakers
    named: NDArray[np.bool_] = np.isin(spoken, wanted) & (drawn.rows.speakers != NONE)
    return named


def _persons(plan: Plan, speakers: Sequence[Sequence[str]]) -> frozenset[str]:
    analysed = {name: analyse(name) for names in speakers for name in names}
    named = persons_named(plan.all_terms, analysed)
    return named | {plan.asker} if plan.asker in analysed else named
