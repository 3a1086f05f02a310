"""The words of the OpenAPI document: what fields and parameters mean, areas, and an example for each body.

They stand in ``texts/api.yaml``, one line for a name wherever it occurs; a description of the type itself goes before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

__all__ = ["ApiWords", "words"]

_COMPONENTS: Final = "#/components/schemas/"


@cache
def words() -> ApiWords:
    """The words, read once."""
    text = (files("lamina.http") / "texts" / "api.yaml").read_text(encoding="utf-8")
    return ApiWords(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506 - both are safe


class ApiWords:
    """What ``api.yaml`` says."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.about: str = said["about"]
        self.security: Mapping[str, str] = said["security"]
        self.examples: Mapping[str, Any] = said["examples"]
        self.streams: Mapping[str, str] = said["streams"]
        self.fields: Mapping[str, str] = said["fields"]
        self._answers: Mapping[str, str] = said["answers"]
        self._areas: list[Mapping[str, Any]] = said["areas"]

    def tags(self) -> list[dict[str, str]]:
        """The areas, as the document lists them."""
        return [{"name": area["tag"], "description": area["about"]} for area in self._areas]

    def tag(self, path: str) -> str:
        """The area of a path: that of the longest beginning which it has."""
        fitting = {
            begins: area["tag"]
            for area in self._areas
            for begins in area["paths"]
            if path == begins or path.startswith(f"{begins}/")
        }
        assert fitting, f"no area in api.yaml has {path}"
        return str(fitting[max(fitting, key=len)])

    def parameter(self, model: str, name: str) -> dict[str, str]:
        """The description of a parameter that a field of a request fills, as a part of the document."""
        said = self.fields.get(f"{model}.{name}") or self.fields.get(name)
        return {"description": said} if said else {}

    def describe(self, definitions: Mapping[str, Any], requests: Iterable[Any]) -> None:
        """Give every property of the definitions that says nothing of itself its words. Those that ``requests`` lead to are
        fields of requests, the others of answers."""
        asked: set[str] = set()
        for request in requests:
            asked |= _reached(request, definitions, asked)
        for model, schema in definitions.items():
            said = self.fields if model in asked else self._answers
            for name, shape in _properties(schema):
                known = said.get(f"{model}.{name}") or said.get(name)
                if known and "description" not in shape:
                    shape["description"] = known


def _properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Those of a schema and of what it holds without a name of its own."""
    for part in schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ():
        yield from _properties(part)
    if isinstance(schema, dict) and isinstance(schema.get("properties"), dict):
        yield from schema["properties"].items()


def _reached(schema: Any, definitions: Mapping[str, Any], known: set[str]) -> set[str]:
    """The names of the definitions that a schema leads to, beside those that are known."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            name = str(part.get("$ref", "")).removeprefix(_COMPONENTS)
            if name in definitions and name not in known | found:
                found.add(name)
                waiting.append(definitions[name])
            waiting += part.values()
    return found
