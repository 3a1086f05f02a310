"""Which versions of records a query wants, and how a version stood at an instant."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, TypeVar

from lamina.kernel.records import Claim, Concept, Fact, Record, Support
from lamina.kernel.ties import SAYS_AGAIN, WORDLESS
from lamina.kernel.time import Axes, Instant
from lamina.store.ports.records import RecordQuery

__all__ = ["as_stood", "has_words_of", "sees_valid", "wanted"]

RecordT = TypeVar("RecordT", bound=Record)


def as_stood(record: RecordT, seen_at: Instant | None) -> RecordT:
    """The version without an end that came after ``seen_at``; None is now."""
    if seen_at is None or record.recorded_to is None or record.recorded_to <= seen_at:
        return record
    return replace(record, recorded_to=None, closed_by=None)


def has_words_of(support: Support, yes_to_cancelled: Collection[str]) -> bool:
    """Whether a record rests on a source. It does not on what speaks against it, nor on what has none of its words: what ends
    a loop, and a turn that only says yes to an offer that is cancelled."""
    if support.polarity == "against" or support.relation in WORDLESS:
        return False
    return support.relation not in SAYS_AGAIN or support.source_id not in yes_to_cancelled


def wanted(record: Record, query: RecordQuery) -> bool:
    """Whether a query wants a version, but for its limit."""
    seen_at, superseded = query.axes.seen_at, query.axes.superseded
    return (
        (record.tenant_id, record.layer) == (query.tenant_id, query.layer)
        and record.scope in query.scopes
        and (query.with_excluded or not record.excluded)
        and Axes(seen_at=seen_at, superseded=superseded).sees_recorded(
            record.recorded_from, record.recorded_to
        )
        and (
            _looked_up(record, query)
            if query.slot is not None or query.claim_key is not None
            else _filtered(record, query)
        )
    )


def _looked_up(record: Record, query: RecordQuery) -> bool:
    if query.slot is not None:
        return bool(_field(record, "slot") == query.slot)
    return bool(_field(record, "claim_key") == query.claim_key)


def sees_valid(axes: Axes, record: Record) -> bool:
    """Whether a version is among those wanted by valid time."""
    if not isinstance(record, Fact):
        return axes.sees_valid(record.valid_from, record.valid_to)
    ahead, fades_at = record.may_lie_ahead, record.fades_at
    return axes.sees_valid(record.valid_from, record.valid_to, may_lie_ahead=ahead, fades_at=fades_at)


def _filtered(record: Record, query: RecordQuery) -> bool:
    return (
        query.axes.sees_recorded(record.recorded_from, record.recorded_to)
        and sees_valid(query.axes, record)
        and record.confidence >= query.min_confidence
        and all(_field(record, name) == wanted for name, wanted in _named(query).items())
        and (query.stances is None or _field(record, "stance") in query.stances)
        and (query.after is None or (record.recorded_from, record.id) < query.after)
        and (query.newer_than is None or record.recorded_from > query.newer_than)
    )


def _named(query: RecordQuery) -> dict[str, str]:
    names = ("subject", "predicate", "object_key", "session", "topic")
    return {name: getattr(query, name) for name in names if getattr(query, name) is not None}


def _field(record: Record, name: str) -> Any:  # Any: None, a text, or a stance, which is a text
    """What a query compares under a name; None for records that have no such thing."""
    if isinstance(record, Claim):
        match name:
            case "subject":
                return record.subject.id
            case "object_key":
                return record.object.key
    if isinstance(record, Concept) and name == "subject":
        return record.about
    return getattr(record, name, None)
