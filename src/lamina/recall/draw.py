"""Drawing: the rows of the indexes that each way of searching brings, while the indexes stand still.

The text arm ranks by BM25, the vector arm by pooled cosine; the turns around the best of both join them. A time that
the question names adds the best inside it, and a question without content words adds what is newest. Derived records
are found by their words. What needs words alone is done while the model runs and vectors are compared on another thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor, wait
from dataclasses import dataclass, fields, replace
from itertools import chain, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lamina.index.best import best
from lamina.index.columns import NONE, BoolArray, Float32Array, Rows
from lamina.index.scope import Places, ScopeIndex, idf
from lamina.kernel.records import Layer
from lamina.kernel.time import Instant
from lamina.models.ports import Encoded
from lamina.recall.figures import Earlier, Words, derived_words, event_figures, scope_statistics
from lamina.recall.plan import Plan
from lamina.recall.signals import ALONE, ScopeStatistics

__all__ = ["Drawn", "VectorRows", "draw"]

VectorRows = list[tuple[ScopeIndex, list[int]]]
"""The store's numbers of the vectors of rows, scope by scope."""

_Near = tuple[Places, Float32Array]
"""Places with their cosines, best first."""

_Spots = NDArray[np.int64]
"""Rows of all searched scopes: the scope's number in the plan in the upper half, the place in its index below."""
_SCOPE_BITS: Final = 32
_NOWHERE: Final[_Spots] = np.zeros(0, np.int64)
_Scored = tuple[_Spots, Float32Array]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What the indexes gave while they stood still: rows in the order of ``spots``, of all scopes together."""

    spots: _Spots
    rows: Rows
    cosines: Float32Array
    statistics: ScopeStatistics
    speakers: Sequence[Sequence[str]]
    """The names behind the numbers of speakers, scope by scope; empty for one who had not spoken yet."""
    arms: Mapping[str, int]
    exhausted: bool

    def kept(self, mask: BoolArray) -> Drawn:
        """Those rows alone."""
        return replace(self, spots=self.spots[mask], rows=_taken(self.rows, mask), cosines=self.cosines[mask])

    @property
    def sessions(self) -> NDArray[np.int64]:
        """(n,) numbers of sessions that are not the same in two scopes, ``ALONE`` without."""
        return np.where(self.rows.sessions == NONE, ALONE, self._scopes | self.rows.sessions)

    @property
    def previous(self) -> NDArray[np.intp]:
        """(n,) where among the rows the turn before each is, n where it is not."""
        return self._at(self.rows.previous)

    @property
    def following(self) -> NDArray[np.intp]:
        """(n,) as ``previous``, of the turn after each."""
        return self._at(self.rows.following)

    def vector_rows(self, indexes: Sequence[ScopeIndex]) -> VectorRows:
        """The vectors of the rows, of the scopes' ``indexes`` that they were drawn from."""
        numbers = self.rows.vector_rows
        return [
            (index, [each for each in numbers[inside].tolist() if each != NONE])
            for index, inside in zip(indexes, _parts(self.spots, len(indexes)), strict=True)
        ]

    def spoken_by(self, persons: Collection[str]) -> BoolArray:
        """(n,) whether a turn is spoken by one of those persons."""
        wanted = [
            (number << _SCOPE_BITS) | speaker
            for number, names in enumerate(self.speakers)
            for speaker, name in enumerate(names)
            if name in persons
        ]
        spoken = np.isin(self._scopes | self.rows.speakers, wanted)
        named: BoolArray = spoken & (self.rows.speakers != NONE)
        return named

    @property
    def _scopes(self) -> _Spots:
        return (self.spots >> _SCOPE_BITS) << _SCOPE_BITS

    def _at(self, places: NDArray[np.int64]) -> NDArray[np.intp]:
        count = len(self.spots)
        if not count:
            return np.zeros(0, np.intp)
        sought = self._scopes | np.maximum(places, 0)
        at = np.minimum(np.searchsorted(self.spots, sought), count - 1)
        return np.where((places != NONE) & (self.spots[at] == sought), at, count).astype(np.intp)


def draw(
    plan: Plan,
    indexes: Sequence[ScopeIndex],
    earlier: Earlier,
    width: int,
    *,
    encoded: Callable[[], Encoded],
    beside: Executor,
    read_ahead: Callable[[VectorRows], object],
) -> tuple[Words, Drawn]:
    """The derived records that share words with the question, and the rows that the arms bring, ``width`` times as many as
    the plan asks for.

    Vectors are compared ``beside`` what needs words alone, once the question is ``encoded``; the token vectors of what
    words brought are ``read_ahead`` meanwhile.
    """
    arms = _Arms(plan, indexes, width)
    nearest = beside.submit(arms.nearest, encoded)
    try:
        worded = arms.search_words()
        words = derived_words(plan, indexes, earlier)
        read_ahead(worded)
    finally:
        wait([nearest])  # it reads the indexes, which stand still only until the caller lets go of them
    return words, arms.drawn(*nearest.result())


class _Arms:
    """The ways of searching, all inside what the plan sees."""

    def __init__(self, plan: Plan, indexes: Sequence[ScopeIndex], width: int) -> None:
        self._plan = plan
        self._indexes = indexes
        self._width = width
        self._figures = event_figures(plan, indexes)
        self._statistics = scope_statistics(self._figures, plan.terms)
        self._masks = [_mask(plan, index) for index in indexes]
        self._windows = [
            None if plan.window is None else mask & index.mask(Layer.EVENTS, observed=plan.window)
            for index, mask in zip(indexes, self._masks, strict=True)
        ]
        self._by_words = _NOWHERE
        self._timed, self._newest = [_NOWHERE], [_NOWHERE]

    def search_words(self) -> VectorRows:
        """Look for what shares words with the question, and for what is newest where that is asked for.

        Gives the vectors of the best by words and of the turns around them.
        """
        plan, breadth, known = self._plan, self._plan.breadth, self._statistics
        weights = {term: idf(found, known.turns) for term, found in known.turns_with_term.items()}
        found: list[_Scored] = []
        for number, (index, mask, window) in enumerate(self._searched()):
            frequencies = self._figures[number].frequencies
            scores = index.bm25(Layer.EVENTS, plan.terms, weights, known.terms_mean, frequencies)
            matched = mask & (scores > 0)
            places = best(scores, matched, breadth.text * self._width)
            found.append((_spots(number, places), scores[places]))
            if window is not None:
                self._timed.append(_spots(number, best(scores, matched & window, breadth.timed)))
            if plan.kind == "OPEN" or not plan.terms:
                self._newest.append(_spots(number, index.newest(mask, breadth.newest)))
        self._by_words = _top(found, breadth.text * self._width)
        near = np.unique(np.concatenate([self._by_words, self._around(self._expanded(self._by_words))]))
        return [(index, index.vector_rows(places)) for index, places in self._apart(near)]

    def nearest(self, encoded: Callable[[], Encoded]) -> tuple[Float32Array, list[list[_Near]]]:
        """The question's pooled vector, and what is nearest to it scope by scope: of all, and then of the plan's window."""
        query, breadth = encoded().pooled[0], self._plan.breadth
        found = []
        for index, mask, window in self._searched():
            wanted = [(mask, breadth.vector * self._width)]
            if window is not None:
                wanted.append((window, breadth.timed))
            found.append(index.nearest(query, wanted))
        return query, found

    def drawn(self, query: Float32Array, nearest: Sequence[Sequence[_Near]]) -> Drawn:
        """The rows that words and vectors brought."""
        by_vector = _top(
            [(_spots(number, places), cosines) for number, ((places, cosines), *_) in enumerate(nearest)],
            self._plan.breadth.vector * self._width,
        )
        for number, (_, *inside) in enumerate(nearest):
            self._timed += [_spots(number, places) for places, _ in inside]
        expanded = np.unique(np.concatenate([self._expanded(self._by_words), self._expanded(by_vector)]))
        arms = {
            "text": self._by_words,
            "vector": by_vector,
            "around": self._around(expanded),
            "time": np.concatenate(self._timed),
            "newest": np.concatenate(self._newest),
        }
        spots = np.unique(np.concatenate(list(arms.values())))
        rows = _joined([index.rows(places, self._plan.terms) for index, places in self._apart(spots)])
        return Drawn(
            spots=spots,
            rows=rows,
            cosines=rows.pooled @ query,
            statistics=self._statistics,
            speakers=[
                [name if name in known.speakers else "" for name in index.speakers]
                for index, known in zip(self._indexes, self._figures, strict=True)
            ],
            arms={name: len(found) for name, found in arms.items()},
            exhausted=len(spots) >= self._statistics.turns,
        )

    def _searched(self) -> Iterable[tuple[ScopeIndex, BoolArray, BoolArray | None]]:
        return zip(self._indexes, self._masks, self._windows, strict=True)

    def _expanded(self, spots: _Spots) -> _Spots:
        return spots[: self._plan.breadth.expanded * self._width]

    def _around(self, spots: _Spots) -> _Spots:
        """The turns before and after each in the session."""
        found = [_NOWHERE]
        for number, (index, places) in enumerate(self._apart(np.unique(spots))):
            found.append(_spots(number, index.neighbours(places, self._masks[number])))
        return np.concatenate(found)

    def _apart(self, spots: _Spots) -> list[tuple[ScopeIndex, Places]]:
        """The places of rising spots, scope by scope."""
        return [
            (index, (spots[inside] & ((1 << _SCOPE_BITS) - 1)).astype(np.intp))
            for index, inside in zip(self._indexes, _parts(spots, len(self._indexes)), strict=True)
        ]


def _mask(plan: Plan, index: ScopeIndex) -> BoolArray:
    recorded_from, recorded_to = _recorded(plan)
    return index.mask(
        Layer.EVENTS, recorded_to=recorded_to, recorded_from=recorded_from, observed=plan.observed
    )


def _spots(number: int, places: Places) -> _Spots:
    return (number << _SCOPE_BITS) | places.astype(np.int64)


def _top(scored: Sequence[_Scored], limit: int) -> _Spots:
    """The best of all scopes, best first."""
    spots = np.concatenate([_NOWHERE, *(spots for spots, _ in scored)])
    scores = np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in scored)])
    return spots[np.lexsort((spots, -scores))[:limit]]


def _parts(spots: _Spots, scopes: int) -> list[slice]:
    """Where among rising spots those of each scope are."""
    bounds = np.searchsorted(spots, np.arange(scopes + 1) << _SCOPE_BITS).tolist()
    return [slice(start, end) for start, end in pairwise(bounds)]


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
