"""The newest lifecycle rows of a tenant, read and put into words once for all who follow them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.kernel.events import LifecycleRow
from lamina.kernel.streams import ServerSentEvent
from lamina.types.lifecycle import StreamedRow

__all__ = ["RowEvent", "Tail", "told"]


@dataclass(frozen=True, slots=True)
class RowEvent:
    """A row, and the event that says it on a stream."""

    row: LifecycleRow
    event: ServerSentEvent


def told(row: LifecycleRow) -> RowEvent:
    """A row with the server-sent event that it becomes."""
    data = StreamedRow(
        event_id=row.event_id,
        job_id=row.job_id,
        timestamp=row.arrived_at,
        scope=row.scope,
        sequence=row.number,
        payload=row.payload,
    )
    return RowEvent(row, ServerSentEvent(row.name, data, row.id))


class Tail:
    """Rows in order of arrival, without a gap, up to ``read_to``."""

    def __init__(self, read_to: int) -> None:
        self.read_to = read_to
        self._rows: list[RowEvent] = []
        self._whole_from = read_to + 1

    def add(self, rows: Sequence[LifecycleRow], rows_max: int) -> None:
        """Go on by the next rows, and let the oldest go past ``rows_max``."""
        if not rows:
            return
        self._rows += map(told, rows)
        self.read_to = rows[-1].sequence
        too_many = len(self._rows) - rows_max
        if too_many > 0:
            self._whole_from = self._rows[too_many - 1].row.sequence + 1
            del self._rows[:too_many]

    def holds(self, sequence: int) -> bool:
        """Whether everything from a sequence on is here."""
        return sequence >= self._whole_from

    def since(self, sequence: int) -> Iterator[RowEvent]:
        """The rows from a sequence on."""
        first = bisect_left(self._rows, sequence, key=lambda each: each.row.sequence)
        return iter(self._rows[first:])
