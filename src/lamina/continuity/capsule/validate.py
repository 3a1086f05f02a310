"""The rules of a capsule that its types do not say: bounds per item, formats, and what must fit together.

All raise ``Malformed`` (INVALID_CAPSULE): 400, with the field in ``details``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from lamina.continuity.capsule.bounds import BOUNDS, each_max, items_max, length_max
from lamina.continuity.capsule.fields import ENTRIES
from lamina.continuity.capsule.moments import check_moment
from lamina.continuity.capsule.related import check_related
from lamina.continuity.capsule.shape import CapsuleObject, Stamped, capsule_bytes
from lamina.errors import Malformed
from lamina.kernel.canonical import holds_nul

__all__ = ["TOP_FOLDERS", "check_capsule", "check_parts", "check_size", "invalid"]

TOP_FOLDERS: Final = frozenset(
    [
        "journal",
        "essays",
        "projects",
        "memory",
        "messages",
        "peers",
        "snapshots",
        "tasks",
        "patches",
        "runs",
        "index",
        "archive",
        "config",
        "logs",
        "backups",
    ]
)
"""The folders of the repository that a path may begin with."""

_PLACE = "capsule."
_EACH: Final = {
    row.place.removeprefix(_PLACE): row.each_max
    for row in BOUNDS.values()
    if row.place.startswith(_PLACE) and row.each_max is not None
}
_NOT_EMPTY: Final = ("continuity.trailing_notes", "continuity.curiosity_queue", "thread_descriptor.keywords")
_PATH = re.compile(r"[A-Za-z0-9._/\-]+")
_SCOPE_ANCHOR = re.compile(r"(?:user|peer|thread|task):[a-z0-9._-]{1,120}")
_ANCHOR_KIND = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_BOUNDARIES = ("person_switch", "thread_switch", "task_switch", "public_reply", "manual_checkpoint")


def check_capsule(capsule: CapsuleObject) -> None:
    """Every rule: that of each part, and of what must fit together."""
    check_parts(capsule)
    _check_boundary(capsule)


def check_parts(capsule: CapsuleObject) -> None:
    """The rules of each part by itself: those that a capsule must keep before stored parts are merged into it."""
    if holds_nul(capsule):
        raise invalid("capsule", "must not hold the character NUL")
    _check_moments(capsule)
    for path, most in _EACH.items():
        _check_texts(path, at(capsule, path), 1 if path in _NOT_EMPTY else 0, most)
    sources = [path.strip() for path in capsule.get("canonical_sources", [])]  # the normaliser strips these
    _check_paths("canonical_sources", [path for path in sources if path])
    _check_paths("continuity.retrieval_hints.load_next", at(capsule, "continuity.retrieval_hints.load_next"))
    _check_metadata(capsule.get("metadata", {}))
    _check_preferences(capsule)
    _check_decisions(capsule["continuity"].get("negative_decisions", []))
    _check_rationale(capsule["continuity"].get("rationale_entries", []))
    for kind in ENTRIES:
        _check_unique(kind.path, [entry[kind.identity] for entry in at(capsule, kind.path)])
    if "related_documents" in capsule["continuity"]:
        check_related(capsule["continuity"]["related_documents"])
    _check_descriptor(capsule)
    _check_judgement(capsule)


def check_size(capsule: CapsuleObject) -> bytes:
    """The capsule's bytes; raises ``Malformed`` (CAPSULE_TOO_LARGE) past the cap."""
    kept, most = capsule_bytes(capsule), length_max("continuity.capsule_serialized_utf8")
    if len(kept) > most:
        raise Malformed(
            "CAPSULE_TOO_LARGE",
            f"the capsule has {len(kept)} bytes as canonical JSON, {most} are allowed",
            hint="drop optional sections first: rationale_entries and related_documents are the largest",
            details={"field": "capsule", "bytes": len(kept), "bytes_max": most},
        )
    return kept


def at(capsule: CapsuleObject, path: str) -> list[Any]:
    """The list at a dotted path; empty where there is none."""
    value: Any = capsule
    for name in path.split("."):
        value = value.get(name)
        if value is None:
            return []
    return value if isinstance(value, list) else []


def invalid(field: str, reason: str) -> Malformed:
    """The error for a field that breaks a rule."""
    return Malformed("INVALID_CAPSULE", f"{field} {reason}", details={"field": field, "reason": reason})


def _check_moments(capsule: CapsuleObject) -> None:
    for name in ("updated_at", "verified_at"):
        check_moment(capsule[name], name)
    expires_at = capsule.get("freshness", {}).get("expires_at")
    if expires_at is not None:
        check_moment(expires_at, "freshness.expires_at")
    for kind in ENTRIES:
        for entry in at(capsule, kind.path):
            for name in Stamped.model_fields:
                if name in entry:
                    check_moment(entry[name], f"{kind.path}[].{name}")
    for path, name in (("verification_state", "last_revalidated_at"), ("capsule_health", "last_checked_at")):
        if path in capsule:
            check_moment(capsule[path][name], f"{path}.{name}")


def _check_text(field: str, text: str, least: int, most: int) -> None:
    if not least <= len(text) <= most:
        raise invalid(
            field,
            f"must have {least} to {most} characters" if least else f"must have at most {most} characters",
        )


def _check_texts(field: str, texts: Iterable[str], least: int, most: int) -> None:
    for text in texts:
        if not least <= len(text) <= most:
            _check_text(f"{field}[]", text, least, most)


def _check_paths(field: str, paths: Iterable[str]) -> None:
    for path in paths:
        if not _PATH.fullmatch(path) or ".." in path.split("/"):
            raise invalid(f"{field}[]", "must be a repo-relative path of letters, digits and ._/- only")
        if path.split("/")[0] not in TOP_FOLDERS:
            raise invalid(f"{field}[]", f"must begin with one of {', '.join(sorted(TOP_FOLDERS))}")


def _check_metadata(metadata: dict[str, Any]) -> None:
    most = items_max("continuity.metadata")
    if len(metadata) > most:
        raise invalid("metadata", f"must have at most {most} keys")
    for value in metadata.values():
        if not isinstance(value, str | int | float | bool | None):
            raise invalid("metadata", "must hold scalar values only")
        if isinstance(value, float) and not math.isfinite(value):
            raise invalid("metadata", "must hold finite numbers only")


def _check_preferences(capsule: CapsuleObject) -> None:
    kept = capsule.get("stable_preferences", [])
    if kept and capsule["subject_kind"] not in ("user", "peer"):
        raise invalid("stable_preferences", "are for user and peer capsules only")
    for entry in kept:
        for name in ("tag", "content"):
            if not entry[name].strip():
                raise invalid(f"stable_preferences[].{name}", "must not be empty")


def _check_decisions(entries: Sequence[dict[str, Any]]) -> None:
    parts = BOUNDS["continuity.negative_decisions"].parts
    for entry in entries:
        for name, most in parts.items():
            _check_text(f"continuity.negative_decisions[].{name}", entry[name], 1, most)


def _check_rationale(entries: Sequence[dict[str, Any]]) -> None:
    field, parts = "continuity.rationale_entries", BOUNDS["continuity.rationale_entries"].parts
    by_tag = {entry["tag"].strip(): entry for entry in entries}
    for entry in entries:
        for name in ("tag", "summary", "reasoning"):
            _check_text(f"{field}[].{name}", entry[name], 1, parts[name])
        for name in ("alternatives_considered", "depends_on"):
            _check_texts(f"{field}[].{name}", entry.get(name, []), 1, parts[f"{name}[]"])
        old = entry.get("supersedes")
        if old is None:
            continue
        if old.strip() == entry["tag"].strip():
            raise invalid(f"{field}[].supersedes", "must not name its own entry")
        if by_tag.get(old.strip(), {}).get("status") != "superseded":
            raise invalid(
                f"{field}[].supersedes", "must name an entry of the list with the status superseded"
            )


def _check_unique(field: str, names: Sequence[Any]) -> None:
    if len(set(names)) < len(names):
        raise invalid(field, "must not repeat an entry")


def _check_descriptor(capsule: CapsuleObject) -> None:
    descriptor = capsule.get("thread_descriptor")
    if descriptor is None:
        return
    if capsule["subject_kind"] not in ("thread", "task"):
        raise invalid("thread_descriptor", "is for thread and task capsules only")
    most = each_max("continuity.thread_descriptor.keywords")
    _check_texts("thread_descriptor.keywords", descriptor["keywords"], 1, most)
    for anchor in descriptor["scope_anchors"]:
        if not _SCOPE_ANCHOR.fullmatch(anchor):
            raise invalid(
                "thread_descriptor.scope_anchors[]", "must be <kind>:<slug>, for example thread:launch"
            )
    pairs = [(anchor["kind"], anchor["value"]) for anchor in descriptor["identity_anchors"]]
    for kind, value in pairs:
        if not _ANCHOR_KIND.fullmatch(kind):
            raise invalid(
                "thread_descriptor.identity_anchors[].kind", "must be of a-z, 0-9, _ and -, a letter first"
            )
        _check_text("thread_descriptor.identity_anchors[].value", value, 1, 200)
    _check_unique("thread_descriptor.identity_anchors", pairs)


def _check_judgement(capsule: CapsuleObject) -> None:
    state, health = capsule.get("verification_state", {}), capsule.get("capsule_health", {})
    if state.get("status") == "conflicted" and not state.get("conflict_summary"):
        raise invalid("verification_state.conflict_summary", "is required when the status is conflicted")
    if health.get("status") in ("degraded", "conflicted") and not health.get("reasons"):
        raise invalid("capsule_health.reasons", "are required unless the capsule is healthy")


def _check_boundary(capsule: CapsuleObject) -> None:
    kind = capsule.get("metadata", {}).get("interaction_boundary_kind")
    at_boundary = capsule["source"]["update_reason"] == "interaction_boundary"
    if at_boundary and kind not in _BOUNDARIES:
        raise invalid("metadata.interaction_boundary_kind", f"must be one of {', '.join(_BOUNDARIES)}")
    if not at_boundary and "interaction_boundary_kind" in capsule.get("metadata", {}):
        raise invalid(
            "metadata.interaction_boundary_kind", "goes with source.update_reason interaction_boundary only"
        )
