"""What a step of forgetting has read so far: rows of the records that it reaches, each once."""

from __future__ import annotations

from collections.abc import Collection

from lamina.kernel.events import Event
from lamina.kernel.records import Record, Support
from lamina.store.ports.erasing import Erasure
from lamina.store.rules.erasing_rows import ErasureReads

__all__ = ["Ground"]


class Ground:
    """Records by id, with every version and with what they rest on; events are read when they are asked for."""

    def __init__(self, read: ErasureReads, erasure: Erasure) -> None:
        self.read = read
        self.erasure = erasure
        self.inside = frozenset(erasure.scopes)
        self.versions: dict[str, list[Record]] = {}
        self.supports: dict[str, list[Support]] = {}
        self._events: dict[str, Event | None] = {}
        self._dependants: dict[str, list[Support]] = {}

    def last(self, record_id: str) -> Record:
        """The newest version of a record that was read."""
        return self.versions[record_id][-1]

    def add(self, record_ids: Collection[str]) -> None:
        """Read records that were not read yet."""
        for version in self.read.versions(sorted(set(record_ids) - self.versions.keys())):
            self.versions.setdefault(version.id, []).append(version)

    def add_supports(self, record_ids: Collection[str]) -> None:
        """Read what records rest on, where that was not read yet."""
        for support in self.read.supports(sorted(set(record_ids) - self.supports.keys())):
            self.supports.setdefault(support.record_id, []).append(support)

    def dependants(self, ids: Collection[str]) -> list[Support]:
        """The supports that rest on events or records."""
        missing = sorted(set(ids) - self._dependants.keys())
        if missing:
            self._dependants |= {key: [] for key in missing}
            for support in self.read.dependants(missing):
                self._dependants[support.source_id].append(support)
        return [support for key in sorted(set(ids)) for support in self._dependants[key]]

    def events_of(self, ids: Collection[str]) -> dict[str, Event]:
        """Those of some ids that are events."""
        missing = sorted(set(ids) - self._events.keys())
        if missing:
            found = self.read.events(missing)
            self._events |= {key: found.get(key) for key in missing}
        return {key: event for key in ids if (event := self._events[key]) is not None}
