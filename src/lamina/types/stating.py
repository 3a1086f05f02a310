"""What a stated claim says beside subject, predicate and object, checked at the door: it loads nothing that reads language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.errors import Invalid
from lamina.kernel.local import Offset, local_bound
from lamina.kernel.time import FIRST_INSTANT, LAST_INSTANT, SECOND_US, Instant, is_day

__all__ = ["UNIT_LENGTH_MAX", "has_fit_unit", "is_share", "require_claim", "require_stated", "stated_instant"]

UNIT_LENGTH_MAX: Final = 64


def require_claim(content: Mapping[str, Any]) -> None:
    """Nothing, or ``ValueError`` where ``pipeline/direct.py`` would read no claim, or not all of one: who stated it would not learn of it."""
    if not _names(content.get("subject")):
        raise ValueError("subject", "must be a name, or an object with one")
    predicate = content.get("predicate")
    if not isinstance(predicate, str) or not predicate.strip():
        raise ValueError("predicate", "must be text that is not blank")
    if "object" not in content or not (content["object"] is None or _says_a_value(content["object"])):
        raise ValueError(
            "object",
            "must be a name, a number, true or false, an object with a name or such a value, or null, which ends what is held",
        )
    require_stated(content)


def _names(value: Any) -> bool:  # Any: JSON values
    name = value.get("name") if isinstance(value, dict) else value
    return isinstance(name, str) and bool(name.strip())


def _says_a_value(value: Any) -> bool:  # Any: JSON values
    if isinstance(value, dict) and "value" in value:
        value = value["value"]
    return isinstance(value, bool | int | float) or _names(value)


def require_stated(content: Mapping[str, Any]) -> None:
    """Nothing, or ``ValueError`` for what ``pipeline/direct.py`` would not read beside the claim itself."""
    bounds: list[Instant | None] = []
    for name in ("valid_from", "valid_to"):
        value = content.get(name)
        try:
            bounds.append(None if value is None else stated_instant(value, None))
        except (Invalid, TypeError) as error:
            raise ValueError(name, "must be RFC 3339 with a zone, or a date") from error
    start, end = bounds
    if start is not None and end is not None and start >= end:
        raise ValueError("valid_to", "must lie after valid_from")
    confidence = content.get("confidence")
    if confidence is not None and not is_share(confidence):
        raise ValueError("confidence", "must be a number from 0 to 1")
    if not isinstance(content.get("negated", False), bool):
        raise ValueError("negated", "must be true or false")
    value = content.get("object")
    if isinstance(value, dict) and "value" in value and not has_fit_unit(value["value"], value.get("unit")):
        raise ValueError(
            "object",
            f"has a unit: that is a text of 1 to {UNIT_LENGTH_MAX} characters, and goes with a number",
        )


def has_fit_unit(value: Any, unit: Any) -> bool:  # Any: JSON values
    """Whether there is no unit, or one that a value can have: then it is a number."""
    if unit is None:
        return True
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and isinstance(unit, str) and bool(unit.strip()) and len(unit) <= UNIT_LENGTH_MAX


def stated_instant(text: str, offset: Offset | None) -> Instant:
    """The instant of a stated time; a date is its midnight by the clock of ``offset``, or the end of the calendar where that lies outside.
    Raises ``Invalid`` or ``TypeError``."""
    if not isinstance(text, str):
        raise TypeError("a time is a text")
    at = local_bound(text).at
    if offset is None or not is_day(text):
        return at
    return max(FIRST_INSTANT, min(at - offset * 60 * SECOND_US, LAST_INSTANT))


def is_share(value: Any) -> bool:  # Any: a JSON value
    """Whether a value is a number from 0 to 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
