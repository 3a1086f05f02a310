"""The four ways to change a capsule, as functions of what stands and what was asked. Nothing is stored here.

Each gives the new capsule with its bytes, or raises: ``Malformed`` for a rule, ``NotFound`` for a match that is not
there, ``Conflict`` (STALE_CAPSULE) for a capsule that is not newer than the one that stands.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

from lamina.continuity.capsule import requests
from lamina.continuity.capsule.moments import moment
from lamina.continuity.capsule.shape import CapsuleObject, capsule_bytes, plain
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.capsule.validate import check_capsule, check_parts, check_size, invalid
from lamina.continuity.changes.entry_times import stamped, without_times
from lamina.continuity.changes.merging import merged, overlaid
from lamina.continuity.changes.normalise import normalised, with_tidy_descriptor
from lamina.continuity.changes.ordering import WriteTimes, check_newer, check_not_older, next_moment, stale
from lamina.continuity.changes.patch import check_operations, patched
from lamina.continuity.changes.transitions import ACTIVE, check_request, transitioned, with_lifecycle
from lamina.errors import Malformed

__all__ = [
    "Changed",
    "check_subject",
    "check_upsert",
    "lifecycle_of",
    "moved",
    "patched_capsule",
    "upserted",
]


@dataclass(frozen=True, slots=True)
class Changed:
    """A capsule after a write: the object, its bytes, and what was tidied. ``same`` when nothing changed at all."""

    capsule: CapsuleObject
    content: bytes
    normalizations: tuple[str, ...] = ()
    same: bool = False


def check_upsert(request: requests.Upsert) -> CapsuleObject:
    """What can be said of an upsert before anything is read; the capsule as the caller means it."""
    state = request.capsule.continuity
    if "related_documents" in state.model_fields_set and state.related_documents is None:
        raise invalid("continuity.related_documents", "must be a list, not null")
    check_subject(request.capsule.subject_kind, request.capsule.subject_id, request.subject)
    check_request(request.subject_kind, request.lifecycle_transition, request.superseded_by)
    said = _said(request)
    check_parts(with_tidy_descriptor(said))
    return said


def check_subject(kind: str, subject_id: str, subject: Subject) -> None:
    """Nothing when a capsule is about the subject that the request names, to the letter."""
    if (kind, subject_id) != (subject.kind, subject.id):
        raise Malformed(
            "SUBJECT_MISMATCH",
            "the capsule is about another subject than the request",
            details={"field": "capsule.subject_id"},
        )


def upserted(
    stored: CapsuleObject | None,
    request: requests.Upsert,
    said: CapsuleObject | None = None,
    clock: WriteTimes | None = None,
) -> Changed:
    """The capsule that an upsert leads to. What was verified is verified no more: the words are new.

    ``said`` is what ``check_upsert`` gave for the request, where it was asked before. ``clock`` says, here and below,
    which dates can be believed; without it all are.
    """
    capsule = check_upsert(request) if said is None else said
    if stored is not None:
        check_not_older(capsule["updated_at"], stored, clock)
        if request.merge_mode == "preserve":
            given = request.capsule.model_dump(exclude_unset=True)
            capsule = merged(capsule, given, stored, _touched(request))
    tidy = normalised(capsule)
    capsule = stamped(tidy.capsule, stored)
    check_capsule(capsule)
    capsule = with_lifecycle(capsule, stored, request.lifecycle_transition, request.superseded_by)
    content = check_size(capsule)
    if stored is None:
        return Changed(capsule, content, tidy.applied)
    same = content == capsule_bytes(stored)
    if not same and moment(capsule["updated_at"]) == moment(stored["updated_at"]):
        raise stale(stored)
    return Changed(capsule, content, tidy.applied, same)


def patched_capsule(
    stored: CapsuleObject, request: requests.Patch, clock: WriteTimes | None = None
) -> Changed:
    """The capsule after a patch."""
    check_operations(request.operations)
    updated_at = request.updated_at
    if updated_at is None:
        updated_at = next_moment(request, stored, clock)
    check_newer(updated_at, stored, clock)
    changed = patched(stored, request.operations) | {"updated_at": updated_at}
    tidy = normalised(changed)
    capsule = stamped(tidy.capsule, stored)
    check_capsule(capsule)
    return Changed(capsule, check_size(capsule), tidy.applied)


def moved(stored: CapsuleObject, request: requests.Lifecycle, clock: WriteTimes | None = None) -> Changed:
    """The capsule after a transition: nothing else of it changes."""
    check_request(request.subject_kind, request.transition, request.superseded_by)
    check_newer(request.updated_at, stored, clock)
    descriptor = stored.get("thread_descriptor")
    if descriptor is None:
        raise Malformed(
            "INVALID_TRANSITION", "the capsule has no thread_descriptor", details={"field": "transition"}
        )
    after = transitioned(descriptor, request.transition, request.superseded_by)
    capsule = deepcopy(stored) | {"updated_at": request.updated_at, "thread_descriptor": after}
    return Changed(capsule, check_size(capsule))


def lifecycle_of(capsule: CapsuleObject) -> str | None:
    """Where a capsule is in its lifecycle; None without a descriptor."""
    descriptor = capsule.get("thread_descriptor")
    return None if descriptor is None else descriptor.get("lifecycle", ACTIVE)


def _said(request: requests.Upsert) -> CapsuleObject:
    """The capsule as the caller means it: without what only the server may say, with the snapshot laid over."""
    capsule = plain(request.capsule)
    capsule.pop("verification_state", None)
    capsule.pop("capsule_health", None)
    if "thread_descriptor" in capsule:
        capsule["thread_descriptor"].pop("lifecycle", None)
        capsule["thread_descriptor"].pop("superseded_by", None)
    if request.session_end_snapshot is not None:
        capsule = overlaid(capsule, request.session_end_snapshot.model_dump(exclude_none=True))
    return without_times(capsule)


def _touched(request: requests.Upsert) -> frozenset[str]:
    snapshot = request.session_end_snapshot
    return frozenset() if snapshot is None else frozenset(snapshot.model_dump(exclude_none=True))
