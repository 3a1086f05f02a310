"""Which memory files to look at, as a function of values: a plan, which changes none of them (Relay contract 1.15; seed 001, "Compaction as planning").

The classes, weights and bounds are the contract's. It counts how often a file was read; here nobody counts that, so a file is as fresh as its
newest version, and "reused" is no reason to promote.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from lamina.coordination.operators import bounds
from lamina.kernel.time import DAY_US, Instant

__all__ = ["CompactionFile", "PlannedFile", "is_candidate", "plan"]

MemoryClass = Literal["ephemeral", "working", "durable", "core"]

_FOLDERS: Final = ("journal/", "essays/", "projects/", "messages/", "memory/", "logs/")
_APART: Final = ("memory/continuity/", "memory/coordination/", "messages/state/", "messages/security/")
"""What has a life of its own: capsules, artifacts, the states of deliveries."""
_CORE, _DURABLE = "memory/core/", "memory/summaries/"
_EPHEMERAL: Final = ("journal/", "messages/inbox/", "messages/outbox/", "logs/", "memory/episodic/")
_KEPT_LONGER: Final = ("messages/threads/", "projects/")
_WEIGHTS: Final[Mapping[MemoryClass, float]] = {
    "ephemeral": 1.0,
    "working": 0.35,
    "durable": 0.12,
    "core": -5.0,
}
_SIGNS: Final = re.compile(r"\b(?:identity|relationship|trusted|values|preference|decision)\b", re.IGNORECASE)
_IMPORTANT: Final = 0.7
_SUMMARISE_EPHEMERAL, _ARCHIVE_EPHEMERAL = 0.4, 0.9
_SUMMARISE_WORKING, _REVIEW_WORKING, _REVIEW_DURABLE, _SUMMARISE_PROMOTED = 0.8, 0.4, 1.0, 0.4


@dataclass(frozen=True, slots=True)
class CompactionFile:
    """A file as the plan sees it. ``importance`` is what its front matter says, from 0 to 1."""

    path: str
    size: int
    updated_at: Instant
    snippet: str
    importance: float | None


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file in the plan: its class, how much speaks for summarising it (higher is more), and why it is worth promoting."""

    path: str
    memory_class: MemoryClass
    score: float
    promote_signals: tuple[str, ...]


def is_candidate(path: str) -> bool:
    """Whether a plan looks at a document."""
    return path.startswith(_FOLDERS) and not path.startswith(_APART)


def plan(candidates: Iterable[CompactionFile], now: Instant) -> dict[str, list[PlannedFile]]:
    """The files by what to do with them: most pressing first, by path where alike, and only so many of each."""
    actions: dict[str, list[PlannedFile]] = {
        "summarize_now": [],
        "archive_after_summary": [],
        "promote_to_core_candidates": [],
        "keep_hot": [],
        "review_manually": [],
    }
    for candidate in candidates:
        planned = _planned(candidate, now)
        for action in _actions(planned):
            actions[action].append(planned)
    for action, files in actions.items():
        files.sort(key=lambda each: (-each.score, each.path))
        most = (
            bounds.COMPACTION_PROMOTED_MAX if action.startswith("promote") else bounds.COMPACTION_LISTED_MAX
        )
        del files[most:]
    return actions


def _planned(candidate: CompactionFile, now: Instant) -> PlannedFile:
    memory_class = _class_of(candidate.path)
    age_days = max(0, now - candidate.updated_at) / DAY_US
    importance = min(1.0, max(0.0, candidate.importance or 0.0))
    score = (
        _WEIGHTS[memory_class]
        + min(1.5, age_days / 14)
        + min(1.0, math.log10(max(10, candidate.size)) / 8)
        - (0.9 if age_days < 3 else 0.35 if age_days < 14 else 0.0)
        - 1.2 * importance
        - (0.6 if candidate.path.startswith(_KEPT_LONGER) else 0.0)
    )
    signals = []
    if _SIGNS.search(candidate.snippet):
        signals.append("keyword_hits")
    if importance >= _IMPORTANT:
        signals.append("high_importance")
    if memory_class == "core":
        signals.append("core_namespace")
    return PlannedFile(candidate.path, memory_class, round(score, 4), tuple(signals))


def _class_of(path: str) -> MemoryClass:
    if path.startswith(_CORE):
        return "core"
    if path.startswith(_DURABLE):
        return "durable"
    return "ephemeral" if path.startswith(_EPHEMERAL) else "working"


def _actions(planned: PlannedFile) -> tuple[str, ...]:
    score = planned.score
    if planned.memory_class == "core":
        return ("keep_hot",)
    if planned.memory_class == "ephemeral":
        if score >= _ARCHIVE_EPHEMERAL:
            return ("summarize_now", "archive_after_summary")
        return ("summarize_now",) if score >= _SUMMARISE_EPHEMERAL else ("keep_hot",)
    if planned.promote_signals:
        rest = "summarize_now" if score > _SUMMARISE_PROMOTED else "keep_hot"
        return ("promote_to_core_candidates", rest)
    if planned.memory_class == "durable":
        return ("review_manually",) if score >= _REVIEW_DURABLE else ("keep_hot",)
    if score >= _SUMMARISE_WORKING:
        return ("summarize_now",)
    return ("review_manually",) if score >= _REVIEW_WORKING else ("keep_hot",)
