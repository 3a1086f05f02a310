"""The continuity rows of the Relay contract (seed 000): verb and path to operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.http.errors import detail_response
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["CONTINUITY_JOBS", "continuity_rows"]

CONTINUITY_JOBS: Final = frozenset(
    {"continuity_cold_store", "continuity_cold_rehydrate", "continuity_retention_apply"}
)
"""Operations without a path of their own: operators run them by name."""

_PATHS: Final = (
    "upsert",
    "patch",
    "lifecycle",
    "read",
    "compare",
    "history",
    "diff",
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
