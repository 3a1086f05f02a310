"""A scope's index in memory: postings, structure and pooled vectors, kept by a follower of the store's rows.

Everything is scoped: statistics of one scope never see another, and a search as of an earlier moment
draws its candidates among the rows that had been recorded by then. Turns that still wait to be indexed are taken from the log, by
their words (decision 0032). All is exact but which vectors of a large scope are
looked at (decision 0005).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lamina import limits
from lamina.index.bm25 import scores
from lamina.index.columns import NONE, BoolArray, Figures, Float32Array, Numbers, Occurrences, Rows
from lamina.index.conversations import Conversations
from lamina.index.packed import Notes, RowTerms
from lamina.index.pages import PageTerms
from lamina.index.postings import Postings
from lamina.index.rows import event_row
from lamina.index.vectors import VectorMatrix
from lamina.kernel.events import Event
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.language.days import DayNote, read_note
from lamina.store.ports.index import IndexRows, TextRow, Tip

__all__ = ["ScopeIndex"]

_NEVER = 2**63 - 1
_LAYERS = list(Layer)
_LAYER_NUMBERS = {layer: number for number, layer in enumerate(_LAYERS)}
_PAGE = 2000
_EMPTY_BYTES, _ROW_BYTES, _TERM_BYTES = 12_000, 900, 8
"""What an index takes: beside its rows, for each of them with its vector, and for each term in them; as measured."""
_MANY: Final = 100
"""From so many new rows on they are taken in column by column."""

Places = NDArray[np.intp]


class ScopeIndex:
    """The rows of one scope. Places count from 0 in the order of indexing, or of the log for turns that are not indexed yet and keep
    their place when they are; a replaced row keeps none.

    Rows are kept as columns: a hundred thousand objects would cost three times the memory, and time at every sweep of
    the garbage collector.
    """

    def __init__(self, tenant_id: str, scope: Scope, model: str, vectors: VectorMatrix) -> None:
        self.tenant_id = tenant_id
        self.scope = scope
        self.changes = 0
        self.waiting_since: Instant | None = None
        """When the oldest event of the scope was recorded that something is still to be derived from."""
        self._model = model
        self._last_position = 0
        self._waiting: set[int] = set()
        self._last_text = 0
        self._last_vector = 0
        self.last_end = 0
        self._ends: dict[str, Instant] = {}
        self._record_ids: list[str] = []
        self._place_of: dict[str, int] = {}
        self._term_numbers = Numbers()
        self._event_postings = Postings()
        self._record_postings = Postings()
        self._terms = RowTerms()
        self._layers = array("B")
        self._recorded_at = array("q")
        self._last_recorded_at = -_NEVER
        self._ended_at = array("q")
        self._observed_at = array("q")
        self._question_shares = array("d")
        self._self_shares = array("d")
        self._alive = bytearray()
        self._by_assistant = bytearray()
        self._quarantined: dict[int, tuple[str, ...]] = {}
        self._day_checks = array("I")
        self._days = Notes()
        self._conversations = Conversations(self._recorded_at)
        self._replaced_terms: Mapping[bool, Counter[int]] = {True: Counter(), False: Counter()}
        self._length_total = 0
        self._event_total = 0
        self._record_total = 0
        self._vectors = vectors
        self._vector_places = array("q")
        self._vector_rows = array("q")
        self._vector_of = array("i")

    def __len__(self) -> int:
        return len(self._record_ids)

    def known(self, record_ids: Collection[str]) -> set[str]:
        """Those of the ids that have a row here, or had one."""
        return self._place_of.keys() & record_ids

    def __contains__(self, record_id: str) -> bool:
        return record_id in self._place_of

    @property
    def held_bytes(self) -> int:
        """What it takes of the memory, about."""
        return _EMPTY_BYTES + _ROW_BYTES * len(self) + _TERM_BYTES * len(self._terms)

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
        """The names of those who speak in the scope, in the order of their numbers."""
        return self._conversations.names

    def hold(self, texts: Iterable[TextRow]) -> None:
        """Take in rows that no store has: those of versions that stood earlier."""
        occurrences = Occurrences()
        for text in texts:
            self._add(text, occurrences)
        self._record_postings.add(occurrences.terms, occurrences.places)

    def follow(self, rows: IndexRows, tip: Tip) -> None:
        """Take in what was told, indexed and ended since the last time, to the tip at least. After an error the index is of no use
        any more."""
        self.waiting_since = tip.waiting_since
        if tip.end > self.last_end:
            self._follow_ends(rows)
        waiting: Sequence[Event] = ()
        was_told = tip.log > self._last_position
        if was_told:
            waiting = rows.waiting(
                self.tenant_id, self.scope, self._last_position, limits.TURNS_WAITING_READ_MAX
            )
        while tip.vector > self._last_vector:
            # Texts are read after the vectors: one that came in between would have a vector and no place yet.
            vectors = rows.vectors_after(self.tenant_id, self.scope, self._model, self._last_vector, _PAGE)
            self._follow_texts(rows)
            self._add_vectors(vectors)
            self._last_vector = vectors[-1][0] if vectors else tip.vector
        if was_told or tip.text > self._last_text:
            # Also after what waits was read: a turn that was indexed in between waits no more, and is in a row.
            self._follow_texts(rows)
            self._last_text = max(self._last_text, tip.text)  # the last may be a row that nobody is shown
        self._take_waiting(waiting)
        self._last_position = max([self._last_position, tip.log, *(event.position for event in waiting[-1:])])

    def _follow_ends(self, rows: IndexRows) -> None:
        for number, event_id, at in rows.ends_after(self.tenant_id, self.scope, self.last_end):
            self.last_end = number
            place = self._place_of.get(event_id)
            if place is None:
                self._ends[event_id] = at
            else:
                self._ended_at[place] = at

    def _follow_texts(self, rows: IndexRows) -> None:
        while texts := rows.texts_after(self.tenant_id, self.scope, self._last_text, _PAGE):
            events, records = Occurrences(), Occurrences()
            if not self._add_new(texts, events, records):
                for text in texts:
                    self._add(text, events if text.layer is Layer.EVENTS else records)
            self._event_postings.add(events.terms, events.places)
            self._record_postings.add(records.terms, records.places)
            self._last_text = texts[-1].row
            if len(texts) < _PAGE:
                break
        for postings in (self._event_postings, self._record_postings):
            postings.fold()

    def _take_waiting(self, waiting: Sequence[Event]) -> None:
        """Take in turns of the log by their words, as the rows say them that they will have; keys and vectors follow."""
        occurrences = Occurrences()
        for event in waiting:
            if event.id not in self._place_of:
                self._waiting.add(len(self))
                self._add(event_row(event, (), wants_vector=False), occurrences)
        self._event_postings.add(occurrences.terms, occurrences.places)

    def _add_new(self, texts: Sequence[TextRow], events: Occurrences, records: Occurrences) -> bool:
        """Take in rows of which none replaces another, all of them at once as ``_add`` would one by one; False where these are few or others."""
        ids = [text.record_id for text in texts]
        if len(ids) < _MANY or len(set(ids)) < len(ids) or not self._place_of.keys().isdisjoint(ids):
            return False
        first = len(self)
        terms = PageTerms(texts, first, self._term_numbers)
        terms.take_to(events, records)
        self._terms.extend(terms.flat, terms.lengths)
        self._layers.extend([_LAYER_NUMBERS[text.layer] for text in texts])
        self._recorded_at.extend([text.recorded_at for text in texts])
        self._last_recorded_at = max(self._last_recorded_at, *self._recorded_at[first:])
        self._ended_at.extend([self._ends.pop(each, _NEVER) for each in ids])
        self._observed_at.extend([text.observed_at for text in texts])
        self._question_shares.extend([text.question_share for text in texts])
        self._self_shares.extend([text.self_share for text in texts])
        self._alive.extend(b"\1" * len(ids))
        self._by_assistant.extend([text.role == "assistant" for text in texts])
        self._quarantined |= {
            place: tuple(text.quarantined.split())
            for place, text in enumerate(texts, first)
            if text.quarantined
        }
        self._vector_of.extend([NONE] * len(ids))
        self._day_checks.extend([0] * len(ids))
        self._days.extend(len(ids))
        self._record_ids += ids
        for place, text in enumerate(texts, first):
            self._note_days(text, place)
            self._conversations.add(text, None)
            if text.keys:
                of_layer = events if text.layer is Layer.EVENTS else records
                self._add_keys(text, self._terms.of(place), place, of_layer)
        told = [n for text, n in zip(texts, terms.lengths, strict=True) if text.layer is Layer.EVENTS]
        self._count(Layer.EVENTS, len(told), sum(told))
        self._record_total += len(ids) - len(told)
        self._place_of |= zip(ids, range(first, len(self)), strict=True)
        return True

    def _count(self, layer: Layer, rows: int, terms: int) -> None:
        if layer is Layer.EVENTS:
            self._length_total += terms
            self._event_total += rows
        else:
            self._record_total += rows

    def _add(self, text: TextRow, occurrences: Occurrences) -> None:
        place = len(self._record_ids)
        older = self._place_of.get(text.record_id)
        terms = array("I", map(self._term_numbers.__getitem__, text.terms.split()))
        if older is not None:
            if older in self._waiting:
                self._waiting.discard(older)
                if self._terms.of(older) == terms:
                    self._add_keys(text, terms, older, occurrences)
                    self._note_days(text, older)
                    return
            # Words may have changed while it waited: a day, once it is known by whose clock it counts.
            self._replace(older)
        self._place_of[text.record_id] = place
        self._record_ids.append(text.record_id)
        self._terms.extend(terms, (len(terms),))
        self._layers.append(_LAYER_NUMBERS[text.layer])
        self._recorded_at.append(text.recorded_at)
        self._last_recorded_at = max(self._last_recorded_at, text.recorded_at)
        kept_to = _NEVER if older is None else self._ended_at[older]
        self._ended_at.append(self._ends.pop(text.record_id, kept_to))
        self._observed_at.append(text.observed_at)
        self._question_shares.append(text.question_share)
        self._self_shares.append(text.self_share)
        self._alive.append(1)
        self._by_assistant.append(text.role == "assistant")
        if text.quarantined:
            self._quarantined[place] = tuple(text.quarantined.split())
        self._day_checks.append(0)
        self._days.extend(1)
        self._note_days(text, place)
        self._vector_of.append(NONE)
        self._conversations.add(text, older)
        self._count(text.layer, 1, len(terms))
        occurrences.add(terms, place)
        self._add_keys(text, terms, place, occurrences)

    def _add_keys(self, text: TextRow, terms: array[int], place: int, occurrences: Occurrences) -> None:
        """A key's term counts once beside the words: it makes a turn findable, not longer."""
        if text.keys:
            keys = set(map(self._term_numbers.__getitem__, text.keys.split()))
            occurrences.add(array("I", sorted(keys.difference(terms))), place)

    def _note_days(self, text: TextRow, place: int) -> None:
        """Most turns mean no day that their words do not name: of these what they are known again by is all."""
        note = read_note(text.days)
        if note is not None:
            if note.days:
                self._days.put(place, note.days)
            self._day_checks[place] = note.of  # from now on, for who reads meanwhile

    def _replace(self, place: int) -> None:
        """A row counts no more. Should it be of an event and have keys, these count on."""
        self._alive[place] = 0
        layer = _LAYERS[self._layers[place]]
        terms = self._terms.of(place)
        self._replaced_terms[layer is Layer.EVENTS].update(set(terms))
        self._count(layer, -1, -len(terms))

    def _of_layer(self, layer: Layer) -> Postings:
        """Events have postings of their own: how common a word is among them must not hang on what was derived."""
        return self._event_postings if layer is Layer.EVENTS else self._record_postings

    def _add_vectors(self, vectors: Sequence[tuple[int, str, bytes]]) -> None:
        known = [vector for vector in vectors if vector[1] in self._place_of]
        if not known:
            return
        self._vectors.append_packed([pooled for _, _, pooled in known])
        for row, record_id, _ in known:
            place = self._place_of[record_id]
            self._vector_of[place] = len(self._vector_places)
            self._vector_places.append(place)
            self._vector_rows.append(row)

    # ---- searching

    def frequency(self, term: str, layer: Layer = Layer.EVENTS) -> int:
        """In how many events a term occurs, or in how many derived rows when the layer is one of theirs."""
        known = self._term_numbers.get(term)
        if known is None:
            return 0
        of_events = layer is Layer.EVENTS
        return self._of_layer(layer).frequency(known) - self._replaced_terms[of_events][known]

    def figures(self, layer: Layer, terms: Sequence[str]) -> Figures:
        """The figures of events, or of all derived rows when the layer is one of theirs."""
        frequencies = {term: self.frequency(term, layer) for term in terms}
        if layer is Layer.EVENTS:
            return Figures(self._event_total, self._length_total, self.speakers, frequencies)
        return Figures(self._record_total, 0, (), frequencies)

    def figures_at(
        self, layer: Layer, terms: Sequence[str], recorded_to: Instant, without: Collection[str] = ()
    ) -> Figures:
        """As ``figures``, of the rows alone that had been recorded by then, and without some records."""
        of_events = np.frombuffer(self._layers, np.uint8) == _LAYER_NUMBERS[Layer.EVENTS]
        counted: BoolArray = of_events if layer is Layer.EVENTS else ~of_events
        counted = counted & np.frombuffer(self._alive, np.bool_)
        counted &= np.frombuffer(self._recorded_at, np.int64) <= recorded_to
        counted &= ~self.holds(without)
        speaking = np.unique(np.frombuffer(self._conversations.speakers, np.int32)[counted]).tolist()
        names = list(self.speakers)
        postings = self._of_layer(layer)
        frequencies = dict.fromkeys(terms, 0)
        for term in frequencies.keys() & self._term_numbers.keys():
            places, _ = postings.of(self._term_numbers[term])
            frequencies[term] = int(counted[places].sum())
        return Figures(
            int(counted.sum()),
            int(np.diff(self._terms.ends)[counted].sum()),
            frozenset(names[number] for number in speaking if number != NONE),
            frequencies,
        )

    @property
    def record_ids(self) -> Sequence[str]:
        """The records of all rows, in their order."""
        return self._record_ids

    def holds(self, record_ids: Collection[str]) -> BoolArray:
        """(n,) which rows are of those records."""
        held = np.zeros(len(self), np.bool_)
        held[[self._place_of[each] for each in record_ids if each in self._place_of]] = True
        return held

    def is_waiting(self, place: int) -> bool:
        """Whether a turn was taken from the log and has no row yet."""
        return place in self._waiting

    @property
    def has_quarantined(self) -> bool:
        """Whether there is any record that is kept out."""
        return bool(self._quarantined)

    def days(self, record_id: str) -> DayNote | None:
        """What was noted of the days that a turn means, None where nothing was yet."""
        place = self._place_of.get(record_id, NONE)
        of = self._day_checks[place] if place != NONE else 0
        return DayNote(of, self._days[place]) if of else None

    def quarantined(self, record_id: str) -> tuple[str, ...]:
        """Why a record is kept out of what is shown by itself; empty for one that is not."""
        return self._quarantined.get(self._place_of.get(record_id, NONE), ())

    def record_id(self, place: int) -> str:
        """The record whose row is at a place."""
        return self._record_ids[place]

    def rows(self, places: Places, terms: Sequence[str]) -> Rows:
        """The rows at places, counted for a question's terms."""
        counts, lengths = self._terms.counts(places, [self._term_numbers.get(term) for term in terms])
        vector_rows, pooled = self._embedded(places)
        return Rows(
            record_ids=[self._record_ids[place] for place in places.tolist()],
            counts=counts,
            lengths=lengths,
            sessions=np.frombuffer(self._conversations.sessions, np.int32)[places].astype(np.int64),
            speakers=np.frombuffer(self._conversations.speakers, np.int32)[places].astype(np.int64),
            by_assistant=np.frombuffer(self._by_assistant, np.bool_)[places],
            observed_at=np.frombuffer(self._observed_at, np.int64)[places],
            question_shares=np.frombuffer(self._question_shares, np.float64)[places],
            self_shares=np.frombuffer(self._self_shares, np.float64)[places],
            previous=np.frombuffer(self._conversations.previous, np.int32)[places].astype(np.int64),
            following=np.frombuffer(self._conversations.following, np.int32)[places].astype(np.int64),
            vector_rows=vector_rows,
            pooled=pooled,
        )

    def neighbours(self, places: Places, mask: BoolArray) -> Places:
        """The places under the mask of the turns before and after each in the session."""
        beside = (self._conversations.previous, self._conversations.following)
        sides = [np.frombuffer(side, np.int32)[places] for side in beside]
        near = np.stack(sides, axis=1).ravel()
        near = near[near != NONE].astype(np.intp)
        shown: Places = near[mask[near]]
        return shown

    def mask(
        self,
        layer: Layer,
        *,
        recorded_to: Instant | None = None,
        recorded_from: Instant | None = None,
        observed: tuple[Instant | None, Instant | None] | None = None,
        quarantined: bool | None = None,
    ) -> BoolArray:
        """(n,) which rows are of a layer, not replaced, and inside the bounds; ``recorded_to`` is inclusive. ``quarantined`` says
        which of the two kinds, or both.

        Rows of events that told of a document are there until that ended: as of ``recorded_to``, or now.
        """
        kept: BoolArray = (np.frombuffer(self._layers, np.uint8) == _LAYER_NUMBERS[layer]) & np.frombuffer(
            self._alive, np.bool_
        )
        if recorded_to is not None and recorded_to < self._last_recorded_at:
            kept &= np.frombuffer(self._recorded_at, np.int64) <= recorded_to
        if self.last_end:
            as_of = _NEVER - 1 if recorded_to is None else recorded_to
            kept &= np.frombuffer(self._ended_at, np.int64) > as_of
        if recorded_from is not None:
            kept &= np.frombuffer(self._recorded_at, np.int64) >= recorded_from
        if observed is not None:
            at = np.frombuffer(self._observed_at, np.int64)
            if observed[0] is not None:
                kept &= at >= observed[0]
            if observed[1] is not None:
                kept &= at < observed[1]
        if quarantined is not None and (self._quarantined or quarantined):
            kept_out = np.zeros(len(self), np.bool_)
            kept_out[list(self._quarantined)] = True
            kept &= kept_out if quarantined else ~kept_out
        return kept

    def bm25(
        self,
        layer: Layer,
        terms: Sequence[str],
        idf: Mapping[str, float],
        terms_mean: float,
        frequencies: Mapping[str, int] | None = None,
    ) -> Float32Array:
        """(n,) the BM25 score of every row that shares words with the question, 0 of the others. All derived layers share their postings,
        and so these scores. ``frequencies`` are those of an earlier time, where it is one."""
        common = frequencies or {term: self.frequency(term, layer) for term in terms}
        known = [
            (common[term], term, self._term_numbers[term])
            for term in terms
            if common[term] and term in self._term_numbers
        ]
        return scores(self._of_layer(layer), self._terms.ends, known, idf, terms_mean)

    def cosines(self, query: Float32Array) -> Float32Array:
        """(n,) the cosine of every row's pooled vector with the question's, 0 of one without."""
        cosines = np.zeros(len(self), np.float32)
        cosines[self._embedded_places] = self._vectors.scan(query)
        return cosines

    def nearest(
        self, query: Float32Array, masks: Sequence[tuple[BoolArray, int]]
    ) -> list[tuple[Places, Float32Array]]:
        """For each mask with its limit the places of the highest cosines with the question under it, best first, and these."""
        places = self._embedded_places
        found = self._vectors.nearest(query, masks, places)
        return [(places[rows], cosines) for rows, cosines in found]

    @property
    def _embedded_places(self) -> Places:
        return np.frombuffer(self._vector_places, np.intp)

    def _embedded(self, places: Places) -> tuple[NDArray[np.int64], Float32Array]:
        rows = np.full(len(places), NONE, np.int64)
        pooled = np.zeros((len(places), self._vectors.dimensions), np.float32)
        vectors = np.frombuffer(self._vector_of, np.int32)[places]
        known = np.flatnonzero(vectors != NONE)
        rows[known] = np.frombuffer(self._vector_rows, np.int64)[vectors[known]]
        pooled[known] = self._vectors.rows(vectors[known].astype(np.intp))
        return rows, pooled

    def newest(self, mask: BoolArray, limit: int) -> Places:
        """The places under the mask that were observed last, newest first."""
        places = np.flatnonzero(mask)
        at = np.frombuffer(self._observed_at, np.int64)[places]
        return places[np.argsort(-at, kind="stable")[:limit]]
