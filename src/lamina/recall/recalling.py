"""The recall operation: plan, gather, score, pack, render, explain; one path for every view and for the stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.language.questions import is_stated
from lamina.models.counter import TokenCounter
from lamina.recall.answerable import ANSWERABLE_FROM, answer_strength
from lamina.recall.compose import compose
from lamina.recall.deadline import NEVER, Deadline
from lamina.recall.derived import derived_of, rank_derived
from lamina.recall.diagnostics import Trail, arms_of, diagnose
from lamina.recall.explain import citations, knowledge_subgraph
from lamina.recall.gather import Gathering
from lamina.recall.grounds import Grounds, grounds_of, keep_grounds
from lamina.recall.items import layers_view
from lamina.recall.kept import Basis, KeptResults, closed_to_concepts
from lamina.recall.layers.reach import Reach, reach_of, traversed
from lamina.recall.layers.reading import present
from lamina.recall.layers.words import phrases_of, seen_from
from lamina.recall.lines import items_of
from lamina.recall.naming import Called, Names, Naming, called
from lamina.recall.narration import Narrator
from lamina.recall.newer import AnsweredAnew, newer_answers
from lamina.recall.pack import MMR_LAMBDA, Item, pack
from lamina.recall.placing import Answers, Held, candidates, place, ranked_max
from lamina.recall.plan import WIDE, Breadth, Plan, as_read, plan_recall
from lamina.recall.render import render_block
from lamina.recall.retrieve import EventPool, Retriever
from lamina.recall.room import RecallRoom
from lamina.recall.score import (
    ScoredEvent,
    ScoredRecord,
    evidence_strength,
    score_events,
)
from lamina.recall.stream import as_stream
from lamina.recall.superseded import superseded_among
from lamina.recall.weighed import RECORD_WEIGHTS
from lamina.recall.weights import DEFAULT
from lamina.store.kept import KeptReads
from lamina.store.ports.packs import PackKind
from lamina.store.ports.store import Store
from lamina.types.layer_requests import View
from lamina.types.recall import Answerable, Pack, PackLayers, Provenance, Recall

__all__ = ["Recalling", "Remembrance"]


class Remembrance(NamedTuple):
    """What answers, best first in each layer up to its limit, how strongly the best of it speaks to the question, 0..1, what
    the user of the scope is called, and the question's ``terms``."""

    values: Mapping[Layer, Sequence[Held]]
    strength: float
    called: Called | None
    terms: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What a plan came to: what answers, the figures behind it (the pool, its best turns and facts), what reads on for what is shown, and
    what was kept out."""

    answers: Answers
    figures: tuple[EventPool, Plan, Sequence[ScoredEvent], Sequence[ScoredRecord]]
    gathering: Gathering
    kept_out: Mapping[str, Sequence[str]]
    partial: bool


class Recalling:
    """Handlers of recall."""

    def __init__(
        self,
        store: Store,
        retriever: Retriever,
        counter: TokenCounter,
        ids: IdSource,
        narrator: Narrator | None = None,
        room: RecallRoom | None = None,
    ) -> None:
        """``room`` bounds how many recalls run at once: one for each core unless given."""
        self._room = room or RecallRoom(os.cpu_count() or 1)
        self._store = store
        self._retriever = retriever
        self._counter = counter
        self._ids = ids
        self._narrator = narrator
        self._reads = KeptReads(store.records)
        self._kept = KeptResults(store, PackKind.RECALL, Pack)

    def grants(self, request: Recall) -> list[Grant]:
        """What a recall takes: the traversal that its view walks, and diagnostics where asked for."""
        scope = Scope(request.scope)
        grants = [Grant(Capability.SCOPE_READ_LOCAL, scope)]
        if request.view in ("holistic", "narrative"):
            grants.insert(0, Grant(Capability.SCOPE_READ_HOLISTIC, scope))
        if request.view == "descend":
            grants.insert(0, Grant(Capability.SCOPE_READ_DESCEND, scope))
        if request.view == "narrative":
            grants.append(Grant(Capability.LLM_INVOKE, scope))
        if request.diagnostics != "none":
            grants.append(Grant(Capability.DIAGNOSTICS_READ, scope))
        return grants

    def recall(self, request: Recall, call: Call) -> Answer:
        """The pack for a question, or its stream."""
        key = request.idempotency_key
        if key is not None and (known := self._kept.find(key, call)) is not None:
            return _replayed(request, known, call)
        reach = self._reach(request, call)
        basis = None if key is None else Basis.of(self._store, reach.scopes, call)
        grounds, warnings = self._found(request, call, reach)
        pack_ = grounds.pack
        if request.view == "narrative":
            pack_, more = self._narrated(grounds, call)
            warnings += more
        if key is not None and basis is not None:
            kept = self._kept.keep(key, pack_, basis, call)
            if kept is not pack_:
                return _replayed(request, kept, call)
        return Answer(as_stream(pack_) if request.stream else pack_, warnings=warnings)

    def grounds(self, request: Recall, call: Call) -> tuple[Grounds, tuple[str, ...]]:
        """What an answer to a question is made from, and what of the request was done otherwise than asked."""
        return self._found(request, call, self._reach(request, call))

    def _found(self, request: Recall, call: Call, reach: Reach) -> tuple[Grounds, tuple[str, ...]]:
        with self._room.place(call.principal.tenant_id):
            plan = self._plan(request, call, reach, WIDE)
            grounds = self._pack(request, plan, call, reach)
        keep_grounds(self._store, call, grounds)
        return grounds, (*reach.warnings, *plan.warnings)

    def _narrated(self, grounds: Grounds, call: Call) -> tuple[Pack, tuple[str, ...]]:
        """The pack of the narrative view: its lines told in place of its layers."""
        assert self._narrator is not None, "whoever offers the view has somebody to tell it"
        trail = Trail.begin()
        told = self._narrator.narrate(grounds, call)
        trail.note("narrate", model=told.teller, sentences_cut=told.cut)
        pack_ = grounds.pack
        provenance = pack_.provenance.model_copy(
            update={
                "trail": [*pack_.provenance.trail, *trail.phases],
                "markers": {each.marker: each.id for each in told.citations},
            }
        )
        changed = {
            "context_block": told.text,
            "context_tokens": self._counter.count([told.text])[0],
            "layers": PackLayers.empty(),
            "provenance": provenance,
        }
        return pack_.model_copy(update=changed), told.warnings

    def expect(self, question: str) -> None:
        """A question will be asked soon: the model reads it already."""
        self._retriever.expect(as_read(question))  # as a plan reads it, or the model would read both

    def warm(self, stopping: Callable[[], bool]) -> None:
        """Load what is likely to be asked for first, until ``stopping``."""
        self._retriever.warm(stopping)

    def remembered(
        self,
        request: Recall,
        call: Call,
        breadth: Breadth,
        naming: Naming | None = None,
        deadline: Deadline = NEVER,
    ) -> Remembrance:
        """What a pack is chosen from, for a caller inside who words it himself, and may know what users are called.

        Raises ``TooLate`` before the next phase once the answer is not wanted any more.
        """
        # Who has a deadline does not wait: a brief has threads of its own, and goes without what comes late.
        waits = deadline is NEVER
        with self._room.place(call.principal.tenant_id) if waits else nullcontext():
            reach = self._reach(request, call)
            plan = replace(self._plan(request, call, reach, breadth, naming), deadline=deadline)
            chosen = self._chosen(plan, call, Trail.begin())
        strength = evidence_strength(*chosen.figures)
        return Remembrance(chosen.answers.values, strength, plan.called, plan.terms)

    def _reach(self, request: Recall, call: Call) -> Reach:
        view: View = request.view if request.view in ("holistic", "descend") else "local"
        return reach_of(self._store, call, request.scope, view, as_of=request.temporal.as_of)

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
        if plan.limits.get(Layer.UNDERSTANDING, 0) > 0:
            closed = closed_to_concepts(plan.scopes, call)
            told = (f"understanding_denied={len(closed)}",) if closed else ()
            plan = replace(plan, without_concepts=closed, warnings=(*plan.warnings, *told))
        learnt = naming or Names(self._store.records, plan.tenant_id, plan.scopes, plan.axes, plan.held_at)
        return replace(plan, called=called(plan.scopes, learnt))

    def _chosen(self, plan: Plan, call: Call, trail: Trail, *, explained: bool = False) -> _Chosen:
        """What answers a plan: two rounds of reading, and in between what follows from what was read."""
        trail.note("ARIL_classify", plan=plan.name, filters_applied=list(plan.filter.names))
        gathering = Gathering(self._store, self._reads, self._retriever, plan, call)
        pool = gathering.candidates()
        trail.note("hybrid_retrieve", **arms_of(pool))
        plan.deadline.check()
        ranked = score_events(pool, plan, ranked_max(plan))
        trail.note("score", model="late-interaction", weights=DEFAULT, persons=sorted(pool.persons))
        trail.note("rerank", model=None)
        newer = newer_answers(pool, ranked, plan) if plan.block is not None else AnsweredAnew()
        turns = candidates(pool, ranked, plan, newer)
        trail.note("newer", marked=len(newer.marks))
        trail.note("mmr", **{"lambda": MMR_LAMBDA})
        behind = gathering.behind(ranked, turns.ids)
        best = rank_derived(plan, behind, pool.words)
        derived = derived_of(plan, behind, best, gathering.best(best))
        trail.note(
            "graph_expand",
            added_nodes=derived.added_by_graph,
            entities=derived.entities,
            weights=dict(RECORD_WEIGHTS),
        )
        supersession = superseded_among(plan, turns.ids, behind.ends, gathering.links)
        trail.note("supersede", superseded=len(supersession.events), marked_only=supersession.marked_only)
        displayed = gathering.displayed(turns.ids, supersession, derived, behind.ends)
        trail.note("read_displayed", events=len(displayed.events))
        answers = place(plan, turns, supersession, displayed, newer.marks, pool, explained=explained)
        kept_out = {each: pool.quarantined(each) for each in pool.kept_out} | dict(derived.kept_out)
        trail.note("quarantine", included=plan.include_quarantined, left_out=len(kept_out))
        figures = pool, plan, ranked, derived.by_layer.get(Layer.FACTS, ())
        return _Chosen(answers, figures, gathering, kept_out, pool.partial)

    def _pack(self, request: Recall, plan: Plan, call: Call, reach: Reach) -> Grounds:
        trail = Trail.begin()
        chosen = self._chosen(plan, call, trail, explained=request.diagnostics == "full")
        answerable = answer_strength(*chosen.figures)
        items, more = items_of(plan, chosen.answers, self._counter)
        packed = pack(items, plan.max_tokens)
        packed = replace(packed, chosen=chosen.gathering.linked(packed.chosen))
        trail.note("knapsack", max_tokens=plan.max_tokens, tokens=packed.tokens, evictions=packed.evictions)
        lines: Mapping[Layer, Sequence[Item]] = {}
        if plan.block is not None:
            lines = compose(
                {**items, Layer.EVENTS: [*items.get(Layer.EVENTS, ()), *more]}, plan.block, plan.max_tokens
            )
            trail.note("compose", lines={layer.value: len(each) for layer, each in lines.items() if each})
        block = render_block(lines, request.citation_mode)
        trail.note("render", tokens=block.tokens)
        there = [*chain(*packed.chosen.values()), *chain(*lines.values())]
        ids = dict.fromkeys(item.id for item in there)
        rendered = chosen.gathering.rendered(packed.chosen, ids)
        cited = citations(ids, rendered.links)
        trail.note("explain", cited=len(cited))
        diagnostics = diagnose(
            request,
            plan,
            call,
            packed,
            lines,
            block,
            trail,
            models={"embedder": self._retriever.embedder, "tokenizer": self._counter.name},
            kept_out=chosen.kept_out,
            partial=chosen.partial,
        )
        made = Pack(
            request_id=call.request_id,
            pack_id=self._ids.stamped(Prefix.PACK, call.now),
            scope=request.scope,
            view=request.view,
            query=request.query,
            context_block=block.text,
            context_tokens=block.tokens,
            layers=layers_view(
                request, packed.chosen, rendered.links, rendered.standings, rendered.redactions
            ),
            abstain=Answerable(
                answerable=None if is_stated(request.query) else answerable >= ANSWERABLE_FROM,
                best_score=answerable,
                threshold=ANSWERABLE_FROM,
            ),
            provenance=Provenance(trail=trail.phases, citations=cited, markers=dict(block.markers)),
            knowledge_subgraph=knowledge_subgraph(packed.chosen) if request.view == "structured" else None,
            scopes_traversed=traversed(reach, self._store.log, call, (item.value for item in there)),
            diagnostics=diagnostics,
            as_of=plan.axes.seen_at,
            partial=chosen.partial,
            partial_reason="derivation_in_progress" if chosen.partial else None,
        )
        cited_lines = block.cited if lines else render_block(packed.chosen, "inline_with_markers").cited
        return grounds_of(made, cited_lines, chosen.figures[0].removals)


def _replayed(request: Recall, known: Pack, call: Call) -> Answer:
    known = known.model_copy(update={"request_id": call.request_id})
    return Answer(as_stream(known, request.last_event_id) if request.stream else known, replayed=True)
