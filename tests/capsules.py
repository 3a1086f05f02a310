"""Capsules and requests about them, with everything filled in that must be."""

from __future__ import annotations

from typing import Any

from lamina.continuity.capsule import requests
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.changes.deciding import upserted
from lamina.kernel.time import SECOND_US, instant

NOW = instant("2026-05-13T12:00:00Z")
BEFORE = "2026-05-13T11:00:00Z"
STANCE = "Ship the capsule slice first, then everything else."


def later(seconds: int = 1) -> str:
    """A timestamp so many seconds after ``BEFORE``."""
    from lamina.kernel.time import rfc3339

    return rfc3339(instant(BEFORE) + seconds * SECOND_US)


def body(kind: str = "thread", subject_id: str = "launch", **more: Any) -> dict[str, Any]:
    """A capsule as a caller sends it; ``continuity`` is laid over the state."""
    state = {
        "top_priorities": ["ship"],
        "active_concerns": ["time"],
        "active_constraints": ["two cores"],
        "open_loops": ["tests"],
        "stance_summary": STANCE,
        "drift_signals": [],
    } | more.pop("continuity", {})
    return {
        "subject_kind": kind,
        "subject_id": subject_id,
        "updated_at": BEFORE,
        "verified_at": BEFORE,
        "source": {"producer": "tests", "update_reason": "manual"},
        "continuity": state,
        "confidence": {"continuity": 0.8, "relationship_model": 0.5},
    } | more


def upsert(capsule: dict[str, Any] | None = None, **more: Any) -> requests.Upsert:
    """An upsert of a capsule's body."""
    sent = body() if capsule is None else capsule
    return requests.Upsert.model_validate(
        {"subject_kind": sent["subject_kind"], "subject_id": sent["subject_id"], "capsule": sent} | more
    )


def stored(**more: Any) -> CapsuleObject:
    """A capsule as it stands after its first upsert."""
    return upserted(None, upsert(body(**more))).capsule


def patch(*operations: dict[str, Any], kind: str = "thread", at: str | None = None) -> requests.Patch:
    """A patch of the capsule that ``body`` makes."""
    sent = {
        "subject_kind": kind,
        "subject_id": "launch",
        "updated_at": at or later(),
        "operations": operations,
    }
    return requests.Patch.model_validate(sent)


def signal(kind: str = "self_review", ref: str = "log:1") -> dict[str, Any]:
    """A verification signal."""
    return {"kind": kind, "source_ref": ref, "observed_at": BEFORE, "summary": "seen"}


def rationale(tag: str = "git", **more: Any) -> dict[str, Any]:
    """A rationale entry."""
    return {"tag": tag, "kind": "decision", "status": "active", "summary": "s", "reasoning": "r"} | more
