"""The rows of the Relay contract for reminders, ``/v1/schedule/items`` (seed 000, Schedule Reminders)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from lamina.coordination.refusals import refusal, refusal_status
from lamina.errors import LaminaError
from lamina.http.errors import ErrorStyle, Shown, detailed, shown_in_detail, status_of
from lamina.http.routes import Route
from lamina.kernel.operations import Operation

__all__ = ["schedule_response", "schedule_rows"]


class ScheduleRefusal(BaseModel):
    """What the schedule says of an error: its own code, and what the code is about."""

    code: str
    message: str
    field: str | None = None
    schedule_id: str = ""
    warnings: list[str] = []


class ScheduleErrorBody(BaseModel):
    """An error of the schedule."""

    detail: ScheduleRefusal
    error_code: str
    request_id: str
    hint: str = ""


def _refused(error: LaminaError, request_id: str, headers: Mapping[str, str]) -> Response:
    found = refusal(error)
    if found is None:
        return detailed(error, request_id, headers)
    return detailed(error, request_id, headers, detail=found.detail, status=found.status)


def _shown(code: str) -> Collection[Shown]:
    status = refusal_status(code, status_of(code))
    return shown_in_detail(code) if status is None else [Shown(status, ScheduleErrorBody)]


schedule_response: Final = ErrorStyle(_refused, _shown)
"""Errors with the schedule's ``detail`` object; in Relay style where they are not the schedule's."""


@dataclass(frozen=True)
class _ScheduleRoute(Route):
    """A row that takes the query parameters it knows and ignores others, and body fields that it knows only."""

    errors: ErrorStyle = schedule_response

    def _around(self, http: HttpRequest) -> dict[str, Any]:
        given: dict[str, Any] = dict(http.path_params)
        if not self.has_body:
            known = self.operation.request.model_fields.keys() - given.keys()
            given |= {name: value for name, value in http.query_params.items() if name in known}
        return given

    def _keyed(self, body: bytes, offered: str | None) -> tuple[bytes, str | None]:
        """A creation has a key in its body. Elsewhere such a field is unknown, and only the header counts."""
        if "idempotency_key" in self._body_model.model_fields:
            return super()._keyed(body, offered)
        return body, offered


def schedule_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """The six rows."""
    items, item = "/v1/schedule/items", "/v1/schedule/items/{schedule_id}"
    return [
        _ScheduleRoute("POST", items, by_name["schedule_create"]),
        _ScheduleRoute("GET", items, by_name["schedule_list"]),
        _ScheduleRoute("GET", item, by_name["schedule_get"]),
        _ScheduleRoute("PATCH", item, by_name["schedule_update"], "changes"),
        _ScheduleRoute("POST", f"{item}/acknowledge", by_name["schedule_acknowledge"], "acknowledgement"),
        _ScheduleRoute("POST", f"{item}/retire", by_name["schedule_retire"], "retirement"),
    ]
