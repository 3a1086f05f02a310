"""What the server says about itself (seed 002, 8.15)."""

from __future__ import annotations

import platform
from typing import Any

from lamina import __version__
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.wire import Request
from lamina.types.health import Version

__all__ = ["observe_operations"]


class VersionRequest(Request):
    """Nothing to ask."""


def observe_operations() -> list[Operation[Any]]:
    """The operations that need no store."""
    return [
        Operation(
            name="version",
            request=VersionRequest,
            result=Version,
            capability="",
            effect=Effect.READ,
            tier=Tier.STABLE,
            handler=_version,
            summary="Which build of the server answers; needs no token.",
            open=True,
        )
    ]


def _version(request: VersionRequest, call: Call) -> Answer:  # noqa: ARG001 - the port's shape
    return Answer(
        Version(name="lamina", version=__version__, api_version="v1", python=platform.python_version())
    )
