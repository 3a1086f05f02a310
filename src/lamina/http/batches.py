"""A large batch, read item by item: each is parsed and checked by itself, and the first problems end it.

What comes out is what the request type would have made of the whole, in calls of the parser that take milliseconds each.
"""

from __future__ import annotations

import time
from typing import Any, Final, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from lamina import limits
from lamina.errors import LaminaError, Malformed, TooLarge
from lamina.http.errors import Problem, from_problems, problems_of
from lamina.http.problems import few_problems
from lamina.json_scan import ByteSpan, JsonBounds, JsonMember, JsonScan, json_members

__all__ = ["read_batch", "told_of_item"]

_PART_BOUNDS: Final = JsonBounds(limits.JSON_KEYS_MAX, limits.JSON_ELEMENTS_MAX)


def read_batch(
    body: bytes, scan: JsonScan, kind: type[BaseModel], items: str, invalid_code: str
) -> dict[str, Any]:
    """The fields of a request type with its items read, those of the field named ``items``.

    Raises ``Malformed`` (INVALID_BODY), ``TooLarge`` (BODY_TOO_COMPLEX, BODY_TOO_LARGE) for an item that could not come
    by itself either, and ``Invalid`` with the first few problems of items.
    """
    members = json_members(body, scan)
    if members is None:
        raise Malformed("INVALID_BODY", "the body is not a JSON object")
    given: dict[str, Any] = {}
    unknown = 0
    for member in members:
        if member.name not in kind.model_fields:
            unknown += 1
            if unknown > limits.PROBLEMS_SHOWN_MAX:
                continue  # it is refused for those before
        if member.name == items and member.elements is not None:
            given[member.name] = _read_items(body, member, kind, invalid_code)
        else:
            given[member.name] = _parsed(_part(body, member.value))
    return given


def told_of_item(error: LaminaError, body: bytes, kind: type[BaseModel], items: str) -> LaminaError:
    """The error of a batch that was read as a whole, with the item that it is of: a thousand may have come."""
    given = from_json(body).get(items)
    adapter = _item_adapter(kind, items)
    for number, value in enumerate(given if isinstance(given, list) else ()):
        try:
            adapter.validate_python(value)
        except ValidationError:
            continue
        except LaminaError as found:
            same = (found.code, found.message) == (error.code, error.message)
            return found.at(f"{items}.{number}") if same else error
    return error


def _item_adapter(kind: type[BaseModel], items: str) -> TypeAdapter[Any]:
    (item,) = get_args(kind.model_fields[items].annotation)
    return TypeAdapter(item)


def _read_items(body: bytes, member: JsonMember, kind: type[BaseModel], invalid_code: str) -> list[Any]:
    elements = member.elements or ()
    if len(elements) > limits.BULK_ITEMS_MAX:
        most = limits.BULK_ITEMS_MAX
        said = f"List should have at most {most} items after validation, not {len(elements)}"
        raise from_problems([{"type": "too_long", "loc": (member.name,), "msg": said}], invalid_code)
    adapter = _item_adapter(kind, member.name)
    values: list[Any] = []
    problems: list[Problem] = []
    for number, span in enumerate(elements):
        part = _part(body, span)
        try:
            values.append(adapter.validate_json(part))
        except ValidationError as error:
            _parsed(part)  # raises where it is no JSON
            few = (
                few_problems(from_json(part), adapter.validate_python)
                if error.error_count() > limits.PROBLEMS_READ_MAX
                else problems_of(error)
            )
            problems += [{**each, "loc": (member.name, number, *each["loc"])} for each in few]
        except LaminaError as error:
            raise error.at(f"{member.name}.{number}") from error
        if len(problems) >= limits.PROBLEMS_SHOWN_MAX:
            break
        if len(part) > limits.BODY_PLAIN_BYTES_MAX or number % 16 == 0:
            time.sleep(limits.BODY_PART_PAUSE_S)
    if problems:
        raise from_problems(problems, invalid_code)
    return values


def _part(body: bytes, span: ByteSpan) -> bytes:
    """A part of the body, which has the bounds of a body of its own."""
    if span.end - span.start > limits.BODY_BYTES_MAX:
        most = limits.BODY_BYTES_MAX
        raise TooLarge(
            "BODY_TOO_LARGE",
            f"a part of the body is larger than {most} bytes",
            hint="a large document goes to memory in parts",
            details={"bytes_max": most},
        )
    part = body[span.start : span.end]
    if part.count(b":") > _PART_BOUNDS.keys_max or part.count(b",") > _PART_BOUNDS.elements_max // 2:
        JsonScan(_PART_BOUNDS).feed(part)
    return part


def _parsed(part: bytes) -> Any:  # Any: whatever JSON can hold
    try:
        return from_json(part)
    except ValueError as error:
        raise Malformed("INVALID_BODY", f"the body is not JSON: {error}") from error
