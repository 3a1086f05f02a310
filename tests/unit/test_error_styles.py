"""Relay and Synapse show an error as their clients read it, with our code and hint beside."""

import json
from typing import Any

from pydantic import BaseModel, ValidationError

from lamina.errors import Busy, LaminaError, NotFound
from lamina.http.errors import detail_response, from_validation


class Turn(BaseModel):
    role: str
    text: str


def shown(error: LaminaError) -> tuple[int, dict[str, Any]]:
    response = detail_response(error, "req_1", {"X-A": "b"})
    assert response.headers["X-A"] == "b"
    return response.status_code, json.loads(bytes(response.body))


def test_a_message_stands_under_detail() -> None:
    status, body = shown(NotFound("NOT_FOUND", "no such capsule", hint="list them"))
    assert status == 404
    assert body == {
        "detail": "no such capsule", "error_code": "NOT_FOUND", "request_id": "req_1", "hint": "list them",
    }  # fmt: skip


def test_problems_of_the_request_type_are_a_list_without_the_input() -> None:
    try:
        Turn.model_validate({"role": 1})
    except ValidationError as error:
        status, body = shown(from_validation(error, "INVALID_REQUEST"))
    assert status == 422
    assert [(item["type"], item["loc"]) for item in body["detail"]] == [
        ("string_type", ["body", "role"]), ("missing", ["body", "text"]),
    ]  # fmt: skip


def test_a_wait_is_a_header_too() -> None:
    error = Busy("RATE_LIMITED", "slow down", details={"retry_after_s": 1.2})
    assert detail_response(error, "req_1", {}).headers["Retry-After"] == "2"
