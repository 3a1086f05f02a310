"""How errors look on the wire: a door shows each in the style of its contract.

Cortex has the envelope of seed 002, 6.6; Relay and Synapse have the ``detail`` bodies that their clients read
(FastAPI's), with our code and hint beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json
from starlette.responses import Response

from lamina.catalogue import CATALOGUE
from lamina.errors import Invalid, LaminaError, Malformed, Unauthenticated, outcome_of

__all__ = [
    "DOCUMENTATION",
    "ErrorStyle",
    "detail_response",
    "envelope",
    "error_response",
    "from_validation",
    "help_response",
]

ErrorStyle = Callable[[LaminaError, str, Mapping[str, str]], Response]
"""The response of an error, given the request's id and the headers that the answer would have carried."""

DOCUMENTATION = "https://lamina.dev/docs/reference/errors/"

_INPUT_SHOWN_MAX = 64
_BY_TYPE_IN_BODY = {"json_invalid": "INVALID_BODY", "missing": "MISSING_REQUIRED_FIELD"}


def envelope(error: LaminaError, request_id: str) -> dict[str, Any]:
    """The error as the contract shows it; a hint, its own or that of its code, travels inside ``details``."""
    details = dict(error.details)
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


def error_response(error: LaminaError, request_id: str, headers: Mapping[str, str]) -> Response:
    """An error in Cortex style."""
    return _response(error, outcome_of(error).status, envelope(error, request_id), headers)


def detail_response(
    error: LaminaError,
    request_id: str,
    headers: Mapping[str, str],
    *,
    detail: Mapping[str, Any] | None = None,
    status: int | None = None,
) -> Response:
    """An error in the style of Relay and Synapse: 422 with a list of problems for a request that is not of its
    type, else the message as ``detail``. Contracts with an object of their own there give it, and its status."""
    problems = error.details.get("problems")
    body: dict[str, Any] = {"detail": error.message}
    if problems is not None:
        body["detail"] = [
            {"type": item["type"], "loc": ["body", *item["field"].split(".")], "msg": item["reason"]}
            for item in problems
        ]
    if detail is not None:
        body["detail"] = detail
    body |= {"error_code": error.code, "request_id": request_id}
    if error.hint:
        body["hint"] = error.hint
    usual = outcome_of(error).status if problems is None else 422
    return _response(error, status or usual, body, headers)


def help_response(error: LaminaError, request_id: str, headers: Mapping[str, str]) -> Response:
    """An error in the style of the Relay help: what its closed lists do not have is shown with those that they have."""
    if "allowed_values" not in error.details:
        return detail_response(error, request_id, headers)
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


def from_validation(error: ValidationError, code: str) -> LaminaError:
    """One of ours for what Pydantic found: the first problem in the message, all fields in the details.

    Inputs are not echoed: they may be memories.
    """
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    first = problems[0]
    field = ".".join(str(part) for part in first["loc"]) or "body"
    reason = first["msg"].removeprefix("Value error, ")
    details = {
        "field": field,
        "reason": reason,
        "problems": [
            {
                "field": ".".join(str(part) for part in item["loc"]) or "body",
                "reason": item["msg"],
                "type": item["type"],
            }
            for item in problems[:20]
        ],
    }
    known = _BY_TYPE_IN_BODY.get(first["type"])
    if known == "INVALID_BODY":
        return Malformed("INVALID_BODY", f"the body is not JSON: {reason}", details=details)
    if known == "MISSING_REQUIRED_FIELD":
        return Malformed("MISSING_REQUIRED_FIELD", f"{field} is required", details=details)
    hint = "the field is not known here; check its spelling" if first["type"] == "extra_forbidden" else None
    return Invalid(code, f"{field}: {reason}", hint=hint, details=details)
