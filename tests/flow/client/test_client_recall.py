"""Recall and the derived layers through the client."""

from __future__ import annotations

import asyncio

import pytest

from lamina import AsyncClient
from lamina.client.results import ContextChunk, DoneChunk, LayerChunk, SubgraphChunk
from lamina.types.recall import RankedFact

pytestmark = pytest.mark.model


@pytest.fixture
def told(live, client):
    """A memory of where somebody lives."""
    stored = client.experience("I live in Lisbon. My sister is called Ana.", session="monday")
    live.drain()
    return stored


def test_a_pack_is_typed(client, told):
    pack = client.recall("Where do I live?", max_tokens=500, diagnostics="summary")
    assert "Lisbon" in pack.context_block
    assert pack.layers.events[0].id == told.event_id
    fact = pack.layers.facts[0]
    assert fact.supports == [told.event_id]
    assert (fact.partial, fact.ranked_position) == (False, 1)
    assert pack.provenance.citations[fact.id] == [told.event_id]
    assert pack.diagnostics is not None


def test_a_belief_is_explained_down_to_the_event(client, told):
    (belief, *_) = client.beliefs.list().items
    reasons = client.beliefs.why(belief.id)
    assert reasons.belief.claim.predicate == belief.claim.predicate
    assert told.event_id in {node.id for node in reasons.support_graph.nodes}
    assert reasons.support_graph.edges[0].source == belief.id


def test_every_layer_is_read(client, told):
    fact = next(fact for fact in client.facts.iterate() if fact.predicate == "lives_in")
    assert client.facts.get(fact.id) == fact
    timeline = client.facts.timeline(fact.subject.id, "lives_in")
    assert [entry.value for entry in timeline.timeline] == ["Lisbon"]
    (episode,) = client.episodes.iterate()
    assert client.episodes.get(episode.id).events == [told.event_id]
    for concept in client.understanding.iterate():
        assert client.understanding.get(concept.id).name == concept.name
        assert client.understanding.related(concept.id).has_more is False
    assert client.understanding.coverage().concept_count >= 0


def test_a_streamed_recall_says_the_same_as_the_pack(client, told):
    pack = client.recall("Where do I live?")
    chunks = list(client.recall_stream("Where do I live?"))
    (context,) = [chunk for chunk in chunks if isinstance(chunk, ContextChunk)]
    assert context.text == pack.context_block
    assert isinstance(chunks[-1], DoneChunk)
    layers = {chunk.layer: chunk.items for chunk in chunks if isinstance(chunk, LayerChunk)}
    assert [item.id for item in layers["facts"]] == [item.id for item in pack.layers.facts]
    assert all(isinstance(item, RankedFact) for item in layers["facts"])


def test_a_structured_recall_streams_its_graph(client, told):
    pack = client.recall("Where do I live?", view="structured")
    chunks = list(client.recall_stream("Where do I live?", view="structured"))
    (graph,) = [chunk for chunk in chunks if isinstance(chunk, SubgraphChunk)]
    assert graph.knowledge_subgraph == pack.knowledge_subgraph


def test_the_asynchronous_stream_says_it_too(live, client, maya, told):
    async def story() -> str:
        async with AsyncClient(live.url, actor=maya) as other:
            parts = [chunk.text async for chunk in other.recall_stream("Where do I live?")]
            pack = await other.recall("Where do I live?")
            assert pack.context_block == "".join(parts)
            return pack.context_block

    assert "Lisbon" in asyncio.run(story())
