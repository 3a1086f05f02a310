"""The derived layers of a recall: found by their words, by the entities that a question names, and through the events
that rank high; visible at the plan's place on both axes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from lamina.index.rows import words_of_record
from lamina.kernel.records import Belief, Claim, Concept, Layer, Record, Stance, layer_of
from lamina.kernel.time import Instant
from lamina.language.entities import normalise_name
from lamina.language.quarantine import quarantine_of_words
from lamina.language.tokens import analyse
from lamina.recall.plan import Plan
from lamina.recall.retrieve import DERIVED, Words
from lamina.recall.score import EVIDENCE_TOP, RECORD_WEIGHTS, ScoredEvent, ScoredRecord, score_records
from lamina.recall.sources import events_behind
from lamina.recall.wording import without_cancelled
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.queries import Shown
from lamina.store.rules.records import sees_valid

__all__ = ["DerivedLayers", "DerivedRecords"]

ENTITY_TOP: Final = 50
_NAMED_APART: Final = 5
_FAINT_APART: Final = 2
"""Of what says nothing of what is asked so much is shown, and so much of that where no event that answers stands behind it."""
LINKED_FROM: Final = 0.2
"""A record that shares no word with the question and is of nobody whom it names must rest on an event of such a score: otherwise
how new, how important and how sure it is would stand for an answer."""
_SURELY_LINKED_FROM: Final = 0.5
"""A claim that says nothing of what is asked is no mere claim of the same person where it rests on an event of such a score."""
_STEPS: Final[Mapping[Layer, int]] = {
    Layer.FACTS: 1,
    Layer.EPISODES: 1,
    Layer.BELIEFS: 2,
    Layer.UNDERSTANDING: 3,
}
"""How far from the events that they rest on the records of a layer are at most."""


@dataclass(frozen=True, slots=True)
class DerivedLayers:
    """The best records of each layer, at least as many as may be shown, and how many the graph brought.

    ``read`` is every record that was looked at, as it stood for the plan's reader.
    """

    by_layer: Mapping[Layer, list[ScoredRecord]]
    added_by_graph: int
    entities: int
    read: Mapping[str, Record]
    kept_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Records that would have been shown but for what their words hold, with the reasons."""


class DerivedRecords:
    """Finds and ranks derived records."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(
        self,
        plan: Plan,
        events: Sequence[ScoredEvent],
        words: Words,
        shown: Shown,
        now: Instant,
        beside: Collection[str] = (),
    ) -> DerivedLayers:
        """The layers that the plan includes; ``words`` are the records that share words with the question.

        The records ``beside`` are read too, for who needs them next.
        """
        layers = [layer for layer in DERIVED if plan.limits.get(layer, 0) > 0]
        if not layers:
            return DerivedLayers({}, 0, 0, self._held(plan, beside))
        graph = self._by_graph(plan, layers, events, shown)
        who, named = self._by_entities(plan, layers)
        known = {i for found in words.values() for i in found}
        linked = _by_layer(graph)
        wanted = set(named)
        for layer in layers:
            looked_at = plan.breadth.records * plan.limits[layer]
            wanted |= _likeliest(words[layer].keys() | linked[layer], words[layer], graph, looked_at)
        held = self._held(plan, wanted.union(beside))
        if plan.axes.superseded:
            held |= self._as_held_before(plan, [held[i] for i in sorted(wanted & held.keys())])
        visible = [
            each
            for i, each in sorted(held.items())
            if i in wanted
            and each.scope in plan.scopes
            and _is_shown(plan, each)
            and (i in named or i in known or graph.get(i, 0.0) >= LINKED_FROM)
        ]
        if plan.filter:
            # A filter may ask for a name: of what was cancelled, it has to meet what the reader will see.
            visible = without_cancelled(self._store, plan.tenant_id, visible, seen_at=plan.held_at)
            behind = events_behind(plan, visible, shown, self._store.log) if plan.filter.reads_events else {}
            visible = [each for each in visible if plan.filter.passes(each, behind.get(each.id, ()))]
        apart = {
            each.id
            for each in ([] if plan.asks_for_all else visible)
            if isinstance(each, Claim)
            and not plan.asked_for & _terms_of(each, with_subject=each.id not in named)
        }
        faint = {i for i in apart if graph.get(i, 0.0) < _SURELY_LINKED_FROM}
        ranked = {}
        for layer in layers:
            found = [each for each in visible if each.layer is layer]
            scored = score_records(found, words[layer], graph, now, who, faint)
            scored = _few_of(apart, _few_of(faint, scored, _FAINT_APART), _NAMED_APART)
            ranked[layer] = scored[: max(plan.limits[layer], EVIDENCE_TOP)]
        if not plan.filter:
            ranked = self._reworded(plan, ranked)
        kept_out: dict[str, tuple[str, ...]] = {}
        if not plan.include_quarantined:
            ranked = {layer: _showable(found, kept_out) for layer, found in ranked.items()}
        return DerivedLayers(ranked, len(wanted - known), len(named), held, kept_out)

    def _reworded(
        self, plan: Plan, ranked: Mapping[Layer, Sequence[ScoredRecord]]
    ) -> dict[Layer, list[ScoredRecord]]:
        best = [scored.record for found in ranked.values() for scored in found]
        reworded = without_cancelled(self._store, plan.tenant_id, best, seen_at=plan.held_at)
        plain = {each.id: each for each in reworded}
        return {
            layer: [replace(scored, record=plain[scored.record.id]) for scored in found]
            for layer, found in ranked.items()
        }

    def _by_graph(
        self, plan: Plan, layers: Collection[Layer], events: Sequence[ScoredEvent], shown: Shown
    ) -> dict[str, float]:
        """The best score among the events that each record of those layers and of the plan's scopes rests on."""
        scores = {one.record_id: one.score for one in events[: plan.breadth.sources]}
        found: dict[str, float] = {}
        for _ in range(max(_STEPS[layer] for layer in layers)):
            onward: dict[str, float] = defaultdict(float)
            for source, ids in shown.resting_on(scores).items():
                for record_id in ids:
                    if record_id not in found:
                        onward[record_id] = max(onward[record_id], scores[source])
            found |= onward
            scores = {
                i: s for i, s in onward.items() if layer_of(i) is Layer.FACTS or layer_of(i) is Layer.BELIEFS
            }
            if not scores:
                break
        found = {i: score for i, score in found.items() if layer_of(i) in layers}
        # A belief may stand in another scope than the facts that led to it.
        scopes = shown.scopes_of(found)
        return {i: score for i, score in found.items() if scopes.get(i) in plan.scopes}

    def _by_entities(self, plan: Plan, layers: Collection[Layer]) -> tuple[frozenset[str], dict[str, Record]]:
        """The entities that the question is about, and facts and beliefs about those that it names. Of who asks about themselves
        these are more than an answer, unless nothing else is asked for."""
        askers = set(map(normalise_name, plan.askers))
        names = set(plan.names)
        if plan.called is not None and plan.called.keys & names:
            names.add(normalise_name(plan.called.stored))
        entities = self._store.records.entities(plan.tenant_id, names | askers)
        found: dict[str, Record] = {}
        for name, entity in entities.items():
            if name not in names and not plan.asks_for_all:
                continue
            for layer in (Layer.FACTS, Layer.BELIEFS):
                if layer in layers:
                    query = RecordQuery(
                        tenant_id=plan.tenant_id,
                        layer=layer,
                        scopes=plan.scopes,
                        axes=plan.axes,
                        subject=entity.id,
                        limit=ENTITY_TOP,
                    )
                    found |= {record.id: record for record in self._store.records.query(query)}
        return frozenset(entity.id for entity in entities.values()), found

    def _as_held_before(self, plan: Plan, records: Iterable[Record]) -> dict[str, Record]:
        """Of those that are not shown as they stand, the newest earlier version that is."""
        found: dict[str, Record] = {}
        for record in records:
            if not _is_shown(plan, record):
                versions = self._store.records.versions(plan.tenant_id, record.id)
                earlier = (e for e in reversed(versions) if e.version < record.version and _is_shown(plan, e))
                found |= {each.id: each for each in islice(earlier, 1)}
        return found

    def _held(self, plan: Plan, ids: Collection[str]) -> dict[str, Record]:
        return self._store.records.get(plan.tenant_id, ids, seen_at=plan.axes.seen_at)


def _showable(ranked: Sequence[ScoredRecord], kept_out: dict[str, tuple[str, ...]]) -> list[ScoredRecord]:
    """The records whose own words may be shown; the others are noted."""
    shown = []
    for one in ranked:
        reasons = quarantine_of_words(words_of_record(one.record))
        if reasons:
            kept_out[one.record.id] = reasons
        else:
            shown.append(one)
    return shown


def _terms_of(claim: Claim, *, with_subject: bool) -> set[str]:
    """What a claim says, of its subject or of both."""
    terms = {*analyse(claim.predicate.replace("_", " ")), *analyse(claim.object.text)}
    return terms | set(analyse(claim.subject.name)) if with_subject else terms


def _few_of(apart: Collection[str], scored: Sequence[ScoredRecord], few_max: int) -> list[ScoredRecord]:
    """The records, and of those that stand apart the best few."""
    few = {one.record.id for one in islice((one for one in scored if one.record.id in apart), few_max)}
    return [one for one in scored if one.record.id not in apart or one.record.id in few]


def _by_layer(ids: Iterable[str]) -> Mapping[Layer | None, set[str]]:
    found: dict[Layer | None, set[str]] = defaultdict(set)
    for each in ids:
        found[layer_of(each)].add(each)
    return found


def _likeliest(
    ids: Iterable[str], lexical: Mapping[str, float], graph: Mapping[str, float], limit: int
) -> set[str]:
    """The ids of a layer that words and graph speak for most."""
    words, links = RECORD_WEIGHTS["semantic"], RECORD_WEIGHTS["graph"]
    scored = [(-(words * lexical.get(i, 0.0) + links * graph.get(i, 0.0)), i) for i in ids]
    return {i for _, i in sorted(scored)[:limit]}


def _is_shown(plan: Plan, record: Record) -> bool:
    axes = plan.axes
    if record.excluded or not axes.sees_recorded(record.recorded_from, record.recorded_to):
        return False
    if isinstance(record, Belief | Concept) and record.stance is Stance.DEPRECATED:
        return False
    during = axes.valid_during
    is_over = during is not None and during.end is not None and during.end <= axes.seen_at
    # A concept has no dates: it puts together what holds when it is read, which may not have held then.
    if isinstance(record, Concept) and is_over:
        return False
    return sees_valid(axes, record)
