"""Looking after the store in memory."""

from __future__ import annotations

from collections.abc import Mapping

from lamina.kernel.time import Instant
from lamina.store.memory.tables import Memory
from lamina.store.ports.upkeep import Backlog, Compaction, Integrity, StoreState
from lamina.store.ports.writes import FOLD

__all__ = ["MemoryUpkeep"]


class MemoryUpkeep:
    """``Upkeep`` of what needs none."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._failing: Mapping[str, str] = {}
        self._checked: Integrity | None = None

    def probe(self) -> None:
        """Mirrors ``Upkeep.probe``."""

    def check(self, now: Instant) -> Integrity:
        """Mirrors ``Upkeep.check``. There is no disk to look at."""
        self._checked = Integrity(now)
        return self._checked

    def refuses(self) -> bool:
        """Mirrors ``Upkeep.refuses``."""
        return False

    def state(self) -> StoreState:
        """Mirrors ``Upkeep.state``."""
        tables = self._memory.tables
        waiting = [row.event.recorded_at for row in tables.jobs.values() if row.state != "failed"]
        folds = [i.created_at for i in tables.inquiries.values() if i.task == FOLD and i.state == "pending"]
        return StoreState(
            engine="memory",
            version="1",
            oldest_pending_at=min(waiting, default=None),
            worker_alive=None,
            disk_free_bytes=None,
            failing=self._failing,
            outbox_failed=sum(row.state == "failed" for row in tables.outbox.values()),
            last_recorded_at=max((event.recorded_at for event in tables.events.values()), default=None),
            checked=self._checked,
            inquiries_failed=sum(inquiry.state == "failed" for inquiry in tables.inquiries.values()),
            summaries_waiting=len(folds),
            summaries_waiting_since=min(folds, default=None),
        )

    def note_failing(self, parts: Mapping[str, str]) -> None:
        """Mirrors ``Upkeep.note_failing``."""
        self._failing = dict(parts)

    def backlog(self, tenant_id: str, up_to: int | None = None) -> Backlog:
        """Mirrors ``Upkeep.backlog``."""
        positions = [
            row.event.position
            for (tenant, _), row in self._memory.tables.jobs.items()
            if tenant == tenant_id
            and row.state != "failed"
            and (up_to is None or row.event.position <= up_to)
        ]
        return Backlog(len(positions), max(positions, default=0))

    def compact(self) -> Compaction:
        """Mirrors ``Upkeep.compact``."""
        return Compaction(0, complete=True, index_merges=0)
