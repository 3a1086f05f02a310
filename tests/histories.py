"""A naive memory of everything that was ever held: plain values, filtered by the definition in docs/explanation/time.md.

It is filled by looking at what stands after each event and never asks a store about the past.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lamina.kernel.records import Belief, Claim, Concept, Layer, Record, Stance
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
    about: tuple[str, str] | None = None
    """Subject and predicate of a claim."""
    superseded_by: str | None = None


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
                    record.layer,
                    figures(record),
                    record.valid_from,
                    record.valid_to,
                    _deprecated(record),
                    at,
                    about=(record.subject.name, record.predicate) if isinstance(record, Claim) else None,
                    superseded_by=record.superseded_by,
                )

    def answer(self, layer: Layer, asked: Asked, now: int) -> set[tuple[Any, ...]]:
        """The versions that a list of a layer has to hold, by the definition, as (id, version, figures)."""
        seen, pin = self._stands(asked, now)
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

    def recalled(self, layer: Layer, asked: Asked, now: int) -> set[tuple[Any, ...]]:
        """What a recall may hold of a layer: of each record the newest version that a list would have."""
        newest: dict[str, tuple[Any, ...]] = {}
        for each in sorted(self.answer(layer, asked, now), key=lambda each: (each[0], each[1])):
            newest[each[0]] = each
        return set(newest.values())

    def timeline(self, about: tuple[str, str], asked: Asked, now: int) -> list[tuple[Any, ...]]:
        """The values that a subject's predicate held, in valid order: of each fact the newest version known then, without those that were
        taken back; with those that were superseded every version. The stretches that are asked for narrow it; without one it is of
        all times."""
        seen, _ = self._stands(asked, now)
        known = {
            key: held
            for key, held in self.versions.items()
            if held.layer is Layer.FACTS and held.about == about and held.known_from <= seen
        }
        last = {record_id: max(n for i, n in known if i == record_id) for record_id, _ in known}
        found = []
        for (record_id, number), held in known.items():
            is_over = held.known_to is not None and held.known_to <= seen
            if not asked.include_superseded and (
                number != last[record_id] or (is_over and held.superseded_by is None)
            ):
                continue
            if asked.valid_during is not None and not _meets(
                held.valid_from, held.valid_to, asked.valid_during
            ):
                continue
            if asked.recorded_during is not None and not _within(held.known_from, asked.recorded_during):
                continue
            found.append((held.valid_from, record_id, number, held.figures))
        return sorted(found)

    def open_once(self, key: tuple[str, int], now: int, asked: Asked) -> bool:
        """Whether a version that was over by then had no end of its own: a timeline shows it until what took its place, by which a
        stretch of validity narrows it."""
        seen, _ = self._stands(asked, now)
        held = self.versions[key]
        return held.valid_to is None and held.known_to is not None and held.known_to <= seen

    def _stands(self, asked: Asked, now: int) -> tuple[int, int | None]:
        """Where a reader stands: what is known there, and when it has to hold where no stretch is asked for."""
        seen = now if asked.as_of is None else asked.as_of
        if asked.recorded_during is None:
            return seen, seen
        end = asked.recorded_during.end
        return seen if end is None else min(seen, end - 1), asked.as_of


@dataclass
class PhraseHistory:
    """Every meaning that a tenant's words for stretches of time ever had."""

    meanings: list[tuple[str, Interval, int]] = field(default_factory=list)
    withdrawn: dict[int, int] = field(default_factory=dict)

    def define(self, words: str, span: Interval, at: int) -> None:
        self.meanings.append((words, span, at))

    def withdraw(self, words: str, at: int) -> None:
        for number, (each, _, _) in enumerate(self.meanings):
            if each == words and number not in self.withdrawn:
                self.withdrawn[number] = at

    def standing(self, words: str) -> bool:
        return self.meant(words, None) is not None

    def meant(self, words: str, seen: int | None) -> Interval | None:
        """What words meant at an instant of the log, or mean now; None where they named nothing."""
        for number, (each, span, since) in enumerate(self.meanings):
            until = self.withdrawn.get(number)
            if seen is None:
                stands = until is None
            else:
                stands = since <= seen and (until is None or until > seen)
            if each == words and stands:
                return span
        return None


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
