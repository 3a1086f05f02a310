"""Which documents answer a question: the index of a scope, read as documents instead of events.

Every write of a document is an event of the scope that names the document's path. An event counts while its document
stands as it tells: a whole write makes all earlier events of its path count no more, an append adds to them. What an
event tells is found once the worker has indexed it; that it counts no more is known at once, from the log.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lamina import limits
from lamina.index.best import best
from lamina.index.bm25 import idf
from lamina.index.columns import BoolArray, Float32Array
from lamina.index.resident import ResidentIndexes
from lamina.index.scope import ScopeIndex
from lamina.kernel.events import Event
from lamina.kernel.records import Layer
from lamina.kernel.relay import told_path
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.language.tokens import analyse, content_terms
from lamina.models.ports import Embedder
from lamina.store.ports.log import EventLog, EventQuery

__all__ = ["Coverage", "DocumentIndex", "FoundDocument", "Passing"]

_WORDS: Final = 0.6
_MEANING: Final = 0.4
_UNRELATED: Final = 0.3
"""Texts that have nothing to do with each other have a cosine below this."""
_WIDTH: Final = 64
_PAGE: Final = 1000
_DOCUMENT: Final = "document"

Passing = Callable[[Sequence[str]], Collection[str]]
"""Which of some paths may be among the answers; asked before the cut."""


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document with its score, above 0 and at most 1."""

    path: str
    score: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far the index is: documents that events tell of, those of them that can be found, and the oldest that waits."""

    told: int
    found: int
    waiting_since: Instant | None
    indexed_to: Instant | None
    taken_in: int
    """How many events this very look at it took in."""


@dataclass(slots=True, eq=False)
class _Told:
    """The events of one tenant's documents that count, and where the index has them."""

    index: weakref.ref[ScopeIndex]
    position: int = 0
    paths: dict[str, str] = field(default_factory=dict)
    recorded: dict[str, Instant] = field(default_factory=dict)
    of_path: dict[str, list[str]] = field(default_factory=dict)
    waiting: dict[str, Instant] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    counted: bytearray = field(default_factory=bytearray)
    unindexed: set[int] = field(default_factory=set)
    """Places of turns that the index took from the log and that have no row yet."""
    indexed_to: Instant | None = None

    def tell(self, event: Event) -> None:
        """Take in an event of the log."""
        self.position = event.position
        path = told_path(event)
        if path is None:
            return
        if event.content.get("change") != "append":
            for older in self.of_path.pop(path, ()):
                self._forget(older)
        self.of_path.setdefault(path, []).append(event.id)
        self.paths[event.id] = path
        self.recorded[event.id] = event.recorded_at
        if event.id in self.places:
            self._count(event.id)
        else:
            self.waiting[event.id] = event.recorded_at

    def place(self, event_id: str, place: int) -> None:
        """Note where the index has a row."""
        self.places[event_id] = place
        if event_id in self.paths:
            self._count(event_id)

    def _count(self, event_id: str) -> None:
        self.waiting.pop(event_id, None)
        self.counted[self.places[event_id]] = 1
        self.indexed_to = max(self.indexed_to or 0, self.recorded[event_id])

    def _forget(self, event_id: str) -> None:
        del self.paths[event_id], self.recorded[event_id]
        self.waiting.pop(event_id, None)
        place = self.places.get(event_id)
        if place is not None:
            self.counted[place] = 0


class DocumentIndex:
    """Finds documents of one scope by words and by meaning."""

    def __init__(self, log: EventLog, indexes: ResidentIndexes, embedder: Embedder, scope: Scope) -> None:
        self._log = log
        self._indexes = indexes
        self._embedder = embedder
        self._scope = scope
        self._told: OrderedDict[str, _Told] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, tenant_id: str, query: str, limit: int, passing: Passing) -> list[FoundDocument]:
        """The best documents among those that pass, best first; fewer than ``limit`` where no more match.

        Looks further, twice as far each time, while those that do not pass crowd the top.
        """
        terms = list(dict.fromkeys(content_terms(analyse(query))))
        vector = self._embedder.encode([query]).pooled[0]
        width = max(_WIDTH, 2 * limit)
        while True:
            ranked, exhausted = self._ranked(tenant_id, terms, vector, width)
            passed = passing([each.path for each in ranked])
            kept = [each for each in ranked if each.path in passed]
            if len(kept) >= limit or exhausted:
                return kept[:limit]
            width *= 2

    def coverage(self, tenant_id: str) -> Coverage:
        """How far the index is for a tenant."""
        with self._indexes.reading(tenant_id, [self._scope]) as (index,):
            told, taken_in = self._followed(tenant_id, index)
            behind = {told.paths[event_id] for event_id in told.waiting}
            return Coverage(
                told=len(told.of_path),
                found=len(told.of_path) - len(behind),
                waiting_since=min(told.waiting.values(), default=None),
                indexed_to=told.indexed_to,
                taken_in=taken_in,
            )

    def _ranked(
        self, tenant_id: str, terms: Sequence[str], vector: Float32Array, width: int
    ) -> tuple[list[FoundDocument], bool]:
        with self._indexes.reading(tenant_id, [self._scope]) as (index,):
            told, _ = self._followed(tenant_id, index)
            if not len(index):
                return [], True
            # A copy: a view of a bytearray would keep it from growing.
            counted: BoolArray = np.frombuffer(bytes(told.counted), np.bool_) & index.mask(Layer.EVENTS)
            scores = _scores(index, terms, vector, counted)
            matching = counted & (scores > 0)
            places = best(scores, matching, width).tolist()
            found: dict[str, float] = {}
            for place in places:
                found.setdefault(told.paths[index.record_id(place)], float(scores[place]))
            exhausted = len(places) >= int(matching.sum())
        return [FoundDocument(path, round(score, 4)) for path, score in found.items()], exhausted

    def _followed(self, tenant_id: str, index: ScopeIndex) -> tuple[_Told, int]:
        """What is told of a tenant's documents, up to date; only for the holder of the scope's index."""
        with self._lock:
            told = self._told.get(tenant_id)
            if told is None or told.index() is not index:
                told = self._told[tenant_id] = _Told(weakref.ref(index))
            self._told.move_to_end(tenant_id)
        self._follow_log(tenant_id, told)
        came = range(len(told.counted), len(index))
        told.counted.extend(bytes(len(came)))
        indexed = [place for place in (*sorted(told.unindexed), *came) if not index.is_waiting(place)]
        told.unindexed = {place for place in (*told.unindexed, *came) if index.is_waiting(place)}
        for place in indexed:
            told.place(index.record_id(place), place)
        with self._lock:
            while (
                len(self._told) > 1
                and sum(len(e.paths) for e in self._told.values()) > limits.DOCUMENTS_TOLD_MAX
            ):
                self._told.popitem(last=False)
        return told, len(indexed)

    def _follow_log(self, tenant_id: str, told: _Told) -> None:
        while True:
            query = EventQuery(
                tenant_id=tenant_id,
                scopes=[self._scope],
                modality=_DOCUMENT,
                after=told.position,
                ascending=True,
                limit=_PAGE,
            )
            events = self._log.query(query)
            for event in events:
                told.tell(event)
            if len(events) < _PAGE:
                return


def _scores(
    index: ScopeIndex, terms: Sequence[str], vector: Float32Array, counted: BoolArray
) -> Float32Array:
    """(n,) words and meaning together: BM25 as a share of the best one, and the cosine from unrelated upwards."""
    weights = {term: idf(index.frequency(term), index.events) for term in terms}
    words = index.bm25(Layer.EVENTS, terms, weights, index.terms_total / max(index.events, 1))
    highest = float(words[counted].max(initial=0.0))
    meaning = np.maximum(index.cosines(vector) - _UNRELATED, 0.0) / (1.0 - _UNRELATED)
    scores: Float32Array = _MEANING * meaning
    if highest > 0:
        scores = scores + _WORDS * (words / highest)
    return scores
