"""Versions of records and what they rest on, as an event's derivation writes them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from lamina.index.rows import record_row
from lamina.kernel.events import Event, Trust
from lamina.kernel.records import Belief, Fact, Record, Stance, Support
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.store.ports.writes import Closing, Writes

__all__ = [
    "deprecate_belief",
    "drop_fact",
    "next_version",
    "put_placed",
    "put_version",
    "stated_by",
    "support_of",
    "supports_of",
    "tie",
    "tie_at",
    "vouched_for",
]

RecordT = TypeVar("RecordT", bound=Record)


def next_version(event: Event, held: RecordT, changed: RecordT) -> RecordT:
    """``changed`` as the version after the one that is held: caused by an event, from its recorded time on, and without an end."""
    return replace(
        changed,
        version=held.version + 1,
        position=event.position,
        recorded_from=event.recorded_at,
        recorded_to=None,
        closed_by=None,
    )


def put_version(
    event: Event, held: Fact, changed: Fact, writes: Writes, *, superseded_by: str | None = None
) -> None:
    """Put a new version of a fact in the place of the one held; one event makes one version of it at most."""
    if held.recorded_from == event.recorded_at and held in writes.records:
        writes.records[writes.records.index(held)] = changed
        return
    writes.closings.append(Closing.of(held, event.recorded_at, superseded_by))
    writes.records.append(next_version(event, held, changed))


def put_placed(event: Event, known: Fact | None, fact: Fact, writes: Writes) -> None:
    """Write a fact as it was placed among others: a new one, or where it differs the next version of what is ``known``."""
    if known is None:
        writes.records.append(fact)
        if fact.event_id != event.id:
            writes.texts.append(record_row(fact))
    elif fact != known:
        by = fact.superseded_by if fact.superseded_by != known.superseded_by else None
        put_version(event, known, fact, writes, superseded_by=by)


def drop_fact(event: Event, held: Fact, into: str | None, writes: Writes) -> None:
    """End a fact that another one, of the same value, has taken in."""
    if held.recorded_from == event.recorded_at and held in writes.records:
        writes.records.remove(held)
        if held.version == 1:
            writes.supports[:] = [each for each in writes.supports if each.record_id != held.id]
        return
    writes.closings.append(Closing.of(held, event.recorded_at, into))


def vouched_for(held: Fact, said: Fact) -> Fact:
    """A fact that is said again: what was hearsay becomes the word of whoever says it too. It is as sure as the surest of its words."""
    if held.external and not said.external:
        return replace(
            held, external=False, by_assistant=False, handed_over=False, said_by=said.said_by, confidence=said.confidence,
            trust=said.trust,
        )  # fmt: skip
    return replace(
        held,
        confidence=held.confidence
        if said.external and not held.external
        else max(held.confidence, said.confidence),
        by_assistant=held.by_assistant and said.by_assistant,
        handed_over=held.handed_over and said.handed_over,
        said_by=held.said_by if said.external or said.said_by is not None else None,
        trust=Trust.most([held.trust, said.trust]),
    )


def deprecate_belief(event: Event, held: Belief, writes: Writes) -> None:
    """Keep a belief that nothing speaks for any more as deprecated: for readers as of then, and left out by default (seed 002, 7.4.1)."""
    writes.closings.append(Closing.of(held, event.recorded_at))
    deprecated = replace(
        held, stance=Stance.DEPRECATED, contradicts=(), revision_count=held.revision_count + 1
    )
    writes.records.append(next_version(event, held, deprecated))


def tie(event: Event, record_id: str, source_id: str, relation: Tie) -> Support:
    """An edge that says what touched a record, and bears nothing out."""
    return Support(
        tenant_id=event.tenant_id,
        record_id=record_id,
        source_id=source_id,
        relation=relation,
        weight=0.0,
        polarity="against",
        recorded_at=event.recorded_at,
    )


def tie_at(event: Event, record_id: str, relation: Tie, at: Instant) -> Support:
    """Mirrors ``tie`` to the event itself, with the instant that its statement is about and whose it is."""
    return tie(event, record_id, event.id, relation)._replace(at=at, actor=event.observed_actor.id)


def support_of(event: Event, record_id: str, stated: Fact) -> Support:
    """The event's statement of a fact; ``at`` is from when on, by this statement, the claim holds."""
    return Support(
        tenant_id=event.tenant_id,
        record_id=record_id,
        source_id=event.id,
        relation=Tie.EXTRACTED_FROM,
        weight=stated.confidence,
        actor=event.observed_actor.id,
        recorded_at=event.recorded_at,
        at=stated.valid_from,
    )


def stated_by(event: Event, record_id: str, stated: Fact) -> list[Support]:
    """Mirrors ``support_of``, with that it was handed over."""
    found = [support_of(event, record_id, stated)]
    if stated.handed_over:
        found.append(found[0]._replace(relation=Tie.HANDED_OVER_IN, weight=0.0))
    return found


def supports_of(event: Event, record_id: str, stated: Fact) -> list[Support]:
    """Mirrors ``stated_by``, with the end of the claim where the statement has one."""
    found = stated_by(event, record_id, stated)
    if stated.valid_to is not None:
        found.append(found[0]._replace(relation=Tie.HELD_UNTIL, weight=0.0, at=stated.valid_to))
    return found
