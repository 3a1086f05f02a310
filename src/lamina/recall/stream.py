"""A pack as the events of seed 002, 10.1."""

from __future__ import annotations

from collections.abc import Iterator

from lamina.kernel.streams import ServerSentEvent
from lamina.recall.requests import Pack

__all__ = ["as_stream"]


def as_stream(pack: Pack) -> Iterator[ServerSentEvent]:
    """The plan, each layer, the context block, where it all comes from, and the end."""
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
