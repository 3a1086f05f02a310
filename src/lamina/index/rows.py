"""The index rows of derived records."""

from __future__ import annotations

from lamina.kernel.records import Belief, Concept, Episode, Fact, Record
from lamina.language.tokens import analyse
from lamina.store.ports.index import TextRow

__all__ = ["record_row", "words_of_record"]


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
