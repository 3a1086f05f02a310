"""The Beta distribution as far as beliefs need it: mean and central interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = ["LEVEL", "Posterior", "incomplete_beta"]

LEVEL: Final = 0.90
"""How much of the posterior the interval holds."""

_STEPS_MAX = 200
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Posterior:
    """Beta(alpha, beta): the belief that a claim is true, after weighted evidence for and against it."""

    alpha: float = 1.0
    beta: float = 1.0

    @property
    def mean(self) -> float:
        """The point estimate, 0..1."""
        return self.alpha / (self.alpha + self.beta)

    def interval(self) -> tuple[float, float]:
        """The central interval that holds ``LEVEL`` of the mass."""
        tail = (1 - LEVEL) / 2
        return _quantile(self.alpha, self.beta, tail), _quantile(self.alpha, self.beta, 1 - tail)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), 0 <= x <= 1.

    By its continued fraction, DLMF 8.17.22, evaluated with the modified Lentz method.
    """
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return front * _continued_fraction(a, b, x) / a


def _continued_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0) or _TINY)
    value = d
    for m in range(1, _STEPS_MAX):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            d = 1.0 / (1.0 + term * d or _TINY)
            c = 1.0 + term / c or _TINY
            change = c * d
            value *= change
        if abs(change - 1.0) < 1e-10:
            break
    return value


@lru_cache(maxsize=4096)
def _quantile(a: float, b: float, probability: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(32):  # halves 1 down to 2e-10, far below what is shown
        middle = (low + high) / 2
        if incomplete_beta(a, b, middle) < probability:
            low = middle
        else:
            high = middle
    return round((low + high) / 2, 6)
