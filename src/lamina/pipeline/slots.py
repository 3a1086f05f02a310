"""Placing a claim among the values of its slot: what the timeline makes of the statements, as versions of facts.

The usual claim comes last and is placed at the end; any other has the slot's timeline drawn anew from all that was said.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from lamina.index.rows import record_row
from lamina.kernel.events import Event, Trust
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.local import Offset
from lamina.kernel.records import Fact, Support
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.pipeline.hearsay import author_of, is_assistants, is_hearsay
from lamina.pipeline.matters import chain_of, is_denial, is_told_over, value_of
from lamina.pipeline.timeline import Statement, ValueEnd, ValuePeriod, timeline
from lamina.pipeline.versions import drop_fact, put_version, supports_of, vouched_for
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["SlotPlacer"]


class SlotPlacer:
    """Places the claims of a view's event in their slots."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._event = view.event

    def place(
        self,
        values: Sequence[Fact],
        denials: Sequence[Fact],
        apart: Sequence[Fact],
        fact: Fact,
        writes: Writes,
    ) -> None:
        """Place ``fact`` among the current versions of its slot and of the denials of its values, each in valid order. ``apart`` is what was
        told of the slot as over and has none, as ``fact`` may be, too; that comes with the slot."""
        value = value_of(fact)
        apart = [replace(each, slot=chain_of(fact)) for each in apart]
        beside = values if is_denial(fact) else denials
        chain = denials if is_denial(fact) else values
        before = [*chain[:-1], *beside]
        bearing = {value, *(value_of(each) for each in values[-1:])}
        if is_told_over(fact) or any(value_of(each) in bearing for each in apart):
            self._redraw([*values, *denials], apart, fact, writes)
            return
        # Hearsay that gave way to what people said may fit in elsewhere once that has an end: also where it joined a person's word.
        gave_way = any(each.external for each in before) or self._moved(before, fact.valid_from, writes)
        if not gave_way and all(value_of(each) != value for each in beside):
            # What is denied of other values bears on none that comes last.
            if not chain:
                self._add(fact, writes)
                return
            # A denial may have come between what was said of the value that is last.
            last = [each for each in chain if value_of(each) == value_of(chain[-1])]
            # Of one instant what was said last counts: that takes all that was said of it.
            is_shared_instant = fact.valid_from == chain[-1].valid_from and len(last) < len(chain)
            if not is_shared_instant and self._at_end(last, before, fact, writes):
                return
        self._redraw([*values, *denials], apart, fact, writes)

    def sources_of(self, chain: Sequence[Fact], apart: Sequence[Fact]) -> dict[str, set[str]]:
        """The events that say each fact of a slot and of its denials, beside what stands ``apart`` of it: a statement that was placed
        elsewhere later is no more that fact's. Facts that no period of the timeline is are left out."""
        placed = sorted(chain, key=lambda each: (is_denial(each), *_valid_order(each)))
        over = [replace(each, slot=chain_of(chain[0])) for each in apart]
        statements = self._statements([*placed, *over], None, Writes())
        drawn = [each for each in timeline(statements, _endings(placed, statements)) if not each.is_apart]
        periods = {(each.said, each.holds_from): each for each in drawn}
        # Where others overlap it, a value may begin twice at one instant.
        exact = {(each.said, each.holds_from, each.holds_to): each for each in drawn}
        found = {
            each.id: exact.get((_said(each), each.valid_from, each.valid_to))
            or periods.get((_said(each), each.valid_from))
            for each in placed
        }
        return {
            key: {said.source for said in period.statements}
            for key, period in found.items()
            if period is not None
        }

    def drawn_from(
        self, chain: Sequence[Fact], sources: Collection[str], ended: Collection[tuple[str, Instant]]
    ) -> list[tuple[Fact, set[str]]]:
        """The facts of a slot and of its denials as they would be had those events alone told of it, each with those that say so. ``ended``
        are the facts that one of them took back, and when."""
        placed = sorted(chain, key=lambda each: (is_denial(each), *_valid_order(each)))
        told = [each for each in self._statements(placed, None, Writes()) if each.source in sources]
        statements = _ranked([replace(each, external=not each.is_word) for each in told])
        by_id = {each.id: each for each in placed}
        endings = [
            ValueEnd(value_of(by_id[key]), at) for key, at in sorted(ended) if not is_denial(by_id[key])
        ]
        clocks = _Clocks(statements)
        found: list[tuple[Fact, set[str]]] = []
        free = {each.id for each in placed}
        for period in timeline(statements, endings):
            said_by = {each.source for each in period.statements}
            same = [each for each in placed if _said(each) == period.said]
            base = min(same, key=lambda each: (each.id not in free, each.event_id not in said_by, each.id))
            fact = replace(
                _trusted(base, period),
                valid_from=period.holds_from,
                valid_to=period.holds_to,
                from_offset=clocks.of_start(period),
                to_offset=clocks.of_end(period, base),
                slot=None if period.is_apart else base.slot,
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
        if fact.said_by is not None and last.said_by is None and not last.external:
            return False  # nor does another's word somebody's own
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
        said = self._statements(facts, None, writes)
        return any(max(each.said_at, each.holds_from) > at for each in said)

    def _redraw(self, chain: Sequence[Fact], apart: Sequence[Fact], fact: Fact, writes: Writes) -> None:
        statements = self._statements([*chain, *apart], fact, writes)
        known = {each.said for each in statements}
        standing = [each for each in chain if _said(each) in known]
        apart = [each for each in apart if _said(each) in known]
        drawn = [*standing, *apart]
        periods = timeline(statements, _endings(standing, statements))
        facts = self._facts_of(periods, drawn, fact, {each.id for each in apart})
        clocks = _Clocks(statements)
        held = {each.id: each for each in standing} | {each.id: replace(each, slot=None) for each in apart}
        _put_links(self._event, facts, periods, held, clocks, writes)
        self._put_supports(facts, periods, drawn, fact, writes)
        kept = {each.id for each in facts}
        first: dict[tuple[str, bool], str] = {}
        for each in facts:
            first.setdefault(_said(each), each.id)
        for gone in drawn:
            if gone.id not in kept:
                drop_fact(self._event, held[gone.id], first.get(_said(gone)), writes)

    def _statements(self, chain: Sequence[Fact], fact: Fact | None, writes: Writes) -> list[Statement]:
        """What was said of the slot, by this event too."""
        ids = [each.id for each in chain]
        supports = self._supports(ids, writes)
        sources = {each.source_id for each in supports} - {self._event.id}
        events = {**self._view.events(sources), self._event.id: self._event}
        handed = {(s.record_id, s.source_id) for s in supports if s.relation == Tie.HANDED_OVER_IN}
        ends = {(s.record_id, s.source_id): s.since for s in supports if s.relation == Tie.HELD_UNTIL}
        by_id = {each.id: (order, each) for order, each in enumerate(chain)}
        found: dict[tuple[str, bool, str], Statement] = {}
        for support in supports:
            if support.relation != Tie.EXTRACTED_FROM:
                continue
            order, held = by_id[support.record_id]
            source = events.get(support.source_id)
            about = held.kind, held.predicate
            handed_over = (held.id, support.source_id) in handed
            until = ends.get((held.id, support.source_id))
            said = Statement(
                value_of(held),
                support.source_id,
                support.since,
                until,
                max(support.since, until or 0) if source is None else source.context.observed_at,
                order,
                is_denial(held),
                held.external if source is None else handed_over or is_hearsay(source, *about),
                support.weight,
                held.by_assistant if source is None else is_assistants(source, *about),
                held.from_offset if source is None else source.offset,
                handed_over,
                None
                if source is None or held.said_by is None
                else author_of(self._view, source, held.subject.id),
                trust=held.trust if source is None else source.origin.trust,
            )
            found.setdefault((*said.said, said.source), said)
        if fact is not None:
            said_at, own = self._event.context.observed_at, self._event.id
            said = Statement(
                value_of(fact),
                own,
                fact.valid_from,
                fact.valid_to,
                said_at,
                len(chain),
                is_denial(fact),
                fact.external,
                fact.confidence,
                fact.by_assistant,
                fact.from_offset,
                fact.handed_over,
                fact.said_by,
                trust=fact.trust,
            )
            found[*said.said, own] = said
        return _ranked(list(found.values()))

    def _supports(self, ids: Sequence[str], writes: Writes) -> list[Support]:
        stored = self._view.standing_supports(ids)
        known = {(s.record_id, s.source_id, s.relation): s for found in stored.values() for s in found}
        for support in writes.supports:
            if support.record_id in ids:
                known.setdefault((support.record_id, support.source_id, support.relation), support)
        return sorted(known.values(), key=lambda s: (s.recorded_at, s.record_id, s.source_id, s.relation))

    def _facts_of(
        self, periods: Sequence[ValuePeriod], chain: Sequence[Fact], fact: Fact, apart: Collection[str]
    ) -> list[Fact]:
        """The fact that stands for each period: one that is held, the new one, or one that is held a second time. ``apart`` are the ids of
        those that stood apart."""
        event = self._event
        free: dict[tuple[str, bool], list[Fact]] = {}
        for each in [*chain, fact]:
            free.setdefault(_said(each), []).append(each)
        first_of = {said: facts[0] for said, facts in free.items()}
        found: list[Fact] = []
        for number, period in enumerate(periods):
            sources = {each.source for each in period.statements}
            best = min(
                free[period.said],
                key=lambda each: (
                    each.event_id not in sources,
                    (each.id in apart or (each is fact and is_told_over(fact))) is not period.is_apart,
                    each is fact,
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
        for support in self._supports(list(values), writes):
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


def _ranked(statements: list[Statement]) -> list[Statement]:
    """The statements, those of others as hearsay where the person themselves has spoken of it."""
    own = any(each.author is None and not each.external for each in statements)
    return [
        replace(each, is_word=not each.external, external=each.external or (own and each.author is not None))
        for each in statements
    ]


def _valid_order(fact: Fact) -> tuple[Instant, bool, int, str]:
    return fact.valid_from, fact.valid_to is None, fact.position, fact.id


def _said(fact: Fact) -> tuple[str, bool]:
    """Mirrors ``Statement.said``."""
    return value_of(fact), is_denial(fact)


def _endings(chain: Sequence[Fact], statements: Sequence[Statement]) -> list[ValueEnd]:
    """Where a value ended by another word than a next value, a denial or its own: it was taken back."""
    starts = {each.valid_from for each in chain}
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


def _put_links(
    event: Event,
    facts: Sequence[Fact],
    periods: Sequence[ValuePeriod],
    held: dict[str, Fact],
    clocks: _Clocks,
    writes: Writes,
) -> None:
    """Put the facts as their periods are, each naming those before and after it."""
    ids = [each.id for each in facts]
    ring = {*ids, *held}
    before, after = _neighbours(periods)
    for number, (fact, period) in enumerate(zip(facts, periods, strict=True)):
        apart = None if fact.superseded_by in ring else fact.superseded_by
        linked = replace(
            _trusted(fact, period),
            valid_from=period.holds_from,
            valid_to=period.holds_to,
            slot=None if period.is_apart else fact.slot,
            from_offset=clocks.of_start(period),
            to_offset=clocks.of_end(period, fact),
            supersedes=ids[before[number]] if number in before else None,
            superseded_by=ids[after[number]] if number in after else apart,
        )
        if fact.id not in held:
            writes.records.append(linked)
            if fact.event_id != event.id:
                writes.texts.append(record_row(linked))
        elif linked != held[fact.id]:
            by = linked.superseded_by if linked.superseded_by != fact.superseded_by else None
            put_version(event, held[fact.id], linked, writes, superseded_by=by)


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
