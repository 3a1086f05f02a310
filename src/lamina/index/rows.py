"""The index rows of events and of derived records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lamina.kernel.events import Event, role_of, text_of
from lamina.kernel.local import LocalTime, to_local
from lamina.kernel.records import Belief, Concept, Episode, Fact, Layer, Record
from lamina.language.days import note_of
from lamina.language.quarantine import quarantine_of
from lamina.language.questions import sentence_shares
from lamina.language.tokens import analyse, event_terms
from lamina.store.ports.index import TextRow

__all__ = ["days_noted", "event_row", "record_row", "words_of_record"]

_KEYED_KINDS: Final = frozenset(
    {"identity", "role", "place", "possession", "relation", "preference", "quantity", "state_change"}
)


def event_row(event: Event, facts: Sequence[Fact], *, wants_vector: bool, days: str = "") -> TextRow:
    """The event as search sees it: day, speaker and words, and beside them what its lasting claims say plainly; ``days`` is what was noted of
    the days that it means."""
    text = text_of(event.content)
    speaker = event.observed_actor.display_name
    asking, own = sentence_shares(text)
    keys = [term for fact in facts if fact.kind in _KEYED_KINDS for term in analyse(fact.text)]
    return TextRow(
        tenant_id=event.tenant_id,
        record_id=event.id,
        layer=Layer.EVENTS,
        scope=event.scope,
        recorded_at=event.recorded_at,
        observed_at=event.context.observed_at,
        session=event.session,
        speaker=speaker,
        role=role_of(event),
        characters=len(text),
        question_share=round(asking, 4),
        self_share=round(own, 4),
        terms=" ".join(event_terms(text, speaker, to_local(event.context.observed_at, event.offset))),
        keys=" ".join(dict.fromkeys(keys)),
        wants_vector=wants_vector,
        quarantined=" ".join(quarantine_of(event)),
        days=days,
    )


def days_noted(event: Event) -> str:
    """What is noted of the days that a turn means."""
    return note_of(text_of(event.content), LocalTime(event.context.observed_at, event.offset))


def record_row(record: Record) -> TextRow:
    """A derived record as search sees it."""
    text = words_of_record(record)
    return TextRow(
        tenant_id=record.tenant_id,
        record_id=record.id,
        layer=record.layer,
        scope=record.scope,
        recorded_at=record.recorded_from,
        observed_at=record.valid_from,
        session=record.session if isinstance(record, Episode) else None,
        speaker=None,
        role=None,
        characters=len(text),
        question_share=0.0,
        self_share=0.0,
        terms=" ".join(analyse(text)),
    )


def words_of_record(record: Record) -> str:
    """What a derived record says, in words."""
    match record:
        case Fact():
            return record.text
        case Belief():
            return f"{record.subject.name} {record.predicate.replace('_', ' ')} {record.object.text}"
        case Episode() | Concept():
            return f"{record.name}. {record.summary}"
        case _:
            raise AssertionError("every layer has words")
