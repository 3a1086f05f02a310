"""Packing: what goes into the answer, by layer limits, token budget and maximal marginal relevance.

Goldstein and Carbonell, "Summarization: (1) using MMR for diversity-based reranking", 1998, with lambda 0.7: an item
loses what a better one already says. Then a greedy knapsack: each layer fills its share of the budget, and what is
left goes to the best items of any layer. Where the budget is so small that the share of facts holds none, the best
fact comes before all else: no line says more in fewer tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lamina.kernel.events import Event
from lamina.kernel.records import Layer, Record
from lamina.models.ports import Float32Array
from lamina.recall.superseded import Superseded

__all__ = ["MMR_LAMBDA", "Item", "Packed", "diversify", "pack"]

MMR_LAMBDA: Final = 0.7
SHARES: Final[Mapping[Layer, float]] = {
    Layer.EVENTS: 0.60,
    Layer.FACTS: 0.15,
    Layer.EPISODES: 0.12,
    Layer.BELIEFS: 0.05,
    Layer.UNDERSTANDING: 0.08,
}
"""How the budget is split where every layer has enough to say; a layer that has not leaves its share to the rest."""


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """Something that may be packed: a value of a layer, its score, its line for the context block."""

    layer: Layer
    value: Event | Record
    score: float
    contributions: Mapping[str, float]
    line: str
    tokens: int
    superseded: Superseded | None = None
    needs: frozenset[str] = frozenset()
    """It is packed with one of these only; with anything where this is empty."""

    @property
    def id(self) -> str:
        """The id of what is packed."""
        return self.value.id


@dataclass(frozen=True, slots=True)
class Packed:
    """What was chosen, best first in each layer, and what the budget left out."""

    chosen: Mapping[Layer, list[Item]]
    tokens: int
    evictions: int


def diversify(scores: Sequence[float], vectors: Float32Array, limit: int) -> list[int]:
    """Up to ``limit`` indices in the order of MMR. ``vectors`` is (n, d), unit rows or zeros where unknown."""
    relevance = MMR_LAMBDA * np.array(scores, np.float64)
    chosen: list[int] = []
    similar = np.zeros(len(scores), np.float32)
    while len(chosen) < min(limit, len(scores)):
        gains = relevance - (1 - MMR_LAMBDA) * similar.astype(np.float64)
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        chosen.append(best)
        similar = np.maximum(similar, vectors @ vectors[best])
    return chosen


def pack(candidates: Mapping[Layer, Sequence[Item]], max_tokens: int) -> Packed:
    """Choose items under a token budget. Each layer's candidates come best first, already cut to its limit."""
    present = [layer for layer in candidates if candidates[layer]]
    whole = sum(SHARES[layer] for layer in present) or 1.0
    chosen: dict[Layer, list[Item]] = {layer: [] for layer in candidates}
    first = _first(candidates, max_tokens, SHARES[Layer.FACTS] / whole)
    for item in first:
        chosen[item.layer].append(item)
    spent = sum(item.tokens for item in first)
    waiting: list[Item] = []
    shared = max_tokens - spent
    for layer in present:
        free = [item for item in candidates[layer] if item not in first]
        unbound = [item for item in free if not item.needs]
        taken, rest = _fill(unbound, int(shared * SHARES[layer] / whole))
        chosen[layer] += taken
        waiting += [*rest, *(item for item in free if item.needs)]
        spent += sum(item.tokens for item in taken)
    # What needs another comes after all that do not, and so meets it.
    waiting.sort(key=lambda item: (bool(item.needs), -item.score))
    there = {item.id for items in chosen.values() for item in items}
    evictions = 0
    for item in waiting:
        if item.tokens <= max_tokens - spent and (not item.needs or item.needs & there):
            chosen[item.layer].append(item)
            there.add(item.id)
            spent += item.tokens
        else:
            evictions += 1
    order = _order(candidates)
    return Packed({layer: sorted(items, key=order) for layer, items in chosen.items()}, spent, evictions)


def _first(candidates: Mapping[Layer, Sequence[Item]], max_tokens: int, share: float) -> list[Item]:
    """The best fact, where the share of its layer is too small for it and the budget is not."""
    best = next((item for item in candidates.get(Layer.FACTS, ()) if not item.needs), None)
    if best is None or best.tokens <= int(max_tokens * share) or best.tokens > max_tokens:
        return []
    return [best]


def _fill(items: Sequence[Item], budget: int) -> tuple[list[Item], list[Item]]:
    """Items in order while they fit; one that does not is passed over for later, smaller ones."""
    taken: list[Item] = []
    rest: list[Item] = []
    for item in items:
        if item.tokens <= budget:
            taken.append(item)
            budget -= item.tokens
        else:
            rest.append(item)
    return taken, rest


def _order(candidates: Mapping[Layer, Sequence[Item]]) -> Callable[[Item], int]:
    places = {item.id: place for items in candidates.values() for place, item in enumerate(items)}
    return lambda item: places[item.id]
