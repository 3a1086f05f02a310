"""Reading answers: a typed result, or the error that the server meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from lamina.client.asks import Ask
from lamina.errors import (
    STATUS,
    Fault,
    Invalid,
    LaminaError,
    Unavailable,
    Unsupported,
)

__all__ = ["Failure", "failure_of", "lost", "no_stream", "result_of", "typed", "without_password"]

ResultT = TypeVar("ResultT", bound=BaseModel)
_PLACE_CHARS_MAX: Final = 200
_USER: Final = re.compile(r"^(https?://)[^/]*@")
_CLASSES: Final = {outcome.status: kind for kind, outcome in STATUS.items()} | {
    405: Unsupported,
    502: Unavailable,
    504: Unavailable,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, whether the same request may succeed later, and after how long at the earliest."""

    error: LaminaError
    retriable: bool
    retry_after_s: float | None = None


def result_of(asked: Ask[ResultT], response: httpx.Response) -> ResultT:
    """The result in a response of success."""
    try:
        data = {} if response.status_code == 204 else from_json(response.content)
    except ValueError as error:
        raise _unreadable(response, "it is not JSON") from error
    replayed = response.headers.get("x-cortex-replay") == "true"
    if replayed and "replayed" in asked.result.model_fields and isinstance(data, dict):
        data["replayed"] = True
    return typed(asked.result, data, response)


def typed(kind: type[ResultT], data: Any, response: httpx.Response) -> ResultT:
    """``data`` as its type; keys that are not known here are left out."""
    try:
        return kind.model_validate(data)
    except (ValidationError, LaminaError) as error:
        where = error.errors(include_input=False)[0]["loc"] if isinstance(error, ValidationError) else ()
        raise _unreadable(response, "at " + (".".join(map(str, where)) or "its top")) from error


def _unreadable(response: httpx.Response, reason: str) -> LaminaError:
    error = Unsupported(
        "UNREADABLE_RESPONSE",
        f"the answer of {response.request.url.path} does not have the shape known here: {reason}",
        hint="compare client.version() with the version of this package",
    )
    return _stamped(error, response)


def _stamped(error: LaminaError, response: httpx.Response) -> LaminaError:
    error.status = response.status_code
    error.request_id = error.request_id or response.headers.get("x-cortex-request-id")
    return error


def failure_of(response: httpx.Response) -> Failure:
    """The error in a response that is none of success, whoever sent it: the server, or something before it."""
    kind = _class_of(response.status_code)
    retry_after_s = _seconds(response.headers.get("retry-after"))
    try:
        sent = from_json(response.content)
        details = dict(sent.get("details") or _problems(sent.get("detail")))
        if "capsule_sha256" in sent:
            details["capsule_sha256"] = sent["capsule_sha256"]
        hint = details.pop("hint", None) or sent.get("hint")
        message = sent["message"] if "message" in sent else _detail(sent["detail"])
        if not isinstance(message, str):
            raise TypeError
        error = kind(sent["error_code"], message, hint=hint, details=details)
        error.request_id = sent.get("request_id")
        retriable = bool(sent.get("retriable", kind.retriable))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        error = _without_envelope(response, kind)
        retriable = kind.retriable
    return Failure(_stamped(error, response), retriable, retry_after_s)


def _without_envelope(response: httpx.Response, kind: type[LaminaError]) -> LaminaError:
    answered = f"{response.request.url.path} answered {response.status_code}"
    if response.has_redirect_location:
        # No query: whoever redirects to a sign-in puts secrets there.
        place = str(response.headers["location"]).partition("?")[0][:_PLACE_CHARS_MAX]
        return kind(
            "UNEXPECTED_STATUS",
            f"{answered}, a redirect to {place}, and redirects are not followed",
            hint="give the address of the Lamina server itself",
        )
    return kind(
        "UNEXPECTED_STATUS",
        f"{answered} without an error envelope",
        hint="check that the address is a Lamina server's",
    )


def _detail(detail: Any) -> str:  # Any: what stands there is whatever the server sent
    """The message of an error in the style of Relay: a text, or the first of a list of problems."""
    if isinstance(detail, str):
        return detail
    return f"{_field(detail[0])}: {detail[0]['msg']}"


def _problems(detail: Any) -> dict[str, Any]:  # Any: as in ``_detail``
    """The problems of an error in the style of Relay, as the details of one in the style of Cortex have them."""
    if not isinstance(detail, list):
        return {}
    problems = [{"field": _field(each), "reason": each["msg"], "type": each["type"]} for each in detail]
    return {"field": problems[0]["field"], "reason": problems[0]["reason"], "problems": problems}


def _field(problem: Any) -> str:  # Any: as in ``_detail``
    within = [] if problem["type"] == "json_invalid" else problem["loc"][1:]
    return ".".join(map(str, within)) or "body"


def _class_of(status: int) -> type[LaminaError]:
    if status < 400:
        return Unsupported  # not followed, and the same again
    return _CLASSES.get(status) or (Invalid if status < 500 else Fault)


def _seconds(text: str | None) -> float | None:
    """Seconds of ``Retry-After``; its other form, a date, is not sent by Lamina and not read."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


def no_stream(response: httpx.Response) -> Failure | None:
    """What is wrong with a response of success that should be a stream of events; None when it is one."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        return None
    error = Unsupported(
        "UNREADABLE_RESPONSE",
        f"{response.request.url.path} answered with {kind[:_PLACE_CHARS_MAX] or 'no content type'} in place of events",
        hint="check that the address is a Lamina server's",
    )
    return Failure(_stamped(error, response), retriable=True)


def without_password(address: str) -> str:
    """The address of a server as it may be shown: without a user and a password in it."""
    return _USER.sub(r"\1", address)


def lost(error: httpx.RequestError, base_url: str) -> Failure:
    """What it means that no answer came, or none that can be decoded; the cause is kept, and the address without its password."""
    base_url = without_password(base_url)
    if isinstance(error, httpx.DecodingError):
        undecoded = Unsupported(
            "UNREADABLE_RESPONSE",
            f"the answer of {base_url} is not encoded as it says",
            hint="see what stands between here and the server",
            details={"url": base_url},
        )
        undecoded.__cause__ = error
        return Failure(undecoded, retriable=True)
    unavailable = Unavailable(
        "SERVER_UNREACHABLE",
        f"{base_url} did not answer: {str(error) or type(error).__name__}",
        hint="is the server running? lamina serve starts one, lamina doctor looks for it",
        details={"url": base_url},
    )
    unavailable.__cause__ = error
    return Failure(unavailable, retriable=True)
