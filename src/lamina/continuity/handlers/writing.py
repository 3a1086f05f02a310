"""Handlers of the operations that change a capsule: read what stands, let a pure function decide, write once.

The capsule, the snapshot beside it and the event that tells of it land in one transaction, so a snapshot is never
behind its capsule. Somebody else's write in between makes the decision anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lamina.continuity.capsule import requests, results
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject, check_same_subject
from lamina.continuity.capsule.unknown import drop_warnings
from lamina.continuity.capsule.wording import in_words
from lamina.continuity.changes.deciding import (
    Changed,
    check_upsert,
    lifecycle_of,
    moved,
    patched_capsule,
    upserted,
)
from lamina.continuity.changes.ordering import WriteTimes, ahead_warnings
from lamina.continuity.changes.patch import check_operations
from lamina.continuity.changes.revalidating import check_revalidation, revalidated
from lamina.continuity.changes.transitions import check_request
from lamina.continuity.judgements.recovery_warnings import ACTIVE_INVALID, FALLBACK_MISSING, FALLBACK_USED
from lamina.continuity.judgements.trust import resume_adequate
from lamina.continuity.landing import retried
from lamina.continuity.permission import WRITES, require
from lamina.continuity.shelf.documents import NO_CAPSULE_SHA256, Shelf, StandingCapsule, sha256_of
from lamina.continuity.shelf.envelopes import fallback_bytes
from lamina.errors import Conflict, LaminaError, Malformed, NotFound
from lamina.kernel.operations import Answer, Call
from lamina.store.ports.documents import Change, ChangeKind

__all__ = ["Writing"]

_Request = requests.Upsert | requests.Patch | requests.Lifecycle | requests.Revalidate


@dataclass(frozen=True, slots=True)
class _Replaced:
    """What an upsert builds upon, the version that it replaces, and what could not be kept of that.

    A damaged capsule is replaced unread. A merge keeps what its snapshot has instead.
    """

    standing: StandingCapsule | None
    version: int
    sha256: str | None = None
    recovery_warnings: tuple[str, ...] = ()
    damaged: bool = False


class Writing:
    """Upsert, patch, lifecycle and revalidate."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def upsert(self, request: requests.Upsert, call: Call) -> Answer:
        """Write a capsule. One that stands already just so, with the same time, is left as it is."""
        require(call, WRITES, "write", request.subject.active_path)
        said = check_upsert(request)
        return Answer(retried(lambda: self._upsert(request, call, said)))

    def patch(self, request: requests.Patch, call: Call) -> Answer:
        """Change items of lists, all or nothing."""
        require(call, WRITES, "write", request.subject.active_path)
        check_operations(request.operations)
        return Answer(retried(lambda: self._patch(request, call)))

    def lifecycle(self, request: requests.Lifecycle, call: Call) -> Answer:
        """Move a thread or task along its lifecycle."""
        require(call, WRITES, "write", request.subject.active_path)
        check_request(request.subject_kind, request.transition, request.superseded_by)
        return Answer(retried(lambda: self._lifecycle(request, call)))

    def revalidate(self, request: requests.Revalidate, call: Call) -> Answer:
        """Judge a capsule anew, or correct it."""
        require(call, WRITES, "read", request.subject.active_path)
        require(call, WRITES, "write", request.subject.active_path)
        check_revalidation(request)
        return Answer(retried(lambda: self._revalidate(request, call)))

    def _upsert(self, request: requests.Upsert, call: Call, said: CapsuleObject) -> results.Upserted:
        subject, tenant_id = request.subject, call.principal.tenant_id
        replaced = self._replaced(tenant_id, request)
        standing, version = replaced.standing, replaced.version
        other = _another(request, replaced.sha256)
        try:
            if standing is None:
                changed = upserted(None, request, said)
            else:
                changed = upserted(standing.capsule, request, said, _clock(standing, call))
        except LaminaError as error:
            if other is None:
                raise
            raise other from error
        # One that stands just so is the caller's own write, of which the answer was lost (RFC 9110, 13.1.1).
        if other is not None and not changed.same:
            raise other
        writes = replaced.damaged or not changed.same
        commit = self._shelf.head(tenant_id)
        if writes:
            message = request.commit_message or f"continuity: upsert {subject.kind} {subject.id}"
            commit = self._land(call, subject, changed, version, message)
        more: dict[str, object] = {}
        if request.session_end_snapshot is not None:
            more["session_end_snapshot_applied"] = True
            more["resume_quality"] = {"adequate": resume_adequate(changed.capsule)}
        lifecycle = lifecycle_of(changed.capsule)
        if lifecycle is not None:
            more["lifecycle"] = lifecycle
        return results.Upserted.model_validate(
            {
                "path": subject.active_path,
                "created": version == 0,
                "updated": version != 0 and writes,
                "latest_commit": commit,
                "capsule_sha256": sha256_of(changed.content),
                "normalizations_applied": changed.normalizations,
                "warnings": _warnings(request, call, changed),
                "recovery_warnings": replaced.recovery_warnings,
            }
            | more
        )

    def _patch(self, request: requests.Patch, call: Call) -> results.Patched:
        subject = request.subject
        standing = self._shelf.own(call.principal.tenant_id, subject)
        other = _another(request, standing.sha256)
        if other is not None:
            raise other
        changed = patched_capsule(standing.capsule, request, _clock(standing, call))
        message = request.commit_message or f"continuity: patch {subject.kind} {subject.id}"
        return results.Patched(
            path=subject.active_path,
            updated=True,
            latest_commit=self._land(call, subject, changed, standing.version, message),
            capsule_sha256=sha256_of(changed.content),
            operations_applied=len(request.operations),
            normalizations_applied=list(changed.normalizations),
            warnings=_warnings(request, call, changed),
            recovery_warnings=list(standing.loaded.warnings),
        )

    def _lifecycle(self, request: requests.Lifecycle, call: Call) -> results.Moved:
        subject, transition = request.subject, request.transition
        standing = self._shelf.own(call.principal.tenant_id, subject)
        changed = moved(standing.capsule, request, _clock(standing, call))
        message = request.commit_message or f"continuity: lifecycle {transition} {subject.kind} {subject.id}"
        return results.Moved(
            path=subject.active_path,
            lifecycle=str(lifecycle_of(changed.capsule)),
            previous_lifecycle=str(lifecycle_of(standing.capsule)),
            latest_commit=self._land(call, subject, changed, standing.version, message),
            capsule_sha256=sha256_of(changed.content),
            warnings=_warnings(request, call, changed),
            recovery_warnings=list(standing.loaded.warnings),
        )

    def _revalidate(self, request: requests.Revalidate, call: Call) -> results.Revalidated:
        subject = request.subject
        standing = self._shelf.own(call.principal.tenant_id, subject)
        found = revalidated(standing.capsule, request, call.now, _clock(standing, call))
        message = f"continuity: revalidate {subject.kind} {subject.id}"
        return results.Revalidated(
            path=subject.active_path,
            outcome=found.outcome,
            updated=found.updated,
            verification_state=found.changed.capsule["verification_state"],
            capsule_health=found.changed.capsule["capsule_health"],
            latest_commit=self._land(call, subject, found.changed, standing.version, message),
            warnings=_warnings(request, call, found.changed),
            recovery_warnings=list(standing.loaded.warnings),
        )

    def _replaced(self, tenant_id: str, request: requests.Upsert) -> _Replaced:
        subject, keeps = request.subject, request.merge_mode == "preserve"
        try:
            standing = self._shelf.own(tenant_id, subject)
        except NotFound:
            self._check_snapshot(tenant_id, subject)
            return _Replaced(None, 0)
        except Malformed:
            document = self._shelf.document(tenant_id, subject.active_path)
            if document is None:
                return _Replaced(None, 0)
            sha256 = sha256_of(document.content)
            snapshot = self._shelf.fallback(tenant_id, subject)
            if snapshot is not None:  # all that can be read of whose capsule it is
                check_same_subject(snapshot.capsule["subject_id"], subject)
            if snapshot is None or not keeps:
                more = (FALLBACK_MISSING,) if keeps else ()
                return _Replaced(None, document.version, sha256, (ACTIVE_INVALID, *more), damaged=True)
            standing = StandingCapsule(snapshot, document.version, document.updated_at, sha256)
            warnings = (ACTIVE_INVALID, FALLBACK_USED, *snapshot.warnings)
            return _Replaced(standing, document.version, sha256, warnings, damaged=True)
        warnings = standing.loaded.warnings if keeps else ()
        return _Replaced(standing, standing.version, standing.sha256, warnings)

    def _check_snapshot(self, tenant_id: str, subject: Subject) -> None:
        """Nothing where no capsule stands, unless the snapshot is another id's and all that is kept of it: ``Conflict`` (SUBJECT_TAKEN)."""
        snapshot = self._shelf.fallback(tenant_id, subject)
        if snapshot is None or snapshot.capsule["subject_id"] == subject.id:
            return
        archives = self._shelf.archives(tenant_id, self._shelf.beginning(tenant_id, subject.archive_prefix))
        cold = self._shelf.cold_archives(tenant_id, self._shelf.beginning(tenant_id, subject.cold_prefix))
        if all(each.capsule != snapshot.capsule for each in (*archives.values(), *cold.values())):
            check_same_subject(snapshot.capsule["subject_id"], subject)

    def _land(self, call: Call, subject: Subject, changed: Changed, version: int, message: str) -> str:
        changes: Sequence[Change] = (
            Change(subject.active_path, ChangeKind.PUT, changed.content, expected_version=version),
            Change(subject.fallback_path, ChangeKind.PUT, fallback_bytes(changed.capsule)),
        )
        return self._shelf.land(call, message, changes, in_words(changed.capsule)).sha


def _another(request: requests.Upsert | requests.Patch, present: str | None) -> Conflict | None:
    """The error for a capsule that is not the one that the caller has read; None where it is, or they did not say."""
    if request.expected_sha256 is None or request.expected_sha256.lower() == (present or NO_CAPSULE_SHA256):
        return None
    stands = "no capsule stands" if present is None else f"the capsule that stands has the SHA-256 {present}"
    return Conflict(
        "CAPSULE_CHANGED",
        f"{stands}, not the one expected",
        hint="read the capsule, apply the change to what stands now, and expect the capsule_sha256 of that reading",
        details={"capsule_sha256": present},
    )


def _clock(standing: StandingCapsule, call: Call) -> WriteTimes:
    return WriteTimes(call.now, standing.written_at)


def _warnings(request: _Request, call: Call, changed: Changed) -> list[dict[str, Any]]:
    """What the caller should know of a write that was done."""
    path = request.subject.active_path
    return [*drop_warnings(request, path), *ahead_warnings(changed.capsule, call.now, path)]
