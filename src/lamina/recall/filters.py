"""Filters: a tree of AND, OR and NOT over conditions such as ``{"confidence": {"gte": 0.6}}`` (seed 002, 8.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.canonical import not_finite
from lamina.kernel.events import Event
from lamina.kernel.records import Belief, Concept, Episode, Fact, Record

__all__ = ["Filter", "parse_filter"]

Item = Event | Record
Test = Callable[[Item], bool]


def _subject(item: Item) -> Any:
    if isinstance(item, Event):
        return item.subject.id
    return item.subject.id if isinstance(item, Fact | Belief) else None


# Each returns None where the layer has no such field: a condition on it then lets the item pass, since a
# filter on confidence says nothing of events.
_FIELDS: Mapping[str, Callable[[Item], Any]] = {
    "observed_actor": lambda item: item.observed_actor.id if isinstance(item, Event) else None,
    "actor": lambda item: item.observed_actor.id if isinstance(item, Event) else None,
    "caller": lambda item: item.caller if isinstance(item, Event) else None,
    "subject": _subject,
    "modality": lambda item: item.modality if isinstance(item, Event) else None,
    "session": lambda item: item.session if isinstance(item, Event | Episode) else None,
    "labels": lambda item: item.context.labels if isinstance(item, Event) else None,
    "intent": lambda item: item.context.intent if isinstance(item, Event) else None,
    "role": lambda item: item.content.get("role") if isinstance(item, Event) else None,
    "trust": lambda item: item.origin.trust.value if isinstance(item, Event) else None,
    "scope": lambda item: item.scope,
    "confidence": lambda item: item.confidence if isinstance(item, Record) else None,
    "predicate": lambda item: item.predicate if isinstance(item, Fact | Belief) else None,
    "object": lambda item: item.object.text if isinstance(item, Fact | Belief) else None,
    "kind": lambda item: item.kind if isinstance(item, Fact) else None,
    "extractor": lambda item: item.extractor if isinstance(item, Fact) else None,
    "stance": lambda item: item.stance.value if isinstance(item, Belief | Concept) else None,
    "topic": lambda item: item.topic if isinstance(item, Concept) else None,
    "name": lambda item: item.name if isinstance(item, Episode | Concept) else None,
    "sealed": lambda item: item.sealed if isinstance(item, Episode) else None,
}


class Filter:
    """A parsed filter. ``names`` lists what it tests, as ``confidence.gte``, for the trail."""

    def __init__(self, test: Test | None, names: tuple[str, ...]) -> None:
        self._test = test
        self.names = names

    def __bool__(self) -> bool:
        return self._test is not None

    def passes(self, item: Item) -> bool:
        """Whether the item stays."""
        return self._test is None or self._test(item)


def parse_filter(tree: Mapping[str, Any]) -> Filter:
    """The filter of a request; raises ``Invalid`` (INVALID_FILTER) that names what is wrong."""
    if not tree:
        return Filter(None, ())
    names: list[str] = []
    test = _parse(tree, names, depth=0)
    return Filter(test, tuple(dict.fromkeys(names)))


def _parse(tree: Any, names: list[str], depth: int) -> Test:
    if depth > limits.FILTER_DEPTH_MAX or len(names) > limits.FILTER_TERMS_MAX:
        raise _wrong(
            f"at most {limits.FILTER_DEPTH_MAX} levels and {limits.FILTER_TERMS_MAX} conditions are allowed"
        )
    if not isinstance(tree, Mapping) or not tree:
        raise _wrong('each part is an object such as {"confidence": {"gte": 0.6}}')
    tests = [_one(key, value, names, depth) for key, value in tree.items()]
    return lambda item: all(test(item) for test in tests)


def _one(key: str, value: Any, names: list[str], depth: int) -> Test:
    if key in ("AND", "OR"):
        if not isinstance(value, list) or not value:
            raise _wrong(f"{key} takes a list of conditions")
        parts = [_parse(part, names, depth + 1) for part in value]
        if key == "AND":
            return lambda item: all(part(item) for part in parts)
        return lambda item: any(part(item) for part in parts)
    if key == "NOT":
        inner = _parse(value, names, depth + 1)
        return lambda item: not inner(item)
    if key not in _FIELDS:
        raise _wrong(f"{key[:64]!r} is not a field; known: {', '.join(_FIELDS)}")
    if not isinstance(value, Mapping):
        value = {"eq": value}
    if not value:
        raise _wrong(f"{key} needs a condition")
    conditions = [_condition(key, name, wanted, names) for name, wanted in value.items()]
    return lambda item: all(condition(item) for condition in conditions)


def _condition(field: str, operator: str, wanted: Any, names: list[str]) -> Test:
    if operator not in _OPERATORS:
        raise _wrong(f"{operator[:64]!r} is not a comparison; known: {', '.join(_OPERATORS)}")
    names.append(f"{field}.{operator}")
    if not_finite(wanted) is not None:
        raise _wrong(f"{field}.{operator} holds a number that is not finite")
    if operator == "in" and not (isinstance(wanted, list) and wanted):
        raise _wrong(f"{field}.in takes a list of values")
    if operator in ("gte", "lte", "gt", "lt") and (
        isinstance(wanted, bool) or not isinstance(wanted, int | float | str)
    ):
        raise _wrong(f"{field}.{operator} takes a number or a string")
    read, compare = _FIELDS[field], _OPERATORS[operator]

    def test(item: Item) -> bool:
        found = read(item)
        if found is None:
            return True
        values: Collection[Any] = found if isinstance(found, tuple) else (found,)
        return any(compare(value, wanted) for value in values)

    return test


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(value: Any, wanted: Any) -> bool:
        comparable = isinstance(value, str) == isinstance(wanted, str)
        return comparable and compare(value, wanted)

    return test


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, wanted: bool(value == wanted),
    "ne": lambda value, wanted: bool(value != wanted),
    "in": lambda value, wanted: value in wanted,
    "gte": _ordered(lambda value, wanted: bool(value >= wanted)),
    "lte": _ordered(lambda value, wanted: bool(value <= wanted)),
    "gt": _ordered(lambda value, wanted: bool(value > wanted)),
    "lt": _ordered(lambda value, wanted: bool(value < wanted)),
}


def _wrong(reason: str) -> Invalid:
    return Invalid("INVALID_FILTER", f"the filter cannot be read: {reason}", details={"field": "filters"})
