"""The stages: what each does to a batch of jobs, as a function of the events and of what was derived before.

No clock, no randomness and no order but the log's: dropping everything that these functions wrote and running them
again over the same log gives the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lamina import limits
from lamina.index.rows import days_noted, event_row, record_row
from lamina.kernel.events import Event, Stage
from lamina.kernel.expiry import expiry_of
from lamina.kernel.records import Belief, Concept, Fact, Layer, Loop, Record, layer_of
from lamina.kernel.ties import Tie
from lamina.language.quarantine import gives_orders, quarantine_of
from lamina.models.belief_words import TASK as BELIEFS
from lamina.models.ports import Embedder
from lamina.pipeline.beliefs import BeliefReviser
from lamina.pipeline.changes import mark_changes
from lamina.pipeline.concept_words import TASK as CONCEPTS
from lamina.pipeline.concept_words import ConceptWords
from lamina.pipeline.concepts import ConceptSynthesizer
from lamina.pipeline.decision_effects import Decided, stage_row
from lamina.pipeline.direct import direct_extraction
from lamina.pipeline.episodes import EpisodeBuilder, newly_worded
from lamina.pipeline.expiring import expire_beliefs, expire_facts, expire_the_rest
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import Extraction
from lamina.pipeline.facts import FactResolver
from lamina.pipeline.freezing import as_kept
from lamina.pipeline.indexing import vector_rows
from lamina.pipeline.loops.keeping import LoopKeeper, raises_loops
from lamina.pipeline.loops.reading import HEARD_BEFORE
from lamina.pipeline.mending import Mender
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.pending import Pending
from lamina.pipeline.reading import extracts
from lamina.pipeline.readings.by_rules import reading_by_rules
from lamina.pipeline.readings.loops_alone import TASK as LOOPS_ALONE
from lamina.pipeline.readings.loops_alone import apply_answer
from lamina.pipeline.readings.question import is_worth_reading
from lamina.pipeline.readings.reading import shared_out
from lamina.pipeline.readings.rereading import Rereading
from lamina.pipeline.readings.standing import Readings
from lamina.pipeline.senders import Senders
from lamina.pipeline.titles import TurnPhrases
from lamina.pipeline.view import FactsRead, View
from lamina.pipeline.vocabularies.deprecating import deprecate_beliefs, deprecate_facts, deprecated_facts
from lamina.pipeline.zones import speakers_offset
from lamina.store.ports.inquiries import Ready
from lamina.store.ports.jobs import Job
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes, behind_all, inquiry_of

__all__ = ["Deriver", "Landing"]

_COUNTED: Final = ("facts", "entities", "beliefs", "episodes")

Landing = tuple[Job, Writes]
"""A job, and what it derived: they land together."""


class Deriver:
    """Runs stages over jobs. A stage yields landings as they are made; later ones may build on them.

    ``land_max`` is how many share a transaction. What is derived does not depend on it. ``asks`` is the task as which the turns that
    a language model might read otherwise are put down to be asked about; None in a replay, and where there is no model. With ``words`` it is asked, too,
    to word the concepts and the reasons of the beliefs that an event changed. ``nearness`` tells what else may have changed by a turn than words do, and which
    of its clauses names an episode.
    """

    def __init__(
        self,
        store: Store,
        extractor: RulesExtractor,
        embedder: Embedder | None,
        *,
        embed_eagerly: bool = True,
        asks: str | None = None,
        words: bool = False,
        nearness: Nearness | None = None,
        land_max: int = limits.JOB_LAND_MAX,
    ) -> None:
        self._store = store
        self._extractor = extractor
        self._embedder = embedder
        self._embed_eagerly = embed_eagerly
        self._asks = asks
        self._words = words
        self._nearness = nearness
        self._land_max = land_max
        self._said: dict[str, TurnPhrases] = {}
        self._readings = Readings(store, extractor)
        self._senders = Senders(store, self._readings)
        self._mender = Mender(store, self._readings, self._senders)
        self._decided = Decided(self._mender, self._senders)
        self._rereading = Rereading(self._readings, self._mender)
        self._concept_words = ConceptWords(store.model_outputs)
        self._stages: Mapping[Stage, Callable[[Sequence[Job]], Iterator[list[Landing]]]] = {
            Stage.EXTRACTED: self._extract,
            Stage.INDEXED: self._index,
            Stage.CONSOLIDATED: self._consolidate,
            Stage.COMPRESSED: self._compress,
        }

    def run(self, stage: Stage, jobs: Sequence[Job]) -> Iterator[list[Landing]]:
        """Landings of a batch, in groups that can share a transaction; the caller lands one before it asks for more."""
        return self._stages[stage](jobs)

    def load(self) -> None:
        """Load the parser and the models now, which takes seconds: nothing is leased meanwhile."""
        self._extractor.load()
        if self._embedder is not None:
            self._embedder.encode([])

    def words_of(self, job: Job) -> Writes:
        """What makes an event findable by its words, for one whose stages end here; nothing where it is so already."""
        event = job.event
        if job.stage not in (Stage.EXTRACTED, Stage.INDEXED) or event.excluded:
            return Writes()
        return Writes(texts=[event_row(event, [], wants_vector=False)])

    def answered(self, ready: Ready) -> Writes | None:
        """What an answer changes directly after an event, None when there is nothing left that it could be about."""
        inquiry = ready.inquiry
        turn = self._store.log.get(inquiry.tenant_id, [inquiry.event_id]).get(inquiry.event_id)
        if turn is None or turn.excluded or gives_orders(quarantine_of(turn)):
            return None
        view = View(self._store, ready.after, Pending())
        return apply_answer(self._store, inquiry, view, Writes())

    def _extract(self, jobs: Sequence[Job]) -> Iterator[list[Landing]]:
        """The parse is shared by the batch."""
        worded = [self._by_known_clock(job.event) for job in jobs if extracts(job.event)]
        clocks = {event.id: event.offset for event in worded}
        extracted = dict(zip((e.id for e in worded), self._read(worded), strict=True))

        def place(view: View) -> Writes:
            if view.event.cancels is not None:
                return self._mender.facts(view, view.event.cancels)
            if view.event.deprecates is not None:
                return deprecate_facts(view)
            if view.event.reads is not None:
                return self._rereading.facts(view)
            if (over := expiry_of(view.event)) is not None:
                return expire_facts(view, over)
            if view.event.is_entry:
                return self._decided.facts(view)
            reasons = quarantine_of(view.event)
            if gives_orders(reasons):
                # What tells a reader what to do is kept, and nothing is believed because of it.
                nothing = {"derived": dict.fromkeys(_COUNTED, 0), "quarantined": list(reasons)}
                return Writes(lifecycle=[stage_row(view.event, Stage.EXTRACTED, nothing)])
            offset = speakers_offset(view) if view.event.offset is None else None
            clock = [] if offset is None else [view.read_by(offset)]
            event = view.event
            if event.id in extracted and event.offset != clocks[event.id]:
                # An event of this batch told of another zone.
                extracted[event.id], clocks[event.id] = self._read([event])[0], event.offset
            extraction = extracted.get(event.id) or direct_extraction(event) or Extraction()
            heard = view.previous(HEARD_BEFORE) if raises_loops(event) else None
            reading = reading_by_rules(event, extraction, heard, reader=self._extractor.name)
            said, left_open = shared_out(view, reading)
            writes = FactResolver(view).resolve(said, reading.reader)
            mark_changes(view, writes, self._nearness, played=extraction.played)
            writes.offsets += clock
            types = {entity.id: entity.type for entity in writes.entities}
            writes.mentions = [replace(each, type=types.get(each.entity_id)) for each in writes.mentions]
            LoopKeeper(view).keep(left_open, writes)
            new_facts = [
                r for r in writes.records if isinstance(r, Fact) and r.is_stated and r.event_id == event.id
            ]
            derived = dict.fromkeys(_COUNTED, 0) | {"facts": len(new_facts), "entities": len(writes.entities)}
            told = {"derived": derived, **({"quarantined": list(reasons)} if reasons else {})}
            writes.lifecycle.append(stage_row(event, Stage.EXTRACTED, told))
            if not reasons and self._asks and is_worth_reading(view, writes):
                writes.inquiries.append(inquiry_of(event, self._asks, event.recorded_at))
            self._apply_again(view, writes)
            return writes

        return self._in_turn(jobs, place, Layer.FACTS)

    def _read(self, events: Sequence[Event]) -> list[Extraction]:
        found = self._readings.extractions(events)
        self._said |= {event.id: _said(each) for event, each in zip(events, found, strict=True)}
        for event_id in list(self._said)[: -limits.PHRASES_KEPT_MAX]:
            del self._said[event_id]
        return found

    def _said_in(self, events: Sequence[Event]) -> Mapping[str, TurnPhrases]:
        """What was read in events for their episode's title or, where that is forgotten, is read again: it is the same."""
        worded = [event for event in events if extracts(event)]
        known = {event.id: self._said[event.id] for event in worded if event.id in self._said}
        unread = [event for event in worded if event.id not in known]
        if unread:  # which may forget what was known
            known |= zip((event.id for event in unread), map(_said, self._read(unread)), strict=True)
        return known

    def _by_known_clock(self, event: Event) -> Event:
        """An event with the clock by which it will be read, unless an earlier one of its batch tells of another."""
        view = View(self._store, event, Pending())
        offset = speakers_offset(view) if event.offset is None else None
        return event if offset is None else replace(event, zone_offset=offset)

    def _apply_again(self, view: View, writes: Writes) -> None:
        """In a replay: what took effect after this event the first time."""
        for inquiry in self._store.inquiries.applied_after(view.event):
            if inquiry.task != LOOPS_ALONE:
                continue  # what was read anew has an entry of its own
            later = apply_answer(self._store, inquiry, view, writes)
            if later is not None:
                writes.add(later)

    def _index(self, jobs: Sequence[Job]) -> Iterator[list[Landing]]:
        now = [job.event for job in jobs if self._embeds_now(job.event)]
        vectors = {} if self._embedder is None else {v.record_id: v for v in vector_rows(now, self._embedder)}
        read = FactsRead(self._store, [job.event for job in jobs])
        landings: list[Landing] = []
        for job in jobs:
            event = job.event
            if event.is_entry:
                landings.append((job, self._decided.indexed(event)))
                continue
            facts = read.of(event)
            wants_vector = event.directives.embed != "none" and event.id not in vectors
            days = days_noted(event)
            writes = Writes(texts=[event_row(event, facts, wants_vector=wants_vector, days=days)])
            # A loop's row is written with each wording of it.
            fresh = [each for each in facts if each.event_id == event.id and not isinstance(each, Loop)]
            writes.texts += [record_row(fact) for fact in fresh]
            if event.id in vectors:
                writes.vectors.append(vectors[event.id])
            layers = ["events", *(["facts"] if facts else [])]
            writes.lifecycle.append(stage_row(event, Stage.INDEXED, {"layers_indexed": layers}))
            landings.append((job, writes))
        yield landings

    def _embeds_now(self, event: Event) -> bool:
        return self._embed_eagerly and event.directives.embed == "eager" and not event.is_entry

    def _consolidate(self, jobs: Sequence[Job]) -> Iterator[list[Landing]]:
        read = FactsRead(self._store, [job.event for job in jobs])

        def revise(view: View) -> Writes:
            if view.event.cancels is not None:
                return self._mender.beliefs(view, view.event.cancels)
            if view.event.deprecates is not None:
                return deprecate_beliefs(view, deprecated_facts(view), self._senders)
            if view.event.reads is not None:
                return self._rereading.beliefs(view)
            if (over := expiry_of(view.event)) is not None:
                writes = expire_beliefs(view, over, self._senders)
                writes.texts += [record_row(record) for record in writes.records if record.version == 1]
                return writes
            if view.event.is_entry:
                return self._decided.beliefs(view)
            facts = read.of(view.event)
            writes = BeliefReviser(view, self._senders).revise([*facts, *read.taken_back(view.event)])
            payload = {
                "beliefs_updated": len({record.id for record in writes.records}),
                "conflicts_resolved": sum(support.polarity == "against" for support in writes.supports),
                "superseded_facts": [fact.supersedes for fact in facts if fact.supersedes is not None],
            }
            writes.texts += [record_row(record) for record in writes.records if record.version == 1]
            writes.lifecycle.append(stage_row(view.event, Stage.CONSOLIDATED, payload))
            return writes

        return self._in_turn(jobs, self._asking(revise, BELIEFS), Layer.BELIEFS)

    def _compress(self, jobs: Sequence[Job]) -> Iterator[list[Landing]]:
        read = FactsRead(self._store, [job.event for job in jobs])

        def compress(view: View) -> Writes:
            if view.event.cancels is not None or view.event.deprecates is not None:
                touched = (
                    deprecated_facts(view)
                    if view.event.cancels is None
                    else self._mender.touched(view, view.event.cancels)
                )
                writes = ConceptSynthesizer(view).synthesize(touched)
                writes.texts += [record_row(record) for record in writes.records if newly_worded(record)]
                return writes
            if view.event.reads is not None:
                return self._rereading.concepts(view)
            if view.event.rewords is not None:
                return self._concept_words.concepts(view, view.event.rewords)
            if (over := expiry_of(view.event)) is not None:
                writes = expire_the_rest(view, over)
                writes.texts += [record_row(record) for record in writes.records if newly_worded(record)]
                return writes
            if view.event.is_entry:
                return self._decided.concepts(view)
            facts = read.of(view.event)
            writes = EpisodeBuilder(view, self._said_in, self._nearness).place(facts)
            episode_id = next((s.record_id for s in writes.supports if s.relation == Tie.CONTAINS), None)
            synthesizer = ConceptSynthesizer(view, episode_id)
            concepts = synthesizer.synthesize([*facts, *read.taken_back(view.event)])
            payload = {
                "episode_id": episode_id,
                "understanding_ids": sorted({record.id for record in concepts.records}),
            }
            writes.records += concepts.records
            writes.closings += concepts.closings
            writes.supports += concepts.supports
            writes.texts += [record_row(record) for record in writes.records if newly_worded(record)]
            writes.lifecycle.append(stage_row(view.event, Stage.COMPRESSED, payload))
            return writes

        return self._in_turn(jobs, self._asking(compress, CONCEPTS), Layer.UNDERSTANDING)

    def _asking(self, derive: Callable[[View], Writes], task: str) -> Callable[[View], Writes]:
        """What a stage derives, and that a model is to be asked to word it."""

        def asking(view: View) -> Writes:
            writes, event = derive(view), view.event
            own = (each for each in writes.records if each.recorded_from == event.recorded_at)
            if any(each.scope == event.scope and _is_worth_wording(each) for each in own):
                writes.inquiries.append(behind_all(inquiry_of(event, task, event.recorded_at)))
            return writes

        return asking if self._words else derive

    def _in_turn(
        self, jobs: Sequence[Job], derive: Callable[[View], Writes], layer: Layer
    ) -> Iterator[list[Landing]]:
        """One event after the other, each seeing what those before it derived, landed or not.

        Landing can change what is excluded, where that is met or made. There what went before lands first, and
        nothing follows in its group.
        """
        group: list[Landing] = []
        pending = Pending()
        for job in jobs:
            view = View(self._store, job.event, pending)
            is_silent = job.event.defines and job.event.deprecates is None
            writes = Writes() if is_silent else as_kept(self._store, job.event, layer, derive(view))
            if group and view.saw_excluded:
                yield group
                group, pending = [], Pending()
                view = View(self._store, job.event, pending)
                writes = as_kept(self._store, job.event, layer, derive(view))
            group.append((job, writes))
            pending.add(writes)
            if len(group) == self._land_max or view.saw_excluded or job.event.excluded:
                yield group
                group, pending = [], Pending()
        if group:
            yield group


def _is_worth_wording(record: Record) -> bool:
    """Whether a model may have another way to tell of a record than rules have."""
    if isinstance(record, Belief):
        return record.version > 1 or len(record.evidence) > 1
    if not isinstance(record, Concept) or record.worded_from is not None:
        return False
    return sum(layer_of(each) is Layer.FACTS for each in record.inputs) > 1


def _said(extraction: Extraction) -> TurnPhrases:
    claims = [each.evidence for each in extraction.triples if not each.handed_over]
    return TurnPhrases(extraction.phrases, tuple((span.start, span.end) for span in claims))
