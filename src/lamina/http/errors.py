"""Errors in the envelope of seed 002, 6.6."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json
from starlette.responses import Response

from lamina.catalogue import CATALOGUE
from lamina.errors import Invalid, LaminaError, Malformed, Unauthenticated, outcome_of

__all__ = ["DOCUMENTATION", "envelope", "error_response", "from_validation"]

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
    """The response of an error."""
    sent = dict(headers)
    if isinstance(error, Unauthenticated):
        sent["WWW-Authenticate"] = "Bearer"  # RFC 9110, 15.5.2
    if "retry_after_s" in error.details:
        sent["Retry-After"] = str(math.ceil(error.details["retry_after_s"]))
    return Response(
        to_json(envelope(error, request_id)),
        status_code=outcome_of(error).status,
        headers=sent,
        media_type="application/json; charset=utf-8",
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
            {"field": ".".join(str(part) for part in item["loc"]) or "body", "reason": item["msg"]}
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
