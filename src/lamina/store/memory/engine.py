"""The in-memory store: for tests, for comparison, and as the shortest answer to what a port means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lamina.kernel.ids import IdSource, RandomIds
from lamina.kernel.time import Clock, SystemClock
from lamina.store.memory.audit import MemoryAudit, MemoryPeppers
from lamina.store.memory.changes import MemoryChanges
from lamina.store.memory.citations import MemoryCitations
from lamina.store.memory.definitions import MemoryDefinitions
from lamina.store.memory.documents import MemoryDocuments
from lamina.store.memory.erasing import MemoryErasing
from lamina.store.memory.erasures import MemoryErasures
from lamina.store.memory.expiries import MemoryExpiries
from lamina.store.memory.index import MemoryIndexRows
from lamina.store.memory.inquiries import MemoryInquiries
from lamina.store.memory.job_runs import MemoryJobRuns
from lamina.store.memory.jobs import MemoryJobs
from lamina.store.memory.lifecycle import MemoryLifecycle
from lamina.store.memory.log import MemoryIdempotency, MemoryLog, MemoryScopes
from lamina.store.memory.messages import MemoryMessages
from lamina.store.memory.model_outputs import MemoryModelOutputs
from lamina.store.memory.packs import MemoryPacks
from lamina.store.memory.records import MemoryRecords
from lamina.store.memory.rederivation import MemoryRederivation
from lamina.store.memory.registry import MemoryRegistry
from lamina.store.memory.relay_tokens import MemoryRelayTokens
from lamina.store.memory.revocations import MemoryRevocations
from lamina.store.memory.schedule import MemorySchedule
from lamina.store.memory.sessions import MemorySessions
from lamina.store.memory.signing_keys import MemorySealedKeys
from lamina.store.memory.tables import Memory
from lamina.store.memory.traces import MemoryTraces
from lamina.store.memory.upkeep import MemoryUpkeep
from lamina.store.rows import record_row, text_row

__all__ = ["MemoryStore"]


class MemoryStore:
    """``Store`` in one process. Every write copies the tables: right for thousands of rows, not for millions."""

    def __init__(
        self, *, clock: Clock | None = None, ids: IdSource | None = None, memory: Memory | None = None
    ) -> None:
        clock, ids = clock or SystemClock(), ids or RandomIds()
        self._memory = memory or Memory()
        self.changes = MemoryChanges(self._memory)
        self.log = MemoryLog(self._memory, clock, ids)
        self.expiries = MemoryExpiries(self._memory, clock, ids, self.log)
        self.idempotency = MemoryIdempotency(self._memory)
        self.jobs = MemoryJobs(self._memory, clock, ids)
        self.records = MemoryRecords(self._memory)
        self.index = MemoryIndexRows(self._memory)
        self.lifecycle = MemoryLifecycle(self._memory)
        self.scopes = MemoryScopes(self._memory)
        self.registry = MemoryRegistry(self._memory, self.log)
        self.audit = MemoryAudit(self._memory)
        self.peppers = MemoryPeppers(self._memory)
        self.upkeep = MemoryUpkeep(self._memory)
        self.documents = MemoryDocuments(self._memory, clock, self.log)
        self.relay_tokens = MemoryRelayTokens(self._memory)
        self.job_runs = MemoryJobRuns(self._memory)
        self.signing_keys = MemorySealedKeys(self._memory)
        self.messages = MemoryMessages(self._memory)
        self.revocations = MemoryRevocations(self._memory)
        self.definitions = MemoryDefinitions(self._memory, self.log)
        self.schedule = MemorySchedule(self._memory)
        self.sessions = MemorySessions(self._memory, self.log)
        self.model_outputs = MemoryModelOutputs(self._memory)
        self.packs = MemoryPacks(self._memory)
        self.inquiries = MemoryInquiries(self._memory, self.log)
        self.citations = MemoryCitations(self._memory)
        self.erasures = MemoryErasures(self._memory, clock, ids)
        self.traces = MemoryTraces(self._memory, clock)
        self.erasing = MemoryErasing(self._memory, clock, ids, self.log)
        self.rederivation = MemoryRederivation(
            self._memory, clock, ids, lambda aside: MemoryStore(clock=clock, memory=aside)
        )

    def snapshot(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Mirrors ``Store.snapshot``, in the tables and columns of the SQLite engine."""
        tables = self._memory.tables
        for _, record in sorted(tables.records.items()):
            yield "record", record_row(record)
        for _, edge in sorted(tables.supports.items()):
            yield "support", tuple(edge)
        for _, entity in sorted(tables.entities.items()):
            yield "entity", (entity.tenant_id, entity.id, entity.normalised_name, entity.type)
        for _, said in sorted(tables.mentions.items()):
            place = (said.tenant_id, said.entity_id, said.scope, said.event_id)
            yield "mention", (*place, said.position, said.surface, said.type)
        for key, text in sorted(tables.texts.items()):
            yield "text_row", (*text_row(text), int(key in tables.hidden_texts))
        for (tenant_id, record_id, model), (_, vector) in sorted(tables.vectors.items()):
            yield "vector_row", (tenant_id, record_id, vector.scope, model)

    def close(self) -> None:
        """Mirrors ``Store.close``. There is nothing to let go of."""
