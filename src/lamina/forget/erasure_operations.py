"""The operations of ``/v1/erasures`` (seed 002, 8.6)."""

from __future__ import annotations

from typing import Any

from lamina.forget.executing import Executing
from lamina.forget.previewing import Previewing, erasure_grants
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Grant, Operation, Tier
from lamina.types import erasures as shapes

__all__ = ["erasure_operations"]


def erasure_operations(previewing: Previewing, executing: Executing) -> list[Operation[Any]]:
    """What plans, begins, shows and cancels erasures."""
    return [
        Operation(
            name="erasure_preview",
            request=shapes.PreviewErasure,
            result=shapes.ErasurePreview,
            capability=Capability.FORGET_GDPR,
            # It keeps the plan that it shows, and is charged as what it is about.
            effect=Effect.WRITE,
            tier=Tier.EXPERIMENTAL,
            grants=lambda r, p: erasure_grants(r.scope),  # noqa: ARG005 - the port's shape
            handler=previewing.preview,
            summary="What erasing a scope would do. Nothing is erased.",
        ),
        Operation(
            name="erasure_start",
            request=shapes.StartErasure,
            result=shapes.ErasureStarted,
            capability=Capability.FORGET_GDPR,
            effect=Effect.ERASE,
            tier=Tier.EXPERIMENTAL,
            grants=lambda r, p: erasure_grants(r.scope),  # noqa: ARG005 - as above
            handler=executing.start,
            summary="Erase a scope, and what its person said elsewhere. It cannot be undone.",
            commits_with=202,
            answers=(202,),
            fails=("NOT_FOUND", "ERASURE_DRIFTED", "ERASURE_RUNNING", "PREVIEW_EXPIRED"),
        ),
        _reading("erasures", shapes.ErasureList, shapes.ErasurePage, executing.listed, "List erasures."),
        _reading("erasure", shapes.ErasureId, shapes.ErasureState, executing.state, "How far an erasure is.", "NOT_FOUND"),
        _reading("erasure_preview_manifest", shapes.ErasurePreviewId, shapes.ErasureManifest,
                 previewing.manifest_of_preview, "What an erasure would do, line by line.", "NOT_FOUND", "PREVIEW_EXPIRED"),
        _reading("erasure_manifest", shapes.ErasureManifestId, shapes.ErasureManifest,
                 previewing.manifest_of_erasure, "What an erasure does, line by line.", "NOT_FOUND"),
        Operation(
            name="erasure_cancel",
            request=shapes.CancelErasure,
            result=shapes.ErasureCancelled,
            capability=Capability.FORGET_GDPR,
            effect=Effect.WRITE,
            tier=Tier.EXPERIMENTAL,
            grants=_of_any_scope,
            handler=executing.cancel,
            summary="Have an erasure stop at its next phase. What was deleted stays deleted.",
            fails=("NOT_FOUND",),
        ),
    ]  # fmt: skip


def _of_any_scope(request: object, principal: object) -> list[Grant]:  # noqa: ARG001 - the port's shape
    """The scope is asked once it is known."""
    return [Grant(Capability.FORGET_GDPR)]


def _reading(
    name: str, request: Any, result: Any, handler: Any, summary: str, *fails: str
) -> Operation[Any]:  # Any: shapes of several operations
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.FORGET_GDPR,
        effect=Effect.READ,
        tier=Tier.EXPERIMENTAL,
        grants=_of_any_scope,
        handler=handler,
        summary=summary,
        fails=fails,
    )
