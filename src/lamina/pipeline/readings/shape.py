"""The shape of an answer about a turn, as a model is asked for it and as far as it is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lamina import limits
from lamina.models.json_answers import json_object_in

__all__ = [
    "SCHEMA",
    "SHARED_SCHEMA",
    "AnsweredFact",
    "AnsweredIdentity",
    "AnsweredLoop",
    "AnsweredPointer",
    "answers_by_turn",
    "items",
    "json_in",
    "object_in",
]


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AnsweredFact(_Item):
    """A claim of the turn."""

    subject: str
    predicate: str
    object: str
    polarity: Literal["positive", "negative"]
    modality: Literal["asserted", "planned", "hypothetical", "quoted"]
    quote: str


class AnsweredLoop(_Item):
    """What the turn leaves open."""

    type: Literal["commitment", "decision", "friction", "habit", "thread"]
    text: str
    quote: str
    when: str | None


class AnsweredPointer(_Item):
    """What the turn says of an open thing: ``about`` is its ref, or its words."""

    about: str
    quote: str


class AnsweredIdentity(_Item):
    """Who the person is."""

    slot: Literal[
        "name", "home", "from", "age", "birthday", "occupation", "employer", "pronouns", "relationship"
    ]
    value: str
    quote: str


class _Loops(_Item):
    new: list[AnsweredLoop]
    reinforced: list[AnsweredPointer]
    completed: list[AnsweredPointer]
    dropped: list[AnsweredPointer]


class _Answer(_Item):
    facts: list[AnsweredFact]
    loops: _Loops
    identity: list[AnsweredIdentity]


class _OfTurn(_Answer):
    n: int


class _Shared(_Item):
    turns: list[_OfTurn]


SCHEMA: Final[Mapping[str, Any]] = _Answer.model_json_schema()  # Any: JSON Schema
SHARED_SCHEMA: Final[Mapping[str, Any]] = _Shared.model_json_schema()  # Any: JSON Schema
"""Of an answer about several turns."""

_Shape = TypeVar("_Shape", bound=_Item)


def object_in(text: str) -> dict[str, Any] | None:  # Any: JSON, read item by item
    """The JSON object of an answer; None where it is no whole one of the three parts.

    An answer that lacks a part was cut short or is about something else, and what it lacks would read as if nothing were there.
    """
    answer = json_in(text)
    return answer if answer is not None and _is_whole(answer) else None


def answers_by_turn(text: str) -> dict[int, dict[str, Any]] | None:  # Any: as above
    """The whole ones of the answers in one about several turns, by their numbers; None where it is none."""
    answer = json_in(text)
    turns = None if answer is None else answer.get("turns")
    if not isinstance(turns, list):
        return None
    whole = [each for each in turns if isinstance(each, dict) and _is_whole(each)]
    return {each["n"]: each for each in whole if isinstance(each.get("n"), int)}


def json_in(text: str) -> dict[str, Any] | None:  # Any: JSON
    """The JSON object of an answer that is not too long; None where there is none."""
    return json_object_in(text[: limits.READING_ANSWER_CHARS_MAX])


def _is_whole(answer: Mapping[str, Any]) -> bool:
    loops = answer.get("loops")
    if not isinstance(loops, dict):
        return False
    lists = (answer.get("facts"), answer.get("identity"), *map(loops.get, _Loops.model_fields))
    return all(isinstance(each, list) for each in lists)


def items(answer: Mapping[str, Any], name: str, shape: type[_Shape]) -> list[_Shape]:
    """The items of a list of an answer that have their shape; what else they have is left out."""
    listed = answer.get(name)
    read = []
    for item in listed[: limits.READING_ITEMS_MAX] if isinstance(listed, list) else ():
        if not isinstance(item, dict):
            continue
        fields = {key: _worded(item[key]) for key in shape.model_fields if key in item}
        if "about" in shape.model_fields and "about" not in fields:
            fields["about"] = item.get("ref")
        if "when" in shape.model_fields:
            fields.setdefault("when", None)
        try:
            read.append(shape.model_validate(fields))
        except ValidationError:
            continue
    return read


def _worded(value: Any) -> Any:
    """A number as the words that it stands for: "object": 34."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
