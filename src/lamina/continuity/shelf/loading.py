"""Stored capsules as values: read with the bounds of reading, and upgraded from the stabilized 1.0 shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from lamina import limits
from lamina.continuity.capsule.fields import ENTRIES
from lamina.continuity.capsule.moments import EPOCH, moment, utc_text
from lamina.continuity.capsule.related import OMITTED_EMBEDDED, OMITTED_INVALID, first_problem
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.stored import as_stored
from lamina.errors import Malformed

__all__ = ["Loaded", "capsule_in", "loaded", "object_in", "stored_invalid"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A capsule as it stands, and what had to be left out of it."""

    capsule: CapsuleObject
    warnings: tuple[str, ...] = ()


def object_in(content: bytes) -> dict[str, Any]:
    """The JSON object that a document holds; raises ``Malformed`` (STORED_CAPSULE_INVALID)."""
    if len(content) > limits.CAPSULE_READ_BYTES_MAX:
        raise stored_invalid(f"it has {len(content)} bytes, and {limits.CAPSULE_READ_BYTES_MAX} are read")
    try:
        value = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise stored_invalid("it is not JSON") from error
    if not isinstance(value, dict):
        raise stored_invalid("it is not a JSON object")
    return value


def loaded(content: bytes) -> Loaded:
    """The capsule that a document holds; raises ``Malformed`` (STORED_CAPSULE_INVALID)."""
    return capsule_in(object_in(content))


def capsule_in(value: Any) -> Loaded:  # Any: whatever a document holds
    """The capsule that a stored value is, upgraded; raises as ``loaded`` does."""
    if not isinstance(value, dict) or not isinstance(value.get("continuity"), dict):
        raise stored_invalid("it has no continuity state")
    kept, warnings = _without_wrong_documents(_with_repaired_times(value))
    try:
        capsule = as_stored(kept)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise stored_invalid(f"{field}: {first['msg']}") from error
    except ValueError as error:
        raise stored_invalid(str(error)) from error
    return Loaded(capsule, warnings)


def stored_invalid(reason: str) -> Malformed:
    """The error for a stored document that is no capsule."""
    return Malformed(
        "STORED_CAPSULE_INVALID",
        f"the stored capsule is invalid: {reason}",
        hint="upsert it anew, or read it with allow_fallback",
    )


def _with_repaired_times(value: dict[str, Any]) -> dict[str, Any]:
    """A date of the last change that is none is that of the verification; one of the verification is lost.

    Trust never improves through damage (contract 3.4). Entries without times of their own take the capsule's.
    """
    repaired = value | {"continuity": dict(value["continuity"])}
    verified_at = value.get("verified_at")
    known = verified_at if moment(verified_at) is not None else EPOCH
    repaired["verified_at"] = known
    if moment(value.get("updated_at")) is None:
        repaired["updated_at"] = known
    for kind in ENTRIES:
        holder = kind.holder(repaired)
        entries = holder.get(kind.name)
        if isinstance(entries, list):
            at = utc_text(repaired["updated_at"])
            holder[kind.name] = [_with_own_times(entry, at) for entry in entries]
    return repaired


def _with_own_times(entry: Any, at: str) -> Any:
    """An entry with both its times; older ones say ``set_at`` for both, or nothing."""
    if not isinstance(entry, dict):
        return entry
    kept = {key: value for key, value in entry.items() if key != "set_at"}
    set_at = entry["set_at"] if moment(entry.get("set_at")) is not None else at
    for name in ("created_at", "updated_at"):
        if moment(kept.get(name)) is None:
            kept[name] = set_at
    if moment(kept.get("last_confirmed_at")) is None:
        kept.pop("last_confirmed_at", None)
    return kept


def _without_wrong_documents(value: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    if "related_documents" not in value["continuity"]:
        return value, ()
    problem = first_problem(value["continuity"]["related_documents"])
    if problem is None:
        return value, ()
    state = {key: item for key, item in value["continuity"].items() if key != "related_documents"}
    warning = OMITTED_EMBEDDED if problem.kind == "embedded" else OMITTED_INVALID
    return value | {"continuity": state}, (warning,)
