"""The Relay contract: verb and path to operation, as in seeds 000, 001 and 004."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from lamina.http.errors import detail_response
from lamina.http.relay_continuity import CONTINUITY_JOBS, continuity_rows
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["relay_routes"]

_relay = partial(Route, errors=detail_response)
"""A row that shows errors as Relay's clients read them."""


def relay_routes(operations: Sequence[Operation[Any]]) -> list[Route]:
    """Every row whose operation is among those given; an operation without a row is a job, or a bug."""
    by_name = {operation.name: operation for operation in operations}
    rows = _health_rows(by_name) + continuity_rows(by_name)
    left = set(by_name) - {row.operation.name for row in rows} - CONTINUITY_JOBS
    assert not left, f"operations without a row: {sorted(left)}"
    return rows


def _health_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [_relay("GET", "/health", by_name["relay_health"])]
