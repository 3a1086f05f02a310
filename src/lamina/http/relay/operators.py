"""The rows of the Relay contract for operators (contract 1.15, 1.16): verb and path to operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.http.errors import detail_response
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["OPERATOR_JOBS", "operator_rows"]

OPERATOR_JOBS: Final = frozenset(
    {
        "security_rotation_check", "messages_sweep", "artifact_history_cold_store", "artifact_history_cold_rehydrate",
        "registry_history_cold_store", "registry_history_cold_rehydrate",
    }
)  # fmt: skip
"""Operations without a path of their own: operators run them by name."""

_ROWS: Final = (
    ("GET", "/v1/metrics", "tenant_metrics"),
    ("POST", "/v1/compact/run", "compact_run"),
    ("POST", "/v1/backup/create", "backup_create"),
    ("POST", "/v1/backup/restore-test", "backup_restore_test"),
    ("GET", "/v1/ops/catalog", "ops_catalog"),
    ("GET", "/v1/ops/status", "ops_status"),
    ("POST", "/v1/ops/run", "ops_run"),
    ("GET", "/v1/ops/schedule/export", "ops_schedule_export"),
)


def operator_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """A row for every path; errors have the ``detail`` bodies of the contract."""
    return [Route(verb, path, by_name[name], errors=detail_response) for verb, path, name in _ROWS]
