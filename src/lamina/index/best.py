"""The few best of many scores, without sorting the many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distances", "best", "closest"]

Distances = NDArray[np.unsignedinteger]
"""How far apart, as small whole numbers."""

_SAMPLED: Final = 16
"""Of so many scores one says how high the best of them lie."""


def best(scores: NDArray[np.float32], mask: NDArray[np.bool_], limit: int) -> NDArray[np.intp]:
    """The places of the highest scores under the mask, best first, earlier places first among equals."""
    sampled = scores[::_SAMPLED][mask[::_SAMPLED]]
    if len(sampled) > limit > 0:
        # What a sample's own ``limit``-th highest leaves is little: nothing else of the rest is copied or compared again.
        mask = mask & (scores >= _worst(sampled, limit))
    places = np.flatnonzero(mask)
    scores = scores[places]
    if len(places) > limit > 0:
        near = np.flatnonzero(scores >= _worst(scores, limit))
        places, scores = places[near], scores[near]
    return places[np.argsort(-scores, kind="stable")[:limit]]


def _worst(scores: NDArray[np.float32], limit: int) -> np.float32:
    """The ``limit``-th highest of more scores than that."""
    sampled = scores[::_SAMPLED]
    if len(sampled) > limit:
        # A sample's own ``limit``-th highest bounds it from below, and leaves little to partition: a twentieth of the time.
        scores = scores[scores >= _worst(sampled, limit)]
    worst: np.float32 = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return worst


def closest(
    distances: Distances, shown: Callable[[NDArray[np.intp]], NDArray[np.bool_]], limit: int
) -> NDArray[np.intp]:
    """The rising places of about the ``limit`` smallest distances among those shown, half as many at least where so many are.

    A sample says how far they reach: counting all distances takes three times as long, and so does asking of every place
    whether it is shown.
    """
    sample = np.arange(0, len(distances), _SAMPLED)
    sampled = distances[sample][shown(sample)]
    near = limit // _SAMPLED
    if len(sampled) > near > 0:
        places = np.flatnonzero(distances <= np.partition(sampled, near)[near])
        places = places[shown(places)]
        if len(places) >= limit // 2:
            return places
    places = np.flatnonzero(shown(np.arange(len(distances))))
    reached = np.cumsum(np.bincount(distances[places]))
    return places[distances[places] <= np.searchsorted(reached, limit)]
