"""Packing: what goes into the answer, by layer limits, token budget and maximal marginal relevance.

Goldstein and Carbonell, "Summarization: (1) using MMR for diversity-based reranking", 1998, with lambda 0.7: an item
loses what a better one already says. Then a greedy knapsack: the best fact and the best event come before all else
where the budget has room for them, a fact first, since no line says more in fewer tokens. Each layer fills the rest of
its share of the budget in order, and what is left goes to the best items of any layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.events import Event
from lamina.kernel.records import Layer, Record
from lamina.models.ports import Float32Array
from lamina.recall.superseded import Superseded

__all__ = ["MMR_LAMBDA", "Item", "LateLine", "LineOfMany", "Packed", "diversify", "pack", "tokens_of"]

MMR_LAMBDA: Final = 0.7
SHARES: Final[Mapping[Layer, float]] = {
    Layer.EVENTS: 0.60,
    Layer.FACTS: 0.15,
    Layer.EPISODES: 0.12,
    Layer.BELIEFS: 0.05,
    Layer.UNDERSTANDING: 0.08,
}
"""How the budget is split where every layer has enough to say; a layer that has not leaves its share to the rest."""


class LateLine:
    """A line that is worded once somebody asks for it, with what it costs: most of what is weighed finds no room. Where that can be told
    sooner, ``count`` does, or says None."""

    __slots__ = ("_count", "_made", "_make", "_tokens")

    def __init__(
        self, make: Callable[[], tuple[str, int]], count: Callable[[], int | None] | None = None
    ) -> None:
        self._make = make
        self._count = count
        self._made: tuple[str, int] | None = None
        self._tokens: int | None = None

    @property
    def made(self) -> tuple[str, int]:
        """The line and its tokens."""
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def tokens(self) -> int:
        """What the line costs."""
        if self._tokens is None:
            if self._made is None and self._count is not None:
                self._tokens = self._count()
            if self._tokens is None:
                self._tokens = self.made[1]
        return self._tokens


class LineOfMany(NamedTuple):
    """A line that a long text may have: what it is worth of what the text is, and the tokens without which it is not tried."""

    share: float
    tokens_least: int
    wording: str | LateLine


def tokens_of(wording: str | LateLine, least: int) -> int:
    """What a line costs: what it costs at least is all where it is worded already."""
    return least if isinstance(wording, str) else wording.tokens


class Item(NamedTuple):
    """Something that may be packed: its layer, its line for the context block and what that costs, or where the line is not worded
    yet what it costs at least; then what answers, with its score, as it was found."""

    layer: Layer
    wording: str | LateLine
    tokens_least: int
    value: Event | Record
    score: float
    contributions: Mapping[str, float]
    superseded: Superseded | None = None
    needs: frozenset[str] = frozenset()
    """It is packed with one of these only; with anything where this is empty."""
    changed: MayHaveChanged | None = None
    quarantined: tuple[str, ...] = ()
    excerpts: tuple[LineOfMany, ...] = ()
    """The lines that a long text may have in a block, shortest first; empty where there is one."""

    @property
    def id(self) -> str:
        """The id of what is packed."""
        return self.value.id

    @property
    def line(self) -> str:
        """Its line, without the marker."""
        return self.wording if isinstance(self.wording, str) else self.wording.made[0]

    @property
    def tokens(self) -> int:
        """What its line costs."""
        return tokens_of(self.wording, self.tokens_least)

    def fits(self, budget: int) -> bool:
        """Whether there is room for it in so many tokens. What surely is too long is not worded."""
        return self.tokens_least <= budget and self.tokens <= budget


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
    first = _first(candidates, max_tokens)
    for item in first:
        chosen[item.layer].append(item)
    spent = sum(item.tokens for item in first)
    waiting: list[Item] = []
    for layer in present:
        free = [item for item in candidates[layer] if all(item is not each for each in first)]
        unbound = [item for item in free if not item.needs]
        share = int(max_tokens * SHARES[layer] / whole) - sum(item.tokens for item in chosen[layer])
        taken, rest = _fill(unbound, min(share, max_tokens - spent))
        chosen[layer] += taken
        waiting += [*rest, *(item for item in free if item.needs)]
        spent += sum(item.tokens for item in taken)
    # What needs another comes after all that do not, and so meets it.
    waiting.sort(key=lambda item: (bool(item.needs), -item.score))
    there = {item.id for items in chosen.values() for item in items}
    evictions = 0
    for item in waiting:
        if item.fits(max_tokens - spent) and (not item.needs or item.needs & there):
            chosen[item.layer].append(item)
            there.add(item.id)
            spent += item.tokens
        else:
            evictions += 1
    order = _order(candidates)
    return Packed({layer: sorted(items, key=order) for layer, items in chosen.items()}, spent, evictions)


def _first(candidates: Mapping[Layer, Sequence[Item]], max_tokens: int) -> list[Item]:
    """The best fact and the best event, each where there is room for it."""
    taken: list[Item] = []
    for layer in (Layer.FACTS, Layer.EVENTS):
        best = next((item for item in candidates.get(layer, ()) if not item.needs), None)
        if best is not None and best.fits(max_tokens):
            taken.append(best)
            max_tokens -= best.tokens
    return taken


def _fill(items: Sequence[Item], budget: int) -> tuple[Sequence[Item], Sequence[Item]]:
    """Items in order while they fit, and the rest: a lesser one does not take the room of a better one that is larger."""
    for at, item in enumerate(items):
        if not item.fits(budget):
            return items[:at], items[at:]
        budget -= item.tokens
    return items, ()


def _order(candidates: Mapping[Layer, Sequence[Item]]) -> Callable[[Item], int]:
    places = {item.id: place for items in candidates.values() for place, item in enumerate(items)}
    return lambda item: places[item.id]
