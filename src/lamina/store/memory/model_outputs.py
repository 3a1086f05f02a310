"""Recorded answers of models in memory."""

from __future__ import annotations

from collections.abc import Collection

from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.model_outputs import ModelOutput, Spending
from lamina.store.ports.writes import Inquiry

__all__ = ["MemoryModelOutputs", "put_output"]


def put_output(tables: Tables, output: ModelOutput, sources: Collection[str]) -> ModelOutput:
    """Keep an answer, unless its input has one, with the events that it was made from; the one that stands."""
    for event_id in sources:
        tables.output_sources.add((output.tenant_id, event_id, output.input_hash))
    return tables.outputs.setdefault((output.tenant_id, output.input_hash), output)


def words_stand(tables: Tables, tenant_id: str, event_ids: Collection[str]) -> bool:
    """Whether all of some events still have their words."""
    found = (tables.events.get((tenant_id, each)) for each in event_ids)
    return all(event is not None and event.redacted_by is None for event in found)


class MemoryModelOutputs:
    """``ModelOutputs`` over dictionaries."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def record(
        self,
        output: ModelOutput,
        sources: Collection[str],
        asked: Inquiry | None = None,
        worded: Collection[str] = (),
    ) -> ModelOutput:
        """Mirrors ``ModelOutputs.record``."""
        with self._memory.change() as tables:
            held = asked if asked is None else tables.inquiries.get(asked.id)
            if asked is not None and (held is None or held.state not in ("pending", "answered")):
                return output
            if not words_stand(tables, output.tenant_id, worded):
                return output
            return put_output(tables, output, sources)

    def find(self, tenant_id: str, input_hash: str) -> ModelOutput | None:
        """Mirrors ``ModelOutputs.find``."""
        return self._memory.tables.outputs.get((tenant_id, input_hash))

    def spend(self, spending: Spending) -> None:
        """Mirrors ``ModelOutputs.spend``."""
        key = (spending.tenant_id, spending.day, spending.task, spending.model)
        with self._memory.change() as tables:
            asked, tokens_in, tokens_out = tables.spendings.get(key, (0, 0, 0))
            tables.spendings[key] = (
                asked + spending.asked,
                tokens_in + spending.tokens_in,
                tokens_out + spending.tokens_out,
            )

    def spent(self, tenant_id: str | None, day: int) -> list[Spending]:
        """Mirrors ``ModelOutputs.spent``."""
        found = sorted(self._memory.tables.spendings.items())
        return [
            Spending(*key, *figures)
            for key, figures in found
            if key[1] == day and tenant_id in (None, key[0])
        ]

    def drop(self, tenant_id: str, input_hashes: Collection[str]) -> int:
        """Mirrors ``ModelOutputs.drop``."""
        with self._memory.change() as tables:
            gone = {(tenant_id, each) for each in input_hashes} & tables.outputs.keys()
            for key in gone:
                del tables.outputs[key]
            tables.output_sources = {
                source for source in tables.output_sources if (source[0], source[2]) not in gone
            }
            return len(gone)

    def forget(self, tenant_id: str, event_ids: Collection[str]) -> int:
        """Mirrors ``ModelOutputs.forget``."""
        with self._memory.change() as tables:
            gone = {
                (tenant, input_hash)
                for tenant, event_id, input_hash in tables.output_sources
                if tenant == tenant_id and event_id in event_ids
            }
            for key in gone:
                del tables.outputs[key]
            tables.output_sources = {
                source for source in tables.output_sources if (source[0], source[2]) not in gone
            }
            return len(gone)
