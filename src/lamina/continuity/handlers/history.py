"""Handlers of the operations that look back: a capsule's versions, and what changed between two of them."""

from __future__ import annotations

from typing import Final

from lamina.continuity.capsule import requests, results
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.changes.comparing import changed_fields, field_value, uncompared_fields
from lamina.continuity.permission import READS, require
from lamina.continuity.shelf.documents import Shelf, no_capsule
from lamina.errors import NotFound
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import DocumentVersion

__all__ = ["History"]

_NOTHING: Final[CapsuleObject] = {"continuity": {}}
"""What a version is that holds no capsule: every field of the other one differs from it."""


class History:
    """The steps of the document at a subject's path, those before an archiving or a removal too."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def history(self, request: requests.History, call: Call) -> Answer:
        """The versions of a capsule, newest first; raises ``NotFound`` where there never was one."""
        subject, tenant_id = request.subject, call.principal.tenant_id
        require(call, READS, "read", subject.active_path)
        found = self._shelf.versions(tenant_id, subject, before=request.before, limit=request.limit + 1)
        if not found and (request.before is None or not self._shelf.versions(tenant_id, subject)):
            raise no_capsule(subject)
        shown = found[: request.limit]
        return Answer(
            results.CapsuleHistory(
                path=subject.active_path,
                count=len(shown),
                versions=[_shown(each) for each in shown],
                next_before=shown[-1].version if len(found) > len(shown) else None,
            )
        )

    def diff(self, request: requests.Diff, call: Call) -> Answer:
        """What changed from one version to another; by default the newest against the one before it."""
        subject, tenant_id = request.subject, call.principal.tenant_id
        require(call, READS, "read", subject.active_path)
        after = self._version(tenant_id, subject, request.to_version)
        before = None
        if request.from_version is not None:
            before = self._version(tenant_id, subject, request.from_version)
        elif after.version > 1:
            before = self._version(tenant_id, subject, after.version - 1)
        old, new = (self._capsule(tenant_id, subject, each) for each in (before, after))
        changed, others = changed_fields(old, new), uncompared_fields(old, new)
        return Answer(
            results.Differences(
                path=subject.active_path,
                from_version=None if before is None else _shown(before),
                to_version=_shown(after),
                identical=not changed and not others,
                changed_fields=list(changed),
                uncompared_fields=list(others),
                changes=[
                    results.FieldChange(field=name, old=field_value(old, name), new=field_value(new, name))
                    for name in (*changed, *others)
                ],
            )
        )

    def _version(self, tenant_id: str, subject: Subject, version: int | None) -> DocumentVersion:
        """A step of the subject's capsule, None for the newest; raises ``NotFound``."""
        found = self._shelf.versions(tenant_id, subject, before=None if version is None else version + 1)
        if version is None and not found:
            raise no_capsule(subject)
        if not found or version not in (None, found[0].version):
            raise NotFound(
                "CAPSULE_NOT_FOUND",
                f"the capsule of {subject.kind} {subject.id[:200]!r} has no version {version}",
                hint="list its versions with POST /v1/continuity/history",
                details={"path": subject.active_path, "version": version},
            )
        return found[0]

    def _capsule(self, tenant_id: str, subject: Subject, step: DocumentVersion | None) -> CapsuleObject:
        found = None if step is None else self._shelf.at_version(tenant_id, subject, step.version)
        return _NOTHING if found is None else found.capsule


def _shown(step: DocumentVersion) -> results.CapsuleVersion:
    return results.CapsuleVersion.model_validate(
        {
            "version": step.version,
            "kind": step.kind.value,
            "size": step.size,
            "commit": step.commit.sha or None,
            "author": step.commit.author,
            "message": step.commit.message,
            "committed_at": rfc3339(step.commit.committed_at),
        }
    )
