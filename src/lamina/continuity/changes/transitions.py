"""The lifecycle of threads and tasks: active, suspended, concluded, superseded. The last two are final."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.continuity.capsule.shape import CapsuleObject
from lamina.errors import Malformed

__all__ = ["ACTIVE", "check_request", "transitioned", "with_lifecycle"]

ACTIVE: Final = "active"
_NEXT: Final[Mapping[tuple[str, str], str]] = {
    ("active", "suspend"): "suspended",
    ("active", "conclude"): "concluded",
    ("active", "supersede"): "superseded",
    ("suspended", "resume"): "active",
    ("suspended", "conclude"): "concluded",
    ("suspended", "supersede"): "superseded",
}


def check_request(kind: str, transition: str | None, superseded_by: str | None) -> None:
    """What a request must say: a successor exactly when it supersedes, a transition for threads and tasks only."""
    if transition is not None and kind not in ("thread", "task"):
        raise _wrong(f"{kind} capsules have no lifecycle", field="lifecycle_transition")
    if transition == "supersede" and not (superseded_by or "").strip():
        raise _wrong("superseded_by is required with the transition supersede", field="superseded_by")
    if transition != "supersede" and superseded_by is not None:
        raise _wrong("superseded_by goes with the transition supersede only", field="superseded_by")


def transitioned(descriptor: Mapping[str, Any], transition: str, superseded_by: str | None) -> dict[str, Any]:
    """The descriptor after a transition; raises ``Malformed`` (INVALID_TRANSITION). No lifecycle counts as active."""
    current = descriptor.get("lifecycle", ACTIVE)
    after = _NEXT.get((current, transition))
    if after is None:
        raise _wrong(f"a capsule that is {current} cannot {transition}", field="lifecycle", current=current)
    kept = {name: value for name, value in descriptor.items() if name != "superseded_by"}
    kept["lifecycle"] = after
    return kept | ({"superseded_by": superseded_by} if superseded_by is not None else {})


def with_lifecycle(
    capsule: CapsuleObject, stored: CapsuleObject | None, transition: str | None, superseded_by: str | None
) -> CapsuleObject:
    """An upserted capsule with the lifecycle that is its own: from the stored descriptor, never from the caller's."""
    descriptor = capsule.get("thread_descriptor")
    if descriptor is None:
        if transition is not None:
            raise _wrong("a transition needs a thread_descriptor", field="lifecycle_transition")
        return capsule
    own = {name: value for name, value in descriptor.items() if name not in ("lifecycle", "superseded_by")}
    before = (stored or {}).get("thread_descriptor")
    if before is None:
        if transition is not None:
            raise _wrong("a new thread begins as active; transition it later", field="lifecycle_transition")
        return capsule | {"thread_descriptor": own | {"lifecycle": ACTIVE}}
    own["lifecycle"] = before.get("lifecycle", ACTIVE)
    if "superseded_by" in before:
        own["superseded_by"] = before["superseded_by"]
    if transition is not None:
        own = transitioned(own, transition, superseded_by)
    return capsule | {"thread_descriptor": own}


def _wrong(reason: str, **details: str) -> Malformed:
    return Malformed("INVALID_TRANSITION", reason, details=details)
