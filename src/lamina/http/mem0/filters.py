"""Mem0's filters: conditions on ids, times, categories, metadata and words, joined by AND, OR and NOT.

A condition on a field that Mem0 does not know is one on the key of that name in the metadata, as its open-source server reads it. ``*``
asks for any value. As there, ``ne`` holds where there is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina import limits
from lamina.errors import Invalid
from lamina.http.mem0.entities import FIELDS, require_id
from lamina.http.mem0.memories import Mem0Memory
from lamina.http.mem0.times import bound
from lamina.kernel.time import Instant

__all__ = ["ANY", "Homes", "MemoryFilter", "parse_memory_filter"]

ANY: Final = "*"
Homes = tuple[Mapping[str, str], ...]
"""Alternatives of what a filter says of the ids: each names some, and ``*`` for any."""

_Test = Callable[[Mem0Memory], bool]
_JOINS: Final = {"AND": "AND", "OR": "OR", "NOT": "NOT", "$and": "AND", "$or": "OR", "$not": "NOT"}
_TIMES: Final[Mapping[str, Callable[[Mem0Memory], Instant]]] = {
    "created_at": lambda memory: memory.created_at,
    "updated_at": lambda memory: memory.updated_at,
    "timestamp": lambda memory: memory.said_at,
}
_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": lambda value, wanted: bool(value == wanted),
    "gt": lambda value, wanted: bool(value > wanted),
    "gte": lambda value, wanted: bool(value >= wanted),
    "lt": lambda value, wanted: bool(value < wanted),
    "lte": lambda value, wanted: bool(value <= wanted),
    "in": lambda value, wanted: value in wanted,
    "contains": lambda value, wanted: wanted in value,
    "icontains": lambda value, wanted: str(wanted).casefold() in str(value).casefold(),
}
_OF_IDS: Final = ("eq", "ne", "in", "nin")
_OF_TIMES: Final = ("eq", "ne", "gt", "gte", "lt", "lte")
_OF_WORDS: Final = ("contains", "icontains", "eq", "ne")
_OF_LISTS: Final = ("eq", "ne", "in", "nin", "contains", "icontains")
_OF_METADATA: Final = (*_OF_TIMES, "in", "nin", "contains", "icontains")


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """A parsed filter: which memories it lets through, and whose they can be."""

    passes: _Test
    homes: Homes


def parse_memory_filter(tree: Mapping[str, Any] | None) -> MemoryFilter:
    """The filter of a request; raises ``Invalid`` (INVALID_FILTER) that names what is wrong."""
    return _Parser().every(tree or {}, depth=0)


class _Parser:
    def __init__(self) -> None:
        self._conditions = 0

    def every(self, tree: object, depth: int) -> MemoryFilter:
        if depth > limits.FILTER_DEPTH_MAX:
            raise _wrong(f"it is nested deeper than {limits.FILTER_DEPTH_MAX}")
        if not isinstance(tree, Mapping):
            raise _wrong('each part is an object such as {"user_id": "ana"}')
        return _all([self._one(str(key), value, depth) for key, value in tree.items()])

    def _one(self, key: str, value: object, depth: int) -> MemoryFilter:
        self._conditions += 1
        if self._conditions > limits.FILTER_TERMS_MAX:
            raise _wrong(f"it has more than {limits.FILTER_TERMS_MAX} conditions")
        if key not in _JOINS:
            return _condition(key, value)
        listed = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        if not listed:
            raise _wrong(f"{key} takes a list of conditions")
        parts = [self.every(part, depth + 1) for part in listed]
        if _JOINS[key] == "AND":
            return _all(parts)
        return _any(parts) if _JOINS[key] == "OR" else _none(parts)


def _all(parts: Sequence[MemoryFilter]) -> MemoryFilter:
    homes: Homes = ({},)
    for part in parts:
        joined = [_joined(each, other) for each in homes for other in part.homes]
        homes = tuple(each for each in joined if each is not None)
        if len(homes) > limits.MEM0_SCOPES_MAX:
            raise _wrong(f"it names more than {limits.MEM0_SCOPES_MAX} users, agents, apps and runs")
    return MemoryFilter(lambda memory: all(part.passes(memory) for part in parts), homes)


def _any(parts: Sequence[MemoryFilter]) -> MemoryFilter:
    homes = tuple(each for part in parts for each in part.homes)
    return MemoryFilter(lambda memory: any(part.passes(memory) for part in parts), homes)


def _none(parts: Sequence[MemoryFilter]) -> MemoryFilter:
    return MemoryFilter(lambda memory: not any(part.passes(memory) for part in parts), ({},))


def _joined(one: Mapping[str, str], other: Mapping[str, str]) -> Mapping[str, str] | None:
    """Both at once; None where they name different values of a field."""
    found = dict(one)
    for field, value in other.items():
        held = found.get(field, ANY)
        if ANY not in (held, value) and held != value:
            return None
        found[field] = value if held == ANY else held
    return found


def _condition(field: str, value: object) -> MemoryFilter:
    if field in FIELDS:
        return _on_id(field, value)
    anywhere: Homes = ({},)
    if field in _TIMES:
        read = _TIMES[field]
        compared = {name: bound(each, field) for name, each in _operators(field, value, _OF_TIMES).items()}
        return MemoryFilter(lambda memory: _holds(read(memory), compared), anywhere)
    if field == "categories":
        listed = _operators(field, value, _OF_LISTS)
        return MemoryFilter(lambda memory: _holds_of_any(memory.categories, listed), anywhere)
    if field in ("keywords", "memory", "data"):
        words = _operators(field, value, _OF_WORDS)
        return MemoryFilter(lambda memory: _holds(memory.text, words), anywhere)
    if field in ("memory_ids", "id"):
        wanted = _operators(field, value, ("eq", "in"))
        return MemoryFilter(lambda memory: _holds(memory.id, wanted), anywhere)
    if field == "metadata":
        if not isinstance(value, Mapping):
            raise _wrong('metadata takes an object such as {"source": "email"}')
        return _all([_on_metadata(str(key), each) for key, each in value.items()])
    return _on_metadata(field, value)


def _on_id(field: str, value: object) -> MemoryFilter:
    if value is None:
        return MemoryFilter(lambda memory: field not in memory.entities.named, ({},))
    if value == ANY:
        return MemoryFilter(lambda memory: field in memory.entities.named, ({field: ANY},))
    operators = _operators(field, value, _OF_IDS)
    wanted = {
        name: [require_id(field, one) for one in each] if isinstance(each, list) else require_id(field, each)
        for name, each in operators.items()
    }
    homes: list[Homes] = []
    for name, each in wanted.items():
        if name in ("eq", "in"):
            homes.append(tuple({field: one} for one in (each if isinstance(each, list) else [each])))
    found = _all([MemoryFilter(lambda _: True, each) for each in homes])
    return MemoryFilter(lambda memory: _holds(memory.entities.named.get(field), wanted), found.homes)


def _on_metadata(key: str, value: object) -> MemoryFilter:
    if value == ANY:
        return MemoryFilter(lambda memory: memory.metadata.get(key) is not None, ({},))
    wanted = _operators(key, value, _OF_METADATA)

    def passes(memory: Mem0Memory) -> bool:
        held = memory.metadata.get(key)
        return _holds_of_any(held, wanted) if isinstance(held, list) else _holds(held, wanted)

    return MemoryFilter(passes, ({},))


def _operators(field: str, value: object, known: Sequence[str]) -> dict[str, Any]:
    """The comparisons of a condition; a bare value is to be equal, a bare list to have it."""
    if not isinstance(value, Mapping):
        value = {"in" if isinstance(value, list) else "eq": value}
    for name, wanted in value.items():
        if name not in known:
            raise _wrong(
                f"{str(name)[:64]!r} is no comparison of {field[:64]}", hint=f"it takes {', '.join(known)}"
            )
        if (name in ("in", "nin")) != isinstance(wanted, list):
            raise _wrong(f"{field[:64]}.{name} takes {'a list' if name in ('in', 'nin') else 'one value'}")
    if not value:
        raise _wrong(f"{field[:64]} needs a condition")
    return dict(value)


def _holds(
    value: Any, operators: Mapping[str, Any]
) -> bool:  # Any: text, a number or an instant, by the field
    return all(_compared(value, name, wanted) for name, wanted in operators.items())


def _holds_of_any(values: Any, operators: Mapping[str, Any]) -> bool:  # Any: a list of JSON scalars
    return all(
        wanted not in values
        if name == "ne"
        else not any(each in wanted for each in values)
        if name == "nin"
        else values == wanted or wanted in values
        if name == "eq"
        else any(_compared(each, name, wanted) for each in values)
        for name, wanted in operators.items()
    )


def _compared(value: Any, name: str, wanted: Any) -> bool:  # Any: as above
    if name == "ne":
        return bool(value != wanted)
    if name == "nin":
        return value not in wanted
    if value is None:
        return False
    try:
        return _COMPARE[name](value, wanted)
    except TypeError:  # of another kind than what it is compared with
        return False


def _wrong(reason: str, hint: str | None = None) -> Invalid:
    return Invalid("INVALID_FILTER", f"filters: {reason}", hint=hint, details={"field": "filters"})
