"""What a tenant lays down for its erasures (seed 002, 8.6 and 11.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from lamina.kernel.belief_rules import CONFIDENCE_FLOOR
from lamina.kernel.scopes import Scope

__all__ = ["FULL_REDACTION_FACTOR", "ErasureRules", "LegalHold"]

FULL_REDACTION_FACTOR: Final = 0.5


@dataclass(frozen=True, slots=True)
class LegalHold:
    """A scope, with all below it, that no erasure touches; ``id`` is the tenant's own name for the reason."""

    id: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class ErasureRules:
    """``drift_threshold`` is how many lines of a manifest may differ between preview and erasure. A belief whose whole evidence goes
    keeps its confidence times ``factor``, and is deleted where that is below ``floor``. ``cascade`` is meant where a call that forgets names
    none."""

    holds: tuple[LegalHold, ...] = ()
    drift_threshold: int = 0
    factor: float = FULL_REDACTION_FACTOR
    floor: float = CONFIDENCE_FLOOR
    cascade: Literal["derived_only", "redact_events"] = "derived_only"
