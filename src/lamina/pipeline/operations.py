"""The write operations of the Cortex contract."""

from __future__ import annotations

from typing import Any, Final

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Grant, Operation, Tier
from lamina.pipeline.capture import Capturing, write_grants
from lamina.pipeline.correcting import Correcting, correction_grants
from lamina.types.writes import (
    BatchCaptured,
    BulkExperience,
    ByKey,
    CapturedOrWaited,
    CorrectFact,
    CorrectionCaptured,
    Experience,
    RetractFact,
    StoredByKey,
)

__all__ = ["capture_operations", "correction_operations"]

_VOCABULARY: Final = ("VALUE_NOT_IN_VOCABULARY", "WRONG_UNIT")


def capture_operations(capturing: Capturing) -> list[Operation[Any]]:
    """The operations that put experiences into the log."""
    return [
        Operation(
            name="experience",
            request=Experience,
            result=CapturedOrWaited,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            grants=lambda r, p: write_grants([r.envelope], r.envelope.scope, p),
            handler=capturing.experience,
            summary="Store one experience.",
            answers=(200, 202),
            fails=("NOT_FOUND", "RESOURCE_DELETED", *_VOCABULARY),
            keeps_keys=True,
            commits_with=202,
            posting=capturing.posting,
        ),
        Operation(
            name="experience_bulk",
            request=BulkExperience,
            result=BatchCaptured,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            grants=lambda r, p: write_grants(r.items, r.scope, p, r.observed_actor),
            handler=capturing.bulk,
            summary="Store up to a thousand experiences of one scope, all or none.",
            answers=(202,),
            fails=("NOT_FOUND", "RESOURCE_DELETED", *_VOCABULARY),
            keeps_keys=True,
            commits_with=202,
        ),
        Operation(
            name="experience_by_key",
            request=ByKey,
            result=StoredByKey,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.SCOPE_READ_LOCAL, None)],  # noqa: ARG005 - the event's scope is checked once it is known
            handler=capturing.by_key,
            summary="Find the event behind one of your idempotency keys.",
            fails=("NOT_FOUND",),
        ),
    ]


def correction_operations(correcting: Correcting) -> list[Operation[Any]]:
    """The operations that correct one fact."""
    return [
        Operation(
            name=name,
            request=request,
            result=CorrectionCaptured,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=correction_grants,
            handler=handler,
            summary=summary,
            answers=(200, 202),
            fails=("NOT_FOUND", "RESOURCE_DELETED", "FACT_ENDED", *_VOCABULARY),
            keeps_keys=True,
            commits_with=202,
        )
        for name, request, handler, summary in (
            (
                "fact_correct",
                CorrectFact,
                correcting.correct,
                "Put another value in the place of one fact's. It is not erasure.",
            ),
            (
                "fact_retract",
                RetractFact,
                correcting.retract,
                "Say that one fact holds no more. It is not erasure.",
            ),
        )
    ]
