"""The recall operation: plan, gather, score, pack, render, explain; one path for every view and for the stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NamedTuple

from lamina.errors import Unsupported
from lamina.kernel.capabilities import Capability
from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.events import Event
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.records import Fact, Layer, Record
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.language.spoken import as_written
from lamina.models.counter import TokenCounter
from lamina.recall.changed import Changes, changes_of
from lamina.recall.compose import compose, disputed
from lamina.recall.derived import DerivedLayers, DerivedRecords
from lamina.recall.diagnostics import Trail, in_full, summary
from lamina.recall.explain import citations, knowledge_subgraph
from lamina.recall.items import layers_view
from lamina.recall.layers.reach import Reach, reach_of, traversed
from lamina.recall.layers.reading import present
from lamina.recall.layers.requests import View
from lamina.recall.layers.results import TraversedScope
from lamina.recall.layers.words import phrases_of, seen_from
from lamina.recall.naming import Called, Names, Naming, called
from lamina.recall.pack import MMR_LAMBDA, Item, Packed, diversify, pack
from lamina.recall.plan import WIDE, Breadth, Plan, plan_recall
from lamina.recall.recent import PackKey, RecentPacks
from lamina.recall.render import Block, change_mark, line_of, render_block
from lamina.recall.requests import Answerable, Pack, PackLayers, Provenance, Recall
from lamina.recall.retrieve import EventPool, Retriever
from lamina.recall.score import ANSWERABLE_FROM, RECORD_WEIGHTS, ScoredEvent, evidence_strength, score_events
from lamina.recall.stream import as_stream
from lamina.recall.superseded import (
    Placed,
    Superseded,
    Supersession,
    asked_for,
    bound_by,
    facts_behind,
    marked_episodes,
    put_right,
    superseded_among,
)
from lamina.recall.understood import standings_of_chosen
from lamina.recall.weights import DEFAULT
from lamina.store.ports.store import Store
from lamina.store.queries import Shown

__all__ = ["Held", "Recalling", "Remembrance"]

_DIVERSIFIED = 3
"""MMR chooses among this many times the events that the layer's limit allows."""


class Held(NamedTuple):
    """An event or a record that answers, with its score and, where they were asked for, the parts of it. Of a fact, ``said_at`` is
    when the turn was said that tells it. ``mark`` says of a line what no longer holds of it, or is disputed."""

    value: Event | Record
    score: float
    contributions: Mapping[str, float]
    superseded: Superseded | None = None
    needs: frozenset[str] = frozenset()
    said_at: Instant | None = None
    mark: str = ""
    changed: MayHaveChanged | None = None


class Remembrance(NamedTuple):
    """What answers, best first in each layer up to its limit, how strongly the best of it speaks to the question, 0..1, and
    what the user of the scope is called."""

    values: Mapping[Layer, Sequence[Held]]
    strength: float
    called: Called | None


@dataclass(frozen=True, slots=True)
class _Found:
    """What a plan came to: the values of each layer, best first, ``more`` events behind those for a context block, and
    what they were chosen from."""

    values: Mapping[Layer, Sequence[Held]]
    more: Sequence[Held]
    pool: EventPool
    ranked: Sequence[ScoredEvent]
    derived: DerivedLayers
    shown: Shown

    def strength(self, plan: Plan) -> float:
        """How strongly the best of it speaks to the question."""
        return evidence_strength(self.pool, plan, self.ranked, self.derived.by_layer.get(Layer.FACTS, []))


class Recalling:
    """Handlers of recall."""

    def __init__(
        self,
        store: Store,
        retriever: Retriever,
        derived: DerivedRecords,
        counter: TokenCounter,
        ids: IdSource,
    ) -> None:
        self._store = store
        self._retriever = retriever
        self._derived = derived
        self._counter = counter
        self._ids = ids
        self._packs = RecentPacks()

    def grants(self, request: Recall) -> list[Grant]:
        """What a recall takes: the traversal that its view walks, and diagnostics where asked for."""
        scope = Scope(request.scope)
        grants = [Grant(Capability.SCOPE_READ_LOCAL, scope)]
        if request.view in ("holistic", "narrative"):
            grants.insert(0, Grant(Capability.SCOPE_READ_HOLISTIC, scope))
        if request.view == "descend":
            grants.insert(0, Grant(Capability.SCOPE_READ_DESCEND, scope))
        if request.diagnostics != "none":
            grants.append(Grant(Capability.DIAGNOSTICS_READ, scope))
        return grants

    def recall(self, request: Recall, call: Call) -> Answer:
        """The pack for a question, or its stream."""
        if request.view == "narrative":
            raise Unsupported(
                "VIEW_NOT_OFFERED",
                "the narrative view is not offered by this server",
                hint="view=holistic gives a context block made without a language model",
            )
        reach = self._reach(request, call)
        key, removals = None, 0
        if request.idempotency_key is not None:
            key = PackKey(call.principal.tenant_id, call.principal.actor, request.idempotency_key)
            removals = self._removals(reach.scopes, call)
            known = self._packs.find(key, _hash_of(call), removals, call.now)
            if known is not None and _still_open(known, reach):
                known = known.model_copy(update={"request_id": call.request_id})
                return Answer(
                    as_stream(known, request.last_event_id) if request.stream else known, replayed=True
                )
        plan = self._plan(request, call, reach, WIDE)
        pack_ = self._pack(request, plan, call, reach)
        if key is not None:
            self._packs.keep(key, _hash_of(call), removals, call.now, pack_)
        return Answer(
            as_stream(pack_) if request.stream else pack_, warnings=(*reach.warnings, *plan.warnings)
        )

    def expect(self, question: str) -> None:
        """A question will be asked soon: the model reads it already."""
        self._retriever.expect(as_written(question).text)  # as a plan reads it, or the model would read both

    def remembered(
        self, request: Recall, call: Call, breadth: Breadth, naming: Naming | None = None
    ) -> Remembrance:
        """What a pack is chosen from, for a caller inside who words it himself, and may know what users are called."""
        reach = self._reach(request, call)
        plan = self._plan(request, call, reach, breadth, naming)
        found = self._found(plan, call, Trail.begin())
        return Remembrance(found.values, found.strength(plan), plan.called)

    def _reach(self, request: Recall, call: Call) -> Reach:
        view: View = request.view if request.view in ("holistic", "descend") else "local"
        return reach_of(self._store.scopes, call, request.scope, view)

    def _plan(
        self, request: Recall, call: Call, reach: Reach, breadth: Breadth, naming: Naming | None = None
    ) -> Plan:
        log, as_of, recorded = self._store.log, request.temporal.as_of, request.temporal.recorded_during
        seen_at = None if as_of is None else present(log, call, reach.scopes, as_of)
        plan = plan_recall(
            request,
            call.principal,
            reach.scopes,
            present(log, call, reach.scopes),
            breadth,
            clock_now=call.now,
            seen_from=seen_at,
            phrases=phrases_of(
                self._store.definitions,
                call.principal.tenant_id,
                seen_from(seen_at, None if recorded is None else recorded[1]),
            ),
        )
        learnt = naming or Names(self._store.records, plan.tenant_id, plan.scopes, plan.axes, plan.held_at)
        return replace(plan, called=called(plan.scopes, learnt))

    def _removals(self, scopes: Sequence[Scope], call: Call) -> int:
        tenant_id, index = call.principal.tenant_id, self._store.index
        return sum(index.changes(tenant_id, scope) + index.last_end(tenant_id, scope) for scope in scopes)

    def _pack(self, request: Recall, plan: Plan, call: Call, reach: Reach) -> Pack:
        trail = Trail.begin()
        found = self._found(plan, call, trail, explained=request.diagnostics == "full")
        items, more = self._items(plan, found.values, found.more)
        packed = pack(items, plan.max_tokens)
        trail.note("knapsack", max_tokens=plan.max_tokens, tokens=packed.tokens, evictions=packed.evictions)
        lines: Mapping[Layer, Sequence[Item]] = {}
        if plan.block is not None:
            lines = compose(
                {**items, Layer.EVENTS: [*items.get(Layer.EVENTS, ()), *more]}, plan.block, plan.max_tokens
            )
            trail.note("compose", lines={layer.value: len(each) for layer, each in lines.items() if each})
        return self._finish(request, plan, call, reach, found, packed, lines, trail)

    def _found(self, plan: Plan, call: Call, trail: Trail, *, explained: bool = False) -> _Found:
        """What answers a plan, phase by phase."""
        trail.note("ARIL_classify", plan=plan.name, filters_applied=list(plan.filter.names))
        pool = self._retriever.gather(plan)
        trail.note(
            "hybrid_retrieve",
            bm25_hits=pool.arms.get("text", 0),
            vector_hits=pool.arms.get("vector", 0),
            neighbours=pool.arms.get("around", 0),
            time_hits=pool.arms.get("time", 0),
            newest=pool.arms.get("newest", 0),
            candidates=len(pool.turns),
        )
        ranked = score_events(
            pool,
            plan,
            max(plan.breadth.sources, _DIVERSIFIED * plan.limits.get(Layer.EVENTS, 0), plan.block_events),
        )
        trail.note("score", model="late-interaction", weights=DEFAULT, persons=sorted(pool.persons))
        trail.note("rerank", model=None)
        shown = Shown(self._store.records, plan.tenant_id, call.may_read, pool.home, seen_at=plan.held_at)
        best = _diverse(pool, ranked, plan.limits.get(Layer.EVENTS, 0))
        more = _behind(best, ranked, plan)
        ids = [one.record_id for one in (*best, *more)]
        shown.resting_on({*ids, *(one.record_id for one in ranked[: plan.breadth.sources])})  # once for both
        behind = facts_behind(plan, ids, shown)
        trail.note("mmr", **{"lambda": MMR_LAMBDA})
        derived = self._derived.find(plan, ranked, pool.words, shown, plan.axes.seen_at, behind)
        trail.note(
            "graph_expand",
            added_nodes=derived.added_by_graph,
            entities=derived.entities,
            weights=dict(RECORD_WEIGHTS),
        )
        supersession = superseded_among(plan, ids, derived.read, self._store.records, shown)
        trail.note("supersede", superseded=len(supersession.events), marked_only=supersession.marked_only)
        values, behind_them = self._values(
            plan, best, more, supersession, derived, shown, explained=explained
        )
        return _Found(values, behind_them, pool, ranked, derived, shown)

    def _values(
        self,
        plan: Plan,
        best: Sequence[ScoredEvent],
        more: Sequence[ScoredEvent],
        supersession: Supersession,
        derived: DerivedLayers,
        shown: Shown,
        *,
        explained: bool,
    ) -> tuple[dict[Layer, list[Held]], list[Held]]:
        """The values of each layer up to its limit, and the events that only a context block may show."""
        found = {one.record_id: one for one in (*best, *more)}
        telling = {
            one.record.event_id
            for one in derived.by_layer.get(Layer.FACTS, [])[: plan.limits.get(Layer.FACTS, 0)]
            if isinstance(one.record, Fact)
        }
        events = self._store.log.get(plan.tenant_id, found.keys() | supersession.corrections | telling)
        placed = put_right({i: one.score for i, one in found.items()}, supersession, events, plan)
        changes = self._changes(plan, derived, shown)
        newer = _newer_turns(changes, placed, derived, plan)
        placed = [*placed, *newer]
        placed.sort(key=lambda each: -each.score)
        least = plan.faintest * max((each.score for each in placed), default=0.0)
        placed = [each for each in placed if each.score >= least]
        values: dict[Layer, list[Held]] = {layer: [] for layer in plan.layers}
        first = {one.record_id for one in best} | {each.event.id for each in newer}
        first |= {
            supersession.events[one.record_id].event for one in best if one.record_id in supersession.events
        }
        held: dict[bool, list[Held]] = {True: [], False: []}
        for each in placed:
            signals: Mapping[str, float] = {}
            if explained:
                scored_event = found.get(each.event.id)
                signals = {**(scored_event.contributions if scored_event else {}), **each.added}
            one = Held(each.event, each.score, signals, each.superseded, each.needs)
            held[each.event.id in first].append(one)
        limit = plan.limits.get(Layer.EVENTS, 0)
        if Layer.EVENTS in values:
            values[Layer.EVENTS] = held[True][:limit]
        bound, marks = bound_by(placed, shown), marked_episodes(placed, shown)
        for layer, scored in derived.by_layer.items():
            shown_of_layer = scored[: plan.limits.get(layer, 0)]
            marks |= disputed([one.record for one in shown_of_layer if isinstance(one.record, Fact)])
            for record in shown_of_layer:
                needs, changed = bound.get(record.record.id, frozenset()), changes.marks.get(record.record.id)
                said_at = None
                if isinstance(record.record, Fact) and record.record.event_id in events:
                    said_at = events[record.record.event_id].context.observed_at
                values[layer].append(
                    Held(
                        record.record,
                        record.score,
                        record.contributions,
                        needs=needs,
                        said_at=said_at,
                        mark=marks.get(record.record.id, ""),
                        changed=changed,
                    )
                )
        return values, [*held[True][limit:], *held[False]]

    def _changes(self, plan: Plan, derived: DerivedLayers, shown: Shown) -> Changes:
        """Which of the facts that may be shown may have changed, and by which turns."""
        best = derived.by_layer.get(Layer.FACTS, [])[: plan.limits.get(Layer.FACTS, 0)]
        facts = [each.record for each in best if isinstance(each.record, Fact)]
        supports = shown.supports_of([fact.id for fact in facts])
        return changes_of(self._store.log, plan.tenant_id, facts, supports)

    def _items(
        self, plan: Plan, values: Mapping[Layer, Sequence[Held]], more: Sequence[Held]
    ) -> tuple[Mapping[Layer, Sequence[Item]], Sequence[Item]]:
        """The values and more events with their lines, and what those cost."""
        rows = [(layer, each) for layer in values for each in values[layer]]
        rows += [(Layer.EVENTS, each) for each in more]
        lines = [
            line_of(
                each.value,
                plan.terms,
                mark=each.superseded.mark if each.superseded else each.mark,
                called=plan.called,
                said_at=each.said_at,
            )
            for _, each in rows
        ]
        whole = [
            f"- {line}{change_mark(each.changed, '[99]')} [99]\n"
            for (_, each), line in zip(rows, lines, strict=True)
        ]
        items = [
            Item(
                layer,
                line,
                count,
                each.value,
                each.score,
                each.contributions,
                each.superseded,
                each.needs,
                each.changed,
            )
            for (layer, each), line, count in zip(rows, lines, self._counter.count(whole), strict=True)
        ]
        first = items[: len(items) - len(more)]
        return {layer: [item for item in first if item.layer is layer] for layer in values}, items[
            len(first) :
        ]

    def _finish(
        self,
        request: Recall,
        plan: Plan,
        call: Call,
        reach: Reach,
        found: _Found,
        packed: Packed,
        lines: Mapping[Layer, Sequence[Item]],
        trail: Trail,
    ) -> Pack:
        shown = found.shown
        strength = found.strength(plan)
        there = [*chain(*packed.chosen.values()), *chain(*lines.values())]
        ids = list(dict.fromkeys(item.id for item in there))
        supports = shown.supports_of(ids)
        block = render_block(lines, request.citation_mode)
        trail.note("render", tokens=block.tokens)
        full = request.diagnostics == "full"
        layers = layers_view(
            packed.chosen,
            supports,
            shown.derived_from([item.id for item in packed.chosen.get(Layer.EVENTS, ())]),
            standings_of_chosen(
                self._store,
                plan,
                (item.value for item in packed.chosen.get(Layer.UNDERSTANDING, ())),
                supports,
            ),
            exclude_content=request.exclude_content,
            with_contributions=full,
        )
        subgraph = knowledge_subgraph(packed.chosen) if request.view == "structured" else None
        cited = citations(ids, supports, shown.supports_of)
        trail.note("explain", cited=len(cited))
        return Pack(
            request_id=call.request_id,
            pack_id=self._ids.stamped(Prefix.PACK, call.now),
            scope=request.scope,
            view=request.view,
            query=request.query,
            context_block=block.text,
            context_tokens=block.tokens,
            layers=layers if request.view != "structured" else _no_layers(),
            abstain=Answerable(
                answerable=strength >= ANSWERABLE_FROM, best_score=strength, threshold=ANSWERABLE_FROM
            ),
            provenance=Provenance(trail=trail.phases, citations=cited, markers=dict(block.markers)),
            knowledge_subgraph=subgraph,
            scopes_traversed=traversed(
                reach,
                self._store.log,
                call,
                (item.value for item in there),
            ),
            diagnostics=self._diagnostics(request, plan, call, packed, lines, block, trail),
            as_of=plan.axes.seen_at,
        )

    def _diagnostics(
        self,
        request: Recall,
        plan: Plan,
        call: Call,
        packed: Packed,
        lines: Mapping[Layer, Sequence[Item]],
        block: Block,
        trail: Trail,
    ) -> dict[str, Any] | None:
        if request.diagnostics == "none":
            return None
        told = summary(plan, packed, trail)
        if request.diagnostics == "full":
            models = {"embedder": self._retriever.embedder, "tokenizer": self._counter.name}
            told |= in_full(request, call, models, lines, block)
        return told


def _hash_of(call: Call) -> str:
    """The hash of a recall: one that goes on with its stream is the same."""
    return call.body_hash(without="last_event_id")


def _still_open(pack_: Pack, reach: Reach) -> bool:
    """Whether the caller may still read every scope that the pack was made from."""
    walked = {each.scope for each in pack_.scopes_traversed or () if isinstance(each, TraversedScope)}
    return walked <= set(reach.scopes) | {pack_.scope}


def _diverse(pool: EventPool, ranked: Sequence[ScoredEvent], limit: int) -> list[ScoredEvent]:
    """The best events, without those that a better one repeats almost word for word."""
    near = ranked[: limit * _DIVERSIFIED]
    if not near or limit == 0:
        return []
    order = diversify([one.score for one in near], pool.pooled[[one.at for one in near]], limit)
    return [near[at] for at in sorted(order)]


def _behind(best: Sequence[ScoredEvent], ranked: Sequence[ScoredEvent], plan: Plan) -> list[ScoredEvent]:
    """The next best events, for a context block that has room for more than a layer shows."""
    taken = {one.record_id for one in best}
    rest = (one for one in ranked if one.record_id not in taken and one.score >= plan.faintest)
    return list(islice(rest, max(0, plan.block_events - len(best))))


def _newer_turns(
    changes: Changes, placed: Sequence[Placed], derived: DerivedLayers, plan: Plan
) -> list[Placed]:
    """The turns by which facts may have changed that were not found themselves: as good as the fact, behind which they must stand."""
    known = {each.event.id for each in placed}
    best = max((each.score for each in placed), default=0.0)
    scores: dict[str, float] = {}
    for one in derived.by_layer.get(Layer.FACTS, []):
        mark = changes.marks.get(one.record.id)
        if mark is None or mark.event_id in known or not asked_for(plan, changes.events[mark.event_id]):
            continue
        scores[mark.event_id] = max(
            scores.get(mark.event_id, 0.0), min(one.score, best) if best else one.score
        )
    return [Placed(changes.events[i], round(score, 6), {}, None, frozenset()) for i, score in scores.items()]


def _no_layers() -> PackLayers:
    return PackLayers(beliefs=[], facts=[], episodes=[], events=[], understanding=[])
