"""What a language model names in a claim, as rules have it: predicates, values and the words for both."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from lamina.language.entities import normalise_name, possessive
from lamina.pipeline.extract.inflect import base_form, in_past, third_person
from lamina.pipeline.extract.values import EntityRef, EntityType, LiteralValue, Triple
from lamina.pipeline.extract.vocabulary import PREDICATES
from lamina.pipeline.extract.wording import display_name
from lamina.pipeline.loops.matching import key_terms
from lamina.pipeline.readings.quoting import clean

__all__ = ["Verb", "is_about_value", "predicate_of", "restated_as", "value_of", "verb_of", "without_phrase"]

_PREDICATE_CHARS_MAX: Final = 64
_NO_PREDICATE: Final = re.compile(r"[^\w]+")
_AS_THEY_ARE: Final = frozenset({"is", "was", "are", "were", "has", "had"})
_MODALS: Final = frozenset({"can", "could", "will", "would", "may", "might", "should", "must"})


def predicate_of(name: str) -> str:
    """A name that a model gives as a predicate: in lower case, with underscores; empty where it has no letters."""
    return _NO_PREDICATE.sub("_", clean(name).casefold()).strip("_")[:_PREDICATE_CHARS_MAX]


def without_phrase(predicate: str, value: str) -> str:
    """A value without the words that its predicate is worded with: of a team's size of "12 people" the 12."""
    known = PREDICATES.get(predicate)
    behind = "" if known is None else known.phrase.partition("{}")[2]
    return (value.removesuffix(behind) or value) if behind else value


class Verb(NamedTuple):
    """A predicate that begins with the plain form of a verb, and whether it was given in the past."""

    predicate: str
    past: bool


def verb_of(predicate: str) -> Verb | None:
    """A free predicate as rules have it, by the plain form of its verb; None where it begins with none."""
    first, _, rest = predicate.partition("_")
    base = base_form(first)
    if first in _AS_THEY_ARE:
        return Verb(predicate, past=False)
    past = in_past(base) == first != base
    if not past and third_person(base) != first:
        return None
    return Verb(f"{base}_{rest}".strip("_"), past=past)


def restated_as(subject: EntityRef, predicate: str, value: str, *, negated: bool) -> str:
    """A claim whose predicate is no verb: "Aoife's driving test date is 8 December", "Ravi can not smell freesias"."""
    first, _, rest = predicate.partition("_")
    name, no = display_name(subject), " not" if negated else ""
    if first in _MODALS:
        return f"{name} {first}{no} {rest.replace('_', ' ')} {value}"
    return f"{possessive(name)} {predicate.replace('_', ' ')} is{no} {value}"


def value_of(value: str, object_type: EntityType | None) -> EntityRef | LiteralValue:
    """A value of a predicate that is known to have a named thing, or words."""
    if object_type is not None:
        return EntityRef(value, normalise_name(value), object_type)
    return LiteralValue("string", value)


def is_about_value(triple: Triple, terms: frozenset[str]) -> bool:
    """Whether the value of a claim lies within the key terms of another."""
    value = triple.object
    words = key_terms(value.name if isinstance(value, EntityRef) else str(value.value))
    return bool(words) and words <= terms
