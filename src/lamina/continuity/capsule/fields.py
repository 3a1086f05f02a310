"""What fields a capsule has, read off the types of its shape: for whoever walks a capsule, so that none is forgotten.

A field that is added to the shape is normalised, kept by a merge, compared and stamped by these tables alone. Where the
contract fixes an order or a selection, a module keeps its own list, and ``tests/tidy`` asks that it names every field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lamina.continuity.capsule.shape import (
    Capsule,
    NegativeDecision,
    RationaleEntry,
    StablePreference,
    Stamped,
)
from lamina.kernel.wire import Text

__all__ = [
    "ENTRIES",
    "REQUIRED_LISTS",
    "STRING_LISTS",
    "Entries",
    "fields_of",
    "lists_of",
    "optional_fields_of",
]


def fields_of(path: str = "") -> tuple[str, ...]:
    """The fields of the object at a dotted path, in the order of the shape; those of the capsule without a path.

    Empty for what is no object.
    """
    return tuple(_fields(path))


def optional_fields_of(path: str = "") -> tuple[str, ...]:
    """Those that may be left out."""
    return tuple(name for name, field in _fields(path).items() if not field.is_required())


def lists_of(path: str) -> tuple[str, ...]:
    """Those that are lists."""
    return tuple(name for name, field in _fields(path).items() if get_origin(field.annotation) is list)


def _fields(path: str) -> Mapping[str, FieldInfo]:
    fields: Mapping[str, FieldInfo] = Capsule.model_fields
    for name in path.split(".") if path else ():
        annotation = fields[name].annotation
        choices = () if get_origin(annotation) is list else (annotation, *get_args(annotation))
        parts = [each for each in choices if isinstance(each, type)]
        fields = next((each.model_fields for each in parts if issubclass(each, BaseModel)), {})
    return fields


_STATE = _fields("continuity")

STRING_LISTS: Final = tuple(name for name, field in _STATE.items() if field.annotation == list[Text])
"""The lists of text in ``continuity``, in the order in which they are normalised."""

REQUIRED_LISTS: Final = tuple(name for name in STRING_LISTS if _STATE[name].is_required())
"""Those that every capsule has, be it empty."""


@dataclass(frozen=True, slots=True)
class Entries:
    """A list of structured entries: where it stands, of what type, and which texts of an entry are stripped of blanks.

    The first of ``stripped`` is what an entry is told by. ``named`` is what the stripping is called in an answer.
    """

    path: str
    model: type[Stamped]
    stripped: tuple[str, ...]
    named: str

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def identity(self) -> str:
        """The field by which an entry is known again."""
        return self.stripped[0]

    @property
    def fields(self) -> tuple[str, ...]:
        """What an entry says: all but its times."""
        return tuple(name for name in self.model.model_fields if name not in Stamped.model_fields)

    def holder(self, capsule: dict[str, Any]) -> dict[str, Any]:
        """The object of a capsule in which the list stands."""
        for name in self.path.split(".")[:-1]:
            capsule = capsule[name]
        return capsule


ENTRIES: Final = (
    Entries("stable_preferences", StablePreference, ("tag", "content"), "stable_preferences"),
    Entries("continuity.rationale_entries", RationaleEntry, ("tag",), "rationale_entries.tag"),
    Entries(
        "continuity.negative_decisions", NegativeDecision, ("decision", "rationale"), "negative_decisions"
    ),
)
"""Every list of structured entries, in the order in which they are normalised."""
