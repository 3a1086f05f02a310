"""Filters: a tree of AND, OR and NOT over conditions such as ``{"confidence": {"gte": 0.6}}`` (seed 002, 8.3).

A condition says yes or no of an item, or nothing where the item's layer has no such field: a filter on confidence says nothing of
events. What says nothing is left out of AND, OR and NOT, and an item of which nothing is said stays. A field that has no value
says no. What only events have (session, labels, who said it) is asked of the events that a record rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.canonical import not_finite
from lamina.kernel.events import Event
from lamina.kernel.records import Belief, Concept, Episode, Fact, Record

__all__ = ["Filter", "parse_filter"]

Values = tuple[Any, ...]  # Any: strings, numbers or booleans, by the field's kind
Test = Callable[["_Look"], bool | None]


@dataclass(frozen=True, slots=True)
class _Look:
    """What a condition reads: an event, or a record and one of the events behind it."""

    record: Record | None
    event: Event | None


@dataclass(frozen=True, slots=True)
class _Field:
    """How a field is read, of events, of records of some layers, or of both. None among the values is no value."""

    event: Callable[[Event], Values] | None = None
    record: Callable[[Any], Values] | None = None  # Any: one of ``layers``
    layers: tuple[type[Record], ...] = ()
    kind: type[str] | type[float] | type[bool] = str

    def read(self, look: _Look) -> Values | None:
        """The values; None where neither the item nor what it rests on has the field."""
        found: Values = ()
        own = look.record is not None and isinstance(look.record, self.layers)
        if not own and (self.event is None or look.event is None):
            return None
        if own and self.record is not None:
            found += self.record(look.record)
        if self.event is not None and look.event is not None:
            found += self.event(look.event)
        return tuple(value for value in found if value is not None)

    def takes(self, value: Any) -> bool:
        """Whether a value is of the field's kind."""
        if self.kind is float:
            return isinstance(value, int | float) and not isinstance(value, bool)
        return isinstance(value, self.kind)


_CLAIMS: Final = (Fact, Belief)
_FIELDS: Final[Mapping[str, _Field]] = {
    "observed_actor": _Field(event=lambda event: (event.observed_actor.id,)),
    "actor": _Field(event=lambda event: (event.observed_actor.id,)),
    "caller": _Field(event=lambda event: (event.caller,)),
    "subject": _Field(
        event=lambda event: (event.subject.id,),
        record=lambda claim: (claim.subject.id, claim.subject.name),
        layers=_CLAIMS,
    ),
    "modality": _Field(event=lambda event: (event.modality,)),
    "session": _Field(
        event=lambda event: (event.session,), record=lambda record: (record.session,), layers=(Episode,)
    ),
    "labels": _Field(event=lambda event: tuple(event.context.labels)),
    "intent": _Field(event=lambda event: (event.context.intent,)),
    "role": _Field(event=lambda event: (event.content.get("role"),)),
    "trust": _Field(event=lambda event: (event.origin.trust.value,)),
    "scope": _Field(
        event=lambda event: (str(event.scope),), record=lambda record: (str(record.scope),), layers=(Record,)
    ),
    "confidence": _Field(record=lambda record: (record.confidence,), layers=(Record,), kind=float),
    "predicate": _Field(record=lambda claim: (claim.predicate,), layers=_CLAIMS),
    "object": _Field(record=lambda claim: (claim.object.text,), layers=_CLAIMS),
    "kind": _Field(record=lambda fact: (fact.kind,), layers=(Fact,)),
    "extractor": _Field(record=lambda fact: (fact.extractor,), layers=(Fact,)),
    "stance": _Field(record=lambda record: (record.stance.value,), layers=(Belief, Concept)),
    "topic": _Field(record=lambda concept: (concept.topic,), layers=(Concept,)),
    "name": _Field(record=lambda record: (record.name,), layers=(Episode, Concept)),
    "sealed": _Field(record=lambda episode: (episode.sealed,), layers=(Episode,), kind=bool),
}
_OWN: Final = frozenset({"scope"})
"""Fields of events that no record asks of the events behind it: it has its own."""


class Filter:
    """A parsed filter. ``names`` lists what it tests, as ``confidence.gte``, for the trail.

    ``reads_events`` when a record cannot be judged without the events that it rests on.
    """

    def __init__(self, test: Test | None, names: tuple[str, ...]) -> None:
        self._test = test
        self.names = names
        fields = {name.rpartition(".")[0] for name in names} - _OWN
        self.reads_events = any(_FIELDS[name].event is not None for name in fields)

    def __bool__(self) -> bool:
        return self._test is not None

    def passes(self, item: Event | Record, behind: Collection[Event] = ()) -> bool:
        """Whether the item stays. ``behind`` are the events that a record rests on, as far as they are shown.

        One of them suffices; of a concept, which is in the words of all of them, each has to pass.
        """
        if isinstance(item, Event):
            return self._keeps(_Look(None, item))
        if not self.reads_events:
            return self._keeps(_Look(item, None))
        kept = [self._keeps(_Look(item, event)) for event in behind]
        return bool(kept) and (all(kept) if isinstance(item, Concept) else any(kept))

    def _keeps(self, look: _Look) -> bool:
        return self._test is None or self._test(look) is not False


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
    return _all([_one(key, value, names, depth) for key, value in tree.items()])


def _one(key: str, value: Any, names: list[str], depth: int) -> Test:
    if key in ("AND", "OR"):
        if not isinstance(value, list) or not value:
            raise _wrong(f"{key} takes a list of conditions")
        parts = [_parse(part, names, depth + 1) for part in value]
        return _all(parts) if key == "AND" else _any(parts)
    if key == "NOT":
        return _not(_parse(value, names, depth + 1))
    if key not in _FIELDS:
        raise _wrong(f"{key[:64]!r} is not a field; known: {', '.join(_FIELDS)}")
    if not isinstance(value, Mapping):
        value = {"eq": value}
    if not value:
        raise _wrong(f"{key} needs a condition")
    return _all([_condition(key, name, wanted, names) for name, wanted in value.items()])


def _condition(name: str, operator: str, wanted: Any, names: list[str]) -> Test:
    if operator not in _OPERATORS:
        raise _wrong(f"{operator[:64]!r} is not a comparison; known: {', '.join(_OPERATORS)}")
    names.append(f"{name}.{operator}")
    if not_finite(wanted) is not None:
        raise _wrong(f"{name}.{operator} holds a number that is not finite")
    field, compare = _FIELDS[name], _OPERATORS[operator]
    if operator == "in" and not (isinstance(wanted, list) and wanted):
        raise _wrong(f"{name}.in takes a list of values", hint=f'write {{"{name}": {{"in": [...]}}}}')
    if operator != "in" and isinstance(wanted, list):
        raise _wrong(
            f"{name}.{operator} takes one value", hint=f'for several write {{"{name}": {{"in": [...]}}}}'
        )
    if not all(field.takes(each) for each in (wanted if operator == "in" else [wanted])):
        raise _wrong(f"{name} is {_KINDS[field.kind]}", hint=f"compare {name} with {_KINDS[field.kind]}")
    if operator in _ORDERED and field.kind is bool:
        raise _wrong(f"{name}.{operator} puts true and false in an order", hint=f"{name} takes eq and ne")

    def test(look: _Look) -> bool | None:
        values = field.read(look)
        if values is None:
            return None
        if operator == "ne":
            return wanted not in values
        return any(compare(value, wanted) for value in values)

    return test


def _all(parts: Sequence[Test]) -> Test:
    return lambda look: _joined(parts, look, all)


def _any(parts: Sequence[Test]) -> Test:
    return lambda look: _joined(parts, look, any)


def _joined(parts: Sequence[Test], look: _Look, join: Callable[[list[bool]], bool]) -> bool | None:
    said = [each for part in parts if (each := part(look)) is not None]
    return join(said) if said else None


def _not(part: Test) -> Test:
    def test(look: _Look) -> bool | None:
        said = part(look)
        return None if said is None else not said

    return test


_ORDERED: Final = ("gte", "lte", "gt", "lt")
_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": lambda value, wanted: bool(value == wanted),
    "ne": lambda value, wanted: bool(value != wanted),
    "in": lambda value, wanted: value in wanted,
    "gte": lambda value, wanted: bool(value >= wanted),
    "lte": lambda value, wanted: bool(value <= wanted),
    "gt": lambda value, wanted: bool(value > wanted),
    "lt": lambda value, wanted: bool(value < wanted),
}
_KINDS: Final[Mapping[type, str]] = {str: "a string", float: "a number", bool: "true or false"}


def _wrong(reason: str, hint: str | None = None) -> Invalid:
    return Invalid(
        "INVALID_FILTER", f"the filter cannot be read: {reason}", hint=hint, details={"field": "filters"}
    )
