"""A naive memory of everything that was ever held: plain values, filtered by the definition in docs/explanation/time.md.

It is filled by looking at what stands after each event and never asks a store about the past.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lamina.kernel.records import Belief, Concept, Layer, Record, Stance
from lamina.kernel.time import Interval


@dataclass(frozen=True)
class Asked:
    """Where a reader stands, in the words of a request; instants in microseconds."""

    as_of: int | None = None
    valid_during: Interval | None = None
    recorded_during: Interval | None = None
    include_superseded: bool = False


@dataclass
class Version:
    """What a record said from one instant of the log until another."""

    layer: Layer
    figures: tuple[Any, ...]
    valid_from: int
    valid_to: int | None
    deprecated: bool
    known_from: int
    known_to: int | None = None


@dataclass
class FullHistory:
    """Every version of every record, in the order in which they came to stand."""

    versions: dict[tuple[str, int], Version] = field(default_factory=dict)

    def note(self, standing: list[Record], at: int) -> None:
        """What stands once the event that was recorded at an instant has been derived."""
        now = {(record.id, record.version): record for record in standing}
        for key, version in self.versions.items():
            if version.known_to is None and key not in now:
                version.known_to = at
        for key, record in now.items():
            if key not in self.versions:
                self.versions[key] = Version(
                    record.layer, figures(record), record.valid_from, record.valid_to, _deprecated(record), at
                )

    def answer(self, layer: Layer, asked: Asked, now: int) -> set[tuple[Any, ...]]:
        """The versions that a list of a layer has to hold, by the definition, as (id, version, figures)."""
        seen = now if asked.as_of is None else asked.as_of
        pin: int | None = seen
        if asked.recorded_during is not None:
            pin = asked.as_of
            if asked.recorded_during.end is not None:
                seen = min(seen, asked.recorded_during.end - 1)
        found = set()
        for (record_id, number), held in self.versions.items():
            if held.layer is not layer or held.deprecated or held.known_from > seen:
                continue
            if held.known_to is not None and held.known_to <= seen and not asked.include_superseded:
                continue
            if asked.recorded_during is not None and not _within(held.known_from, asked.recorded_during):
                continue
            if asked.valid_during is not None:
                if not _meets(held.valid_from, held.valid_to, asked.valid_during):
                    continue
            elif pin is not None and not _holds(held.valid_from, held.valid_to, pin):
                continue
            found.add((record_id, number, held.figures))
        return found


def figures(record: Record) -> tuple[Any, ...]:
    """What a version says, without what tells of its end."""
    said = replace(record, recorded_to=None, closed_by=None)
    values: list[Any] = [said.valid_from, said.valid_to, said.confidence]
    if isinstance(said, Belief):
        values += [said.stance, said.alpha, said.beta, said.lower, said.upper, said.object.text, said.negated]
    return tuple(values)


def _deprecated(record: Record) -> bool:
    return isinstance(record, Belief | Concept) and record.stance is Stance.DEPRECATED


def _within(at: int, span: Interval) -> bool:
    return (span.start is None or span.start <= at) and (span.end is None or at < span.end)


def _holds(start: int, end: int | None, at: int) -> bool:
    return start <= at and (end is None or at < end)


def _meets(start: int, end: int | None, span: Interval) -> bool:
    begins_before = span.end is None or start < span.end
    return begins_before and (span.start is None or end is None or span.start < end)
