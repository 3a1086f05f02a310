"""What only a client gives back; everything else is a result type of the server's own slices."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from lamina.kernel.wire import Result
from lamina.types.lifecycle import StreamedRow
from lamina.types.recall import (
    RankedBelief,
    RankedConcept,
    RankedEpisode,
    RankedEvent,
    RankedFact,
)

__all__ = [
    "Chunk",
    "CitationsChunk",
    "ContextChunk",
    "DiagnosticsChunk",
    "DoneChunk",
    "LayerChunk",
    "LifecycleEvent",
    "PlanChunk",
    "ProvenanceChunk",
    "Said",
    "Stored",
    "StoredBatch",
    "SubgraphChunk",
    "chunk_of",
]

Ranked = RankedEvent | RankedEpisode | RankedFact | RankedBelief | RankedConcept


class Said(Result):
    """An answer as it came: its keys are attributes, and ``model_dump()`` gives the whole of it."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Stored(Result):
    """An experience that is on disk, and how far it came while the caller waited.

    ``stages_completed``, ``derives`` and ``elapsed_ms`` are empty for a caller who did not wait. ``replayed``
    says that the idempotency key brought back an earlier write.
    """

    event_id: str
    status: str
    wal_offset: int
    lifecycle_stream: str
    stages_completed: list[str] = Field(default_factory=list)
    derives: list[str] = Field(default_factory=list)
    elapsed_ms: dict[str, int] = Field(default_factory=dict)
    replayed: bool = False


class StoredBatch(Result):
    """A batch that is on disk. ``status`` is the stage that was waited for, where all of it came in time."""

    batch_id: str
    accepted: int
    lifecycle_stream: str
    status: str = "captured"


class LifecycleEvent(StreamedRow):
    """Something that happened: its name (``captured``, ``indexed`` and so on) and the id to go on from."""

    id: str | None
    name: str


class Chunk(Result):
    """A part of a streamed recall. ``event`` names it; ``text`` is empty in the parts that have none."""

    event: str
    text: str = ""


class PlanChunk(Chunk):
    """What the server is about to do."""

    plan: str
    filters_applied: list[str] = Field(default_factory=list)


class LayerChunk(Chunk):
    """The items of one layer, best first."""

    layer: str
    items: list[Ranked]
    elapsed_ms: float


class ContextChunk(Chunk):
    """The context block, in ``text``."""


class SubgraphChunk(Chunk):
    """What the structured view knows, as JSON-LD; the shape of ``Pack.knowledge_subgraph``."""

    knowledge_subgraph: dict[str, Any]  # Any: JSON-LD


class ProvenanceChunk(Chunk):
    """Where every item comes from; the shape of ``Pack.provenance``."""

    pack_id: str
    trail: list[dict[str, Any]]  # Any: a phase's own figures
    citations: dict[str, list[str]]
    markers: dict[str, str] = Field(default_factory=dict)


class CitationsChunk(Chunk):
    """What the markers of an answer or of a narrative stand for."""

    citations: list[dict[str, Any]]  # Any: marker, layer, id, and for answers the strength of the support


class DiagnosticsChunk(Chunk):
    """The diagnostics that were asked for."""

    figures: dict[str, Any]  # Any: by level


class DoneChunk(Chunk):
    """The end of the stream."""

    pack_id: str
    total_ms: float


_ITEMS: dict[str, type[Ranked]] = {
    "events": RankedEvent,
    "episodes": RankedEpisode,
    "facts": RankedFact,
    "beliefs": RankedBelief,
    "understanding": RankedConcept,
}
_CHUNKS: dict[str, type[Chunk]] = {
    "plan": PlanChunk,
    "context_block": ContextChunk,
    "provenance": ProvenanceChunk,
    "done": DoneChunk,
}


def chunk_of(event: str, data: Any) -> Chunk:  # Any: whatever JSON holds
    """The part of a streamed recall behind a server-sent event.

    A kind that is not known here is a plain ``Chunk``, with the text that it has.
    """
    if event == "layer" and data["layer"] in _ITEMS:
        kind = _ITEMS[data["layer"]]
        items = [kind.model_validate(item) for item in data["items"]]
        return LayerChunk(event=event, layer=data["layer"], items=items, elapsed_ms=data["elapsed_ms"])
    if event == "citations":
        return CitationsChunk(event=event, citations=data)
    if event == "diagnostics":
        return DiagnosticsChunk(event=event, figures=data)
    if event == "knowledge_subgraph":
        return SubgraphChunk(event=event, knowledge_subgraph=data)
    return _CHUNKS.get(event, Chunk).model_validate({**data, "event": event})
