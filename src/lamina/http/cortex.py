"""The Cortex contract: verb and path to operation, as in seed 002, section 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina import limits
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["cortex_routes"]


def cortex_routes(operations: Sequence[Operation[Any]]) -> list[Route]:
    """Every row whose operation is among those given; an operation without a row is a bug."""
    by_name = {operation.name: operation for operation in operations}
    rows = [
        Route("POST", "/v1/experience", by_name["experience"], "envelope", "INVALID_ENVELOPE"),
        Route(
            "POST",
            "/v1/experience/bulk",
            by_name["experience_bulk"],
            invalid_code="INVALID_ENVELOPE",
            body_bytes_max=limits.BULK_BODY_BYTES_MAX,
        ),
        Route("GET", "/v1/experience/by-idempotency-key/{key}", by_name["experience_by_key"]),
    ]
    left = set(by_name) - {row.operation.name for row in rows}
    assert not left, f"operations without a row: {sorted(left)}"
    return rows
