"""How errors look on the wire: a door shows each in the style of its contract.

Cortex has the envelope of seed 002, 6.6; Relay and Synapse have the ``detail`` bodies that their clients read
(FastAPI's), with our code and hint beside them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json
from starlette.responses import Response

from lamina import errors, limits
from lamina.catalogue import CATALOGUE
from lamina.errors import Invalid, LaminaError, Malformed, Unauthenticated, outcome_of

__all__ = [
    "DOCUMENTATION",
    "TOO_MANY",
    "DetailBody",
    "ErrorEnvelope",
    "ErrorStyle",
    "HelpErrorBody",
    "Problem",
    "Shown",
    "detail_response",
    "detailed",
    "envelope",
    "error_response",
    "from_problems",
    "from_validation",
    "help_response",
    "problems_of",
    "shown_in_detail",
    "status_of",
]


class ErrorEnvelope(BaseModel):
    """An error, as every answer of the contract shows it."""

    error_code: str
    message: str
    request_id: str
    details: dict[str, Any] = {}
    retriable: bool
    documentation: str | None = None


class ProblemShown(BaseModel):
    """One thing that is wrong with a request, as FastAPI words it."""

    type: str
    loc: list[str | int]
    msg: str
    ctx: dict[str, str | int | float | bool] | None = None


class DetailBody(BaseModel):
    """An error of Relay and Synapse: its message, or the problems of a request that is not of its type."""

    detail: str | list[ProblemShown]
    error_code: str
    request_id: str
    hint: str = ""
    capsule_sha256: str | None = None
    reason: str | None = None


class HelpHint(BaseModel):
    """What would have been accepted in place of a value."""

    model_config = ConfigDict(extra="forbid")

    field: str
    area: str
    reason: str
    limit: None
    allowed_values: list[str]
    correction_hint: str | None


class HelpError(BaseModel):
    """What is wrong with a value that is not among those of a closed list."""

    code: Literal["validation"]
    detail: str
    validation_hints: list[HelpHint]


class HelpErrorBody(BaseModel):
    """An error of the Relay help."""

    error: HelpError


@dataclass(frozen=True, slots=True)
class Shown:
    """How a code can look: its status, and the shape of the body."""

    status: int
    body: type[BaseModel]


@dataclass(frozen=True, slots=True)
class ErrorStyle:
    """How a contract shows errors.

    ``respond`` makes the response of an error, given the request's id and the headers that the answer would have
    carried. ``describe`` says how the response of a code can look, for the document.
    """

    respond: Callable[[LaminaError, str, Mapping[str, str]], Response]
    describe: Callable[[str], Collection[Shown]]

    def __call__(self, error: LaminaError, request_id: str, headers: Mapping[str, str]) -> Response:
        """The response of an error."""
        return self.respond(error, request_id, headers)


DOCUMENTATION = "https://lamina.dev/docs/reference/errors/"

_BY_TYPE_IN_BODY = {"json_invalid": "INVALID_BODY", "missing": "MISSING_REQUIRED_FIELD"}


def envelope(error: LaminaError, request_id: str) -> dict[str, Any]:
    """The error as the contract shows it; a hint, its own or that of its code, travels inside ``details``."""
    details = dict(error.details)
    if "problems" in details:
        own = ("field", "reason", "type")
        details["problems"] = [{name: item[name] for name in own} for item in details["problems"]]
    known = CATALOGUE.get(error.code)
    hint = error.hint or (known.hint if known else None)
    if hint:
        details["hint"] = hint
    return {
        "error_code": error.code,
        "message": error.message,
        "request_id": request_id,
        "details": details,
        "retriable": error.retriable,
        "documentation": f"{DOCUMENTATION}{error.code}",
    }


def status_of(code: str) -> int:
    """The HTTP status that a code has unless its contract says otherwise."""
    entry = CATALOGUE[code]
    return entry.status or errors.STATUS[getattr(errors, entry.kind)].status


def _enveloped(error: LaminaError, request_id: str, headers: Mapping[str, str]) -> Response:
    return _response(error, outcome_of(error).status, envelope(error, request_id), headers)


error_response: Final = ErrorStyle(_enveloped, lambda code: [Shown(status_of(code), ErrorEnvelope)])
"""Cortex style."""


_SHOWN_BESIDE: Final = {"CAPSULE_CHANGED": "capsule_sha256", "ENVELOPE_REFUSED": "reason"}
"""What of the details of an error a client acts on, beside the detail."""


def detailed(
    error: LaminaError,
    request_id: str,
    headers: Mapping[str, str],
    *,
    detail: Mapping[str, Any] | str | None = None,
    status: int | None = None,
) -> Response:
    """An error in the style of Relay and Synapse: 422 with a list of problems for a request that is not of its
    type, else the message as ``detail``. Contracts with words or an object of their own there give them, and its status."""
    problems = error.details.get("problems")
    body: dict[str, Any] = {"detail": error.message}
    if problems is not None:
        body["detail"] = [_worded(item) for item in problems]
    if detail is not None:
        body["detail"] = detail
    body |= {"error_code": error.code, "request_id": request_id}
    if error.hint:
        body["hint"] = error.hint
    if error.code in _SHOWN_BESIDE:
        name = _SHOWN_BESIDE[error.code]
        body[name] = error.details[name]
    usual = outcome_of(error).status if problems is None else 422
    return _response(error, status or usual, body, headers)


def _worded(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem as FastAPI shows it, but for the input."""
    shown = {"type": problem["type"], "loc": list(problem["loc"]), "msg": problem["reason"]}
    ctx = problem["ctx"]
    if problem["type"] in ("too_long", "too_short") and ctx.get("field_type") == "Value":
        # A text whose bound stands behind our own check of it; Pydantic says so of a text alone.
        most, least = ctx.get("max_length"), ctx.get("min_length")
        bound = f"at least {least}" if most is None else f"at most {most}"
        plural = "" if 1 in (most, least) else "s"
        shown["type"] = f"string_{problem['type']}"
        shown["msg"] = f"String should have {bound} character{plural}"
        ctx = {name: value for name, value in ctx.items() if name in ("max_length", "min_length")}
    elif problem["type"] == "model_type":
        shown["type"] = "model_attributes_type"
        shown["msg"] = "Input should be a valid dictionary or object to extract fields from"
        ctx = {}
    return shown | ({"ctx": ctx} if ctx else {})


def shown_in_detail(code: str) -> Collection[Shown]:
    """How ``detailed`` shows a code: 422 too where it may stand for a request that is not of its type."""
    usual = status_of(code)
    statuses = {"MISSING_REQUIRED_FIELD": {422}, "INVALID_BODY": {usual, 422}}.get(code, {usual})
    return [Shown(status, DetailBody) for status in sorted(statuses)]


detail_response: Final = ErrorStyle(detailed, shown_in_detail)
"""Relay and Synapse style."""


def _helped(error: LaminaError, request_id: str, headers: Mapping[str, str]) -> Response:
    if "allowed_values" not in error.details:
        return detailed(error, request_id, headers)
    problem = {
        "field": error.details["field"],
        "area": "request.path",
        "reason": "unsupported_value",
        "limit": None,
        "allowed_values": error.details["allowed_values"],
        "correction_hint": error.hint,
    }
    body = {"error": {"code": "validation", "detail": error.message, "validation_hints": [problem]}}
    return _response(error, outcome_of(error).status, body, headers)


def _shown_by_help(code: str) -> Collection[Shown]:
    return [Shown(status_of(code), HelpErrorBody)] if code == "UNKNOWN_HELP_ID" else shown_in_detail(code)


help_response: Final = ErrorStyle(_helped, _shown_by_help)
"""Style of the Relay help: what its closed lists do not have is shown with those that they have."""


def _response(
    error: LaminaError, status: int, body: Mapping[str, Any], headers: Mapping[str, str]
) -> Response:
    sent = dict(headers)
    if isinstance(error, Unauthenticated):
        sent["WWW-Authenticate"] = "Bearer"  # RFC 9110, 15.5.2
    if "retry_after_s" in error.details:
        sent["Retry-After"] = str(math.ceil(error.details["retry_after_s"]))
    return Response(
        to_json(body), status_code=status, headers=sent, media_type="application/json; charset=utf-8"
    )


_JSON_PLACE: Final = re.compile(r" at line 1 column (\d+)$")
_BOUNDS_SHOWN: Final = frozenset(
    [
        "actual_length",
        "expected",
        "field_type",
        "ge",
        "gt",
        "le",
        "lt",
        "max_length",
        "min_length",
        "multiple_of",
        "pattern",
    ]
)
"""What of Pydantic's context is told: bounds and allowed values, none of which comes from the input."""


def _context(problem: Mapping[str, Any]) -> dict[str, Any]:
    shown = _BOUNDS_SHOWN | ({"error"} if problem["type"] == "json_invalid" else frozenset())
    ctx = problem.get("ctx") or {}
    return {name: ctx[name] for name in ctx if name in shown and isinstance(ctx[name], str | int | float)}


def _place(problem: Mapping[str, Any], where: Callable[[str], str]) -> list[str | int]:
    """Where a problem is, as Pydantic says it behind the part of the request; for what is not JSON the offset."""
    if problem["type"] == "json_invalid":
        place = _JSON_PLACE.search(problem["msg"])
        return ["body", int(place[1]) - 1] if place else ["body"]
    loc = problem["loc"]
    return [where(str(loc[0])) if loc else "body", *loc]


def _in_body(name: str) -> str:  # noqa: ARG001 - the shape of ``where``
    return "body"


Problem = Mapping[str, Any]
"""One of Pydantic's, as ``ValidationError.errors`` gives it."""


def from_validation(
    error: ValidationError,
    code: str,
    where: Callable[[str], str] = _in_body,
    few: Callable[[], Sequence[Problem]] | None = None,
) -> LaminaError:
    """One of ours for what Pydantic found: the first problem in the message, the first few in the details.

    ``where`` says in which part of the request a field stands. ``few`` gives the first few in another way, where there are
    too many to put all of them into words. Inputs are not echoed: they may be memories.
    """
    many = error.error_count() > limits.PROBLEMS_READ_MAX
    problems = few() if many and few is not None else problems_of(error)
    return from_problems(problems, code, count=error.error_count(), where=where)


def problems_of(error: ValidationError) -> Sequence[Problem]:
    """What Pydantic found; all of it, which takes microseconds each."""
    if error.error_count() > limits.PROBLEMS_READ_MAX:
        return [TOO_MANY]
    return error.errors(include_url=False, include_input=False)


def _reason_of(reason: str) -> str:
    reason = reason.removeprefix("Value error, ")
    return _LENGTH.sub(r"Value should have a length of \1, not \2", reason)


_LENGTH: Final = re.compile(r"^Value should have (at \w+ \d+) items? after validation, not (\d+)")
"""Of a text that is looked at before it is measured, too, Pydantic counts items."""

TOO_MANY: Final[Problem] = {
    "type": "too_many_problems",
    "loc": (),
    "msg": "more is wrong with it than can be told",
}
"""Stands for problems that nobody put into words."""


def from_problems(
    problems: Sequence[Problem],
    code: str,
    count: int | None = None,
    where: Callable[[str], str] = _in_body,
) -> LaminaError:
    """As ``from_validation``, from the problems themselves; ``count`` is how many there are where more are known of."""
    first = problems[0]
    field = ".".join(str(part) for part in first["loc"]) or "body"
    unknown = first["type"] == "extra_forbidden"
    reason = "is not known here" if unknown else _reason_of(first["msg"])
    details: dict[str, Any] = {
        "field": field,
        "reason": reason,
        "problems": [
            {
                "field": ".".join(str(part) for part in item["loc"]) or "body",
                "reason": item["msg"],
                "type": item["type"],
                "loc": _place(item, where),
                "ctx": _context(item),
            }
            for item in problems[: limits.PROBLEMS_SHOWN_MAX]
        ],
    }
    if count is not None and count > len(details["problems"]):
        details["problems_in_all"] = count
    known = _BY_TYPE_IN_BODY.get(first["type"])
    if known == "INVALID_BODY":
        return Malformed("INVALID_BODY", f"the body is not JSON: {reason}", details=details)
    if known == "MISSING_REQUIRED_FIELD":
        return Malformed("MISSING_REQUIRED_FIELD", f"{field} is required", details=details)
    if unknown:
        return Invalid(code, f"{field} is not known here", hint="check its spelling", details=details)
    return Invalid(code, f"{field}: {reason}", details=details)
