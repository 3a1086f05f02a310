"""Fields that a request has and no type knows. The contract drops them; the answer says which, or they would be lost unseen.

Names are told, shortened and few of them; values never. What the server sets itself, such as a verification state, is a
known field and not told of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any, Final, get_args

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, PrivateAttr, model_validator

from lamina import limits

__all__ = ["Noting", "Unknown", "drop_warnings", "unknown_fields"]

_PLACE = re.compile(r"\[\d+\]")
_ALIKE: Final = 0.75
"""How much of two names must agree for one to be offered for the other; ``difflib`` offers from 0.6, which is too far off here."""


class Noting(BaseModel):
    """A request or a part of one: unknown fields are dropped, and their names remembered."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    _unknown: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _note(cls, data: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:  # Any: whatever came in
        made = handler(data)
        if isinstance(data, dict) and not data.keys() <= cls.model_fields.keys():
            made._unknown = tuple(str(name) for name in data if name not in cls.model_fields)
        return made


@dataclass(frozen=True, slots=True)
class Unknown:
    """The dotted name of a field that was dropped, and of the known one that was perhaps meant."""

    field: str
    nearest: str | None


def unknown_fields(request: Noting) -> Iterator[Unknown]:
    """What was dropped of a request, outermost first."""
    for at, name, part in _noted(request, ""):
        yield Unknown(_shown(at + name), _nearest(at, name, type(part), type(request)))


def drop_warnings(request: Noting, path: str) -> list[dict[str, Any]]:
    """A warning for each field that was dropped of a write to the document at ``path``; beyond a bound, one for the rest."""
    most = limits.UNKNOWN_FIELDS_NAMED_MAX
    warnings = [_warning(each, path) for each in islice(unknown_fields(request), most)]
    rest = sum(1 for _ in _noted(request, "")) - len(warnings)
    if rest:
        detail = f"{rest} more unknown fields were not stored"
        warnings.append(_object("unknown_fields_dropped", detail, path) | {"count": rest})
    return warnings


def _warning(unknown: Unknown, path: str) -> dict[str, Any]:
    meant = f"; the nearest is {unknown.nearest}" if unknown.nearest else ""
    detail = f"{unknown.field} is no known field and was not stored{meant}"
    more = {"field": unknown.field, "nearest": unknown.nearest}
    return _object("unknown_field_dropped", detail, path) | more


def _object(code: str, detail: str, path: str) -> dict[str, Any]:
    return {"code": code, "detail": detail, "path": path, "segment_id": None}


def _noted(value: Any, at: str) -> Iterator[tuple[str, str, Noting]]:
    """Where, what name, and of which part."""
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _noted(item, f"{at.removesuffix('.')}[{place}].")
    if not isinstance(value, Noting):
        return
    for name in value._unknown:
        yield at, name, value
    for name in type(value).model_fields:
        yield from _noted(getattr(value, name), f"{at}{name}.")


def _nearest(at: str, name: str, part: type[BaseModel], whole: type[BaseModel]) -> str | None:
    """A name like it in the same part; else the very name where another part has it."""
    if len(name) > limits.UNKNOWN_FIELD_LENGTH_MAX:
        return None
    close = get_close_matches(name, part.model_fields, n=1, cutoff=_ALIKE)
    if close:
        return _PLACE.sub("[]", at) + close[0]
    return next((path for path in _paths(whole) if path.rpartition(".")[2] == name), None)


@lru_cache
def _paths(model: type[BaseModel], at: str = "", /) -> tuple[str, ...]:
    """The dotted names of every field of a request, in the order of its type."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        found.append(at + name)
        for inner, repeated in _models(field.annotation):
            found += _paths(inner, f"{at}{name}{'[]' if repeated else ''}.")
    return tuple(found)


def _models(annotation: Any, repeated: bool = False) -> Iterator[tuple[type[BaseModel], bool]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, repeated
    for inner in get_args(annotation):
        yield from _models(inner, repeated or getattr(annotation, "__origin__", None) is list)


def _shown(name: str) -> str:
    most = limits.UNKNOWN_FIELD_LENGTH_MAX
    text = "".join(sign if sign.isprintable() else "?" for sign in name[:most])
    return text if len(name) <= most else f"{text[: most - 1]}…"
