"""Drawing: the rows of the indexes that each way of searching brings, while the indexes stand still.

The text arm ranks by BM25, the vector arm by pooled cosine; the turns around the best of both join them. A time that
the question names adds the best inside it, and a question without content words adds what is newest. Derived records
are found by their words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lamina import limits
from lamina.index.best import best
from lamina.index.columns import NONE, BoolArray, Float32Array, Rows
from lamina.index.scope import Places, ScopeIndex
from lamina.kernel.records import Layer
from lamina.kernel.time import Instant
from lamina.models.ports import Encoded
from lamina.recall.figures import Earlier, Words, derived_words, event_figures, scope_statistics
from lamina.recall.plan import Plan
from lamina.recall.signals import ALONE, ScopeStatistics

__all__ = ["Drawn", "VectorRows", "draw"]

VectorRows = list[tuple[ScopeIndex, list[int]]]
"""The store's numbers of the vectors of rows, scope by scope."""


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
    kept_out: Sequence[str] = ()
    """Quarantined events that words would have brought, best first."""

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
    encoded: Callable[[], Encoded],
) -> tuple[Words, Drawn]:
    """The derived records that share words with the question, and the rows that the arms bring, ``width`` times as many as
    the plan asks for.

    What needs words alone comes first: the model may still read the question, which is ``encoded`` in the end.
    """
    arms = _Arms(plan, indexes, width)
    arms.search_words()
    words = derived_words(plan, indexes, earlier)
    return words, arms.drawn(encoded().pooled[0])


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
        self._kept_out: list[tuple[float, str]] = []
        self._timed, self._newest = [_NOWHERE], [_NOWHERE]

    def search_words(self) -> None:
        """Look for what shares words with the question, and for what is newest where that is asked for."""
        plan, breadth, known = self._plan, self._plan.breadth, self._statistics
        weights = {term: known.idf(term) for term in known.turns_with_term}
        found: list[_Scored] = []
        for number, (index, mask, window) in enumerate(self._searched()):
            frequencies = self._figures[number].frequencies
            scores = index.bm25(Layer.EVENTS, plan.terms, weights, known.terms_mean, frequencies)
            matched = mask & (scores > 0)
            places = best(scores, matched, breadth.text * self._width)
            found.append((_spots(number, places), scores[places]))
            self._note_kept_out(index, scores)
            if window is not None:
                self._timed.append(_spots(number, best(scores, matched & window, breadth.timed)))
            if plan.kind == "OPEN" or not plan.terms:
                self._newest.append(_spots(number, index.newest(mask, breadth.newest)))
        self._by_words = _top(found, breadth.text * self._width)

    def _note_kept_out(self, index: ScopeIndex, scores: Float32Array) -> None:
        if self._plan.include_quarantined or not index.has_quarantined:
            return
        hidden = _mask(self._plan, index, quarantined=True)
        for place in best(scores, hidden & (scores > 0), limits.QUARANTINED_NAMED_MAX).tolist():
            self._kept_out.append((float(scores[place]), index.record_id(place)))

    def drawn(self, query: Float32Array) -> Drawn:
        """The rows that words brought, and those nearest to the question's pooled vector."""
        by_vector = self._nearest(query)
        nearest = np.unique(np.concatenate([self._expanded(self._by_words), self._expanded(by_vector)]))
        around = [_NOWHERE]
        for number, places in self._apart(nearest):
            around.append(_spots(number, self._indexes[number].neighbours(places, self._masks[number])))
        arms = {
            "text": self._by_words,
            "vector": by_vector,
            "around": np.concatenate(around),
            "time": np.concatenate(self._timed),
            "newest": np.concatenate(self._newest),
        }
        spots = np.unique(np.concatenate(list(arms.values())))
        rows = _joined([self._indexes[n].rows(places, self._plan.terms) for n, places in self._apart(spots)])
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
            kept_out=[i for _, i in sorted(self._kept_out, key=lambda each: (-each[0], each[1]))],
        )

    def _nearest(self, query: Float32Array) -> _Spots:
        """The best by vectors; those inside the window join what is there by time."""
        breadth, found = self._plan.breadth, list[_Scored]()
        for number, (index, mask, window) in enumerate(self._searched()):
            wanted = [(mask, breadth.vector * self._width)]
            if window is not None:
                wanted.append((window, breadth.timed))
            (places, cosines), *inside = index.nearest(query, wanted)
            found.append((_spots(number, places), cosines))
            self._timed += [_spots(number, near) for near, _ in inside]
        return _top(found, breadth.vector * self._width)

    def _searched(self) -> Iterable[tuple[ScopeIndex, BoolArray, BoolArray | None]]:
        return zip(self._indexes, self._masks, self._windows, strict=True)

    def _expanded(self, spots: _Spots) -> _Spots:
        return spots[: self._plan.breadth.expanded * self._width]

    def _apart(self, spots: _Spots) -> list[tuple[int, Places]]:
        """The places of rising spots, by the number of their scope."""
        return [
            (number, (spots[inside] & ((1 << _SCOPE_BITS) - 1)).astype(np.intp))
            for number, inside in enumerate(_parts(spots, len(self._indexes)))
        ]


def _mask(plan: Plan, index: ScopeIndex, *, quarantined: bool | None = False) -> BoolArray:
    recorded_from, recorded_to = _recorded(plan)
    return index.mask(
        Layer.EVENTS,
        recorded_to=recorded_to,
        recorded_from=recorded_from,
        observed=plan.observed,
        quarantined=None if plan.include_quarantined else quarantined,
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
