"""How far the confidence of beliefs is to be trusted, by what people said of them: a curve from what evidence gives to what came true.

Each run of the calibration is an entry of the log. A reader of an instant sees beliefs by the curve that stood then; what is derived
does not depend on it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Self

from lamina.kernel.records import Belief
from lamina.kernel.time import Instant

__all__ = ["CALIBRATION", "Calibration", "logit", "sigmoid"]

CALIBRATION: Final[tuple[Literal["calibration"], str]] = ("calibration", "beliefs")
"""Kind and name of the definition."""

_CERTAIN: Final = 1e-6
_HALVINGS: Final = 40


def logit(share: float) -> float:
    """The log odds of a probability, which is taken to be neither 0 nor 1."""
    inside = min(max(share, _CERTAIN), 1.0 - _CERTAIN)
    return math.log(inside / (1.0 - inside))


def sigmoid(odds: float) -> float:
    """The probability of log odds."""
    return 1.0 / (1.0 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1.0 + math.exp(odds))


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising curve. Of ``platt_v1`` the ``points`` are one, slope and intercept over log odds; of ``isotonic_v1`` they are
    (confidence, share that was confirmed), between which it is straight.

    ``samples`` verdicts made it, up to the log position ``up_to``. ``brier`` and ``ece`` are of its last 30 days of verdicts, by the curve,
    and None where these are fewer than it takes. ``at`` is when the run was recorded.
    """

    model: str
    points: tuple[tuple[float, float], ...]
    samples: int
    up_to: int
    brier: float | None
    ece: float | None
    at: Instant = 0

    @classmethod
    def of(cls, body: Mapping[str, Any], at: Instant) -> Self:  # Any: JSON of a definition
        """The calibration behind the JSON that ``body`` gave."""
        points = tuple((float(x), float(y)) for x, y in body["points"])
        return cls(body["model"], points, body["samples"], body["up_to"], body["brier"], body["ece"], at)

    def body(self) -> dict[str, Any]:  # Any: JSON
        """Everything but ``at``."""
        return {
            "model": self.model,
            "points": [list(point) for point in self.points],
            "samples": self.samples,
            "up_to": self.up_to,
            "brier": self.brier,
            "ece": self.ece,
        }

    def curve(self, confidence: float) -> float:
        """The calibrated confidence, 0..1."""
        if self.model.startswith("platt"):
            ((slope, intercept),) = self.points
            return sigmoid(slope * logit(confidence) + intercept)
        xs = [x for x, _ in self.points]
        place = bisect_right(xs, confidence)
        if place == 0:
            return self.points[0][1]
        if place == len(xs):
            return self.points[-1][1]
        (x, y), (next_x, next_y) = self.points[place - 1], self.points[place]
        return y + (next_y - y) * (confidence - x) / (next_x - x)

    def shown(self, confidence: float) -> float:
        """The calibrated confidence as it is shown."""
        return round(self.curve(confidence), 4)

    def least(self, wanted: float) -> float:
        """The least confidence by the evidence that is shown as ``wanted`` or more; beyond 1 where there is none."""
        if self.shown(0.0) >= wanted:
            return 0.0
        if self.shown(1.0) < wanted:
            return 2.0
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.shown(middle) >= wanted else (middle, high)
        return high

    def seen(self, belief: Belief) -> Belief:
        """A belief with its figures by the curve. Its stance is what the evidence says."""
        confidence = self.shown(belief.confidence)
        return replace(
            belief,
            confidence=confidence,
            lower=min(confidence, round(self.curve(belief.lower), 6)),
            upper=max(confidence, round(self.curve(belief.upper), 6)),
            calibrated_by=self,
        )
