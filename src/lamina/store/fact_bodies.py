"""Bodies of facts in few bytes. They are text, since statements look into them and nothing packs them: what a statement looks for has a
name, what most facts say is not written, and the rest is a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lamina.kernel.events import Trust
from lamina.kernel.records import Fact

__all__ = ["fact_body", "spelled"]

_USUAL: Final = {"negated": False, "external": False, "supersedes": None, "kind": "event"}
_OBJECT_ID: Final = 4
_IN_ITS_COLUMN: Final = 1
"""In the place of an object's id, which ``object_key`` has."""
_TRUSTS: Final = tuple(Trust)
"""Their order is stored."""
_RULES: Final = "lamina-rules/"
"""Before the version of an extractor, which is kept as a number."""
_AN_ENTITY: Final = 0
"""In the place of what a subject is."""
_A_TEXT, _NAMED = 0, 1
"""In the place of what an object is: a text, which follows where it is not the one in ``object_key``, or an entity, whose name follows and
whose id is there. All that follows is said of others, as earlier releases did of these."""
_VERSIONS: Final = frozenset(str(number) for number in range(100))


def fact_body(fact: Fact, claimed: Mapping[str, Any]) -> dict[str, Any]:
    """What is written of a fact beside its columns. ``claimed`` is what it says as every claim does, and what else has a name."""
    said = {**claimed, "kind": fact.kind, "external": fact.external, "supersedes": fact.supersedes}
    name, kind = said.pop("subject")
    said["told"] = [
        fact.event_id,
        fact.text,
        _short_extractor(fact.extractor),
        _TRUSTS.index(fact.trust),
        name,
        _AN_ENTITY if kind == "entity" else kind,
        *_short_object(said.pop("object"), fact.object.key),
    ]
    return {key: value for key, value in said.items() if key not in _USUAL or value != _USUAL[key]}


def spelled(said: dict[str, Any], object_key: str | None) -> dict[str, Any]:
    """The body of a fact with the names that earlier releases wrote, and other bodies as they are."""
    told = said.pop("told", None)
    if told is None:
        return said
    said["event_id"], said["text"], extractor, trust, name, kind, *value = told
    said.setdefault("kind", _USUAL["kind"])
    said["extractor"] = extractor if isinstance(extractor, str) else f"{_RULES}{extractor}"
    said["subject"] = (name, "entity" if kind == _AN_ENTITY else kind)
    said["object"] = _whole_object(value, object_key)
    said["trust"] = _TRUSTS[trust].value
    return said


def _short_extractor(name: str) -> str | int:
    version = name.removeprefix(_RULES)
    return int(version) if name != version and version in _VERSIONS else name


def _short_object(value: list[Any], object_key: str) -> list[Any]:
    kind, said, datatype, unit, entity_id, name = value
    match (kind, datatype, unit, entity_id, name):
        case ("literal", "string", None, None, None) if isinstance(said, str):
            return [_A_TEXT] if said == object_key else [_A_TEXT, said]
        case ("entity", None, None, str(), str()) if said is None:
            return [_NAMED, name]
    if entity_id is not None:
        value = [*value[:_OBJECT_ID], _IN_ITS_COLUMN, name]
    return _without_end(value)


def _whole_object(value: list[Any], object_key: str | None) -> list[Any]:
    if value[0] == _A_TEXT:
        return ["literal", value[1] if len(value) > 1 else object_key, "string"]
    if value[0] == _NAMED:
        return ["entity", None, None, None, object_key, value[1]]
    if len(value) > _OBJECT_ID and value[_OBJECT_ID] == _IN_ITS_COLUMN:
        value[_OBJECT_ID] = object_key
    return value


def _without_end(values: Sequence[Any]) -> list[Any]:
    last = max((at for at, value in enumerate(values) if value is not None), default=-1)
    return list(values[: last + 1])
