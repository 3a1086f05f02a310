"""Request and result types of patches (contracts 1.10)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from lamina import limits
from lamina.kernel.wire import Request, Result, Text

__all__ = ["ApplyPatch", "PatchApplied", "PatchProposal", "PatchProposed", "ProposePatch"]

_Id = Annotated[Text, Field(min_length=1, max_length=limits.TASK_ID_LENGTH_MAX)]


class ProposePatch(Request):
    """Propose a change of one file: a unified diff against the file as it stood at ``base_ref``, a commit or ``HEAD``."""

    model_config = ConfigDict(extra="ignore")

    patch_id: _Id | None = None
    target_path: Annotated[Text, Field(min_length=1, max_length=limits.DOCUMENT_PATH_BYTES_MAX)]
    base_ref: Annotated[Text, Field(min_length=1, max_length=limits.PATCH_REF_LENGTH_MAX)] = "HEAD"
    format: Literal["unified_diff"] = "unified_diff"
    diff: Annotated[Text, Field(max_length=limits.PATCH_DIFF_LENGTH_MAX)]
    reason: Annotated[Text, Field(max_length=limits.PATCH_REASON_LENGTH_MAX)] | None = None
    thread_id: Annotated[Text, Field(max_length=limits.COORDINATION_LINK_LENGTH_MAX)] | None = None


class ApplyPatch(Request):
    """Apply a proposed patch to its file."""

    model_config = ConfigDict(extra="ignore")

    patch_id: _Id
    commit_message: Text | None = None


class PatchProposal(Result):
    """A patch as its file has it; what another server wrote beside these keys stays."""

    model_config = ConfigDict(extra="allow")

    schema_version: str = "1.0"
    patch_id: str
    patch_type: Literal["doc_patch", "code_patch"]
    status: str = "proposed"
    target_path: str
    base_ref: str
    base_ref_resolved: str
    format: str = "unified_diff"
    diff: str
    reason: str | None = None
    thread_id: str | None = None
    created_at: str | None = None
    created_by: str | None = None
    updated_at: str | None = None


class PatchProposed(Result):
    """The patch as it was put down, and the event that tells of it."""

    ok: Literal[True] = True
    patch: PatchProposal
    path: str
    committed: Literal[True] = True
    latest_commit: str | None
    event_id: str | None = None


class PatchApplied(Result):
    """What was changed: ``applied_commit`` changed the file, ``latest_commit`` put the applied patch away."""

    ok: Literal[True] = True
    patch_id: str
    target_path: str
    committed_files: tuple[str, ...]
    applied_commit: str
    latest_commit: str | None
    event_id: str | None = None
