"""Errors at a terminal: in the words of options and commands, whoever raised them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, Field, ValidationError
from typer.main import get_command
from typer.testing import CliRunner

from lamina.catalogue import CATALOGUE
from lamina.cli.advice import OPTIONS, PHRASES, at_the_terminal
from lamina.cli.main import app
from lamina.errors import Forbidden, Invalid, LaminaError, Unauthenticated
from lamina.http.errors import from_validation

SOURCE = Path(__file__).parents[2] / "src" / "lamina"


class Budgets(BaseModel):
    max_tokens: int = Field(ge=1, le=16000)


class Request(BaseModel):
    query: Annotated[str, AfterValidator(str.strip), Field(min_length=1, max_length=9)] = "one"
    reason: Annotated[str, AfterValidator(str.strip), Field(min_length=3)] = "one"
    budgets: Budgets = Budgets(max_tokens=1)
    operations: list[str] = Field(default=["one"], min_length=1)
    limit: int = Field(default=1, le=200)


def refused(**given: object) -> LaminaError:
    with pytest.raises(ValidationError) as found:
        Request.model_validate(given)
    return from_validation(found.value, "INVALID_REQUEST")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budgets": {"max_tokens": 0}}, "INVALID_REQUEST: --max-tokens should be 1 or more"),
        ({"limit": 900}, "INVALID_REQUEST: --limit should be 200 or less"),
        ({"operations": []}, "INVALID_REQUEST: --append or --remove should not be empty"),
        ({"query": " "}, "INVALID_REQUEST: the question should not be empty"),
        ({"query": "x" * 10}, "INVALID_REQUEST: the question should have a length of at most 9"),
        ({"reason": " x "}, "INVALID_REQUEST: --reason should have a length of at least 3"),
        (
            {"operations": [], "limit": 900},
            "INVALID_REQUEST: --append or --remove should not be empty; and also --limit",
        ),
    ],
)
def test_a_field_is_said_by_the_name_of_its_option(given: dict[str, object], said: str) -> None:
    assert at_the_terminal(refused(**given)) == said


@pytest.mark.parametrize(
    "command", [("retract", "fact_1", "--until"), ("correct", "fact_1", "Porto", "--since")]
)
def test_a_time_is_refused_by_the_name_of_the_option_that_held_it(command: tuple[str, ...]) -> None:
    ended = CliRunner().invoke(app, [*command, "never"])
    assert ended.exit_code == 2
    assert f"{command[-1]} is not a timestamp" in ended.stderr


def test_a_length_is_not_counted_in_items() -> None:
    assert refused(query="x" * 10).message == "query: Value should have a length of at most 9, not 10"


def test_a_field_that_the_message_leaves_out_is_named() -> None:
    error = Invalid(
        "INVALID_RANGE", "the end is before the beginning", details={"field": "temporal.valid_during"}
    )
    assert at_the_terminal(error) == "INVALID_RANGE: --valid-during: the end is before the beginning"


def test_a_field_of_a_file_keeps_its_name() -> None:
    error = Invalid(
        "INVALID_REQUEST", "capsule.updated_at: Field required", details={"field": "capsule.updated_at"}
    )
    assert at_the_terminal(error) == "INVALID_REQUEST: capsule.updated_at is required"


def test_a_token_and_an_actor_are_said_as_one_names_them_here() -> None:
    missing = Unauthenticated(
        "MISSING_TOKEN", "there is no Authorization header", hint="send Authorization: Bearer <token>"
    )
    assert at_the_terminal(missing) == "MISSING_TOKEN: the server wants a token (set LAMINA_TOKEN)"
    silent = Unauthenticated("ACTOR_MISMATCH", "X-Cortex-Actor is missing")
    assert at_the_terminal(silent) == "ACTOR_MISMATCH: --actor is missing"


def test_an_error_without_a_hint_has_that_of_its_code() -> None:
    said = at_the_terminal(Invalid("CANNOT_LISTEN", "127.0.0.1:8700 cannot be used"))
    assert said == f"CANNOT_LISTEN: 127.0.0.1:8700 cannot be used ({CATALOGUE['CANNOT_LISTEN'].hint})"


def test_the_request_stands_at_the_end() -> None:
    error = Forbidden("POLICY_DENIED", "memory.recall is denied by the scope tier", hint="x")
    error.request_id = "req_1"
    assert at_the_terminal(error) == "POLICY_DENIED: memory.recall is denied by the scope tier (x) [req_1]"


def test_every_phrase_is_said_somewhere() -> None:
    texts = [path.read_text() for path in SOURCE.rglob("*.py") if path.name != "advice.py"]
    assert [phrase for phrase in PHRASES if not any(phrase in text for text in texts)] == []


def test_every_option_is_one_of_a_command() -> None:
    known = set(_options(get_command(app)))
    named = {word for option in OPTIONS.values() for word in option.split() if word.startswith("--")}
    assert named <= known


def _options(command: object) -> list[str]:
    found = [each for parameter in getattr(command, "params", []) for each in parameter.opts]
    for inner in getattr(command, "commands", {}).values():
        found += _options(inner)
    return found
