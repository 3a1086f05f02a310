"""Handlers of patches: propose, and apply through the versioned write path. Applying compares versions, and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from lamina import limits
from lamina.continuity.files.keeping import file_told
from lamina.continuity.files.names import check_new, file_path
from lamina.continuity.landing import EventWords, retried, written
from lamina.continuity.permission import require_open
from lamina.coordination.artifacts.checks import message_of, refused
from lamina.coordination.patches.requests import (
    ApplyPatch,
    PatchApplied,
    PatchProposal,
    PatchProposed,
    ProposePatch,
)
from lamina.coordination.patches.unified import BadDiff, FilePatch, MissedHunk, applied, file_patch
from lamina.errors import Conflict, Malformed, NotFound, TooLarge
from lamina.kernel.canonical import indented
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayRight, write_right
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import Change, ChangeKind, Commit, Document, Documents

__all__ = ["Patches"]

_PROPOSALS: Final = "patches/proposals"
_APPLIED: Final = "patches/applied"
_LABEL: Final = "patch"
_SHA: Final = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True, slots=True)
class _Proposed:
    patch: PatchProposal
    document: Document


class Patches:
    """Propose and apply."""

    def __init__(self, documents: Documents, ids: IdSource) -> None:
        self._documents = documents
        self._ids = ids

    def proposing(self, kind: Literal["doc_patch", "code_patch"]) -> Callable[[ProposePatch, Call], Answer]:
        """The handler for patches of a kind: what they are for is all that differs."""

        def propose(request: ProposePatch, call: Call) -> Answer:
            """Put a patch down. Nothing changes until somebody applies it."""
            return Answer(self._propose(kind, request, call))

        return propose

    def apply(self, request: ApplyPatch, call: Call) -> Answer:
        """Apply a proposal whose file stands as it stood when it was made."""
        return Answer(retried(lambda: self._apply(request, call)))

    def _propose(
        self, kind: Literal["doc_patch", "code_patch"], request: ProposePatch, call: Call
    ) -> PatchProposed:
        target, tenant_id = file_path(request.target_path), call.principal.tenant_id
        patch_id = request.patch_id or _new_id(self._ids, call)
        path = _path(_PROPOSALS, patch_id)
        _require(call, target, path)
        check_new(path)
        _checked(request.diff, target)
        base = self._base(tenant_id, request.base_ref)
        for folder in (_PROPOSALS, _APPLIED):
            if self._documents.read(tenant_id, _path(folder, patch_id)) is not None:
                raise Conflict("PATCH_EXISTS", f"there is a patch {patch_id[:64]!r}")
        now = rfc3339(call.now)
        patch = PatchProposal(
            patch_id=patch_id,
            patch_type=kind,
            target_path=target,
            base_ref=request.base_ref,
            base_ref_resolved=base.sha,
            diff=request.diff,
            reason=request.reason,
            thread_id=request.thread_id,
            created_at=now,
            created_by=call.relay.peer_id,
            updated_at=now,
        )
        change = Change(path, ChangeKind.PUT, _bytes(patch), expected_version=0, portable=True)
        told = EventWords(path, _words(patch), _LABEL, self._telling(tenant_id, target))
        done = written(self._documents, call, f"patches: propose {patch_id}", [change], told)
        return PatchProposed(
            patch=patch, path=path, latest_commit=done.commit.sha, event_id=done.event_ids[0]
        )

    def _apply(self, request: ApplyPatch, call: Call) -> PatchApplied:
        path = _path(_PROPOSALS, request.patch_id)
        _require(call, path)
        proposed = self._proposed(call.principal.tenant_id, path, request.patch_id)
        patch = proposed.patch
        target = file_path(patch.target_path)
        put_away = _path(_APPLIED, request.patch_id)
        _require(call, target, put_away)
        message = message_of(request.commit_message, f"patches: apply {request.patch_id}")
        if patch.status != "proposed":
            raise Conflict(
                "PATCH_NOT_PROPOSED",
                f"the patch is {patch.status[:32]}",
                details={"status": patch.status[:32]},
            )
        change, text = self._changed(call.principal.tenant_id, patch, target)
        kept = patch.model_copy(update={"status": "applied", "updated_at": rfc3339(call.now)})
        # The proposal ends with the very commit that changes the file: after a crash it is not applied twice.
        ended = Change(path, ChangeKind.PUT, _bytes(kept), expected_version=proposed.document.version)
        sources = self._telling(call.principal.tenant_id, path, target)
        told = EventWords(path, _words(kept), _LABEL) if text is None else file_told(target, text)
        done = written(self._documents, call, message, [change, ended], replace(told, rests_on=sources))
        archived = kept.model_copy(
            update={"applied_commit": done.commit.sha, "applied_by": call.relay.peer_id}
        )
        archive = Change(put_away, ChangeKind.PUT, _bytes(archived))
        last = written(self._documents, call, f"patches: archive applied {request.patch_id}", [archive], None)
        return PatchApplied(
            patch_id=request.patch_id,
            target_path=target,
            committed_files=(target, path, put_away),
            applied_commit=done.commit.sha,
            latest_commit=last.commit.sha,
            event_id=done.event_ids[0],
        )

    def _changed(self, tenant_id: str, patch: PatchProposal, target: str) -> tuple[Change, str | None]:
        """The change of the file, and its new text."""
        now = self._documents.read(tenant_id, target)
        content = None if now is None else now.content
        base = self._base(tenant_id, patch.base_ref_resolved)
        before = self._documents.read(tenant_id, target, at=base.committed_at)
        if (None if before is None else before.content) != content:
            raise Conflict(
                "PATCH_BASE_CHANGED",
                f"{target} has changed since the commit that the patch was made for",
                details={"path": target},
            )
        try:
            made = applied(_checked(patch.diff, target), content)
        except MissedHunk as error:
            raise Conflict(
                "PATCH_MISSES", f"the patch does not fit {target}: {error}", details={"path": target}
            ) from error
        version = 0 if now is None else now.version
        if made is None:
            return Change(target, ChangeKind.REMOVE, expected_version=version), None
        if made == content:
            raise refused("diff", "changes nothing")
        if len(made) > limits.FILE_BYTES_MAX:
            raise TooLarge(
                "FILE_TOO_LARGE",
                f"{target} would have {len(made)} bytes, and {limits.FILE_BYTES_MAX} are the most",
                hint="begin another file",
                details={"path": target, "bytes": len(made), "bytes_max": limits.FILE_BYTES_MAX},
            )
        if now is None:
            check_new(target)
        change = Change(target, ChangeKind.PUT, made, expected_version=version, portable=True)
        return change, made.decode()

    def _proposed(self, tenant_id: str, path: str, patch_id: str) -> _Proposed:
        document = self._documents.read(tenant_id, path)
        if document is None:
            raise NotFound("PATCH_NOT_FOUND", f"there is no patch {patch_id[:64]!r}")
        try:
            return _Proposed(PatchProposal.model_validate_json(document.content), document)
        except ValueError as error:
            raise Malformed(
                "STORED_ARTIFACT_INVALID", f"what stands at {path} is no patch", details={"path": path}
            ) from error

    def _base(self, tenant_id: str, ref: str) -> Commit:
        commit = self._documents.head(tenant_id) if ref == "HEAD" else None
        if _SHA.fullmatch(ref):
            commit = self._documents.commit_of(tenant_id, ref)
        if commit is None:
            raise refused("base_ref", "names no commit", "HEAD, or the hash of a commit that an answer gave")
        return commit

    def _telling(self, tenant_id: str, *paths: str) -> tuple[str, ...]:
        told = (self._documents.told_by(tenant_id, path) for path in paths)
        return tuple(each for each in told if each is not None)


def _checked(diff: str, target: str) -> FilePatch:
    try:
        patch = file_patch(diff)
    except BadDiff as error:
        raise refused("diff", str(error), "send a unified diff of one file, as git diff writes it") from error
    if {patch.old_path, patch.new_path} - {None} != {target}:
        raise refused("diff", "touches another path than target_path")
    return patch


def _path(folder: str, patch_id: str) -> str:
    if "/" in patch_id or "\\" in patch_id:
        raise refused("patch_id", "has a slash", "letters, digits, dots and dashes make an id")
    return file_path(f"{folder}/{patch_id}.json")


def _require(call: Call, *paths: str) -> None:
    for path in paths:
        call.relay.require(RelayRight.WRITE_PROJECTS, "write", path)
        call.relay.require(write_right(path), "write", path)
        require_open(call, path)


def _new_id(ids: IdSource, call: Call) -> str:
    made = ids.stamped(Prefix.REQUEST, call.now)
    return f"patch_{made.replace('-', '')[-12:]}"


def _bytes(patch: PatchProposal) -> bytes:
    return indented(patch.model_dump(mode="json"))


def _words(patch: PatchProposal) -> str:
    because = f": {patch.reason}" if patch.reason else ""
    return f"Patch {patch.patch_id} of {patch.target_path}, {patch.status}, by {patch.created_by}{because}\n{patch.diff}"
