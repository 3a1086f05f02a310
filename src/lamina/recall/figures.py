"""How common words are in the searched scopes, and which derived records share words with a question.

A reader of an earlier time gets the figures of that time: rows that came later do not count, and of a record that has
been worded anew since, the words count that it had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lamina import limits
from lamina.index.best import best
from lamina.index.bm25 import K1, B, idf
from lamina.index.columns import Figures
from lamina.index.rows import record_row
from lamina.index.scope import ScopeIndex
from lamina.index.vectors import VectorMatrix
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.recall.plan import Plan
from lamina.recall.signals import ScopeStatistics
from lamina.store.ports.records import Records

__all__ = [
    "DERIVED",
    "Earlier",
    "Words",
    "derived_words",
    "earlier_rows",
    "event_figures",
    "scope_statistics",
]

DERIVED: Final = (Layer.FACTS, Layer.BELIEFS, Layer.EPISODES, Layer.UNDERSTANDING)

RECORDS_TOP: Final = 50

_REWORDED: Final = (Layer.EPISODES, Layer.UNDERSTANDING)
_RECORD_TERMS_MEAN: Final = 12.0

Words = Mapping[Layer, Mapping[str, float]]
"""How much of the question each derived record that shares words with it has, in (0, 1], by layer: its BM25 score as a share of
what a record would score that was made of the question's words alone."""

Earlier = Mapping[Scope, ScopeIndex]
"""The rows of records as they stood at an earlier time, where that is not how they stand now; empty for a reader of now."""


def event_figures(plan: Plan, indexes: Sequence[ScopeIndex]) -> list[Figures]:
    """The figures of events, scope by scope."""
    if plan.held_at is None:
        return [index.figures(Layer.EVENTS, plan.terms) for index in indexes]
    return [index.figures_at(Layer.EVENTS, plan.terms, plan.held_at) for index in indexes]


def scope_statistics(figures: Sequence[Figures], terms: Sequence[str]) -> ScopeStatistics:
    """The figures of all searched scopes together."""
    events = sum(each.rows for each in figures)
    return ScopeStatistics(
        turns=events,
        terms_mean=sum(each.terms for each in figures) / max(events, 1),
        speakers=len({name for each in figures for name in each.speakers}),
        turns_with_term={term: sum(each.frequencies[term] for each in figures) for term in terms},
    )


def earlier_rows(records: Records, plan: Plan) -> Earlier:
    """The rows of episodes and concepts that have changed since the reader's time; the other layers keep their words."""
    found: dict[Scope, ScopeIndex] = {}
    if plan.held_at is None:
        return found
    for layer in _REWORDED:
        ended = records.ended_since(
            plan.tenant_id, plan.scopes, layer, plan.held_at, limits.EARLIER_VERSIONS_MAX
        )
        for record in ended:
            index = found.setdefault(
                record.scope, ScopeIndex(plan.tenant_id, record.scope, "", VectorMatrix(1))
            )
            index.hold([record_row(record)])
    return found


def derived_words(plan: Plan, indexes: Sequence[ScopeIndex], earlier: Earlier) -> Words:
    """The derived records that share words with the question, scope by scope and layer by layer."""
    layers = [layer for layer in DERIVED if plan.limits.get(layer, 0) > 0]
    words: dict[Layer, dict[str, float]] = {layer: {} for layer in layers}
    if not layers:
        return words
    # Derived layers share their postings: how common a word is in one is how common it is in all of them.
    figures = [_record_figures(plan, index, layers[0], earlier) for index in indexes]
    rows = sum(each.rows for each in figures)
    weights = {term: idf(sum(each.frequencies[term] for each in figures), rows) for term in plan.terms}
    norm = K1 * (1.0 - B + B * len(plan.terms) / _RECORD_TERMS_MEAN)
    whole = sum(weights.values()) * (K1 + 1.0) / (1.0 + norm)
    for index, known in zip(indexes, figures, strict=True):
        if not known.rows:
            continue
        parts = [index, *([earlier[index.scope]] if index.scope in earlier else [])]
        for part in parts:
            scores = part.bm25(layers[0], plan.terms, weights, _RECORD_TERMS_MEAN, known.frequencies)
            matched = scores > 0
            for layer in layers:
                mask = matched & part.mask(layer, recorded_to=plan.axes.seen_at)
                if part is index and index.scope in earlier:
                    mask &= ~index.holds(earlier[index.scope].record_ids)
                for place in best(scores, mask, RECORDS_TOP).tolist():
                    words[layer][part.record_id(place)] = min(1.0, float(scores[place]) / whole)
    return words


def _record_figures(plan: Plan, index: ScopeIndex, layer: Layer, earlier: Earlier) -> Figures:
    if plan.held_at is None:
        return index.figures(layer, plan.terms)
    changed = earlier.get(index.scope)
    if changed is None:
        return index.figures_at(layer, plan.terms, plan.held_at)
    same = index.figures_at(layer, plan.terms, plan.held_at, changed.record_ids)
    other = changed.figures(layer, plan.terms)
    frequencies = {term: same.frequencies[term] + other.frequencies[term] for term in plan.terms}
    return Figures(same.rows + other.rows, 0, (), frequencies)
