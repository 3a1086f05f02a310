"""``GET /v1/admin/metrics`` (seed 002, 8.15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier
from lamina.kernel.time import Instant
from lamina.kernel.wire import Request, Result

__all__ = ["METRICS_TYPE", "metrics_operations"]

METRICS_TYPE: Final = "text/plain; version=1.0.0; charset=utf-8"
"""The media type of the page: Prometheus' text format."""


class ReadMetrics(Request):
    """Nothing to ask."""


class MetricsPage(Result):
    """The page, in Prometheus' text format: what is measured of the store, and what all serving processes counted together."""

    text: str


def metrics_operations(page: Callable[[Instant], str]) -> list[Operation[Any]]:
    """The one operation; ``page`` is the text as of an instant."""

    def read(request: ReadMetrics, call: Call) -> Answer:  # noqa: ARG001 - the port's shape
        return Answer(MetricsPage(text=page(call.now)))

    return [
        Operation(
            name="metrics",
            request=ReadMetrics,
            result=MetricsPage,
            capability=Capability.ADMIN_HEALTH,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=lambda r, p: [Grant(Capability.ADMIN_HEALTH)],  # noqa: ARG005 - the port's shape
            handler=read,
            summary="How the server is and what its calls came to, for Prometheus.",
        )
    ]
