"""What the sections of a capsule are called where people read them, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["TITLES"]

TITLES: Final[Mapping[str, str]] = {
    "top_priorities": "Priorities",
    "active_constraints": "Constraints",
    "open_loops": "Open",
    "negative_decisions": "Decided against",
    "rationale_entries": "Reasons",
    "active_concerns": "Concerns",
    "drift_signals": "Drift",
    "working_hypotheses": "Hypotheses",
    "long_horizon_commitments": "Commitments",
    "session_trajectory": "Trajectory",
    "trailing_notes": "Notes",
    "curiosity_queue": "Questions",
}
"""By the name of the list in ``continuity``."""
