"""The rows of the Relay contract for operators (contract 1.15, 1.16): verb and path to operation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from pydantic import BaseModel
from starlette.responses import Response

from lamina.errors import LaminaError
from lamina.http.errors import (
    DetailBody,
    ErrorStyle,
    Shown,
    detail_response,
    detailed,
    shown_in_detail,
    status_of,
)
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["OPERATOR_JOBS", "operator_rows"]

OPERATOR_JOBS: Final = frozenset(
    {
        "security_rotation_check", "messages_sweep", "artifact_history_cold_store", "artifact_history_cold_rehydrate",
        "registry_history_cold_store", "registry_history_cold_rehydrate", "artifact_history_maintenance", "segment_history_maintenance",
        "segment_history_cold_store", "segment_history_cold_rehydrate",
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


class SegmentRefusal(BaseModel):
    """Why a job over segments did nothing: the contract's own code, in words, and the stub that it is about."""

    code: str
    message: str
    path: str | None = None


class JobErrorBody(DetailBody):
    """An error of a job: that of a job over segments is an object."""

    detail: str | SegmentRefusal  # type: ignore[assignment]


def _refused(error: LaminaError, request_id: str, headers: Mapping[str, str]) -> Response:
    code = error.details.get("code")
    if code is None:
        return detailed(error, request_id, headers)
    shown = SegmentRefusal(code=code, message=error.message, path=error.details.get("path"))
    return detailed(error, request_id, headers, detail=shown.model_dump(exclude_none=True))


def _shown(code: str) -> Collection[Shown]:
    if code not in ("HISTORY_CONFLICT", "INVALID_HISTORY"):
        return shown_in_detail(code)
    return [Shown(status_of(code), JobErrorBody)]


_JOB_RESPONSE: Final = ErrorStyle(_refused, _shown)
"""Errors of jobs over segments have the contract's ``detail`` object; the others are in Relay style."""


def operator_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """A row for every path; errors have the ``detail`` bodies of the contract."""
    styles = {"ops_run": _JOB_RESPONSE}
    return [
        Route(verb, path, by_name[name], errors=styles.get(name, detail_response))
        for verb, path, name in _ROWS
    ]
