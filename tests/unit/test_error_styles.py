"""Relay and Synapse show an error as their clients read it, with our code and hint beside."""

import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from capsules import body, upsert
from lamina.errors import Busy, LaminaError, NotFound
from lamina.http.errors import detail_response, envelope, from_validation


class Turn(BaseModel):
    role: str
    text: str


def shown(error: LaminaError) -> tuple[int, dict[str, Any]]:
    response = detail_response(error, "req_1", {"X-A": "b"})
    assert response.headers["X-A"] == "b"
    return response.status_code, json.loads(bytes(response.body))


def test_a_message_stands_under_detail() -> None:
    status, answer = shown(NotFound("NOT_FOUND", "no such capsule", hint="list them"))
    assert status == 404
    assert answer == {
        "detail": "no such capsule", "error_code": "NOT_FOUND", "request_id": "req_1", "hint": "list them",
    }  # fmt: skip


def test_problems_of_the_request_type_are_a_list_without_the_input() -> None:
    try:
        Turn.model_validate({"role": 1})
    except ValidationError as error:
        status, answer = shown(from_validation(error, "INVALID_REQUEST"))
    assert status == 422
    assert [(item["type"], item["loc"]) for item in answer["detail"]] == [
        ("string_type", ["body", "role"]), ("missing", ["body", "text"]),
    ]  # fmt: skip


def test_a_problem_has_pydantics_place_and_bound() -> None:
    capsule = body(continuity={"top_priorities": ["a", 5], "stance_summary": "s" * 241})
    capsule["continuity"]["open_loops"] = ["x"] * 9
    capsule["source"] = "me"
    capsule["confidence"]["continuity"] = 2
    with pytest.raises(ValidationError) as caught:
        upsert(capsule)
    _, answer = shown(from_validation(caught.value, "INVALID_REQUEST"))
    by_place = {tuple(item.pop("loc")): item for item in answer["detail"]}
    at = ("body", "capsule", "continuity")
    assert by_place[*at, "top_priorities", 1]["type"] == "string_type"
    assert by_place[*at, "stance_summary"] == {
        "type": "string_too_long", "msg": "String should have at most 240 characters", "ctx": {"max_length": 240},
    }  # fmt: skip
    assert by_place[*at, "open_loops"]["ctx"] == {"field_type": "List", "max_length": 8, "actual_length": 9}
    assert by_place["body", "capsule", "confidence", "continuity"]["ctx"] == {"le": 1.0}
    assert by_place["body", "capsule", "source"]["type"] == "model_attributes_type"


@pytest.mark.parametrize(
    ("sent", "loc"), [(b'{"role":}', ["body", 8]), (b"5", ["body"]), (b"{\n\n]", ["body"])]
)
def test_a_problem_of_the_whole_body_names_it_once(sent: bytes, loc: list[Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        Turn.model_validate_json(sent)
    _, answer = shown(from_validation(caught.value, "INVALID_REQUEST"))
    assert answer["detail"][0]["loc"] == loc


def test_nothing_that_was_sent_comes_back() -> None:
    secret = "the words of a memory"
    with pytest.raises(ValidationError) as caught:
        upsert(body(kind=secret, updated_at=[secret], continuity={"open_loops": secret}))
    error = from_validation(caught.value, "INVALID_REQUEST")
    assert secret not in json.dumps([shown(error), envelope(error, "req_1")])
    problem = envelope(error, "req_1")["details"]["problems"][0]
    assert set(problem) == {"field", "reason", "type"}


def test_a_wait_is_a_header_too() -> None:
    error = Busy("RATE_LIMITED", "slow down", details={"retry_after_s": 1.2})
    assert detail_response(error, "req_1", {}).headers["Retry-After"] == "2"
