"""The recall operation."""

from __future__ import annotations

from typing import Any

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Operation, Tier
from lamina.recall.recalling import Recalling
from lamina.types.recall import Pack, Recall

__all__ = ["recall_operations"]


def recall_operations(recalling: Recalling) -> list[Operation[Any]]:
    """Recall, as a pack or as a stream."""
    return [
        Operation(
            name="recall",
            request=Recall,
            result=Pack,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda request, _: recalling.grants(request),
            experimental_part=lambda request: "view=narrative" if request.view == "narrative" else None,
            handler=recalling.recall,
            summary="Ask memory: the few right records, with the reason for each.",
            fails=("EXPERIMENTAL_DISABLED", "IDEMPOTENCY_CONFLICT"),
            streams="asked",
        )
    ]
