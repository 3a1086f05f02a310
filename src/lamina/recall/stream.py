"""A pack as the events of seed 002, 10.1 and 10.2, each with an id from which the stream can go on (10.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from lamina.kernel.records import layer_of
from lamina.kernel.streams import ServerSentEvent
from lamina.types.recall import Pack

__all__ = ["as_stream", "numbered", "tokens_of"]

_STANDING: Final = {"as_of", "abstain", "scopes_traversed", "partial", "partial_reason"}
"""What a pack says of itself as a whole."""
_TOKEN: Final = re.compile(r"\s*\S+|\s+")


def as_stream(pack: Pack, after: str | None = None) -> Iterator[ServerSentEvent]:
    """The plan, each layer, what is known as JSON-LD where the view is that, the context block, where it all comes from, and the end, or the
    words of a narrative with their sources; without those up to the one whose id is ``after``."""
    return numbered(pack.pack_id, _narrative(pack) if pack.view == "narrative" else _events(pack), after)


def numbered(pack_id: str, events: Iterable[ServerSentEvent], after: str | None) -> Iterator[ServerSentEvent]:
    """Events with ids ``<pack_id>:<n>``, n from 1, those behind ``after``; an id of another pack, or of no event, leaves the stream
    whole."""
    listed = [replace(event, id=f"{pack_id}:{number}") for number, event in enumerate(events, 1)]
    ids = [event.id for event in listed]
    return iter(listed[ids.index(after) + 1 if after in ids else 0 :])


def tokens_of(text: str) -> Iterator[ServerSentEvent]:
    """A text word by word; joined they are the text."""
    return (ServerSentEvent("token", {"text": token}) for token in _TOKEN.findall(text))


def _narrative(pack: Pack) -> Iterator[ServerSentEvent]:
    yield from tokens_of(pack.context_block)
    named = pack.provenance.markers.items()
    kinds = {marker: layer_of(each) for marker, each in named}
    yield ServerSentEvent(
        "citations",
        [
            {"marker": marker, "layer": _SINGULAR[kind.value], "id": each}
            for marker, each in named
            if (kind := kinds[marker]) is not None
        ],
    )
    yield from _end(pack)


_SINGULAR: Final = {
    "events": "event",
    "episodes": "episode",
    "facts": "fact",
    "beliefs": "belief",
    "understanding": "concept",
}


def _events(pack: Pack) -> Iterator[ServerSentEvent]:
    trail = {phase["phase"]: phase for phase in pack.provenance.trail}
    plan = trail["ARIL_classify"]
    yield ServerSentEvent("plan", {"plan": plan["plan"], "filters_applied": plan["filters_applied"]})
    elapsed = _elapsed_ms(pack)
    for layer in ("facts", "beliefs", "episodes", "events", "understanding"):
        items = getattr(pack.layers, layer)
        yield ServerSentEvent("layer", {"layer": layer, "items": items, "elapsed_ms": round(elapsed, 2)})
    if pack.knowledge_subgraph is not None:
        yield ServerSentEvent("knowledge_subgraph", pack.knowledge_subgraph)
    yield ServerSentEvent("context_block", {"text": pack.context_block})
    yield from _end(pack)


def _end(pack: Pack) -> Iterator[ServerSentEvent]:
    yield ServerSentEvent("provenance", {"pack_id": pack.pack_id, **pack.provenance.model_dump(mode="json")})
    if pack.diagnostics is not None:
        yield ServerSentEvent("diagnostics", pack.diagnostics)
    standing = pack.model_dump(mode="json", by_alias=True, include=_STANDING)
    yield ServerSentEvent(
        "done", {"pack_id": pack.pack_id, **standing, "total_ms": round(_elapsed_ms(pack), 2)}
    )


def _elapsed_ms(pack: Pack) -> float:
    return sum(float(phase["elapsed_ms"]) for phase in pack.provenance.trail)
