"""What somebody states in words of the vocabulary, checked at the door: what a term may not be is refused there.

What is read from words is not refused: it stays free text (seed 002, 7.3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.errors import Invalid
from lamina.kernel.vocabularies import ActiveTerms, TermMatch
from lamina.pipeline.direct import stated_value
from lamina.pipeline.extract.values import EntityRef, LiteralValue
from lamina.pipeline.vocabularies.fitting import Misfit, fitted

__all__ = ["require_fit", "require_in_vocabulary"]


def require_in_vocabulary(terms: ActiveTerms, content: Mapping[str, Any], *, item: int | None = None) -> None:
    """Nothing, or ``Invalid`` (VALUE_NOT_IN_VOCABULARY, WRONG_UNIT) for a ``triple`` whose value its predicate may not have.

    ``item`` is its place in a batch, from 0.
    """
    predicate = content.get("predicate")
    if content.get("kind") != "triple" or not isinstance(predicate, str):
        return
    value, match = stated_value(content.get("object")), terms.of_predicate(predicate)
    if value is not None and match is not None:
        where = "content.object" if item is None else f"items.{item}.content.object"
        require_fit(match, value, field=where)


def require_fit(match: TermMatch, value: EntityRef | LiteralValue, *, field: str) -> EntityRef | LiteralValue:
    """The value as the term has it; raises as ``require_in_vocabulary``."""
    found = fitted(match.term, value)
    if not isinstance(found, Misfit):
        return found
    said = f"{field}: {match.term.id} of vocabulary {match.vocabulary} is {found.fits}"
    hint = f"GET /v1/vocabularies/{match.vocabulary} shows what the term may be"
    details = {
        "field": field,
        "vocabulary": match.vocabulary,
        "predicate": match.term.id,
        "fits": found.fits,
    }
    if found.wrong == "unit":
        raise Invalid("WRONG_UNIT", said, hint=hint, details=details)
    raise Invalid("VALUE_NOT_IN_VOCABULARY", said, hint=hint, details=details)
