"""Request and result types of context (seed 000, "Context Retrieval")."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lamina.continuity.capsule.bounds import highest, items_max, length_max, lowest
from lamina.continuity.capsule.shape import Kind
from lamina.kernel.wire import Result, Text

__all__ = [
    "AsOf",
    "ReadSnapshot",
    "Retrieve",
    "Retrieved",
    "Selector",
    "Snapshot",
    "SnapshotMade",
    "SnapshotRead",
]

_BASE = "context.retrieve."


class _Request(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


def _range(name: str) -> Any:
    return Field(ge=lowest(_BASE + name), le=highest(_BASE + name))


class Selector(_Request):
    """A subject whose capsule is wanted."""

    subject_kind: Kind
    subject_id: Annotated[
        Text, Field(min_length=1, max_length=length_max(f"{_BASE}continuity_selectors.subject_id"))
    ]


class Retrieve(_Request):
    """What is known for a task."""

    task: Text
    subject_kind: Kind | None = None
    subject_id: Annotated[Text, Field(max_length=length_max(f"{_BASE}subject_id"))] | None = None
    continuity_mode: Literal["auto", "required", "off"] = "auto"
    continuity_verification_policy: Literal["allow_degraded", "prefer_healthy", "require_healthy"] = (
        "allow_degraded"
    )
    continuity_resilience_policy: Literal["allow_fallback", "prefer_active", "require_active"] = (
        "allow_fallback"
    )
    continuity_selectors: Annotated[
        list[Selector], Field(max_length=items_max(f"{_BASE}continuity_selectors"))
    ] = []
    continuity_max_capsules: Annotated[int, _range("continuity_max_capsules")] = 1
    max_tokens_estimate: Annotated[int, _range("max_tokens_estimate")] = 12_000
    include_types: list[Text] = []
    time_window_days: Annotated[int, _range("time_window_days")] = 30
    limit: Annotated[int, _range("limit")] = 10


class Retrieved(Result):
    """The bundle; its keys and their order are a promise."""

    ok: Literal[True] = True
    bundle: dict[str, Any]


class AsOf(_Request):
    """The state that a snapshot is taken of: what stands, a commit, or what stood at a time."""

    mode: Literal["working_tree", "commit", "timestamp"] = "working_tree"
    value: Text | None = None


class Snapshot(_Request):
    """Keep what is known for a task."""

    task: Text
    as_of: AsOf = AsOf()
    include_types: list[Text] = []
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    include_core: bool = True


class SnapshotMade(Result):
    """The snapshot stands at its path."""

    ok: Literal[True] = True
    snapshot_id: str
    path: str
    as_of: dict[str, str | None]
    item_count: int
    committed: bool = True
    latest_commit: str | None


class ReadSnapshot(_Request):
    """Which snapshot."""

    snapshot_id: Text


class SnapshotRead(Result):
    """A snapshot as it was kept."""

    ok: Literal[True] = True
    snapshot: dict[str, Any]
