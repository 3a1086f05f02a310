"""Handlers of the operations that look back: a capsule's versions, and what changed between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Final

from lamina import limits
from lamina.continuity.capsule import requests, results
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.changes.comparing import changed_fields, field_value, uncompared_fields
from lamina.continuity.permission import READS, require
from lamina.continuity.shelf.documents import Shelf, no_capsule
from lamina.errors import Malformed, NotFound
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import Instant, rfc3339
from lamina.store.ports.documents import ChangeKind, DocumentVersion

__all__ = ["History"]

_NOTHING: Final[CapsuleObject] = {"continuity": {}}
"""What a version is that holds no capsule: every field of the other one differs from it."""


class History:
    """The steps of a subject's capsule, those before an archiving or a removal too.

    Two ids with one normal form may have had the same path one after the other: versions of another id are not there.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def history(self, request: requests.History, call: Call) -> Answer:
        """The versions of a capsule, newest first; raises ``NotFound`` where there never was one."""
        subject, tenant_id = request.subject, call.principal.tenant_id
        require(call, READS, "read", subject.active_path)
        about = self._meant(tenant_id, subject)
        found = list(islice(self._steps(tenant_id, about, request.before), request.limit + 1))
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
        """What changed from one version to another; by default the newest against the one before it, or the one that stood ``since``."""
        subject, tenant_id = request.subject, call.principal.tenant_id
        require(call, READS, "read", subject.active_path)
        about = self._meant(tenant_id, subject)
        after = self._version(tenant_id, about, request.to_version)
        before: DocumentVersion | None
        if request.from_version is not None:
            before = self._version(tenant_id, about, request.from_version)
        elif request.since is not None:
            before = self._standing(tenant_id, about, request.since)
        else:
            before = next(self._steps(tenant_id, about, after.version), None)
        old, new = (self._capsule(tenant_id, about, each) for each in (before, after))
        changed, others = changed_fields(old, new), uncompared_fields(old, new)
        return Answer(
            results.Differences(
                path=subject.active_path,
                from_version=None if before is None else _shown(before),
                to_version=_shown(after),
                written_by=self._authors(tenant_id, about, before, after),
                identical=not changed and not others,
                changed_fields=list(changed),
                uncompared_fields=list(others),
                changes=[
                    results.FieldChange(field=name, old=field_value(old, name), new=field_value(new, name))
                    for name in (*changed, *others)
                ],
            )
        )

    def _standing(self, tenant_id: str, subject: Subject, at: Instant) -> DocumentVersion | None:
        """The newest step that was there at an instant, or the oldest of those that are looked at; None where there was none yet."""
        steps = islice(self._steps(tenant_id, subject), limits.CAPSULE_STEPS_BACK_MAX)
        for place, step in enumerate(steps, 1):
            if step.commit.committed_at <= at or place == limits.CAPSULE_STEPS_BACK_MAX:
                return step
        return None

    def _authors(
        self, tenant_id: str, subject: Subject, before: DocumentVersion | None, after: DocumentVersion
    ) -> list[str]:
        """Who wrote what came behind ``before`` up to ``after``, each once."""
        since = 0 if before is None else before.version
        steps = islice(self._steps(tenant_id, subject, after.version + 1), limits.CAPSULE_STEPS_BACK_MAX)
        later = [step.commit.author for step in takewhile(lambda step: step.version > since, steps)]
        return list(dict.fromkeys(reversed(later)))

    def _meant(self, tenant_id: str, subject: Subject) -> Subject:
        """The subject by its very id where that has versions, else as a read finds it: by the normal form of the id."""
        newest: Subject | None = None
        there = False
        for _, owner in self._owned(tenant_id, subject):
            there = True
            if owner == subject:
                return subject
            newest = newest or owner
        if not there:
            raise no_capsule(subject)
        if newest is not None and (newest.kind, newest.slug) != (subject.kind, subject.slug):
            raise Malformed(
                "SUBJECT_MISMATCH", "the stored capsule is about another subject than its path says"
            )
        return newest or subject

    def _steps(
        self, tenant_id: str, subject: Subject, before: int | None = None
    ) -> Iterator[DocumentVersion]:
        """The versions of a subject, newest first."""
        return (
            step
            for step, owner in self._owned(tenant_id, subject, before)
            if owner is None or owner == subject
        )

    def _owned(
        self, tenant_id: str, subject: Subject, before: int | None = None
    ) -> Iterator[tuple[DocumentVersion, Subject | None]]:
        """The steps at the subject's path with whose they are; one that does not say is that of what stood before it."""
        untold: list[DocumentVersion] = []
        for step in self._shelf.versions(tenant_id, subject, before=before):
            gone = step.kind is ChangeKind.REMOVE
            owner = None if gone else self._shelf.owner(tenant_id, subject, step.version)
            untold.append(step)
            if owner is not None:
                yield from ((each, owner) for each in untold)
                untold = []
        yield from ((each, None) for each in untold)

    def _version(self, tenant_id: str, subject: Subject, version: int | None) -> DocumentVersion:
        """A step of the subject's capsule, None for the newest; raises ``NotFound``."""
        found = next(self._steps(tenant_id, subject, None if version is None else version + 1), None)
        if found is None or version not in (None, found.version):
            raise NotFound(
                "CAPSULE_NOT_FOUND",
                f"the capsule of {subject.kind} {subject.id[:200]!r} has no version {version}",
                hint="list its versions with POST /v1/continuity/history",
                details={"path": subject.active_path, "version": version},
            )
        return found

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
