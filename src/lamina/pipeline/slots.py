"""Placing a claim among the values of its slot: what the timelines make of the statements, as versions of facts.

The usual claim comes last and is placed at the end; any other has the timelines of its matter drawn anew from all that was said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lamina.kernel.events import Event, Trust
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.local import Offset
from lamina.kernel.records import Fact, Support
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.pipeline.beside import own_slot, under_author
from lamina.pipeline.matters import denials_of, is_denial, is_told_over, value_of
from lamina.pipeline.said_of import StatementReader
from lamina.pipeline.sides import Side, ends_of_others, sides
from lamina.pipeline.timeline import Statement, ValueEnd, ValuePeriod
from lamina.pipeline.versions import drop_fact, put_placed, put_version, supports_of, vouched_for
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["SlotPlacer", "valid_order"]


class SlotPlacer:
    """Places the claims of a view's event in their slots."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._event = view.event
        self._reader = StatementReader(view)

    def place(self, told: Sequence[Fact], fact: Fact, writes: Writes) -> None:
        """Place ``fact``, which has the slot of its matter, among the current versions of all that is told of that (``is_of_matter``)."""
        placed, apart = _in_order(told, own_slot(fact))
        if (
            is_told_over(fact)
            or _has_sides([*placed, fact])
            or not self._comes_last(placed, apart, fact, writes)
        ):
            self._redraw(placed, apart, fact, writes)

    def _comes_last(self, placed: Sequence[Fact], apart: Collection[str], fact: Fact, writes: Writes) -> bool:
        """Place it at the end, where what was said before has no say in it; whether that is its place."""
        value = value_of(fact)
        values = [each for each in placed if each.id not in apart and not is_denial(each)]
        denials = [each for each in placed if is_denial(each)]
        bearing = {value, *(value_of(each) for each in values[-1:])}
        if any(value_of(each) in bearing for each in placed if each.id in apart):
            return False
        beside = values if is_denial(fact) else denials
        chain = denials if is_denial(fact) else values
        before = [*chain[:-1], *beside]
        # Hearsay that gave way to what people said may fit in elsewhere once that has an end: also where it joined a person's word.
        if any(each.external for each in before) or self._moved(before, fact.valid_from, writes):
            return False
        # What is denied of other values bears on none that comes last.
        if any(value_of(each) == value for each in beside):
            return False
        if not chain:
            self._add(fact, writes)
            return True
        # A denial may have come between what was said of the value that is last.
        last = [each for each in chain if value_of(each) == value_of(chain[-1])]
        # Of one instant what was said last counts: that takes all that was said of it.
        is_shared_instant = fact.valid_from == chain[-1].valid_from and len(last) < len(chain)
        return not is_shared_instant and self._at_end(last, before, fact, writes)

    def sources_of(self, told: Sequence[Fact]) -> dict[str, set[str]]:
        """The events that say each fact of a matter, of which all that has a slot, and what stands apart, is given: a statement that was placed
        elsewhere later is no more that fact's. Facts that no period is are left out."""
        slot = own_slot(next(each for each in told if each.slot is not None))
        placed, apart = _in_order(told, slot)
        standing = [each for each in placed if each.id not in apart]
        statements = self._reader.statements(placed, None, Writes())
        drawn = [
            (_slot_of(slot, side, period), period)
            for side in sides(statements, _endings(standing, statements))
            for period in side.periods
            if not period.is_apart
        ]
        periods = {(slot, each.said, each.holds_from): each for slot, each in drawn}
        # Where others overlap it, a value may begin twice at one instant.
        exact = {(slot, each.said, each.holds_from, each.holds_to): each for slot, each in drawn}
        found = {
            each.id: exact.get((each.slot, _said(each), each.valid_from, each.valid_to))
            or periods.get((each.slot, _said(each), each.valid_from))
            for each in standing
        }
        return {
            key: {said.source for said in period.statements}
            for key, period in found.items()
            if period is not None
        }

    def drawn_from(
        self, told: Sequence[Fact], sources: Collection[str], ended: Collection[tuple[str, Instant]]
    ) -> list[tuple[Fact, set[str]]]:
        """The facts of a matter, with slots, as they would be had those events alone told of it, each with those that say so. ``ended``
        are the facts that one of them took back, and when."""
        slot = own_slot(told[0])
        placed, _ = _in_order(told, slot)
        statements = [
            each for each in self._reader.statements(placed, None, Writes()) if each.source in sources
        ]
        by_id = {each.id: each for each in placed}
        endings = [
            ValueEnd(value_of(by_id[key]), at) for key, at in sorted(ended) if not is_denial(by_id[key])
        ]
        clocks = _Clocks(statements)
        found: list[tuple[Fact, set[str]]] = []
        free = {each.id for each in placed}
        for side in sides(statements, endings):
            for period in side.periods:
                said_by = {each.source for each in period.statements}
                same = [each for each in placed if _said(each) == period.said]
                base = min(
                    same, key=lambda each: (each.id not in free, each.event_id not in said_by, each.id)
                )
                fact = replace(
                    _trusted(base, period),
                    valid_from=period.holds_from,
                    valid_to=period.holds_to,
                    from_offset=clocks.of_start(period),
                    to_offset=clocks.of_end(period, base),
                    slot=_slot_of(slot, side, period),
                    superseded_by=None,
                    supersedes=None,
                )
                # What was not sent may have joined two stretches into one fact: that is both of them then.
                free.discard(base.id)
                found.append((fact, said_by))
        return found

    def _at_end(self, said: Sequence[Fact], before: Sequence[Fact], fact: Fact, writes: Writes) -> bool:
        """Place it behind the last value, of which all the facts are given, and what else is held; whether that is its place."""
        event, last = self._event, said[-1]
        if fact.valid_from < max(last.valid_from, event.context.observed_at) or last.valid_to is not None:
            return False
        if value_of(last) == value_of(fact):
            if fact.valid_to is not None:
                return False
            if before and self._said_after([*before, last], fact.valid_from, writes):
                return False  # it may have given way to that
            writes.supports += supports_of(event, last.id, fact)
            if (vouched := vouched_for(last, fact)) != last:
                put_version(event, last, vouched, writes)
            return True
        if fact.external and not last.external:
            return False  # hearsay ends nobody's word
        if is_denial(fact) or self._said_after(said, fact.valid_from, writes):
            return False
        self._add(replace(fact, supersedes=last.id), writes)
        ended = replace(last, valid_to=fact.valid_from, to_offset=fact.from_offset, superseded_by=fact.id)
        put_version(event, last, ended, writes, superseded_by=fact.id)
        return True

    def _moved(self, facts: Sequence[Fact], at: Instant, writes: Writes) -> bool:
        """Whether facts that are over by an instant rest on a statement that says so of a later one."""
        ids = {each.id for each in facts}
        stored = self._view.supports_of(ids) if ids else {}
        said = [each for found in stored.values() for each in found]
        said += [each for each in writes.supports if each.record_id in ids]
        return any(each.relation == Tie.EXTRACTED_FROM and each.since > at for each in said)

    def _add(self, fact: Fact, writes: Writes) -> None:
        writes.records.append(fact)
        writes.supports += supports_of(self._event, fact.id, fact)

    def _said_after(self, facts: Sequence[Fact], at: Instant, writes: Writes) -> bool:
        said = self._reader.statements(facts, None, writes)
        return any(max(each.said_at, each.holds_from) > at for each in said)

    def _redraw(self, placed: Sequence[Fact], apart: Collection[str], fact: Fact, writes: Writes) -> None:
        statements = self._reader.statements(placed, fact, writes)
        known = {each.said for each in statements}
        drawn = [each for each in placed if _said(each) in known]
        standing = [each for each in drawn if each.id not in apart]
        slot = own_slot(fact)
        found = sides(statements, _endings(standing, statements))
        periods = [(_slot_of(slot, side, each), each) for side in found for each in side.periods]
        facts = self._facts_of(periods, drawn, fact, apart)
        held = {each.id: replace(each, slot=None) if each.id in apart else each for each in drawn}
        links = _Links(self._event, held, {*held, *(each.id for each in facts)}, _Clocks(statements))
        first = 0
        for side in found:
            count = len(side.periods)
            links.put(facts[first : first + count], periods[first : first + count], writes)
            first += count
        self._put_supports(facts, [each for _, each in periods], drawn, fact, writes)
        kept = {each.id for each in facts}
        into: dict[tuple[str, bool], str] = {}
        for each in facts:
            into.setdefault(_said(each), each.id)
        for gone in drawn:
            if gone.id not in kept:
                drop_fact(self._event, held[gone.id], into.get(_said(gone)), writes)

    def _facts_of(
        self,
        periods: Sequence[tuple[str | None, ValuePeriod]],
        chain: Sequence[Fact],
        fact: Fact,
        apart: Collection[str],
    ) -> list[Fact]:
        """The fact that stands for each period, which is given with its slot: one that is held, the new one, or one that is held a second time.
        ``apart`` are the ids of those that stood apart."""
        event = self._event
        free: dict[tuple[str, bool], list[Fact]] = {}
        for each in [*chain, fact]:
            free.setdefault(_said(each), []).append(each)
        first_of = {said: facts[0] for said, facts in free.items()}
        found: list[Fact] = []
        for number, (slot, period) in enumerate(periods):
            sources = {each.source for each in period.statements}
            best = min(
                free[period.said],
                key=lambda each: (
                    each.event_id not in sources,
                    (each.id in apart or (each is fact and is_told_over(fact))) is not period.is_apart,
                    each is fact,
                    each.slot != slot,
                    each.valid_from != period.holds_from,
                ),
                default=None,
            )  # fmt: skip
            if best is not None and best.event_id in sources:
                free[period.said].remove(best)
                found.append(best)
                continue
            base = first_of[period.said]
            first = min(period.statements, key=lambda each: (each.holds_from, each.source))
            found.append(
                replace(
                    base,
                    id=derived_id(Prefix.FACT, event.recorded_at, event.id, base.id, "resumed", number),
                    version=1,
                    position=event.position,
                    recorded_from=event.recorded_at,
                    event_id=first.source,
                    superseded_by=None,
                )
            )
        return found

    def _put_supports(
        self,
        facts: Sequence[Fact],
        periods: Sequence[ValuePeriod],
        chain: Sequence[Fact],
        fact: Fact,
        writes: Writes,
    ) -> None:
        """Have each period's fact rest on all that says so."""
        values = {each.id: _said(each) for each in chain}
        rows: dict[tuple[tuple[str, bool], str], list[Support]] = {}
        known = set()
        for support in self._reader.supports(list(values), writes):
            known.add((support.record_id, support.source_id, support.relation))
            if support.relation in (Tie.EXTRACTED_FROM, Tie.HELD_UNTIL, Tie.HANDED_OVER_IN):
                rows.setdefault((values[support.record_id], support.source_id), []).append(support)
        rows[_said(fact), self._event.id] = supports_of(self._event, fact.id, fact)
        for held, period in zip(facts, periods, strict=True):
            for said in period.statements:
                for row in rows[period.said, said.source]:
                    key = (held.id, row.source_id, row.relation)
                    if key not in known:
                        known.add(key)
                        moved = row._replace(record_id=held.id, recorded_at=self._event.recorded_at)
                        writes.supports.append(moved)


def _in_order(told: Sequence[Fact], slot: str) -> tuple[list[Fact], frozenset[str]]:
    """What is told of a matter, values and denials each in valid order, then what stands apart as if it were in the slot, and the ids of that."""
    apart = frozenset(each.id for each in told if each.slot is None)
    placed = [each if each.slot is not None else replace(each, slot=slot) for each in told]
    return sorted(placed, key=lambda each: (each.id in apart, is_denial(each), *valid_order(each))), apart


def _has_sides(facts: Sequence[Fact]) -> bool:
    """Whether more than one person spoke of a matter, so that a word may stand beside others."""
    speakers = {None if each.said_by is None else each.said_by.id for each in facts if not each.external}
    return len(speakers) > 1 or any(each.is_beside for each in facts)


def _slot_of(slot: str, side: Side, period: ValuePeriod) -> str | None:
    """The slot of a period of a matter, whose own slot is given."""
    if period.is_apart:
        return None
    own = denials_of(slot) if period.denies else slot
    return own if side.author is None else under_author(own, side.author)


def valid_order(fact: Fact) -> tuple[Instant, bool, int, str]:
    """By when facts hold, those that have ended first, then by when they were told."""
    return fact.valid_from, fact.valid_to is None, fact.position, fact.id


def _said(fact: Fact) -> tuple[str, bool]:
    """Mirrors ``Statement.said``."""
    return value_of(fact), is_denial(fact)


def _endings(chain: Sequence[Fact], statements: Sequence[Statement]) -> list[ValueEnd]:
    """Where a value ended by another word than a next value, a denial, its own or the person's: it was taken back."""
    starts = {each.valid_from for each in chain} | ends_of_others(statements)
    told = {(each.value, each.holds_to) for each in statements if each.holds_to is not None}
    return [
        ValueEnd(value_of(each), each.valid_to)
        for each in chain
        if each.valid_to is not None
        and not is_denial(each)
        and each.valid_to not in starts
        and (value_of(each), each.valid_to) not in told
    ]


def _trusted(fact: Fact, period: ValuePeriod) -> Fact:
    """The fact of a period with the trust of its statements: hearsay where nobody says so as their own word, and as sure as the surest
    of its words."""
    words = [each for each in period.statements if each.is_word]
    own = not words or any(each.author is None for each in words)
    return replace(
        fact,
        external=not words,
        trust=Trust.most(each.trust for each in words),
        by_assistant=all(each.by_assistant for each in period.statements),
        handed_over=all(each.handed_over for each in period.statements),
        said_by=None if own else min(words, key=lambda each: (each.said_at, each.source)).author,
        confidence=max(each.confidence for each in words or period.statements),
    )


class _Clocks:
    """By which clock the ends of periods were told: by that of the statement which names the instant."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self._starts: dict[Instant, Offset | None] = {}
        for each in statements:
            self._starts.setdefault(each.holds_from, each.offset)
        for each in statements:  # by which another's word ends
            self._starts.setdefault(each.said_at, each.offset)

    def of_start(self, period: ValuePeriod) -> Offset | None:
        """Of the first instant of a period; what was put before another value has the clock of its own statement."""
        exact = [each for each in period.statements if each.holds_from == period.holds_from]
        return (exact or period.statements)[0].offset

    def of_end(self, period: ValuePeriod, fact: Fact) -> Offset | None:
        """Of the end of a period, whose fact may have been taken back by somebody else."""
        if period.holds_to is None:
            return None
        for each in period.statements:
            if each.holds_to == period.holds_to:
                return each.offset
        if period.holds_to in self._starts:
            return self._starts[period.holds_to]
        return fact.to_offset if fact.valid_to == period.holds_to else self.of_start(period)


@dataclass(frozen=True, slots=True)
class _Links:
    """Puts facts as their periods are, each naming those before and after it. ``held`` are the versions that were there, ``ring`` all ids of
    the matter."""

    event: Event
    held: Mapping[str, Fact]
    ring: Collection[str]
    clocks: _Clocks

    def put(
        self, facts: Sequence[Fact], periods: Sequence[tuple[str | None, ValuePeriod]], writes: Writes
    ) -> None:
        """Those of one side."""
        ids = [each.id for each in facts]
        before, after = _neighbours([each for _, each in periods])
        for number, (fact, (slot, period)) in enumerate(zip(facts, periods, strict=True)):
            elsewhere = None if fact.superseded_by in self.ring else fact.superseded_by
            linked = replace(
                _trusted(fact, period),
                valid_from=period.holds_from,
                valid_to=period.holds_to,
                slot=slot,
                from_offset=self.clocks.of_start(period),
                to_offset=self.clocks.of_end(period, fact),
                supersedes=ids[before[number]] if number in before else None,
                superseded_by=ids[after[number]] if number in after else elsewhere,
            )
            put_placed(self.event, self.held.get(fact.id), linked, writes)


def _neighbours(periods: Sequence[ValuePeriod]) -> tuple[dict[int, int], dict[int, int]]:
    """For each period the one that it follows, and the one that follows it: a denial stands between two of its value."""
    values = [number for number, period in enumerate(periods) if not (period.denies or period.is_apart)]
    after = dict(pairwise(values))
    before = {later: earlier for earlier, later in after.items()}
    for number, denial in enumerate(periods):
        for other in values if denial.denies else ():
            same = periods[other]
            if same.value != denial.value:
                continue
            if same.holds_to == denial.holds_from:
                before[number] = other
                if other not in after or periods[after[other]].value == denial.value:
                    after[other] = number
            elif same.holds_from == denial.holds_to:
                after[number] = other
                if other not in before or periods[before[other]].holds_to != same.holds_from:
                    before[other] = number
    return before, after
