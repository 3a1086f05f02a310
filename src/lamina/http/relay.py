"""The Relay contract: verb and path to operation, as in seeds 000, 001 and 004."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.http.errors import detail_response
from lamina.http.relay_bridge import bridge_rows
from lamina.http.relay_continuity import continuity_rows
from lamina.http.relay_schedule import schedule_rows
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["relay_routes"]


def relay_routes(operations: Sequence[Operation[Any]]) -> list[Route]:
    """The rows of the Relay door, whose operations are all among those given."""
    by_name = {operation.name: operation for operation in operations}
    health = Route("GET", "/health", by_name["relay_health"], errors=detail_response)
    return [health, *continuity_rows(by_name), *schedule_rows(by_name), *bridge_rows(by_name)]
