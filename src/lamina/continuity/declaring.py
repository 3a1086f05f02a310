"""How the operations of Relay are declared: each by the right that it takes, whatever it is asked for.

One that always touches the same place names that with its need. Which documents a caller may touch beyond is asked by
the handlers, for each path (``permission.py``).
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
    need: RelayRight | RelayNeed,
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
        relay=(need if isinstance(need, RelayNeed) else RelayNeed(need),),
        fails=fails,
    )


def writes(
    need: RelayRight | RelayNeed | None,
    name: str,
    request: type[BaseModel],
    result: type[BaseModel],
    handler: _Handler,
    summary: str,
    *,
    also: RelayRight | None = None,
    bucket: str | None = None,
    keeps_keys: bool = False,
    fails: tuple[str, ...] = (),
) -> Operation[Any]:
    """An operation that changes something; ``also`` where its answer shows others than it wrote."""
    more = () if also is None else (RelayNeed(also),)
    if not isinstance(need, RelayNeed):
        need = RelayNeed(need, "write" if need is None else None)
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_WRITE,
        effect=Effect.WRITE,
        tier=Tier.STABLE,
        handler=handler,
        summary=summary,
        relay=(*more, need),
        bucket=bucket,
        keeps_keys=keeps_keys,
        fails=fails,
    )
