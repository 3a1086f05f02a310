"""Index rows: how an event becomes findable; ``index/rows.py`` has those of what was derived from it."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.index.vectors import pack
from lamina.kernel.events import Event, text_of
from lamina.kernel.local import to_local
from lamina.kernel.records import Fact, Layer
from lamina.language.quarantine import quarantine_of
from lamina.language.questions import sentence_shares
from lamina.language.tokens import analyse, event_terms
from lamina.models.ports import Embedder
from lamina.pipeline.reading import role_of
from lamina.store.ports.index import TextRow, VectorRow

__all__ = ["embedded_text", "event_row", "vector_rows"]

_KEYED_KINDS = frozenset(
    {"identity", "role", "place", "possession", "relation", "preference", "quantity", "state_change"}
)


def event_row(event: Event, facts: Sequence[Fact], *, wants_vector: bool) -> TextRow:
    """The event as search sees it: day, speaker and words, and beside them what its lasting claims say plainly."""
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
    )


def embedded_text(event: Event) -> str:
    """What the embedder reads of an event: who speaks, and the words."""
    return f"{event.observed_actor.display_name}: {text_of(event.content)}"


def vector_rows(events: Sequence[Event], embedder: Embedder) -> list[VectorRow]:
    """The vectors of events, in one batch."""
    if not events:
        return []
    encoded = embedder.encode([embedded_text(event) for event in events])
    pooled = pack(encoded.pooled)
    return [
        VectorRow(
            tenant_id=event.tenant_id,
            record_id=event.id,
            scope=event.scope,
            model=embedder.name,
            pooled=pooled[place],
            tokens=encoded.tokens[place].to_bytes(),
        )
        for place, event in enumerate(events)
    ]
