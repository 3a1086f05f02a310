"""The continuity rows of the Relay contract (seed 000): verb and path to operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.http.errors import detail_response
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["continuity_rows"]

_PATHS: Final = (
    "upsert",
    "patch",
    "lifecycle",
    "read",
    "compare",
    "revalidate",
    "list",
    "archive",
    "delete",
    "refresh/plan",
    "retention/plan",
)


def continuity_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """A row for every path; errors have the ``detail`` bodies of the contract."""
    return [
        Route(
            "POST",
            f"/v1/continuity/{path}",
            by_name[f"continuity_{path.replace('/', '_')}"],
            errors=detail_response,
        )
        for path in _PATHS
    ]
