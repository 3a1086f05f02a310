"""Facts as the contract shows them (seed 002, 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.kernel.records import Fact, Support
from lamina.kernel.views.parts import (
    ClaimedView,
    ObjectView,
    ReferenceView,
    claim_fields,
    object_fields,
    subject_fields,
    supports_held,
)

__all__ = ["FactView", "fact_fields", "fact_view"]


class FactView(ClaimedView):
    """A triple with validity. ``negated`` says that the claim is that it is *not* so. ``text`` is the claim in words.

    ``supersedes`` and ``superseded_by`` chain the values of one subject and predicate.
    """

    subject: ReferenceView
    predicate: str
    object: ObjectView
    negated: bool
    kind: str
    text: str | None
    supports: list[str]
    extractor: str
    superseded_by: str | None
    supersedes: str | None


def fact_view(fact: Fact, supports: Sequence[Support] = ()) -> FactView:
    """The view of a fact; ``supports`` are those of the record, its first event stands in for none."""
    return FactView(**fact_fields(fact, supports))


def fact_fields(fact: Fact, supports: Sequence[Support] = ()) -> dict[str, Any]:
    """The fields of ``fact_view``."""
    sources = dict.fromkeys(support.source_id for support in supports_held(fact, supports))
    return {
        **claim_fields(fact),
        "subject": subject_fields(fact.subject),
        "predicate": fact.predicate,
        "object": object_fields(fact.object),
        "negated": fact.negated,
        "kind": fact.kind,
        "text": fact.text,
        "supports": list(sources) or [fact.event_id],
        "extractor": fact.extractor,
        "superseded_by": fact.superseded_by or fact.closed_by,
        "supersedes": fact.supersedes,
    }
