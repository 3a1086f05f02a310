"""Vocabularies as values: the terms that a tenant binds predicates or relations to (seed 002, 7.3.1 and 7.5.1).

A vocabulary is registered for the tenant and active for a scope by policy. Where several that are active know the same
predicate, the first of the list has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from lamina.kernel.scopes import Scope

__all__ = [
    "ACTIVE_VOCABULARIES",
    "VOCABULARY",
    "ActiveTerms",
    "Cardinality",
    "TermDatatype",
    "TermMatch",
    "Vocabulary",
    "VocabularyKind",
    "VocabularyName",
    "VocabularyTerm",
    "activation_names",
    "predicate_key",
    "vocabulary_of",
]

VOCABULARY: Final = "vocabulary"
"""The kind of the definition that a vocabulary is."""
ACTIVE_VOCABULARIES: Final = "active_vocabularies"
"""The kind of the definition that says which vocabularies are active at a place of policy."""

VocabularyName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.\-]{0,63}$")]
"""What a vocabulary is called, on the wire."""

VocabularyKind = Literal["predicate", "relation"]
Cardinality = Literal["one", "many"]
TermDatatype = Literal["string", "integer", "number", "boolean", "date", "entity"]
TermValue = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyTerm:
    """One predicate or relation. ``values`` closes the list of what it may be; ``synonyms`` are free predicates that mean it,
    each with how surely, 0 to 1."""

    id: str
    description: str | None
    synonyms: Mapping[str, float]
    datatype: TermDatatype = "string"
    values: tuple[TermValue, ...] = ()
    cardinality: Cardinality = "many"
    unit: str | None = None

    @property
    def single_valued(self) -> bool:
        """Whether a later value takes the place of the one before."""
        return self.cardinality == "one"

    @property
    def text(self) -> str:
        """The term in one line."""
        kinds = [self.datatype, *([f"in {self.unit}"] if self.unit else [])]
        allowed = f", one of: {', '.join(map(str, self.values))}" if self.values else ""
        many = "one value at a time" if self.single_valued else "many values"
        about = f" - {self.description}" if self.description else ""
        also = f" (also said: {', '.join(sorted(self.synonyms))})" if self.synonyms else ""
        return f"{self.id}: {' '.join(kinds)}{allowed}; {many}{about}{also}"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A named list of terms, of predicates or of relations between concepts."""

    name: str
    kind: VocabularyKind
    terms: tuple[VocabularyTerm, ...]
    description: str | None = None

    @property
    def text(self) -> str:
        """The vocabulary in words, as a language model that reads claims is given it."""
        if self.kind == "relation":
            lines = [
                f"{term.id}{f' - {term.description}' if term.description else ''}" for term in self.terms
            ]
        else:
            lines = [term.text for term in self.terms]
        head = f"{self.name}{f': {self.description}' if self.description else ''}"
        return "\n".join([head, *(f"- {line}" for line in lines)])


@dataclass(frozen=True, slots=True)
class TermMatch:
    """The term that a predicate means, by which vocabulary, and how surely."""

    vocabulary: str
    term: VocabularyTerm
    confidence: float


class ActiveTerms:
    """The terms that are active for a scope."""

    def __init__(self, vocabularies: Sequence[Vocabulary] = ()) -> None:
        self._terms: dict[VocabularyKind, dict[str, TermMatch]] = {"predicate": {}, "relation": {}}
        for vocabulary in vocabularies:
            known = self._terms[vocabulary.kind]
            # A term's own name goes before what others call a synonym, inside one vocabulary.
            for term in vocabulary.terms:
                known.setdefault(predicate_key(term.id), TermMatch(vocabulary.name, term, 1.0))
            for term in vocabulary.terms:
                for said, confidence in term.synonyms.items():
                    known.setdefault(predicate_key(said), TermMatch(vocabulary.name, term, confidence))

    @property
    def predicates(self) -> list[str]:
        """The predicates of their own names, in order."""
        return sorted({match.term.id for match in self._terms["predicate"].values()})

    def of_predicate(self, predicate: str) -> TermMatch | None:
        """The term that a predicate means; None for one that stays free text."""
        return self._terms["predicate"].get(predicate_key(predicate))

    @property
    def relations(self) -> list[str]:
        """The relations of their own names, in order."""
        return sorted({match.term.id for match in self._terms["relation"].values()})

    def of_relation(self, predicate: str) -> TermMatch | None:
        """The relation between concepts that a predicate of facts stands for."""
        return self._terms["relation"].get(predicate_key(predicate))


def predicate_key(predicate: str) -> str:
    """A predicate made comparable.

    >>> predicate_key("Deal stage"), predicate_key("deal-stage")
    ('deal_stage', 'deal_stage')
    """
    return "_".join(predicate.casefold().replace("-", " ").split())


def activation_names(scope: Scope) -> list[str]:
    """Under which names a policy may say what is active for a scope, the nearest first: the first that says something has it."""
    places = [scope, *scope.ancestors()]
    return [name for path in places for name in (f"policy {path}", f"registration {path}")] + ["tenant"]


def vocabulary_of(name: str, body: Mapping[str, Any]) -> Vocabulary:  # Any: JSON, as its definition keeps it
    """The vocabulary behind the body of its definition."""
    kind: VocabularyKind = body["vocabulary_kind"]
    return Vocabulary(name, kind, tuple(map(_term, body["terms"])), body.get("description"))


def _term(said: Mapping[str, Any]) -> VocabularyTerm:  # Any: as above
    return VocabularyTerm(
        id=said["id"],
        description=said.get("description"),
        synonyms={each["predicate"]: each["confidence"] for each in said.get("synonyms", ())},
        datatype=said.get("datatype", "string"),
        values=tuple(said.get("values", ())),
        cardinality=said.get("cardinality", "many"),
        unit=said.get("unit"),
    )
