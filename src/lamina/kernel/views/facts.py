"""Facts as the contract shows them (seed 002, 7.3)."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.kernel.records import Fact, Support
from lamina.kernel.views.parts import (
    DerivedView,
    ObjectView,
    ReferenceView,
    common_fields,
    object_view,
    subject_view,
    supports_held,
)

__all__ = ["FactView", "fact_view"]


class FactView(DerivedView):
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
    sources = dict.fromkeys(support.source_id for support in supports_held(fact, supports))
    return FactView(
        **common_fields(fact),
        subject=subject_view(fact.subject),
        predicate=fact.predicate,
        object=object_view(fact.object),
        negated=fact.negated,
        kind=fact.kind,
        text=fact.text,
        supports=list(sources) or [fact.event_id],
        extractor=fact.extractor,
        superseded_by=fact.superseded_by or fact.closed_by,
        supersedes=fact.supersedes,
    )
