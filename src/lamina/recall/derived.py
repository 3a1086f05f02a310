"""The derived layers of a recall: which records are worth a look, and which of them are best.

They share words with the question, are of the entities that it names, or rest on the events that rank high; they are visible
at the plan's place on both axes. Functions of values: ``gather`` reads in between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, Protocol

from lamina import limits
from lamina.index.rows import words_of_record
from lamina.kernel.heads import RecordHead
from lamina.kernel.ids import Prefix
from lamina.kernel.records import Layer, Record, layer_of
from lamina.kernel.scopes import Scope
from lamina.language.quarantine import quarantine_of_words
from lamina.language.tokens import term_set
from lamina.recall.evidence import Behind, DerivedLayers
from lamina.recall.figures import DERIVED, Words
from lamina.recall.plan import Plan
from lamina.recall.score import EVIDENCE_TOP, ScoredEvent, ScoredRecord
from lamina.recall.weighed import RECORD_WEIGHTS, WeighedRecord, weigh

__all__ = [
    "ENTITY_TOP",
    "derived_layers",
    "derived_of",
    "graph_scores",
    "is_candidate",
    "is_visible",
    "rank_derived",
    "wanted_records",
]

ENTITY_TOP: Final = 50
_NAMED_APART: Final = 5
_FAINT_APART: Final = 2
"""Of what says nothing of what is asked so much is shown, and so much of that where no event that answers stands behind it."""
LINKED_FROM: Final = 0.2
"""A record that shares no word with the question and is of nobody whom it names must rest on an event of such a score: otherwise
how new, how important and how sure it is would stand for an answer."""
_SURELY_LINKED_FROM: Final = 0.5
"""A claim that says nothing of what is asked is no mere claim of the same person where it rests on an event of such a score."""
_CLAIMS: Final = (Prefix.FACT.opening, Prefix.BELIEF.opening)
"""How the ids of facts and beliefs begin."""
_STEPS: Final[Mapping[Layer, int]] = {
    Layer.FACTS: 1,
    Layer.EPISODES: 1,
    Layer.BELIEFS: 2,
    Layer.UNDERSTANDING: 3,
}
"""How far from the events that they rest on the records of a layer are at most."""


class _Graph(Protocol):
    def resting_on(self, source_ids: Collection[str]) -> Mapping[str, Sequence[str]]: ...

    def scopes_of(self, ids: Collection[str]) -> Mapping[str, Scope]: ...


def derived_layers(plan: Plan) -> list[Layer]:
    """The derived layers that a plan includes."""
    return [layer for layer in DERIVED if plan.limits.get(layer, 0) > 0]


def graph_scores(
    plan: Plan, layers: Collection[Layer], events: Sequence[ScoredEvent], graph: _Graph
) -> dict[str, float]:
    """The best score among the events that each record of those layers and of the plan's scopes rests on."""
    scores = {one.record_id: one.score for one in events[: plan.breadth.sources]}
    found: dict[str, float] = {}
    for _ in range(max((_STEPS[layer] for layer in layers), default=0)):
        onward: dict[str, float] = {}
        for source, ids in graph.resting_on(scores).items():
            score = scores[source]
            for record_id in ids:
                if record_id not in found and score > onward.get(record_id, -1.0):
                    onward[record_id] = score
        found |= onward
        scores = {i: s for i, s in onward.items() if i.startswith(_CLAIMS)}
        if not scores:
            break
    found = {i: score for i, score in found.items() if layer_of(i) in layers}
    # A belief may stand in another scope than the facts that led to it.
    scopes = graph.scopes_of(found)
    return {i: score for i, score in found.items() if scopes.get(i) in plan.scopes}


def wanted_records(
    plan: Plan,
    layers: Collection[Layer],
    words: Words,
    graph: Mapping[str, float],
    named: Collection[str],
) -> set[str]:
    """The records worth reading: those that are named, and of each layer those that words and graph speak for most."""
    linked = _by_layer(graph)
    wanted = set(named)
    for layer in layers:
        looked_at = plan.breadth.records * plan.limits[layer]
        wanted |= _likeliest(words[layer].keys() | linked[layer], words[layer], graph, looked_at)
    return wanted


def is_candidate(plan: Plan, head: RecordHead, bearing: Collection[str], graph: Mapping[str, float]) -> bool:
    """Whether a record that was read may be shown: it is one of those ``bearing`` on the question by name or by words, or rests on
    an event that answers it."""
    return (
        (head.id in bearing or graph.get(head.id, 0.0) >= LINKED_FROM)
        and head.scope in plan.scopes
        and not (head.layer is Layer.UNDERSTANDING and head.scope in plan.without_concepts)
        and is_visible(plan, head)
    )


def rank_derived(plan: Plan, behind: Behind, words: Words) -> dict[Layer, list[WeighedRecord]]:
    """The candidates, best first in each layer, at least as many as may be shown."""
    graph = behind.graph
    apart = {
        each.id
        for each in ([] if plan.asks_for_all else behind.candidates)
        if each.is_claim and not plan.asked_for & _terms_of(each, with_subject=each.id not in behind.named)
    }
    faint = {i for i in apart if graph.get(i, 0.0) < _SURELY_LINKED_FROM}
    ranked = {}
    for layer in derived_layers(plan):
        of_layer = [each for each in behind.candidates if each.layer is layer]
        scored = weigh(of_layer, words[layer], graph, plan.axes.seen_at, behind.about, faint)
        scored = _few_of(apart, _few_of(faint, scored, _FAINT_APART), _NAMED_APART)
        ranked[layer] = scored[: max(plan.limits[layer], EVIDENCE_TOP)]
    return ranked


def derived_of(
    plan: Plan,
    behind: Behind,
    ranked: Mapping[Layer, Sequence[WeighedRecord]],
    records: Mapping[str, Record],
) -> DerivedLayers:
    """The best candidates as ``records``, but for those that are not to be read any more since they were weighed."""
    by_layer = {
        layer: [
            ScoredRecord(records[one.head.id], one.score, one.contributions)
            for one in of_layer
            if one.head.id in records
        ]
        for layer, of_layer in ranked.items()
    }
    kept_out: dict[str, tuple[str, ...]] = {}
    if not plan.include_quarantined:
        by_layer = {layer: _showable(of_layer, kept_out) for layer, of_layer in by_layer.items()}
    return DerivedLayers(by_layer, behind.added_by_graph, len(behind.named), kept_out)


def _showable(ranked: Sequence[ScoredRecord], kept_out: dict[str, tuple[str, ...]]) -> list[ScoredRecord]:
    """The records whose own words may be shown; the others are noted."""
    shown = []
    for one in ranked:
        reasons = _kept_out_by(words_of_record(one.record))
        if reasons:
            kept_out[one.record.id] = reasons
        else:
            shown.append(one)
    return shown


@lru_cache(maxsize=limits.ROWS_PARSED_MAX)
def _kept_out_by(words: str) -> tuple[str, ...]:
    """As ``quarantine_of_words``, remembered: the same records come with every question about the same matter."""
    return quarantine_of_words(words)


def is_visible(plan: Plan, head: RecordHead) -> bool:
    """Whether a version is shown at the plan's place on both axes."""
    axes = plan.axes
    if head.excluded or head.is_deprecated or not axes.sees_recorded(head.recorded_from, head.recorded_to):
        return False
    if head.layer is Layer.FACTS:
        ahead = head.slot is None
        return axes.sees_valid(head.valid_from, head.valid_to, may_lie_ahead=ahead, fades_at=head.fades_at)
    during = axes.valid_during
    is_over = during is not None and during.end is not None and during.end <= axes.seen_at
    # A concept has no dates: it puts together what holds when it is read, which may not have held then.
    if head.layer is Layer.UNDERSTANDING and is_over:
        return False
    return axes.sees_valid(head.valid_from, head.valid_to)


def _terms_of(claim: RecordHead, *, with_subject: bool) -> frozenset[str]:
    """What a claim says, of its subject or of both."""
    terms = term_set(claim.predicate.replace("_", " ")) | term_set(claim.object_text)
    return terms | term_set(claim.subject_name) if with_subject else terms


def _few_of(apart: Collection[str], scored: Sequence[WeighedRecord], few_max: int) -> list[WeighedRecord]:
    """The records, and of those that stand apart the best few."""
    few = {one.head.id for one in islice((one for one in scored if one.head.id in apart), few_max)}
    return [one for one in scored if one.head.id not in apart or one.head.id in few]


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
