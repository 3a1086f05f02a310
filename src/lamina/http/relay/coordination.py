"""The rows of the Relay contract for what agents hand over, share, dispute and give each other to do: verb and path to operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request as HttpRequest

from lamina.http.errors import ErrorStyle, detail_response
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["coordination_rows"]

_HANDOFF: Final = "/v1/coordination/handoff"
_SHARED: Final = "/v1/coordination/shared"
_DISPUTE: Final = "/v1/coordination/reconciliation"
_ROWS: Final = (
    ("POST", f"{_HANDOFF}/create", "handoff_create"),
    ("GET", f"{_HANDOFF}/{{handoff_id}}", "handoff_read"),
    ("GET", "/v1/coordination/handoffs/query", "handoff_query"),
    ("POST", f"{_HANDOFF}/{{handoff_id}}/consume", "handoff_consume"),
    ("POST", f"{_SHARED}/create", "coordination_shared_create"),
    ("GET", f"{_SHARED}/query", "coordination_shared_query"),
    ("GET", f"{_SHARED}/{{shared_id}}", "coordination_shared_read"),
    ("POST", f"{_SHARED}/{{shared_id}}/update", "coordination_shared_update"),
    ("POST", f"{_DISPUTE}/open", "coordination_reconciliation_open"),
    ("GET", f"{_DISPUTE}/{{reconciliation_id}}", "coordination_reconciliation_read"),
    ("GET", "/v1/coordination/reconciliations/query", "coordination_reconciliation_query"),
    ("POST", f"{_DISPUTE}/{{reconciliation_id}}/resolve", "coordination_reconciliation_resolve"),
    ("POST", "/v1/tasks", "tasks_create"),
    ("GET", "/v1/tasks/query", "tasks_query"),
    ("PATCH", "/v1/tasks/{task_id}", "tasks_update"),
    ("POST", "/v1/docs/patch/propose", "docs_patch_propose"),
    ("POST", "/v1/docs/patch/apply", "patch_apply"),
    ("POST", "/v1/code/patch/propose", "code_patch_propose"),
)


@dataclass(frozen=True)
class _ArtifactRoute(Route):
    """A row whose body is its own: what the URL carries beside the path belongs to reads alone."""

    errors: ErrorStyle = detail_response

    def _around(self, http: HttpRequest) -> dict[str, Any]:
        return dict(http.path_params) if self.has_body else super()._around(http)


def coordination_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """A row for every path; errors have the ``detail`` bodies of the contract."""
    return [_ArtifactRoute(verb, path, by_name[name]) for verb, path, name in _ROWS]
