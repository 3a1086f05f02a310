"""All that a recall reads, in three rounds: candidates, what stands behind the best of them, and what explains what is shown.

What a round needs from the one before is worked out by functions of values, so that each round is a few statements however many
rows they bring. Beside it a recall reads what it plans by (phrases, names, how far the log came), and what it says of scopes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from lamina.kernel.calibration import Calibration
from lamina.kernel.heads import RecordHead
from lamina.kernel.operations import Call
from lamina.kernel.records import Belief, Claim, Concept, Fact, Layer, Record, Support, is_event
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.language.entities import entity_id, normalise_name
from lamina.recall.changed import among, changes_of, facts_seen, rested_on
from lamina.recall.derived import (
    ENTITY_TOP,
    derived_layers,
    graph_scores,
    is_candidate,
    is_visible,
    wanted_records,
)
from lamina.recall.evidence import Behind, ClaimEnds, DerivedLayers, Displayed, Rendered
from lamina.recall.explain import DEPTH_MAX, SOURCES_MAX
from lamina.recall.layers.lenses import calibrated, calibrated_heads, calibration_of
from lamina.recall.pack import Item
from lamina.recall.plan import Plan
from lamina.recall.retrieve import EventPool, Retriever
from lamina.recall.score import ScoredEvent, ScoredRecord
from lamina.recall.sources import events_behind
from lamina.recall.superseded import (
    HELD_MAX,
    HOPS_MAX,
    Supersession,
    claims_of,
    closed_by,
    facts_behind,
    next_in_chains,
    replaced_slots,
    slot_place,
    told_over,
    turns_of_changed,
)
from lamina.recall.understood import standings_of_chosen, with_edges_there
from lamina.recall.weighed import WeighedRecord
from lamina.recall.wording import without_cancelled
from lamina.store.kept import KeptReads, ReadsOfNow
from lamina.store.ports.records import RecordQuery, Records
from lamina.store.ports.store import Store
from lamina.store.queries import Links, Shown
from lamina.store.redactions import redactions_behind

__all__ = ["Gathering"]

_CLAIM_LAYERS: Final = (Layer.FACTS, Layer.BELIEFS)


class Gathering:
    """Reads for one plan; the rounds in their order."""

    def __init__(self, store: Store, kept: KeptReads, retriever: Retriever, plan: Plan, call: Call) -> None:
        self._store = store
        self._reads: Records | ReadsOfNow = (
            kept.now(plan.tenant_id) if plan.held_at is None else store.records
        )
        self._retriever = retriever
        self._plan = plan
        self._call = call
        self._at_hand: dict[str, Record] = {}
        """Versions in full that were read before the best were chosen."""

    @property
    def links(self) -> Links:
        """The why graph as far as it was read."""
        return self._shown.links

    def candidates(self) -> EventPool:
        """The first round: the turns worth ranking, and the records that share words with the question."""
        plan = self._plan
        plan.deadline.check()
        pool = self._retriever.gather(plan)
        if plan.called is not None and plan.called.opaque:
            _ = plan.called.name  # rendering will ask for it
        self._shown = Shown(
            self._reads,
            self._plan.tenant_id,
            self._call.may_read,
            pool.home,
            seen_at=self._plan.held_at,
        )
        self._words = pool.words
        return pool

    @cached_property
    def _calibration(self) -> Calibration | None:
        return calibration_of(self._store.definitions, self._plan.tenant_id, self._plan.held_at)

    # ---- the second round

    def behind(self, ranked: Sequence[ScoredEvent], event_ids: Sequence[str]) -> Behind:
        """The second round: records, supports and slots behind the events that may be shown and the best of the ranked."""
        plan, shown = self._plan, self._shown
        plan.deadline.check()
        sources = [one.record_id for one in ranked[: plan.breadth.sources]]
        shown.resting_on({*event_ids, *sources})
        layers = derived_layers(plan)
        graph = graph_scores(plan, layers, ranked, shown)
        about, named = self._named(layers) if layers else (frozenset[str](), frozenset[str]())
        wanted = wanted_records(plan, layers, self._words, graph, named)
        beside = facts_behind(plan, event_ids, shown)
        heads = self._heads(wanted | beside)
        if plan.axes.superseded:
            heads |= self._as_held_before(heads[i] for i in sorted(wanted & heads.keys()))
        known = {i for of_layer in self._words.values() for i in of_layer}
        bearing = known | named
        candidates = self._passing(
            [
                head
                for i in sorted(wanted)
                if (head := heads.get(i)) and is_candidate(plan, head, bearing, graph)
            ]
        )
        ends = self._ends(beside, heads)
        return Behind(graph, about, named, candidates, len(wanted - known), ends)

    def best(self, ranked: Mapping[Layer, Sequence[WeighedRecord]]) -> dict[str, Record]:
        """The best of what was weighed, in full; without what was kept out or erased since."""
        ids = [one.head.id for of_layer in ranked.values() for one in of_layer]
        read = self._records([each for each in ids if each not in self._at_hand])
        return self._at_hand | {i: each for i, each in read.items() if not each.excluded}

    def _named(self, layers: Collection[Layer]) -> tuple[frozenset[str], frozenset[str]]:
        """The entities that the question is about, and the ids of facts and beliefs about those that it names. Of who asks about themselves
        these are more than an answer, unless nothing else is asked for."""
        plan = self._plan
        askers = set(map(normalise_name, plan.askers))
        names = set(plan.names)
        if plan.called is not None and plan.called.keys & names:
            names.add(normalise_name(plan.called.stored))
        entities = self._entities(names | askers)
        found: set[str] = set()
        for name, entity in entities.items():
            if name not in names and not plan.asks_for_all:
                continue
            for layer in _CLAIM_LAYERS:
                if layer in layers:
                    query = RecordQuery(
                        tenant_id=plan.tenant_id,
                        layer=layer,
                        scopes=plan.scopes,
                        axes=plan.axes,
                        subject=entity,
                        limit=ENTITY_TOP,
                    )
                    found.update(head.id for head in self._store.records.query_heads(query))
        return frozenset(entities.values()), frozenset(found)

    def _entities(self, names: Collection[str]) -> dict[str, str]:
        """The ids of the entities that names stand for, by name: of what somebody called so, and of what a decision did. Whether others used a
        name that nobody said here must make no difference."""
        tenant_id, records = self._plan.tenant_id, self._store.records
        said = records.entities(tenant_id, names)
        unsaid = {entity_id(tenant_id, name): name for name in names if name not in said}
        decided = records.dependants_of(tenant_id, unsaid) if unsaid else {}
        return {name: each.id for name, each in said.items()} | {
            unsaid[i]: i for i, by in decided.items() if by
        }

    def _records(self, ids: Collection[str]) -> dict[str, Record]:
        plan = self._plan
        found = self._reads.get(plan.tenant_id, ids, seen_at=plan.axes.seen_at)
        return calibrated(self._calibration, found)

    def _heads(self, ids: Collection[str]) -> dict[str, RecordHead]:
        plan = self._plan
        found = self._reads.heads(plan.tenant_id, ids, seen_at=plan.axes.seen_at)
        return calibrated_heads(self._calibration, found)

    def _as_held_before(self, heads: Iterable[RecordHead]) -> dict[str, RecordHead]:
        """Of those that are not shown as they stand, the newest earlier version that is."""
        plan = self._plan
        found: dict[str, RecordHead] = {}
        for head in heads:
            if is_visible(plan, head):
                continue
            for each in reversed(self._store.records.versions(plan.tenant_id, head.id)):
                earlier = RecordHead.of(each)
                if earlier.version < head.version and is_visible(plan, earlier):
                    found[head.id], self._at_hand[head.id] = earlier, each
                    break
        return found

    def _passing(self, candidates: Sequence[RecordHead]) -> Sequence[RecordHead]:
        plan = self._plan
        if not plan.filter:
            return candidates
        records = self._at_hand | self._records(
            [each.id for each in candidates if each.id not in self._at_hand]
        )
        # A filter may ask for a name: of what was cancelled, it has to meet what the reader will see.
        visible = self._reworded([records[each.id] for each in candidates if each.id in records])
        behind = (
            events_behind(plan, visible, self._shown, self._store.log) if plan.filter.reads_events else {}
        )
        self._at_hand |= {each.id: each for each in visible}
        passing = {each.id for each in visible if plan.filter.passes(each, behind.get(each.id, ()))}
        return [each for each in candidates if each.id in passing]

    def _reworded(self, records: Sequence[Record]) -> list[Record]:
        return without_cancelled(self._store, self._plan.tenant_id, records, seen_at=self._plan.held_at)

    def _ends(self, beside: Collection[str], heads: Mapping[str, RecordHead]) -> ClaimEnds:
        """What the claims of the events came to: who ended them, what holds their slots now, and what their chains lead to."""
        plan = self._plan
        facts = claims_of(plan, beside, heads)
        closed = closed_by(plan, facts)
        if not closed:
            return ClaimEnds(facts)
        ended_by = self._shown.ended_by(told_over(closed), plan.axes.seen_at)
        holders: dict[tuple[Scope, str | None], RecordHead] = {}
        for scope, slots in replaced_slots(plan, closed.values()).items():
            for head in self._store.records.heads_in_slots(plan.tenant_id, scope, slots, limit=HELD_MAX):
                if plan.axes.sees_valid(head.valid_from, head.valid_to):
                    holders.setdefault(slot_place(head), head)
        known = {i: each for i, each in heads.items() if each.layer is Layer.FACTS}
        known |= {each.id: each for each in holders.values()}
        ends = ClaimEnds(facts, closed, ended_by, holders, known)
        looked_for: set[str] = set()
        for _ in range(HOPS_MAX):
            following = next_in_chains(ends) - looked_for
            looked_for |= following
            more = claims_of(plan, following, self._heads(following)) if following else {}
            if not more:
                break
            ends = replace(ends, known={**ends.known, **more})
        return ends

    def displayed(
        self,
        event_ids: Collection[str],
        supersession: Supersession,
        derived: DerivedLayers,
        ends: ClaimEnds,
    ) -> Displayed:
        """The end of the second round: the events, and which facts may have changed, of the best, of those that the events told and that have
        no end, and of those behind what a block has room for."""
        plan, log = self._plan, self._store.log
        plan.deadline.check()
        if not plan.filter:
            derived = self._plain(derived)
        best = derived.by_layer.get(Layer.FACTS, [])[: plan.limits.get(Layer.FACTS, 0)]
        facts = [one.record for one in best if isinstance(one.record, Fact)]
        told = {i: each for i, each in ends.facts.items() if i not in ends.closed}
        below = self._facts_below(derived)
        under = {each.id: each for heads in below.values() for each in heads}
        looked_at = told | under | {fact.id: fact for fact in facts}
        marked = self._shown.supports_related(looked_at.keys(), Tie.MAY_CHANGE)
        changes = changes_of(log, plan.tenant_id, list(looked_at.values()), marked)
        turns = turns_of_changed(plan, event_ids, ends, self._shown.links, changes.marks)
        telling = {fact.event_id for fact in facts}
        events = log.get(plan.tenant_id, {*event_ids, *supersession.corrections, *telling})
        self._shown.resting_on(supersession.corrections | changes.events.keys())
        return Displayed(events, derived, replace(changes, turns=turns, behind=below), self._shown.links)

    def _facts_below(self, derived: DerivedLayers) -> dict[str, Sequence[RecordHead]]:
        """By its id, the facts behind each belief, and behind each concept that a block has room for as the plan sees them."""
        plan = self._plan
        best = {
            layer: [one.record for one in derived.by_layer.get(layer, [])[: plan.limits.get(layer, 0)]]
            for layer in (Layer.BELIEFS, Layer.UNDERSTANDING)
        }
        rested = rested_on([each for each in best[Layer.BELIEFS] if isinstance(each, Belief)], self._shown)
        inputs = {each.id: each.inputs for each in best[Layer.UNDERSTANDING] if isinstance(each, Concept)}
        if plan.block is None or Layer.UNDERSTANDING not in plan.block.shares:
            inputs = {}
        ids = {
            i for sources in (rested, inputs) for each in sources.values() for i in each if not is_event(i)
        }
        heads = self._heads(ids) if ids else {}
        seen, told = facts_seen(heads.values(), self._call.may_read), claims_of(plan, ids, heads)
        return among(rested, seen) | among(inputs, told)

    def _plain(self, derived: DerivedLayers) -> DerivedLayers:
        """The layers without the words of cancelled events."""
        best = [scored.record for of_layer in derived.by_layer.values() for scored in of_layer]
        plain = {each.id: each for each in self._reworded(best)}
        by_layer: dict[Layer, list[ScoredRecord]] = {
            layer: [scored._replace(record=plain[scored.record.id]) for scored in of_layer]
            for layer, of_layer in derived.by_layer.items()
        }
        return replace(derived, by_layer=by_layer)

    # ---- the third round

    def linked(self, chosen: Mapping[Layer, list[Item]]) -> Mapping[Layer, list[Item]]:
        """What was chosen, with no edge of a concept that leads to what is not there for the caller."""
        items = chosen.get(Layer.UNDERSTANDING, [])
        concepts = [item.value for item in items if isinstance(item.value, Concept)]
        if not any(each.edges for each in concepts):
            return chosen
        plan, may_read = self._plan, self._call.may_read
        linked = with_edges_there(concepts, self._reads, plan.tenant_id, may_read, seen_at=plan.held_at)
        return {
            **chosen,
            Layer.UNDERSTANDING: [i._replace(value=c) for i, c in zip(items, linked, strict=True)],
        }

    def rendered(self, chosen: Mapping[Layer, Sequence[Item]], cited: Collection[str]) -> Rendered:
        """The third round: what explains the ``cited``, down to events, what rests on the ``chosen`` events, what came of the inputs of the
        chosen concepts, and what was redacted behind the chosen claims."""
        self._plan.deadline.check()
        event_ids = [item.id for item in chosen.get(Layer.EVENTS, ())]
        self._shown.derived_from(event_ids)
        self._read_sources([each for each in cited if not is_event(each)])
        concepts = [item.value for item in chosen.get(Layer.UNDERSTANDING, ())]
        consulted = self._consulted([each for each in concepts if isinstance(each, Concept) and each.inputs])
        others = [item.id for layer, items in chosen.items() if layer is not Layer.EVENTS for item in items]
        supports = self._shown.supports_of([each for each in others if each not in consulted]) | consulted
        standings = standings_of_chosen(self._store, self._reads, self._plan, concepts, supports)
        links = self._shown.links
        claims = [item.value for layer in _CLAIM_LAYERS for item in chosen.get(layer, ())]
        return Rendered(
            replace(links, supports={**links.supports, **consulted}),
            standings,
            redactions_behind(
                self._store,
                self._plan.tenant_id,
                [each for each in claims if isinstance(each, Claim)],
                supports,
            ),
        )

    def _consulted(self, concepts: Sequence[Concept]) -> dict[str, list[Support]]:
        """The supports of concepts that their versions were made from: a concept may have had ten times as many in all of them."""
        tenant_id = self._plan.tenant_id
        sources = self._shown.sources_among({each.id: each.inputs for each in concepts})
        return {
            each.id: [
                Support(tenant_id, each.id, source, Tie.SYNTHESIZED_FROM)
                for source in sources.get(each.id, ())
            ]
            for each in concepts
        }

    def _read_sources(self, record_ids: Collection[str]) -> None:
        """Read what citations show: the sources of records, and of these in turn."""
        links = self._shown.links
        self._shown.cited_by(record_ids, SOURCES_MAX)
        self._shown.read_below({i for each in record_ids for i in links.onward_from(each)}, SOURCES_MAX)
        front: Collection[str] = record_ids
        reached = set(record_ids)
        for _ in range(DEPTH_MAX):
            # Nothing is left to read, but where sources that are not shown stood before others.
            self._shown.cited_by(front, SOURCES_MAX)
            front = {i for each in front for i in links.onward_from(each)} - reached
            reached |= front
            if not front:
                break
