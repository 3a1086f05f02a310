"""The operations over patches."""

from __future__ import annotations

from typing import Any, Final

from lamina.continuity.declaring import writes
from lamina.coordination.patches import requests
from lamina.coordination.patches.proposing import Patches
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayRight
from lamina.store.ports.documents import Documents

__all__ = ["patch_operations"]

_WRITTEN: Final = (
    "INVALID_COORDINATION", "INVALID_FILE_PATH", "NAMESPACE_DENIED", "PATH_COLLISION", "DOCUMENT_CHANGED",
    "REPOSITORY_UNAVAILABLE", "SECRET_FILE",
)  # fmt: skip


def patch_operations(documents: Documents, ids: IdSource) -> list[Operation[Any]]:
    """Propose patches of documents and of code, and apply them; which files these are, the handlers ask."""
    patches, right = Patches(documents, ids), RelayRight.WRITE_PROJECTS
    proposed = (*_WRITTEN, "PATCH_EXISTS")
    return [
        writes(right, "docs_patch_propose", requests.ProposePatch, requests.PatchProposed,
               patches.proposing("doc_patch"), "Propose a change of a document.", fails=proposed),
        writes(right, "code_patch_propose", requests.ProposePatch, requests.PatchProposed,
               patches.proposing("code_patch"), "Propose a change of a file of code.", fails=proposed),
        writes(right, "patch_apply", requests.ApplyPatch, requests.PatchApplied, patches.apply,
               "Apply a proposed patch to its file.",
               fails=(*_WRITTEN, "PATCH_NOT_FOUND", "PATCH_NOT_PROPOSED", "PATCH_BASE_CHANGED", "PATCH_MISSES",
                      "FILE_TOO_LARGE", "STORED_ARTIFACT_INVALID")),
    ]  # fmt: skip
