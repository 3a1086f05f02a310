"""The times that a reader asks for: ranges, words of time, and the instant that these are read against (seed 002, 12)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.local import Offset, local_bound, midnight_text
from lamina.kernel.time import Interval, day_or_instant, is_day
from lamina.kernel.wire import Text

__all__ = [
    "Natural",
    "Range",
    "bad_range",
    "by_the_reference",
    "refuse_two_validities",
]

Natural = Annotated[Text, Field(min_length=1, max_length=limits.NATURAL_LENGTH_MAX)]


def _parse_interval(value: Any, info: ValidationInfo) -> Interval:
    field = info.field_name or "range"
    start, dots, end = value.partition("..") if isinstance(value, str) else ("", "", "")
    if not dots or not (start or end):
        raise bad_range(field, "it is not two instants joined by '..'")
    first = day_or_instant(start, field=field) if start else None
    last = day_or_instant(end, field=field) if end else None
    if first is not None and last is not None and first >= last:
        raise bad_range(field, "it ends before it begins, or holds nothing")
    return Interval(first, last)


def bad_range(field: str, reason: str) -> Invalid:
    """The error of a range that holds nothing or is none."""
    return Invalid(
        "INVALID_RANGE",
        f"{field} is not a range: {reason}",
        hint="write for example 2026-04-01..2026-05-01; the end is exclusive, and either side may be left out",
        details={"field": field, "reason": reason},
    )


Range = Annotated[
    Interval,
    BeforeValidator(_parse_interval),
    WithJsonSchema({"type": "string", "examples": ["2026-04-01..2026-05-01"]}),
]
"""``A..B``: from A until before B, each RFC 3339 or a date; either side may be left out."""


def by_the_reference(given: Any, names: Collection[str]) -> Any:  # Any: whatever came in
    """What came in, with those bounds that are bare dates put as midnights by the clock that ``reference_date`` carries."""
    reference = given.get("reference_date") if isinstance(given, dict) else None
    try:
        offset = local_bound(reference).offset if isinstance(reference, str) else None
    except Invalid:
        return given  # the field says so itself
    if offset is None:
        return given
    return {**given, **{name: _by_clock(given[name], offset) for name in names if name in given}}


def _by_clock(bound: Any, offset: Offset) -> Any:  # Any: whatever came in
    if isinstance(bound, list | tuple):
        return [_by_clock(each, offset) for each in bound]
    if isinstance(bound, str) and ".." in bound:
        return "..".join(_by_clock(each, offset) for each in bound.split(".."))
    return midnight_text(bound, offset) if isinstance(bound, str) and is_day(bound) else bound


def refuse_two_validities(natural: str | None, valid_during: object, within: str = "") -> None:
    """Raise ``Invalid`` (INVALID_TIME_RANGE) where words and a range both say which validity is wanted."""
    if natural is not None and valid_during is not None:
        raise Invalid(
            "INVALID_TIME_RANGE",
            f"{within}natural and {within}valid_during both say which validity is wanted",
            hint="send one of them",
            details={"field": f"{within}natural"},
        )
