"""Vectors of events: what makes them findable by their meaning; ``index/rows.py`` has what makes them findable by their words."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.index.vectors import pack
from lamina.kernel.events import Event, text_of
from lamina.models.ports import Embedder
from lamina.store.ports.index import VectorRow

__all__ = ["embedded_text", "vector_rows"]


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
