"""How the operations of this slice are declared: a read asks to read the scope of Relay, a write to write it.

Which documents of it a caller may touch is asked beside, for each path (``permission.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel

from lamina.continuity.landing import RELAY
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier

__all__ = ["reads", "writes"]

_READ: Final = Grant(Capability.SCOPE_READ_LOCAL, RELAY)
_WRITE: Final = Grant(Capability.SCOPE_WRITE, RELAY)

_Handler = Callable[[Any, Call], Answer]  # Any: requests of several types


def reads(
    name: str, request: type[BaseModel], result: type[BaseModel], handler: _Handler, summary: str
) -> Operation[Any]:
    """An operation that changes nothing."""
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_READ_LOCAL,
        effect=Effect.READ,
        tier=Tier.STABLE,
        grants=lambda request, principal: (_READ,),  # noqa: ARG005 - the same for every request
        handler=handler,
        summary=summary,
    )


def writes(
    name: str,
    request: type[BaseModel],
    result: type[BaseModel],
    handler: _Handler,
    summary: str,
    *,
    reading_too: bool = False,
) -> Operation[Any]:
    """An operation that changes documents; ``reading_too`` where its answer shows others than it wrote."""
    grants = (_READ, _WRITE) if reading_too else (_WRITE,)
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_WRITE,
        effect=Effect.WRITE,
        tier=Tier.STABLE,
        grants=lambda request, principal: grants,  # noqa: ARG005 - the same for every request
        handler=handler,
        summary=summary,
    )
