"""How near sentences come to the turns that told facts, by what the embedder makes of both.

The vectors of a text depend on the text alone, so that a replay finds what was found before: those that search keeps may not have landed
yet, and are rounded. What was read lately stays by the event's id; the words of a turn never change.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.models.ports import Float32Array

__all__ = ["Nearness"]


class Nearness:
    """Cosines of sentences and turns. For one thread."""

    def __init__(
        self,
        pooled: Callable[[Sequence[str]], Float32Array],
        *,
        turns_max: int = limits.TURNS_COMPARED_MAX,
    ) -> None:
        """``pooled`` gives (n, d) unit rows, those of n texts."""
        self._pooled = pooled
        self._turns_max = turns_max
        self._known: OrderedDict[str, Float32Array] = OrderedDict()

    def of(self, sentences: Sequence[str], turns: Collection[Event]) -> Mapping[str, Sequence[float]]:
        """By event id, how near each of the sentences comes to a turn, -1..1."""
        if not sentences or not turns:
            return {}
        read = self._pooled(sentences)
        return {event_id: (read @ vector).tolist() for event_id, vector in self._vectors(turns).items()}

    def _vectors(self, turns: Collection[Event]) -> Mapping[str, Float32Array]:
        new = [each for each in turns if each.id not in self._known]
        if new:
            rows = self._pooled([text_of(each.content) for each in new])
            self._known |= {each.id: np.array(row) for each, row in zip(new, rows, strict=True)}
        vectors = {each.id: self._known[each.id] for each in turns}
        for event_id in vectors:
            self._known.move_to_end(event_id)
        while len(self._known) > self._turns_max:
            self._known.popitem(last=False)
        return vectors
