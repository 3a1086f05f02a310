"""Whether a value fits a term, and what it then is: the canonical value, its datatype and its unit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from lamina.kernel.records import Binding
from lamina.kernel.time import is_day
from lamina.kernel.vocabularies import ActiveTerms, VocabularyTerm, predicate_key
from lamina.language.entities import normalise_name
from lamina.pipeline.extract.values import EntityRef, LiteralValue, TakenBack, Triple

__all__ = ["BoundTriple", "Misfit", "bound", "fitted", "taken_back_by_term"]

_Value = EntityRef | LiteralValue
_TEXTS = ("string", "date", "duration")


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a value is none of a term, for its unit or for itself, and what fits in words."""

    wrong: Literal["unit", "value"]
    fits: str


@dataclass(frozen=True, slots=True)
class BoundTriple:
    """A claim with the predicate and the value of a term, and how it came to have them; ``predicates`` are all that mean the term."""

    triple: Triple
    binding: Binding
    predicates: tuple[str, ...]


def bound(terms: ActiveTerms, triple: Triple) -> BoundTriple | None:
    """A claim by the vocabulary; None for one that stays free text, since no term is meant or its value is none of the term's.

    It is as sure as that it is meant at all (``TermMatch.confidence``).
    """
    match = terms.of_predicate(triple.predicate)
    if match is None:
        return None
    value = fitted(match.term, triple.object)
    if isinstance(value, Misfit):
        return None
    claim = replace(
        triple,
        predicate=match.term.id,
        object=value,
        confidence=triple.confidence * match.confidence,
        single_valued=match.term.single_valued,
    )
    binding = Binding(match.vocabulary, triple.predicate, match.confidence)
    return BoundTriple(claim, binding, (match.term.id, *map(predicate_key, match.term.synonyms)))


def taken_back_by_term(terms: ActiveTerms, taken: TakenBack) -> tuple[TakenBack, bool | None]:
    """What holds no more, by the predicate of the term that is meant, and whether that has one value; None where none is meant."""
    match = terms.of_predicate(taken.predicate)
    if match is None:
        return taken, None
    return replace(taken, predicate=match.term.id), match.term.single_valued


def fitted(term: VocabularyTerm, value: _Value) -> _Value | Misfit:
    """The value as the term has it, or why it has it not. A bare number is taken in the unit of the term."""
    unit = value.unit if isinstance(value, LiteralValue) else None
    if unit is not None and (term.unit is None or unit.casefold() != term.unit.casefold()):
        return Misfit("unit", f"in {term.unit}" if term.unit else "a value without a unit")
    typed = _typed(term, value)
    if typed is None:
        return Misfit("value", f"a value of datatype {term.datatype}")
    if not term.values:
        return typed
    listed = _listed(term, typed)
    if listed is None:
        return Misfit("value", f"one of {', '.join(map(str, term.values))}"[:512])
    return listed


def _typed(term: VocabularyTerm, value: _Value) -> _Value | None:
    said = value.name if isinstance(value, EntityRef) else value.value
    match term.datatype:
        case "entity":
            if isinstance(value, EntityRef):
                return value
            return EntityRef(said, normalise_name(said), "thing") if isinstance(said, str) else None
        case "string":
            of_text = isinstance(value, EntityRef) or value.datatype in _TEXTS
            return LiteralValue("string", said) if of_text and isinstance(said, str) else None
        case "date":
            return LiteralValue("date", said) if isinstance(said, str) and _is_date(said) else None
        case "boolean":
            return LiteralValue("boolean", said) if isinstance(said, bool) else None
        case "integer" | "number":
            return _number(term, said)


def _number(term: VocabularyTerm, said: str | float | bool) -> LiteralValue | None:
    if isinstance(said, bool | str) or (term.datatype == "integer" and not isinstance(said, int)):
        return None
    if term.unit is not None:
        return LiteralValue("quantity", said, term.unit)
    return LiteralValue("integer" if isinstance(said, int) else "number", said)


def _is_date(text: str) -> bool:
    try:
        return is_day(text) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _listed(term: VocabularyTerm, typed: _Value) -> _Value | None:
    """The value as the list of the term spells it."""
    said = typed.name if isinstance(typed, EntityRef) else typed.value
    for listed in term.values:
        if _comparable(listed) == _comparable(said):
            if isinstance(typed, EntityRef):
                return replace(typed, name=str(listed), key=normalise_name(str(listed)))
            return replace(typed, value=listed)
    return None


def _comparable(value: str | float | bool) -> str | tuple[bool, float]:
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    return isinstance(value, bool), float(value)
