"""The shared parts of request and result types: field types that parse on the way in and print on the way out."""

from __future__ import annotations

import base64
import binascii
import json
import threading
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
)

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.ids import Prefix, parse_id
from lamina.kernel.local import LocalTime, local_bound, local_time, offset_of, offset_text
from lamina.kernel.scopes import Scope
from lamina.kernel.time import day_or_instant, instant, rfc3339

__all__ = [
    "PLAIN_TEXT",
    "BoundText",
    "DurationText",
    "InstantText",
    "Limit",
    "LocalBoundText",
    "LocalTimeText",
    "Nothing",
    "OffsetText",
    "Request",
    "Result",
    "ScopePath",
    "Text",
    "decode_cursor",
    "encode_cursor",
    "id_field",
]


_BUILDING: Final = threading.RLock()


class _Deferred(BaseModel):
    """A model whose validator and serializer are built when they are first needed.

    There are some four hundred, and building them all took a third of what it costs to import the client: each command and
    each hook paid it for the three that it uses.
    """

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def model_rebuild(cls, *, _parent_namespace_depth: int = 2, **more: Any) -> bool | None:  # Any: as there
        """Mirrors ``BaseModel.model_rebuild``, for one thread at a time: not every version of Pydantic that we take sees to it
        that one thread does not take away what another has just built."""
        with _BUILDING:
            return super().model_rebuild(_parent_namespace_depth=_parent_namespace_depth + 1, **more)


class Request(_Deferred):
    """What a caller sends. Unknown fields are refused, so that nothing meant is silently dropped."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False, allow_inf_nan=False)


class Result(_Deferred):
    """What a caller gets. Documented keys keep name and type; new keys may appear."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Nothing(Result):
    """The result of operations that only do something: over HTTP, 204 without a body."""


def _parse_scope(value: Any, info: ValidationInfo) -> Scope:
    if not isinstance(value, str):
        raise Invalid(
            "INVALID_SCOPE_GRAMMAR", f"{info.field_name} must be a string", details={"field": info.field_name}
        )
    return Scope.parse(value)


_ValueT = TypeVar("_ValueT")


def _read_by(read: Callable[..., _ValueT]) -> Callable[[Any, ValidationInfo], _ValueT]:
    def parse(value: Any, info: ValidationInfo) -> _ValueT:  # Any: whatever came in
        field = info.field_name or "timestamp"
        if not isinstance(value, str):
            raise Invalid(
                "INVALID_TIMESTAMP", f"{field} must be an RFC 3339 string", details={"field": field}
            )
        return read(value, field=field)

    return parse


ScopePath = Annotated[
    str,
    BeforeValidator(_parse_scope),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": limits.SCOPE_LENGTH_MAX,
            "pattern": r"^[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_\-]{1,128}(/[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_\-]{1,128}){0,31}$",
            "examples": ["org:acme/user:alice"],
        }
    ),
]
"""A scope path; a ``Scope`` once parsed."""

InstantText = Annotated[
    int,
    BeforeValidator(_read_by(instant)),
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-05-13T15:42:00Z"]}),
]
"""RFC 3339 with a zone outside, microseconds since 1970 inside: when something happened."""

LocalTimeText = Annotated[
    LocalTime,
    BeforeValidator(_read_by(local_time)),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema(
        {
            "type": "string",
            "format": "date-time",
            "examples": ["2026-05-13T15:42:00Z", "2026-06-30T00:30:00+05:30"],
        }
    ),
]
"""As ``InstantText``, with the offset that it was written with: when something happened, by the clock of whoever tells it."""

OffsetText = Annotated[
    int,
    BeforeValidator(_read_by(offset_of)),
    PlainSerializer(offset_text, return_type=str, when_used="json"),
    WithJsonSchema(
        {"type": "string", "pattern": r"^[+-]([01]\d|2[0-3]):?[0-5]\d$", "examples": ["+05:30", "-08:00"]}
    ),
]
"""An offset from UTC: minutes east of it inside."""

BoundText = Annotated[
    int,
    BeforeValidator(_read_by(day_or_instant)),
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
    WithJsonSchema(
        {
            "type": "string",
            "anyOf": [{"format": "date-time"}, {"format": "date"}],
            "examples": ["2026-05-13T15:42:00Z", "2026-05-01"],
        }
    ),
]
"""What a reader asks for: as ``InstantText``, or a date, which is its midnight in UTC."""


LocalBoundText = Annotated[
    LocalTime,
    BeforeValidator(_read_by(local_bound)),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema(
        {
            "type": "string",
            "anyOf": [{"format": "date-time"}, {"format": "date"}],
            "examples": ["2026-05-13T15:42:00Z", "2026-06-30T00:30:00+05:30", "2026-05-01"],
        }
    ),
]
"""What a reader reckons from: as ``LocalTimeText``, or a date, which is its midnight in UTC."""


DurationText = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "format": "duration",
            "pattern": "^P(\\d{1,6}[YMWD]){0,4}(T(\\d{1,6}[HMS]){1,3})?$",
            "maxLength": 64,
            "examples": ["P30D", "PT5M"],
        }
    ),
]
"""An ISO 8601 duration, as it was written."""


def _plain_text(value: Any) -> Any:  # Any: whatever came in
    if isinstance(value, str) and "\x00" in value:
        raise ValueError("the character NUL is not allowed")
    return value


PLAIN_TEXT: Final = BeforeValidator(_plain_text)
"""For a string with bounds of its own, behind them: it has no NUL. Bounds behind a validator of ours are checked by calls of Python, which
cost more than all the rest of an experience."""

Text = Annotated[str, PLAIN_TEXT]
"""A string without NUL, which PostgreSQL cannot store."""


def encode_cursor(parts: dict[str, Any]) -> str:
    """An opaque place in a list: base64url of compact JSON (seed 002, 6.4)."""
    text = json.dumps(parts, separators=(",", ":"), sort_keys=True)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(text: str, **shape: type) -> dict[str, Any]:
    """The parts of a cursor that this server made, by name and type.

    Raises ``Invalid`` (INVALID_CURSOR) for anything else: a cursor comes back from outside.
    """
    try:
        if len(text) > limits.CURSOR_LENGTH_MAX:
            raise ValueError("too long")
        parts = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        json.dumps(parts, ensure_ascii=False).encode()  # half a surrogate pair has no bytes
    except (ValueError, binascii.Error, RecursionError) as error:
        raise _invalid_cursor() from error
    if not isinstance(parts, dict) or set(parts) != set(shape):
        raise _invalid_cursor()
    for name, kind in shape.items():
        if type(parts[name]) is not kind or (kind is int and abs(parts[name]) >= 1 << 63):
            raise _invalid_cursor()
    return parts


def _invalid_cursor() -> Invalid:
    return Invalid(
        "INVALID_CURSOR",
        "the cursor was not made by this list",
        hint="pass next_cursor back unchanged, with the same filters; leave it out to start over",
    )


def id_field(prefix: Prefix) -> BeforeValidator:
    """Annotation of a text that has to be an id of one kind; raises as ``parse_id`` does."""
    return BeforeValidator(lambda value: parse_id(value, prefix) if isinstance(value, str) else value)


Limit = Annotated[int, Field(ge=1, le=limits.PAGE_LIMIT_MAX)]
"""How many items of a list, 1 to 1000."""
