"""The times of structured entries: when one was first written, last changed, last confirmed. The server keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamina.continuity.capsule.fields import ENTRIES, Entries
from lamina.continuity.capsule.moments import utc_text
from lamina.continuity.capsule.shape import CapsuleObject

__all__ = ["stamped", "without_times"]

_Entry = dict[str, Any]


def without_times(capsule: CapsuleObject) -> CapsuleObject:
    """The capsule without the times that a caller sent and the server keeps itself."""

    def bare(kind: Entries, entries: list[_Entry]) -> list[_Entry]:  # noqa: ARG001 - every kind alike
        return [{k: v for k, v in e.items() if k not in ("created_at", "updated_at")} for e in entries]

    return _with_entries(capsule, bare)


def stamped(capsule: CapsuleObject, stored: CapsuleObject | None) -> CapsuleObject:
    """The capsule with the times of its entries: from the stored entry of the same identity, else from the capsule."""
    at = utc_text(capsule["updated_at"])
    return _with_entries(
        capsule,
        lambda kind, entries: [_stamp(each, _known(kind, each, stored), kind.fields, at) for each in entries],
    )


def _with_entries(
    capsule: CapsuleObject, change: Callable[[Entries, list[_Entry]], list[_Entry]]
) -> CapsuleObject:
    changed = capsule | {"continuity": dict(capsule["continuity"])}
    for kind in ENTRIES:
        holder = kind.holder(changed)
        if kind.name in holder:
            holder[kind.name] = change(kind, holder[kind.name])
    return changed


def _known(kind: Entries, entry: _Entry, stored: CapsuleObject | None) -> _Entry | None:
    if stored is None:
        return None
    entries = kind.holder(stored).get(kind.name, [])
    return next((known for known in entries if known[kind.identity] == entry[kind.identity]), None)


def _stamp(entry: _Entry, known: _Entry | None, fields: tuple[str, ...], at: str) -> _Entry:
    said = {name: value for name, value in entry.items() if name not in ("created_at", "updated_at")}
    confirmed = said.pop("last_confirmed_at", None) or (known or {}).get("last_confirmed_at")
    times: _Entry = {"created_at": at, "updated_at": at}
    if known is not None:
        same = all((entry.get(name) or None) == (known.get(name) or None) for name in fields)
        created = known.get("created_at", at)
        times = {"created_at": created, "updated_at": known.get("updated_at", created) if same else at}
    return said | times | ({"last_confirmed_at": confirmed} if confirmed else {})
