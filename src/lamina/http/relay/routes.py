"""The Relay contract: verb and path to operation, as in seeds 000, 001 and 004."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lamina.http.errors import detail_response
from lamina.http.relay.bridge import bridge_rows
from lamina.http.relay.context import context_rows
from lamina.http.relay.continuity import CONTINUITY_JOBS, continuity_rows
from lamina.http.relay.coordination import coordination_rows
from lamina.http.relay.messages import message_rows
from lamina.http.relay.peers import peer_rows
from lamina.http.relay.schedule import schedule_rows
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["relay_routes"]


def relay_routes(operations: Sequence[Operation[Any]]) -> list[Route]:
    """Every row whose operation is among those given; an operation without a row is a job, or a bug."""
    by_name = {operation.name: operation for operation in operations}
    health = Route("GET", "/health", by_name["relay_health"], errors=detail_response)
    rows = [
        health,
        *continuity_rows(by_name),
        *context_rows(by_name),
        *schedule_rows(by_name),
        *coordination_rows(by_name),
        *peer_rows(by_name),
        *message_rows(by_name),
        *bridge_rows(by_name),
    ]
    left = set(by_name) - {row.operation.name for row in rows} - CONTINUITY_JOBS
    assert not left, f"operations without a row: {sorted(left)}"
    return [replace(row, contract="Relay") for row in rows]
