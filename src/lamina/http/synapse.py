"""The Synapse contract: verb and path to operation, as in seed 003. Errors are in the style that its clients read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.http.errors import detail_response
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["synapse_routes"]


def synapse_routes(operations: Sequence[Operation[Any]]) -> list[Route]:
    """Every row whose operation is among those given; an operation without a row is a bug."""
    by_name = {operation.name: operation for operation in operations}
    rows = [
        _row("POST", "/brief", by_name["session_brief"]),
        _row("POST", "/ingest", by_name["session_ingest_turn"]),
    ]
    left = set(by_name) - {row.operation.name for row in rows}
    assert not left, f"operations without a row: {sorted(left)}"
    return rows


def _row(verb: str, path: str, operation: Operation[Any], **more: Any) -> Route:
    return Route(verb, path, operation, errors=detail_response, **more)
