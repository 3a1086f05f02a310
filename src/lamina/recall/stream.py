"""A pack as the events of seed 002, 10.1, each with an id from which the stream can go on (10.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lamina.kernel.streams import ServerSentEvent
from lamina.types.recall import Pack

__all__ = ["as_stream"]


def as_stream(pack: Pack, after: str | None = None) -> Iterator[ServerSentEvent]:
    """The plan, each layer, the context block, where it all comes from, and the end; without those up to the one whose id is
    ``after``. Ids are ``<pack_id>:<n>``, n from 1; an id of another pack, or of no event, leaves the stream whole."""
    numbered = list(enumerate(_events(pack), 1))
    ids = [f"{pack.pack_id}:{number}" for number, _ in numbered]
    seen = ids.index(after) + 1 if after in ids else 0
    return (replace(event, id=ids[number - 1]) for number, event in numbered[seen:])


def _events(pack: Pack) -> Iterator[ServerSentEvent]:
    trail = {phase["phase"]: phase for phase in pack.provenance.trail}
    plan = trail["ARIL_classify"]
    yield ServerSentEvent("plan", {"plan": plan["plan"], "filters_applied": plan["filters_applied"]})
    elapsed = sum(phase["elapsed_ms"] for phase in pack.provenance.trail)
    for layer in ("facts", "beliefs", "episodes", "events", "understanding"):
        items = getattr(pack.layers, layer)
        yield ServerSentEvent("layer", {"layer": layer, "items": items, "elapsed_ms": round(elapsed, 2)})
    yield ServerSentEvent("context_block", {"text": pack.context_block})
    yield ServerSentEvent("provenance", {"pack_id": pack.pack_id, **pack.provenance.model_dump(mode="json")})
    if pack.diagnostics is not None:
        yield ServerSentEvent("diagnostics", pack.diagnostics)
    yield ServerSentEvent("done", {"pack_id": pack.pack_id, "total_ms": round(elapsed, 2)})
