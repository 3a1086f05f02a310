"""What earlier events of a batch derived and has not landed yet: a view reads it on top of what the store holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from lamina.kernel.events import Event
from lamina.kernel.local import Offset
from lamina.kernel.records import Layer, Record, Support
from lamina.kernel.ties import Tie
from lamina.store.ports.writes import Closing, Writes

__all__ = ["Pending"]


class Pending:
    """What was derived and has not landed yet, to be read as if it had."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], list[Record]] = defaultdict(list)
        self._of_layer: dict[Layer, list[list[Record]]] = defaultdict(list)
        self._closings: dict[tuple[str, str, int], Closing] = {}
        self._supports: dict[tuple[str, str], list[Support]] = defaultdict(list)
        self._resting: dict[tuple[str, str], list[tuple[int, int, Support]]] = defaultdict(list)
        self._number_of: dict[tuple[str, str], int] = {}
        self._offsets: dict[tuple[str, str], Offset] = {}
        self._decisions: dict[tuple[str, str], list[Support]] = defaultdict(list)

    def with_added(self, writes: Writes) -> Pending:
        """A copy that has what the next event derived, too."""
        copied = Pending()
        for versions in self._versions.values():
            copied.add(Writes(records=list(versions)))
        copied.add(Writes(closings=list(self._closings.values())))
        for supports in self._supports.values():
            copied.add(Writes(supports=list(supports)))
        copied._offsets |= self._offsets
        copied.add(writes)
        return copied

    def add(self, writes: Writes) -> None:
        """Add what the next event of the batch derived."""
        for record in writes.records:
            versions = self._versions[record.tenant_id, record.id]
            if not versions:
                self._of_layer[record.layer].append(versions)
            versions.append(record)
        for closing in writes.closings:
            self._closings.setdefault((closing.tenant_id, closing.id, closing.version), closing)
        for support in writes.supports:
            of_record = self._supports[support.tenant_id, support.record_id]
            number = self._number_of.setdefault((support.tenant_id, support.record_id), len(self._number_of))
            self._resting[support.tenant_id, support.source_id].append((number, len(of_record), support))
            of_record.append(support)
            if support.relation == Tie.DECIDES:
                self._decisions[support.tenant_id, support.source_id].append(support)
        for clock in writes.offsets:
            self._offsets.setdefault((clock.tenant_id, clock.event_id), clock.offset)

    def read_by(self, event: Event) -> Event:
        """An event with the clock by which it was read."""
        offset = self._offsets.get((event.tenant_id, event.id)) if event.offset is None else None
        return event if offset is None else replace(event, zone_offset=offset)

    @property
    def ended(self) -> int:
        """How many versions of the store a query may find that are over."""
        return len(self._closings)

    def records(self, layer: Layer) -> Iterator[Record]:
        """Every version of a layer."""
        for versions in self._of_layer.get(layer, ()):
            yield from map(self.as_ended, versions)

    def versions(self, tenant_id: str, record_id: str) -> list[Record]:
        """The versions of one record, first to last."""
        return [self.as_ended(version) for version in self._versions.get((tenant_id, record_id), ())]

    def supports_of(self, tenant_id: str, record_id: str) -> Sequence[Support]:
        """What a record rests on besides."""
        return self._supports.get((tenant_id, record_id), ())

    def deciding(self, tenant_id: str, entity: str) -> Sequence[Support]:
        """What was decided of an entity besides."""
        return self._decisions.get((tenant_id, entity), ())

    def resting_on(self, tenant_id: str, source_ids: Collection[str]) -> Iterator[Support]:
        """What rests on sources besides, record by record in the order in which these came."""
        if self._resting:
            found = [
                each for source in set(source_ids) for each in self._resting.get((tenant_id, source), ())
            ]
            yield from (support for _, _, support in sorted(found, key=_place_of))

    def as_ended(self, record: Record) -> Record:
        """A version with its end, where that has come."""
        closing = self._closings.get((record.tenant_id, record.id, record.version))
        if closing is None or record.recorded_to is not None:
            return record
        return replace(record, recorded_to=closing.recorded_to, closed_by=closing.closed_by)


def _place_of(pending: tuple[int, int, Support]) -> tuple[int, int]:
    number, place, _ = pending
    return number, place
