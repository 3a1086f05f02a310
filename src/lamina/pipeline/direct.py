"""Claims that a caller states as such: content of kind ``triple`` is its own extraction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lamina.kernel.events import Event
from lamina.kernel.local import Offset, to_local
from lamina.language.entities import normalise_name
from lamina.pipeline.extract.values import EntityRef, Extraction, LiteralValue, Span, TakenBack, Triple
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.types.stating import is_share, require_stated, stated_instant

__all__ = ["direct_extraction", "stated_value"]

_STATED_CONFIDENCE = 0.95
_NAME_MAX = 256


def direct_extraction(event: Event) -> Extraction | None:
    """The claim of a ``triple`` content: ``{subject, predicate, object}``; None when it is none.

    Subject and object are names, or objects with a ``name``; an object may also be a number, a boolean, or a
    literal of the form ``{"value": ..., "datatype": ..., "unit": ...}``. A number of a claim supersedes the last, as
    does every value of a predicate that is known to have one at a time. An object of null says that the value that
    is held holds no more. ``valid_from`` and ``valid_to`` say when the claim holds (a date is its midnight by the clock of the
    event), ``confidence`` how sure it is, ``negated`` that it is denied. Where an event of an older release has something else there, it counts
    for nothing.
    """
    content = event.content
    if content.get("kind") != "triple":
        return None
    subject, predicate = _entity(content.get("subject")), content.get("predicate")
    value = stated_value(content.get("object"))
    if subject is None or not isinstance(predicate, str) or not predicate.strip():
        return None
    name = "_".join(predicate.casefold().split())[:_NAME_MAX]
    if "object" in content and content["object"] is None:
        return Extraction(taken_back=(TakenBack(subject, name),))
    if value is None:
        return None
    known = PREDICATES.get(name)
    valid_from, valid_to = _validity(content, event.offset)
    triple = Triple(
        subject=subject,
        predicate=name,
        object=value,
        kind="attribute",
        confidence=_confidence(content.get("confidence")),
        evidence=Span(0, 0),
        valid_from=valid_from,
        valid_to=valid_to,
        negated=content.get("negated") is True,
        single_valued=(known is not None and known.single_valued)
        or (isinstance(value, LiteralValue) and value.datatype in ("integer", "number", "boolean")),
    )
    return Extraction(triples=(triple,))


def _validity(content: Mapping[str, Any], offset: Offset | None) -> tuple[datetime | None, datetime | None]:
    try:
        require_stated({name: content.get(name) for name in ("valid_from", "valid_to")})
    except ValueError:
        return None, None
    start, end = (
        None if (said := content.get(name)) is None else stated_instant(said, offset)
        for name in ("valid_from", "valid_to")
    )
    if start is not None and end is not None and start >= end:
        # A day of that clock begins behind an end with a time of its own: by that it was over.
        start = end - 1
    return (
        None if start is None else to_local(start, offset),
        None if end is None else to_local(end, offset),
    )


def _confidence(value: Any) -> float:
    return float(value) if is_share(value) else _STATED_CONFIDENCE


def _entity(value: Any) -> EntityRef | None:
    name = value.get("name") if isinstance(value, dict) else value
    if not isinstance(name, str) or not name.strip():
        return None
    return EntityRef(name[:_NAME_MAX], normalise_name(name[:_NAME_MAX]), "thing")


def stated_value(value: Any) -> EntityRef | LiteralValue | None:
    """The value behind JSON that says one, None for what says none."""
    if isinstance(value, dict) and "value" in value:
        literal = stated_value(value["value"])
        unit = value.get("unit")
        if isinstance(literal, EntityRef):
            return LiteralValue("string", literal.name)
        if literal is not None and isinstance(unit, str):
            return LiteralValue("quantity", literal.value, unit[:64])
        return literal
    if isinstance(value, bool):
        return LiteralValue("boolean", value)
    if isinstance(value, int):
        return LiteralValue("integer", value)
    if isinstance(value, float):
        return LiteralValue("number", value)
    return _entity(value)
