"""The times of structured entries: when one was first written, last changed, last confirmed. The server keeps them."""

from __future__ import annotations

from typing import Any

from lamina.continuity.capsule.moments import utc_text
from lamina.continuity.capsule.shape import CapsuleObject

__all__ = ["ENTRY_FIELDS", "stamped", "without_times"]

ENTRY_FIELDS = {
    "stable_preferences": ("tag", "content"),
    "rationale_entries": (
        "tag",
        "kind",
        "status",
        "summary",
        "reasoning",
        "alternatives_considered",
        "depends_on",
        "supersedes",
    ),
    "negative_decisions": ("decision", "rationale"),
}
"""What each kind of entry says, its identity first: when one of these changes, the entry was updated."""


def without_times(capsule: CapsuleObject) -> CapsuleObject:
    """The capsule without the times that a caller sent and the server keeps itself."""

    def bare(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{k: v for k, v in e.items() if k not in ("created_at", "updated_at")} for e in entries]

    return _with_entries(capsule, lambda name, entries: bare(entries))  # noqa: ARG005 - every kind alike


def stamped(capsule: CapsuleObject, stored: CapsuleObject | None) -> CapsuleObject:
    """The capsule with the times of its entries: from the stored entry of the same identity, else from the capsule."""
    at = utc_text(capsule["updated_at"])
    return _with_entries(
        capsule,
        lambda name, entries: [_stamp(e, _known(name, e, stored), ENTRY_FIELDS[name], at) for e in entries],
    )


def _with_entries(capsule: CapsuleObject, change: Any) -> CapsuleObject:
    changed = capsule | {"continuity": dict(capsule["continuity"])}
    for name in ENTRY_FIELDS:
        holder = _holder(changed, name)
        if name in holder:
            holder[name] = change(name, holder[name])
    return changed


def _holder(capsule: CapsuleObject, name: str) -> dict[str, Any]:
    holder: dict[str, Any] = capsule if name == "stable_preferences" else capsule["continuity"]
    return holder


def _known(name: str, entry: dict[str, Any], stored: CapsuleObject | None) -> dict[str, Any] | None:
    if stored is None:
        return None
    identity = ENTRY_FIELDS[name][0]
    entries = _holder(stored, name).get(name, [])
    return next((known for known in entries if known[identity] == entry[identity]), None)


def _stamp(
    entry: dict[str, Any], known: dict[str, Any] | None, fields: tuple[str, ...], at: str
) -> dict[str, Any]:
    said = {name: value for name, value in entry.items() if name not in ("created_at", "updated_at")}
    confirmed = said.pop("last_confirmed_at", None) or (known or {}).get("last_confirmed_at")
    times = {"created_at": at, "updated_at": at}
    if known is not None:
        same = all((entry.get(name) or None) == (known.get(name) or None) for name in fields)
        created = known.get("created_at", at)
        times = {"created_at": created, "updated_at": known.get("updated_at", created) if same else at}
    return said | times | ({"last_confirmed_at": confirmed} if confirmed else {})
