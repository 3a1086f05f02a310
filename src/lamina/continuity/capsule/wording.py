"""A capsule in words: the text of the event that says it was written, so that recall finds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject

__all__ = ["in_words"]

_LISTS: Final = {
    "top_priorities": "Priorities",
    "open_loops": "Open",
    "active_constraints": "Constraints",
    "active_concerns": "Concerns",
    "drift_signals": "Drift",
    "working_hypotheses": "Hypotheses",
    "long_horizon_commitments": "Commitments",
    "session_trajectory": "Trajectory",
    "trailing_notes": "Notes",
    "curiosity_queue": "Questions",
}


def in_words(capsule: CapsuleObject) -> str:
    """One line for each section that says something, under a heading that names the subject."""
    return "\n".join(_lines(capsule))


def _lines(capsule: CapsuleObject) -> Iterator[str]:
    subject = Subject(capsule["subject_kind"], capsule["subject_id"])
    label = capsule.get("thread_descriptor", {}).get("label")
    yield f"Capsule of {subject.kind} {subject.id}" + (f" ({label})" if label else "") + "."
    state: dict[str, Any] = capsule["continuity"]
    if state["stance_summary"]:
        yield f"Stance: {state['stance_summary']}"
    for name, title in _LISTS.items():
        if state.get(name):
            yield f"{title}: {'; '.join(state[name])}"
    for entry in state.get("negative_decisions", []):
        yield f"Decided not to: {entry['decision']}, because {entry['rationale']}"
    for entry in state.get("rationale_entries", []):
        if entry["status"] == "active":
            yield f"{entry['kind'].capitalize()} {entry['tag']}: {entry['summary']} {entry['reasoning']}"
    for entry in capsule.get("stable_preferences", []):
        yield f"Prefers {entry['tag']}: {entry['content']}"
