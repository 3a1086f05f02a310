"""Explaining: every item's sources down to events, and the subgraph that a structured pack shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lamina.kernel.records import Claim, Concept, Fact, Layer, is_event
from lamina.kernel.time import rfc3339, rfc3339_or_none
from lamina.recall.pack import Item
from lamina.store.queries import Links

__all__ = ["DEPTH_MAX", "SOURCES_MAX", "citations", "knowledge_subgraph"]

DEPTH_MAX = 4
SOURCES_MAX = 32
"""Sources shown of one item; a concept may rest on many more, and each has its own page."""


def citations(record_ids: Collection[str], links: Links) -> dict[str, list[str]]:
    """From each derived id to the records and events that it rests on, and on from those, down to events."""
    found: dict[str, list[str]] = {}
    front = [i for i in record_ids if not is_event(i)]
    for _ in range(DEPTH_MAX):
        sources = links.cited_by(front)
        onward: list[str] = []
        for record_id in front:
            found[record_id] = list(sources.get(record_id, ()))
            onward += [i for i in links.onward_from(record_id) if i not in found]
        front = list(dict.fromkeys(onward))
        if not front:
            break
    return found


def knowledge_subgraph(chosen: Mapping[Layer, Sequence[Item]]) -> dict[str, Any]:
    """Facts, beliefs and concepts as JSON-LD: entities are nodes, claims are statements about them."""
    nodes: dict[str, dict[str, Any]] = {}
    statements: list[dict[str, Any]] = []
    for item in [*chosen.get(Layer.FACTS, ()), *chosen.get(Layer.BELIEFS, ())]:
        claim = item.value
        assert isinstance(claim, Claim), "these layers hold claims"
        nodes.setdefault(claim.subject.id, _entity(claim.subject.id, claim.subject.name))
        value: Any = claim.object.value
        if claim.object.id is not None:
            nodes.setdefault(claim.object.id, _entity(claim.object.id, claim.object.name or ""))
            value = {"@id": f"urn:lamina:{claim.object.id}"}
        elif claim.object.unit:
            value = {"@value": value, "unit": claim.object.unit}
        statements.append(
            {
                "@id": f"urn:lamina:{claim.id}",
                "@type": "Fact" if isinstance(claim, Fact) else "Belief",
                "subject": {"@id": f"urn:lamina:{claim.subject.id}"},
                "predicate": claim.predicate,
                "object": value,
                "negated": claim.negated,
                "confidence": claim.confidence,
                "valid_from": rfc3339(claim.valid_from),
                "valid_to": rfc3339_or_none(claim.valid_to),
                "may_have_changed": None if item.changed is None else rfc3339(item.changed.observed_at),
            }
        )
    for item in chosen.get(Layer.UNDERSTANDING, ()):
        concept = item.value
        assert isinstance(concept, Concept), "this layer holds concepts"
        statements.append(
            {
                "@id": f"urn:lamina:{concept.id}",
                "@type": "Concept",
                "name": concept.name,
                "summary": concept.summary,
                "edges": [
                    {"to": {"@id": f"urn:lamina:{edge.to}"}, "relation": edge.relation, "weight": edge.weight}
                    for edge in concept.edges
                ],
            }
        )
    return {
        "@context": {"@vocab": "https://lamina.dev/vocabulary#", "name": "https://schema.org/name"},
        "@graph": [*nodes.values(), *statements],
    }


def _entity(entity_id: str, name: str) -> dict[str, Any]:
    return {"@id": f"urn:lamina:{entity_id}", "@type": "Entity", "name": name}
