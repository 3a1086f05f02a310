"""How the fields of schedule requests are read: trimmed, bounded, and refused under codes of their own (seed 000)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.canonical import canonical
from lamina.kernel.time import Instant, instant

__all__ = ["FieldReader", "FieldRule", "canonical_text"]

_QUERY: Final = "INVALID_SCHEDULE_QUERY"
_EXACT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\dZ", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


@dataclass(frozen=True, slots=True)
class FieldReader:
    """How one field is read, as metadata of its type. ``read`` gives None for what does not fit ``accepted``."""

    invalid_code: str
    read: Callable[[object], Any]
    accepted: str
    null: bool
    json_schema: Mapping[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read before the type is checked."""
        return core_schema.with_info_before_validator_function(self._validate, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The type's schema with what the rule says beside."""
        described = {**handler(schema), **self.json_schema}
        if "type" in self.json_schema:  # text outside, something else inside
            described.pop("anyOf", None)
        elif not self.null and "anyOf" in described:  # it may be left out, and null is refused
            (form,) = [each for each in described.pop("anyOf") if each != {"type": "null"}]
            described = {**form, **described}
        return described

    def _validate(self, value: object, info: ValidationInfo) -> Any:
        if value is None and self.null:
            return None
        found = self.read(value)
        if found is None:
            prefix = "query." if self.invalid_code == _QUERY else ""
            field = f"{prefix}{info.field_name}"
            raise Invalid(self.invalid_code, f"{field} must be {self.accepted}", details={"field": field})
        return found


@dataclass(frozen=True, slots=True)
class FieldRule:
    """The code under which fields are refused, and ways to read them. ``null`` lets None pass."""

    invalid_code: str

    def text(self, longest: int, *, least: int = 1, null: bool = False) -> FieldReader:
        """A trimmed string of so many characters, none of them NUL."""

        def read(value: object) -> str | None:
            trimmed = value.strip() if isinstance(value, str) else None
            fits = trimmed is not None and least <= len(trimmed) <= longest and "\x00" not in trimmed
            return trimmed if fits else None

        return self._reading(
            read,
            f"a string of {least} to {longest} characters",
            null=null,
            minLength=least,
            maxLength=longest,
        )

    def choice(self, *words: str, null: bool = False) -> FieldReader:
        """One of some words."""
        accepted = ", ".join(words[:-1]) + " or " + words[-1]
        return self._reading(
            lambda value: _among(value, words), accepted, null=null, enum=[*words, *([None] if null else [])]
        )

    def matching(self, pattern: str, *, null: bool = False) -> FieldReader:
        """A string that a pattern describes whole."""
        whole = re.compile(pattern, re.ASCII)

        def read(value: object) -> str | None:
            trimmed = value.strip() if isinstance(value, str) else ""
            return trimmed if whole.fullmatch(trimmed) else None

        return self._reading(read, f"of the form {pattern}", null=null, pattern=f"^{pattern}$")

    def whole(self, least: int, greatest: int | None, *, null: bool = False) -> FieldReader:
        """A whole number in bounds. In a query it is text."""

        def read(value: object) -> int | None:
            if self.invalid_code == _QUERY and isinstance(value, str) and _WHOLE.fullmatch(value):
                value = int(value)
            if type(value) is not int or value < least or (greatest is not None and value > greatest):
                return None
            return value

        bounds = f"{least} to {greatest}" if greatest is not None else f"{least} or more"
        most = {} if greatest is None else {"maximum": greatest}
        return self._reading(read, f"a whole number, {bounds}", null=null, minimum=least, **most)

    def boolean(self, *, null: bool = False) -> FieldReader:
        """True or false. In a query also 1, yes, on, 0, no and off, in any case."""

        def read(value: object) -> bool | None:
            return _BOOLEANS.get(value.lower()) if isinstance(value, str) else _bool(value)

        return self._reading(read, "true, 1, yes, on, false, 0, no or off", null=null)

    def exact_second(self) -> FieldReader:
        """An instant as ``YYYY-MM-DDTHH:MM:SSZ`` and in no other way."""

        def read(value: object) -> Instant | None:
            if not isinstance(value, str) or not _EXACT.fullmatch(value):
                return None
            try:
                return instant(value)
            except Invalid:  # no such day
                return None

        return self._reading(
            read, "an exact UTC second written YYYY-MM-DDTHH:MM:SSZ", type="string", format="date-time"
        )

    def flat_object(self) -> FieldReader:
        """A JSON object whose values are strings, finite numbers, booleans or null; None is the empty one."""

        def read(value: object) -> dict[str, Any] | None:
            value = {} if value is None else value
            if not isinstance(value, dict) or not all(isinstance(each, _SCALARS) for each in value.values()):
                return None
            text = canonical_text(value)
            fits = text is not None and len(text.encode()) <= limits.SCHEDULE_JSON_BYTES_MAX
            return value if fits else None

        most = limits.SCHEDULE_JSON_BYTES_MAX
        accepted = f"a flat object of strings, finite numbers, booleans and nulls, in at most {most} bytes"
        return self._reading(
            read,
            accepted,
            type=["object", "null"],
            additionalProperties={"type": ["string", "number", "boolean", "null"]},
        )

    def _reading(
        self, read: Callable[[object], Any], accepted: str, *, null: bool = False, **json_schema: Any
    ) -> FieldReader:
        return FieldReader(self.invalid_code, read, accepted, null, json_schema)


_SCALARS = (str, int, float, bool, type(None))


def canonical_text(value: dict[str, Any]) -> str | None:
    """The canonical JSON of an object; None for what JSON cannot hold, such as infinity or a number without end."""
    try:
        return canonical(value).decode()
    except ValueError:
        return None


def _among(value: object, words: Collection[str]) -> str | None:
    return value if isinstance(value, str) and value in words else None


def _bool(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
