"""A scope's index in memory: postings, structure and pooled vectors, kept by a follower of the store's rows.

Everything is exact and scoped: statistics of one scope never see another, and a search as of an earlier moment
draws its candidates among the rows that had been recorded by then. The store's own full-text index holds the same
terms on disk; this one answers ten times faster and gives the figures that ranking needs.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lamina.index.postings import Postings
from lamina.index.vectors import VectorMatrix
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports import IndexRows, TextRow

__all__ = ["Entry", "ResidentIndexes", "ScopeIndex", "idf"]

K1, B = 1.2, 0.75
"""BM25 constants, those of SQLite's FTS5."""

_LAYERS = list(Layer)
_PAGE = 2000
_NONE = -1
_EMPTY_ROWS = 10
"""What an index takes beside its rows, counted in rows: the indexes of scopes that hold nothing are bounded too."""
_MATCHED_MAX = 20_000
"""Rows that a query may touch before its commonest terms are left out of the search for candidates."""

Float32Array = NDArray[np.float32]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Entry:
    """One row as ranking sees it; ``previous`` and ``next`` are places of its neighbours in the session."""

    place: int
    record_id: str
    layer: Layer
    scope: Scope
    recorded_at: Instant
    observed_at: Instant
    session: str | None
    speaker: str | None
    role: str | None
    question_share: float
    self_share: float
    terms: tuple[str, ...]
    previous: int | None
    next: int | None


class ScopeIndex:
    """The rows of one scope. Places count from 0 in the order of indexing; a replaced row keeps no place."""

    def __init__(self, tenant_id: str, scope: Scope, model: str, dimensions: int) -> None:
        self.tenant_id = tenant_id
        self.scope = scope
        self.changes = 0
        self._model = model
        self._last_text = 0
        self._last_vector = 0
        self._rows: list[_Row] = []
        self._place_of: dict[str, int] = {}
        self._term_ids: dict[str, int] = {}
        self._terms: list[str] = []
        self._event_postings = Postings()
        self._record_postings = Postings()
        self._flat = array("I")
        self._flat_ends = array("L", [0])
        self._lengths = array("I")
        self._layers = array("B")
        self._recorded_at = array("q")
        self._observed_at = array("q")
        self._alive = bytearray()
        self._previous = array("i")
        self._next = array("i")
        self._last_in_session: dict[str | None, int] = {}
        self._speakers: dict[str, int] = {}
        self._length_total = 0
        self._event_total = 0
        self._vectors = VectorMatrix(dimensions)
        self._vector_places = array("I")
        self._vector_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def events(self) -> int:
        """How many events the scope's index holds."""
        return self._event_total

    @property
    def terms_total(self) -> int:
        """Terms of all events together."""
        return self._length_total

    @property
    def speakers(self) -> Collection[str]:
        """The names of those who speak in the scope."""
        return self._speakers.keys()

    def follow(self, rows: IndexRows) -> None:
        """Take in what was indexed since the last time. After an error the index is of no use any more."""
        while True:
            # Texts are read after the vectors: one that came in between would have a vector and no place yet.
            vectors = rows.vectors_after(self.tenant_id, self.scope, self._model, self._last_vector, _PAGE)
            self._follow_texts(rows)
            if vectors:
                self._add_vectors([(record_id, pooled) for _, record_id, pooled in vectors])
                self._last_vector = vectors[-1][0]
            if len(vectors) < _PAGE:
                break

    def _follow_texts(self, rows: IndexRows) -> None:
        events, records = _Occurrences(), _Occurrences()
        while texts := rows.texts_after(self.tenant_id, self.scope, self._last_text, _PAGE):
            for text in texts:
                self._add(text, events if text.layer is Layer.EVENTS else records)
            self._last_text = texts[-1].row
            if len(texts) < _PAGE:
                break
        self._event_postings.add(events.terms, events.places)
        self._record_postings.add(records.terms, records.places)
        self._terms += islice(self._term_ids, len(self._terms), None)

    def _add(self, text: TextRow, occurrences: _Occurrences) -> None:
        place = len(self._rows)
        older = self._place_of.get(text.record_id)
        if older is not None:
            self._alive[older] = 0
        self._place_of[text.record_id] = place
        number_of = self._term_ids.setdefault
        ids = [number_of(term, len(self._term_ids)) for term in text.terms.split()]
        self._flat.extend(ids)
        self._flat_ends.append(len(self._flat))
        self._rows.append(
            _Row(text.record_id, text.session, text.speaker, text.role, text.question_share, text.self_share)
        )
        self._lengths.append(len(ids))
        self._layers.append(_LAYERS.index(text.layer))
        self._recorded_at.append(text.recorded_at)
        self._observed_at.append(text.observed_at)
        self._alive.append(1)
        self._previous.append(_NONE)
        self._next.append(_NONE)
        if text.layer is Layer.EVENTS:
            self._join_session(place, text.session)
            self._length_total += len(ids)
            self._event_total += 1
            if text.speaker:
                self._speakers[text.speaker] = self._speakers.get(text.speaker, 0) + 1
        if text.keys:
            # A key's term counts once beside the words: it makes a turn findable, not longer.
            keys = {number_of(term, len(self._term_ids)) for term in text.keys.split()}
            ids += sorted(keys.difference(ids))
        occurrences.terms.extend(ids)
        occurrences.places.extend([place] * len(ids))

    def _of_layer(self, layer: Layer) -> Postings:
        """Events have postings of their own: how common a word is among them must not hang on what was derived."""
        return self._event_postings if layer is Layer.EVENTS else self._record_postings

    def _join_session(self, place: int, session: str | None) -> None:
        before = self._last_in_session.get(session)
        if before is not None and session is not None:
            self._previous[place] = before
            self._next[before] = place
        self._last_in_session[session] = place

    def _add_vectors(self, vectors: Sequence[tuple[str, bytes]]) -> None:
        known = [(self._place_of[rid], pooled) for rid, pooled in vectors if rid in self._place_of]
        if not known:
            return
        first = len(self._vector_places)
        self._vectors.append_packed([pooled for _, pooled in known])
        for offset, (place, _) in enumerate(known):
            self._vector_places.append(place)
            self._vector_of[place] = first + offset

    # ---- searching

    def frequency(self, term: str, layer: Layer = Layer.EVENTS) -> int:
        """In how many events a term occurs, or in how many derived rows when the layer is one of theirs."""
        known = self._term_ids.get(term)
        return 0 if known is None else self._of_layer(layer).frequency(known)

    def entry(self, place: int) -> Entry:
        """The row at a place."""
        row = self._rows[place]
        previous, following = self._previous[place], self._next[place]
        return Entry(
            place=place,
            record_id=row.record_id,
            layer=_LAYERS[self._layers[place]],
            scope=self.scope,
            recorded_at=self._recorded_at[place],
            observed_at=self._observed_at[place],
            session=row.session,
            speaker=row.speaker,
            role=row.role,
            question_share=row.question_share,
            self_share=row.self_share,
            terms=tuple(
                map(self._terms.__getitem__, self._flat[self._flat_ends[place] : self._flat_ends[place + 1]])
            ),
            previous=None if previous == _NONE else previous,
            next=None if following == _NONE else following,
        )

    def record_id(self, place: int) -> str:
        """The record whose row is at a place."""
        return self._rows[place].record_id

    def neighbours(self, place: int, mask: BoolArray) -> list[int]:
        """The places under the mask of the turns before and after in the session."""
        return [near for near in (self._previous[place], self._next[place]) if near != _NONE and mask[near]]

    def mask(
        self,
        layer: Layer,
        *,
        recorded_to: Instant | None = None,
        recorded_from: Instant | None = None,
        observed: tuple[Instant | None, Instant | None] | None = None,
    ) -> BoolArray:
        """(n,) which rows are of a layer, not replaced, and inside the bounds; ``recorded_to`` is inclusive."""
        kept: BoolArray = (np.frombuffer(self._layers, np.uint8) == _LAYERS.index(layer)) & np.frombuffer(
            self._alive, np.bool_
        )
        if recorded_to is not None:
            kept &= np.frombuffer(self._recorded_at, np.int64) <= recorded_to
        if recorded_from is not None:
            kept &= np.frombuffer(self._recorded_at, np.int64) >= recorded_from
        if observed is not None:
            at = np.frombuffer(self._observed_at, np.int64)
            if observed[0] is not None:
                kept &= at >= observed[0]
            if observed[1] is not None:
                kept &= at < observed[1]
        return kept

    def match(
        self,
        layer: Layer,
        terms: Sequence[str],
        idf: Mapping[str, float],
        terms_mean: float,
        mask: BoolArray,
        limit: int,
    ) -> list[tuple[int, float]]:
        """(place, BM25 score) of the best rows under the mask, best first; rarest terms are searched first.

        Terms so common that they would touch more than ``_MATCHED_MAX`` rows beyond the rarer ones are skipped:
        they hardly tell rows apart, and what they add is scored again where the candidates are ranked.
        """
        scores = np.zeros(len(self._rows), np.float32)
        lengths = np.frombuffer(self._lengths, np.uint32)
        touched = 0
        postings = self._of_layer(layer)
        for count, term in sorted((self.frequency(term, layer), term) for term in terms):
            if count == 0 or (touched and touched + count > _MATCHED_MAX):
                continue
            touched += count
            places, found = postings.of(self._term_ids[term])
            norms = K1 * (1.0 - B + B * lengths[places] / max(terms_mean, 1.0))
            scores[places] += idf[term] * found * (K1 + 1.0) / (found + norms)
        if not touched:
            return []
        scores[~mask] = 0.0
        return [(place, float(scores[place])) for place in _best(scores, limit) if scores[place] > 0]

    def nearest(self, query: Float32Array, mask: BoolArray, limit: int) -> list[tuple[int, float]]:
        """(place, cosine) of the rows under the mask whose pooled vectors are nearest, best first."""
        if not len(self._vector_places):
            return []
        of_vectors = mask[np.frombuffer(self._vector_places, np.uint32)]
        indices, scores = self._vectors.top(query, limit, of_vectors)
        return [(self._vector_places[int(i)], float(s)) for i, s in zip(indices, scores, strict=True)]

    def cosines(self, query: Float32Array, places: Sequence[int]) -> dict[int, float]:
        """The cosine of each place that has a vector."""
        known = [place for place in places if place in self._vector_of]
        if not known:
            return {}
        rows = self._vectors.rows(np.array([self._vector_of[place] for place in known], np.intp))
        return dict(zip(known, (rows @ query).tolist(), strict=True))

    def pooled(self, places: Sequence[int]) -> Float32Array:
        """(n, d) float32 unit rows; zeros where a place has no vector."""
        found = np.zeros((len(places), self._vectors.dimensions), np.float32)
        known = [(at, self._vector_of[place]) for at, place in enumerate(places) if place in self._vector_of]
        if known:
            found[[at for at, _ in known]] = self._vectors.rows(np.array([v for _, v in known], np.intp))
        return found

    def newest(self, mask: BoolArray, limit: int) -> list[int]:
        """The places under the mask that were observed last, newest first."""
        places = np.flatnonzero(mask)
        at = np.frombuffer(self._observed_at, np.int64)[places]
        return [int(place) for place in places[np.argsort(-at, kind="stable")[:limit]]]


@dataclass(slots=True)
class _Occurrences:
    """Terms and the places that have them, pair by pair, on their way into postings."""

    terms: array[int] = field(default_factory=lambda: array("I"))
    places: array[int] = field(default_factory=lambda: array("I"))


@dataclass(frozen=True, slots=True)
class _Row:
    record_id: str
    session: str | None
    speaker: str | None
    role: str | None
    question_share: float
    self_share: float


def _best(scores: Float32Array, limit: int) -> list[int]:
    """The places of the highest scores, best first, earlier places first among equals."""
    if len(scores) > limit:
        chosen = np.argpartition(-scores, limit - 1)[:limit]
        chosen.sort()
    else:
        chosen = np.arange(len(scores))
    return [int(place) for place in chosen[np.argsort(-scores[chosen], kind="stable")]]


class ResidentIndexes:
    """The scopes that were searched lately, up to a number of rows in all."""

    def __init__(self, rows: IndexRows, model: str, dimensions: int, *, rows_max: int = 2_000_000) -> None:
        self._rows = rows
        self._model = model
        self._dimensions = dimensions
        self._rows_max = rows_max
        self._indexes: OrderedDict[tuple[str, Scope], ScopeIndex] = OrderedDict()
        self._rows_held = 0
        self._lock = threading.RLock()

    def of(self, tenant_id: str, scope: Scope) -> ScopeIndex:
        """The scope's index, up to date with what is committed."""
        with self._lock:
            key = (tenant_id, scope)
            changes = self._rows.changes(tenant_id, scope)
            # Taken out while it follows: when that fails, what was half taken in is not used again.
            index = self._take(key)
            if index is None or index.changes != changes:
                index = ScopeIndex(tenant_id, scope, self._model, self._dimensions)
                index.changes = changes
            index.follow(self._rows)
            self._keep(key, index)
            return index

    @property
    def lock(self) -> threading.RLock:
        """Held while an index is read: another call may be following at the same time."""
        return self._lock

    def _take(self, key: tuple[str, Scope]) -> ScopeIndex | None:
        index = self._indexes.pop(key, None)
        if index is not None:
            self._rows_held -= len(index) + _EMPTY_ROWS
        return index

    def _keep(self, key: tuple[str, Scope], index: ScopeIndex) -> None:
        """Keep an index as the one used last, and let go of those used longest ago."""
        self._indexes[key] = index
        self._rows_held += len(index) + _EMPTY_ROWS
        while self._rows_held > self._rows_max and len(self._indexes) > 1:
            self._take(next(iter(self._indexes)))


def idf(found: int, total: int) -> float:
    """How telling a term is that ``found`` of ``total`` rows have: ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene."""
    return math.log1p((max(total - found, 0) + 0.5) / (found + 0.5))
