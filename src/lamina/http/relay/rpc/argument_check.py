"""Arguments against a tool's schema, as far as the contract looks before it asks who calls (contracts/cognirelay.md 2.5).

Types, enumerations, required and unknown fields, counts and lengths; bounds of numbers and patterns are the operation's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina import limits

__all__ = ["ArgumentProblem", "argument_problems"]


@dataclass(frozen=True, slots=True)
class ArgumentProblem:
    """What is wrong: where, by a JSON pointer, by which keyword of the schema, and in words that echo nothing."""

    path: str
    keyword: str
    message: str

    def shown(self) -> dict[str, str]:
        """As an error lists it."""
        return {"path": self.path, "keyword": self.keyword, "message": self.message}


def argument_problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[ArgumentProblem]:
    """The first few problems, in the order in which they stand; none where the arguments fit."""
    check = _Check(schema.get("$defs", {}))
    check.value(schema, arguments, "")
    return check.problems[: limits.PROBLEMS_SHOWN_MAX]


def _is_number(value: Any) -> bool:  # Any: JSON
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:  # Any: JSON
    return _is_number(value) and (isinstance(value, int) or float(value).is_integer())


_KINDS: Final[Mapping[str, Callable[[object], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_integer,
    "number": _is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


class _Check:
    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self.problems: list[ArgumentProblem] = []

    def value(self, schema: Mapping[str, Any], value: Any, path: str) -> None:  # Any: JSON
        """Note what is wrong with a value."""
        if len(self.problems) >= limits.PROBLEMS_SHOWN_MAX:
            return
        if not self._has_kind(schema.get("type"), value, path):
            return
        if "$ref" in schema:
            self.value(self._definitions[schema["$ref"].rpartition("/")[2]], value, path)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                self._one_of(keyword, schema[keyword], value, path)
        if "enum" in schema and not any(_same(value, each) for each in schema["enum"]):
            self._note(path, "enum", f"must be one of {len(schema['enum'])} values")
        if "const" in schema and not _same(value, schema["const"]):
            self._note(path, "const", "is not the value that is wanted here")
        if isinstance(value, dict):
            self._object(schema, value, path)
        elif isinstance(value, list):
            self._sized(schema, len(value), path, "Items")
            for number, each in enumerate(value):
                self.value(schema.get("items", {}), each, f"{path}/{number}")
        elif isinstance(value, str):
            self._sized(schema, len(value), path, "Length")

    def _one_of(self, keyword: str, choices: Sequence[Mapping[str, Any]], value: Any, path: str) -> None:
        tried = [self._tried(choice, value, path) for choice in choices]
        if not all(tried):
            return
        others = [problems for problems in tried if (problems[0].path, problems[0].keyword) != (path, "type")]
        if len(others) == 1:
            # The one that was meant: a value or null is how a schema says that a field may be left out.
            self.problems += others[0]
        else:
            self._note(path, keyword, "fits none of the forms that are known here")

    def _tried(self, schema: Mapping[str, Any], value: Any, path: str) -> list[ArgumentProblem]:
        check = _Check(self._definitions)
        check.value(schema, value, path)
        return check.problems

    def _has_kind(self, kind: str | Sequence[str] | None, value: Any, path: str) -> bool:
        kinds = [kind] if isinstance(kind, str) else list(kind or ())
        if not kinds or any(_KINDS[each](value) for each in kinds):
            return True
        self._note(path, "type", f"must be {' or '.join(kinds)}")
        return False

    def _object(self, schema: Mapping[str, Any], value: Mapping[str, Any], path: str) -> None:
        properties = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                self._note(f"{path}/{name}", "required", "is required")
        others = schema.get("additionalProperties", True)
        for name, each in value.items():
            place = f"{path}/{_escaped(name)}"
            if name in properties:
                self.value(properties[name], each, place)
            elif others is False:
                self._note(place, "additionalProperties", "is not known here")
            elif isinstance(others, dict):
                self.value(others, each, place)

    def _sized(self, schema: Mapping[str, Any], size: int, path: str, what: str) -> None:
        least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
        unit = "items" if what == "Items" else "characters"
        if least is not None and size < least:
            self._note(path, f"min{what}", f"must have at least {least} {unit}")
        if most is not None and size > most:
            self._note(path, f"max{what}", f"must have at most {most} {unit}")

    def _note(self, path: str, keyword: str, message: str) -> None:
        self.problems.append(ArgumentProblem(path, keyword, message))


def _same(value: Any, wanted: Any) -> bool:  # Any: JSON
    """Equal as JSON is: true is not 1."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _escaped(name: str) -> str:
    """A part of a JSON pointer (RFC 6901), cut where it is long."""
    return name[:64].replace("~", "~0").replace("/", "~1")
