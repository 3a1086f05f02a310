"""Facts as the contract shows them (seed 002, 7.3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from pydantic import Field

from lamina.kernel.changes import MayHaveChanged
from lamina.kernel.records import Fact, Loop, Support
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.kernel.views.parts import (
    ChangeView,
    ClaimedView,
    ObjectView,
    ReferenceView,
    Stamp,
    change_fields,
    changed_in_words,
    claim_fields,
    claim_in_words,
    object_fields,
    subject_fields,
    supports_held,
)
from lamina.kernel.wire import Result

__all__ = ["FactView", "fact_fields", "fact_view"]

_WITH_DAY: Final = frozenset({"plan", "commitment"})


class AuthorView(Result):
    """Who said something of somebody else."""

    id: str
    name: str


class TargetView(Result):
    """The day or time that a plan is for; its end is exclusive."""

    start: Stamp = Field(validation_alias="from", serialization_alias="from")
    end: Stamp = Field(validation_alias="to", serialization_alias="to")


class BindingView(Result):
    """By which vocabulary a fact has its predicate, what was said in its place, and how surely that means the term."""

    name: str
    predicate_said: str
    confidence: float


class FactView(ClaimedView):
    """A triple with validity. ``negated`` says that the claim is that it is *not* so. ``text`` is the claim in words.

    ``said_by`` is who said it, where that is another than the person it is about and that person did not; ``handed_over`` that only words
    say so which may have been pasted or quoted. ``supersedes`` and ``superseded_by`` chain the values of one subject and predicate.
    ``may_have_changed`` is a later turn of the same speaker that speaks of the same matter with a sign of change, where the fact holds all the
    same: nobody read there that it ended. Null once the fact was said again. ``target`` is the day of what is planned, promised or scheduled,
    which lists show before it comes; ``fades_at`` is from when on a plan without a day is in lists of now no more, unless it is said again.
    ``vocabulary`` is null where the predicate is free text. ``supporting_evidence_redacted`` says that the words of an event among
    ``supports`` were erased.
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
    said_by: AuthorView | None = None
    handed_over: bool = False
    may_have_changed: ChangeView | None = None
    target: TargetView | None = None
    fades_at: Stamp | None = None
    vocabulary: BindingView | None = None
    supporting_evidence_redacted: bool = False

    @property
    def in_words(self) -> str:
        """The claim in words, and where it may have changed, by a turn of which day."""
        words = self.text or claim_in_words(self.subject, self.predicate, self.object, negated=self.negated)
        return changed_in_words(words, self.may_have_changed)


def fact_view(
    fact: Fact,
    supports: Sequence[Support] = (),
    changed: MayHaveChanged | None = None,
    redacted: Collection[str] = (),
) -> FactView:
    """The view of a fact; ``supports`` are those of the record, its first event stands in for none. ``redacted`` are events without words."""
    return FactView(**fact_fields(fact, supports, changed, redacted))


def fact_fields(
    fact: Fact,
    supports: Sequence[Support] = (),
    changed: MayHaveChanged | None = None,
    redacted: Collection[str] = (),
) -> dict[str, Any]:
    """The fields of ``fact_view``."""
    held = supports_held(fact, supports)
    told = [support.source_id for support in held if support.relation != Tie.MAY_CHANGE]
    sources = list(dict.fromkeys(told)) or [fact.event_id]
    return {
        **claim_fields(fact),
        "subject": subject_fields(fact.subject),
        "predicate": fact.predicate,
        "object": object_fields(fact.object),
        "negated": fact.negated,
        "kind": fact.kind,
        "text": fact.text,
        "supports": sources,
        "extractor": fact.extractor,
        "said_by": None if fact.said_by is None else {"id": fact.said_by.id, "name": fact.said_by.name},
        "handed_over": fact.handed_over,
        "superseded_by": fact.superseded_by or fact.closed_by,
        "supersedes": fact.supersedes,
        "may_have_changed": change_fields(changed),
        "target": _target(fact),
        "fades_at": fact.fades_at,
        "vocabulary": None
        if fact.binding is None
        else {
            "name": fact.binding.vocabulary,
            "predicate_said": fact.binding.predicate_said,
            "confidence": fact.binding.confidence,
        },
        "supporting_evidence_redacted": any(each in redacted for each in sources),
    }


def _target(fact: Fact) -> dict[str, Instant] | None:
    if isinstance(fact, Loop):
        return None if fact.due_at is None else {"from": fact.due_from or fact.valid_from, "to": fact.due_at}
    has_day = fact.kind in _WITH_DAY or fact.predicate == "has_scheduled"
    return {"from": fact.valid_from, "to": fact.valid_to} if has_day and fact.valid_to is not None else None
