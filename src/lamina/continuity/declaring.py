"""How the operations of this slice are declared: each by the right of Relay that it takes, whatever it is asked for.

Which documents a caller may touch is asked by the handlers, for each path (``permission.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.relay import RelayNeed, RelayRight

__all__ = ["reads", "writes"]

_Handler = Callable[[Any, Call], Answer]  # Any: requests of several types


def reads(
    right: RelayRight,
    name: str,
    request: type[BaseModel],
    result: type[BaseModel],
    handler: _Handler,
    summary: str,
    *,
    fails: tuple[str, ...] = (),
) -> Operation[Any]:
    """An operation that changes nothing."""
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_READ_LOCAL,
        effect=Effect.READ,
        tier=Tier.STABLE,
        handler=handler,
        summary=summary,
        relay=(RelayNeed(right),),
        fails=fails,
    )


def writes(
    right: RelayRight | None,
    name: str,
    request: type[BaseModel],
    result: type[BaseModel],
    handler: _Handler,
    summary: str,
    *,
    also: RelayRight | None = None,
    bucket: str | None = None,
    fails: tuple[str, ...] = (),
) -> Operation[Any]:
    """An operation that changes documents; ``also`` where its answer shows others than it wrote."""
    more = () if also is None else (RelayNeed(also),)
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_WRITE,
        effect=Effect.WRITE,
        tier=Tier.STABLE,
        handler=handler,
        summary=summary,
        relay=(*more, RelayNeed(right, "write" if right is None else None)),
        bucket=bucket,
        fails=fails,
    )
