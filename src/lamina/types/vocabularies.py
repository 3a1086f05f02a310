"""Request and result types of vocabularies (seed 002, 7.3.1 and 8.14); clients load them too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictFloat,
    StrictInt,
    WithJsonSchema,
    model_validator,
)

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.views.parts import Stamp
from lamina.kernel.vocabularies import VocabularyName, predicate_key
from lamina.kernel.wire import BoundText, Request, Result, Text

__all__ = [
    "PredicateTerm",
    "RegisterVocabulary",
    "RelationTerm",
    "ReplaceVocabulary",
    "VocabulariesRequest",
    "VocabularyList",
    "VocabularyNamed",
    "VocabularyReplaced",
    "VocabularyView",
]

_TermName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,63}$", description="The term.")]
_Words = Annotated[Text, Field(min_length=1, max_length=limits.VOCABULARY_WORDS_LENGTH_MAX)]
_Said = Annotated[Text, Field(min_length=1, max_length=limits.TERM_LENGTH_MAX, pattern=r"\S")]
_Value = StrictBool | StrictInt | StrictFloat | _Said
_ONE_AT_A_TIME = ("integer", "number", "boolean", "date")


class Synonym(Request):
    """A predicate in free words that means a term."""

    predicate: Annotated[_Said, Field(description="The words.")]
    confidence: Annotated[
        float, Field(gt=0, le=1, description="How surely they mean it: facts are so much less sure.")
    ] = 1.0


def _with_confidence(value: Any) -> Any:  # Any: whatever came in; the type judges it
    if isinstance(value, list):
        return [{"predicate": each} if isinstance(each, str) else each for each in value]
    return value


_Synonyms = Annotated[
    list[Synonym],
    BeforeValidator(_with_confidence),
    Field(
        max_length=limits.TERM_SYNONYMS_MAX,
        description="Predicates in free words that mean the term, as words or with a confidence.",
    ),
    WithJsonSchema(
        {
            "type": "array",
            "maxItems": limits.TERM_SYNONYMS_MAX,
            "items": {
                "anyOf": [
                    {"type": "string", "minLength": 1, "maxLength": limits.TERM_LENGTH_MAX, "pattern": r"\S"},
                    {
                        "type": "object",
                        "required": ["predicate"],
                        "additionalProperties": False,
                        "properties": {
                            "predicate": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": limits.TERM_LENGTH_MAX,
                                "pattern": r"\S",
                            },
                            "confidence": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                        },
                    },
                ]
            },
        }
    ),
]


class RelationTerm(Request):
    """A relation between concepts. Facts whose predicate is its id or a synonym make edges of it."""

    id: _TermName
    description: Annotated[_Words | None, Field(description="What it means.")] = None
    synonyms: _Synonyms = Field(default_factory=list)


class PredicateTerm(RelationTerm):
    """A predicate. ``values`` closes the list of what it may be.

    ``cardinality`` is ``one`` where a later value takes the place of the one before. Left out it is ``one`` for a term with closed
    ``values``, a number, a boolean or a date, otherwise ``many``.
    """

    datatype: Annotated[
        Literal["string", "integer", "number", "boolean", "date", "entity"],
        Field(description="What its values are."),
    ] = "string"
    values: Annotated[
        list[_Value] | None,
        Field(min_length=1, max_length=limits.TERM_VALUES_MAX, description="All that it may be."),
    ] = None
    cardinality: Annotated[
        Literal["one", "many"] | None, Field(description="Whether it has one value at a time or many.")
    ] = None
    unit: Annotated[
        _Said | None, Field(description="The unit of its numbers; a number without one is taken to be in it.")
    ] = None

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        numeric = self.datatype in ("integer", "number")
        if self.unit is not None and not numeric:
            raise _wrong(self.id, "unit", f"datatype {self.datatype} has no unit")
        for value in self.values or ():
            if not _is_of(self.datatype, value):
                raise _wrong(self.id, "values", f"{str(value)[:64]!r} is no {self.datatype}")
        seen = [value.casefold() if isinstance(value, str) else value for value in self.values or ()]
        if len(set(seen)) != len(seen):
            raise _wrong(self.id, "values", "a value stands there twice")
        return self

    @property
    def one_at_a_time(self) -> Literal["one", "many"]:
        """The cardinality that is meant."""
        if self.cardinality is not None:
            return self.cardinality
        return "one" if self.values or self.datatype in _ONE_AT_A_TIME else "many"


_KIND: Final = "Whether its terms are predicates of facts or relations between concepts."
_PREDICATES: Final = "Its terms, of kind predicate."
_RELATIONS: Final = "Its terms, of kind relation."
_OF_ONE_KIND: Final[dict[str, JsonValue]] = {
    "anyOf": [
        {
            "required": ["predicates"],
            "properties": {
                "kind": {"const": "predicate", "description": _KIND},
                "predicates": {"type": "array", "description": _PREDICATES},
                "relations": {"type": "null", "description": _RELATIONS},
            },
        },
        {
            "required": ["kind", "relations"],
            "properties": {
                "kind": {"const": "relation", "description": _KIND},
                "predicates": {"type": "null", "description": _PREDICATES},
                "relations": {"type": "array", "description": _RELATIONS},
            },
        },
    ]
}


class _Terms(Request):
    model_config = ConfigDict(json_schema_extra=_OF_ONE_KIND)

    kind: Annotated[
        Literal["predicate", "relation"],
        Field(description=_KIND),
    ] = "predicate"
    description: Annotated[_Words | None, Field(description="What it is for.")] = None
    predicates: Annotated[
        list[PredicateTerm] | None,
        Field(min_length=1, max_length=limits.VOCABULARY_TERMS_MAX, description=_PREDICATES),
    ] = None
    relations: Annotated[
        list[RelationTerm] | None,
        Field(min_length=1, max_length=limits.VOCABULARY_TERMS_MAX, description=_RELATIONS),
    ] = None

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        wanted, other = (
            ("predicates", "relations") if self.kind == "predicate" else ("relations", "predicates")
        )
        if getattr(self, wanted) is None or getattr(self, other) is not None:
            raise Invalid(
                "INVALID_REQUEST",
                f"a vocabulary of kind {self.kind} has {wanted}, and no {other}",
                details={"field": wanted if getattr(self, wanted) is None else other},
            )
        taken: dict[str, str] = {}
        for term_id, said in _all_said(self.terms):
            if taken.setdefault(predicate_key(said), term_id) != term_id or not predicate_key(said):
                raise _wrong(term_id, "synonyms", f"{said[:64]!r} means {taken[predicate_key(said)]} already")
        if len({term.id for term in self.terms}) != len(self.terms):
            raise Invalid("INVALID_REQUEST", "a term stands there twice", details={"field": wanted})
        return self

    @property
    def terms(self) -> Sequence[RelationTerm]:
        """The terms, of either kind."""
        return (self.predicates if self.kind == "predicate" else self.relations) or ()

    def body(self, name: str) -> dict[str, Any]:  # Any: JSON
        """What the definition keeps."""
        return {
            "name": name,
            "vocabulary_kind": self.kind,
            **({} if self.description is None else {"description": self.description}),
            "terms": [_kept(term) for term in self.terms],
        }


class RegisterVocabulary(_Terms):
    """A controlled vocabulary: predicates of facts, or relations between concepts."""

    name: Annotated[VocabularyName, Field(description="What it is called.")]


class ReplaceVocabulary(RegisterVocabulary):
    """A vocabulary in place of the one that stands under the name. What ``GET`` shows of it may be sent back."""

    text: Annotated[Any, Field(description="Accepted as GET shows it, and not read.")] = None
    changed_at: Annotated[Any, Field(description="Accepted as GET shows it, and not read.")] = None


class VocabulariesRequest(Request):
    """The vocabularies of the tenant, now or as of an earlier time."""

    as_of: BoundText | None = None


class VocabularyNamed(VocabulariesRequest):
    """One vocabulary."""

    name: VocabularyName


class SynonymView(Result):
    """A predicate in free words that means a term, and how surely."""

    predicate: str
    confidence: float


class RelationTermView(Result):
    """A relation between concepts."""

    id: str
    description: str | None = None
    synonyms: list[SynonymView]


class PredicateTermView(RelationTermView):
    """A predicate, with what its values are and whether it has one at a time."""

    datatype: str
    values: list[bool | int | float | str] | None = None
    cardinality: Literal["one", "many"]
    unit: str | None = None


class VocabularySummary(Result):
    """What a vocabulary is, without its terms; ``terms`` is how many it has."""

    name: str
    kind: Literal["predicate", "relation"]
    description: str | None
    terms: int
    changed_at: Stamp


class VocabularyView(Result):
    """A vocabulary as it stands. ``text`` is it in words, as a language model that reads claims is given it."""

    name: str
    kind: Literal["predicate", "relation"]
    description: str | None
    predicates: list[PredicateTermView] | None
    relations: list[RelationTermView] | None
    text: str
    changed_at: Stamp


class VocabularyReplaced(VocabularyView):
    """The vocabulary as it stands now. Facts by the terms that it lost, ``deprecates``, leave the default reads."""

    deprecates: list[str]


class VocabularyList(Result):
    """The tenant's vocabularies, by name."""

    items: list[VocabularySummary]


def _is_of(datatype: str, value: bool | float | str) -> bool:
    if datatype in ("string", "date", "entity"):
        return isinstance(value, str)
    if datatype == "boolean" or isinstance(value, bool):
        return datatype == "boolean" and isinstance(value, bool)
    return isinstance(value, int) or (datatype == "number" and isinstance(value, float))


def _all_said(terms: Sequence[RelationTerm]) -> Iterator[tuple[str, str]]:
    for term in terms:
        yield term.id, term.id
    for term in terms:
        for synonym in term.synonyms:
            yield term.id, synonym.predicate


def _kept(term: RelationTerm) -> dict[str, Any]:  # Any: JSON
    kept = term.model_dump(mode="json", exclude_none=True)
    if isinstance(term, PredicateTerm):
        kept["cardinality"] = term.one_at_a_time
    return kept


def _wrong(term: str, field: str, reason: str) -> Invalid:
    return Invalid(
        "INVALID_REQUEST",
        f"term {term}, {field}: {reason}",
        details={"field": field, "term": term, "reason": reason},
    )
