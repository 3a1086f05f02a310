"""A capsule in words: the text of the event that says it was written, so that recall finds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lamina.continuity.capsule.fields import STRING_LISTS
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.capsule.titles import TITLES

__all__ = ["in_words"]


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
    for name, title in TITLES.items():
        if name in STRING_LISTS and state.get(name):
            yield f"{title}: {'; '.join(state[name])}"
    for entry in state.get("negative_decisions", []):
        yield f"Decided not to: {entry['decision']}, because {entry['rationale']}"
    for entry in state.get("rationale_entries", []):
        if entry["status"] == "active":
            yield f"{entry['kind'].capitalize()} {entry['tag']}: {entry['summary']} {entry['reasoning']}"
    for entry in capsule.get("stable_preferences", []):
        yield f"Prefers {entry['tag']}: {entry['content']}"
