"""Placing what happened and what is planned: what the words of one claim come to (``occasions.py``), as versions of facts.

Nearly all of it is told once. Of the rest a fact without an end that is said again without one is the usual; anything else has the facts of its claim
made anew from all that was said of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import Fact, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.pipeline.occasions import Occasion, Word, is_same, occasions, retold
from lamina.pipeline.said_of import StatementReader
from lamina.pipeline.versions import drop_fact, put_placed, put_version, supports_of, tie_at
from lamina.pipeline.view import View
from lamina.store.ports.writes import Writes

__all__ = ["OccasionPlacer", "by_claim"]

_WORDS_MAX: Final = 256
"""Of what more was said of, the next word is placed among the facts as they stand."""
_ROWS: Final = (Tie.EXTRACTED_FROM, Tie.HELD_UNTIL, Tie.HANDED_OVER_IN)


class OccasionPlacer:
    """Places the claims of a view's event that have no slot."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._event = view.event
        self._reader = StatementReader(view)

    def place(self, held: Sequence[Fact], fact: Fact, writes: Writes) -> None:
        """Place ``fact`` among the current versions of its claim and of the claim's denial."""
        if not held:
            writes.records.append(fact)
            writes.supports += supports_of(self._event, fact.id, fact)
        elif not self._goes_on(held, fact, writes):
            self._make_anew(held, fact, writes)

    def _goes_on(self, held: Sequence[Fact], fact: Fact, writes: Writes) -> bool:
        """Take it for one word more of the one fact that is held, whenever it was said; whether it is."""
        (first, *more) = held
        if more or first.negated != fact.negated or first.said_by != fact.said_by:
            return False
        if first.valid_to is not None or fact.valid_to is not None or not is_same(first, fact):
            return False
        writes.supports += supports_of(self._event, first.id, fact)
        if (told := retold(first, fact)) != first:
            put_version(self._event, first, told, writes)
        return True

    def sources_of(self, told: Sequence[Fact]) -> dict[str, set[str]]:
        """The events that say each fact of a claim and of its denial, all of which are given: a word that was placed elsewhere since is no more that
        fact's. Facts that something else than words made so are left out."""
        drawn = _paired(self._reader.words(told, Writes()), told)
        return {key: {word.fact.event_id for word in each.words} for key, each in drawn.items()}

    def drawn_from(self, told: Sequence[Fact], sources: Collection[str]) -> list[tuple[Fact, set[str]]]:
        """The facts of a claim and of its denial as they would be had those events alone told of it, each with those that say so. One that is given
        may be several of them."""
        words = [each for each in self._reader.words(told, Writes()) if each.fact.event_id in sources]
        found: list[tuple[Fact, set[str]]] = []
        for each in occasions(words[:_WORDS_MAX]):
            said_by = {word.fact.event_id for word in each.words}
            same = [one for one in told if one.negated == each.fact.negated]
            base = min(same, key=lambda one: (one.event_id not in said_by, one.id))
            found.append((replace(_timed(base, each.fact), supersedes=None, superseded_by=None), said_by))
        return found

    def _make_anew(self, held: Sequence[Fact], fact: Fact, writes: Writes) -> None:
        paired = _paired(self._reader.words(held, writes), held)
        standing = [each for each in held if each.id in paired]
        fixed = [each for each in held if each.id not in paired]
        said = [word for each in paired.values() for word in each.words]
        drawn = occasions([*said, Word(fact, self._event.context.observed_at)], fixed)
        facts = self._facts_of(drawn, standing, fact)
        kept, by_id = {each.id for each in facts.values()}, {each.id: each for each in held}
        into = {each.id: _taken_in(paired[each.id], drawn) for each in standing if each.id not in kept}
        ring = {each.id for each in standing} - into.keys()
        for each in drawn:
            denied = [
                key for key, by in into.items() if by is each and by_id[key].negated != each.fact.negated
            ]
            put_placed(self._event, by_id.get(facts[each].id), _linked(each, facts, ring, denied), writes)
        self._put_supports(facts, held, fact, writes)
        for key, by in into.items():
            drop_fact(self._event, by_id[key], None if by is None else facts[by].id, writes)
            if fact.negated and not by_id[key].negated:  # whoever cancels the denial looks for what it denied
                writes.supports.append(tie_at(self._event, key, Tie.TAKEN_BACK_BY, fact.valid_from))

    def _facts_of(
        self, drawn: Sequence[Occasion], standing: Sequence[Fact], fact: Fact
    ) -> dict[Occasion, Fact]:
        """The fact that each occasion is: one that is held, the new one, or one that is held a second time."""
        event, free, found = self._event, [*standing, fact], dict[Occasion, Fact]()
        for number, each in enumerate(drawn):
            base = each.held or _told_first(each, free)
            if base is None:
                base = replace(
                    each.words[0].fact,
                    id=derived_id(Prefix.FACT, event.recorded_at, event.id, fact.id, "again", number),
                    version=1,
                    position=event.position,
                    recorded_from=event.recorded_at,
                    supersedes=None,
                    superseded_by=None,
                )
            elif each.held is None:
                free.remove(base)
            found[each] = base
        return found

    def _put_supports(
        self, facts: Mapping[Occasion, Fact], held: Sequence[Fact], fact: Fact, writes: Writes
    ) -> None:
        """Have the fact of each occasion rest on all that says so."""
        denials = {each.id for each in held if each.negated}
        rows: dict[tuple[bool, str], list[Support]] = {}
        known = set()
        for row in self._reader.supports([each.id for each in held], writes):
            known.add((row.record_id, row.source_id, row.relation))
            if row.relation in _ROWS:
                rows.setdefault((row.record_id in denials, row.source_id), []).append(row)
        own = supports_of(self._event, fact.id, fact)
        for occasion, stands in facts.items():
            for word in occasion.words:
                said = word.fact
                of_word = own if said is fact else rows[said.negated, said.event_id]
                for row in of_word:
                    key = (stands.id, row.source_id, row.relation)
                    if key not in known and _is_of(row, said):
                        known.add(key)
                        writes.supports.append(
                            row._replace(record_id=stands.id, recorded_at=self._event.recorded_at)
                        )


def by_claim(facts: Iterable[Fact]) -> dict[tuple[Scope, str], list[Fact]]:
    """Facts by their scope and by what they claim or deny."""
    found: dict[tuple[Scope, str], list[Fact]] = {}
    for fact in facts:
        found.setdefault((fact.scope, replace(fact, negated=False).claim_key), []).append(fact)
    return found


def _paired(words: Sequence[Word], held: Sequence[Fact]) -> dict[str, Occasion]:
    """The occasion that each held fact is, where words alone made it so, by its id."""
    found: dict[str, Occasion] = {}
    if len(words) > _WORDS_MAX:
        return found
    for each in occasions(words):
        fact, sources = each.fact, {word.fact.event_id for word in each.words}
        same = [
            one.id
            for one in held
            if one.id not in found
            and one.event_id in sources
            and (one.negated, one.valid_from, one.valid_to) == (fact.negated, fact.valid_from, fact.valid_to)
        ]
        if same:
            found[min(same)] = each
    return found


def _told_first(occasion: Occasion, free: Sequence[Fact]) -> Fact | None:
    """Of some facts the one that the first of its words made, which has one."""
    for word in occasion.words:
        told = [
            each for each in free if (each.negated, each.event_id) == (word.fact.negated, word.fact.event_id)
        ]
        if told:
            return min(told, key=lambda each: (each.valid_from != word.fact.valid_from, each.id))
    return None


def _linked(
    occasion: Occasion, facts: Mapping[Occasion, Fact], ring: Collection[str], denied: Sequence[str]
) -> Fact:
    """The fact of an occasion as its words have it, naming what it ends, or what of those that it ``denied`` never was, and what ended it; ``ring``
    are the facts made anew."""
    base = facts[occasion]
    before, after = base.supersedes, base.superseded_by
    ends = (
        [facts[occasion.ends].id]
        if occasion.ends
        else [*denied, *(each for each in [before] if each not in ring)]
    )
    return replace(
        _timed(base, occasion.fact),
        supersedes=next(iter(ends), None),
        superseded_by=facts[occasion.ended_by].id if occasion.ended_by else None if after in ring else after,
    )


def _timed(fact: Fact, told: Fact) -> Fact:
    """A fact with the time and the trust of what was told."""
    return replace(
        fact,
        valid_from=told.valid_from,
        valid_to=told.valid_to,
        from_offset=told.from_offset,
        to_offset=told.to_offset,
        fades_at=told.fades_at,
        confidence=told.confidence,
        external=told.external,
        trust=told.trust,
        by_assistant=told.by_assistant,
        handed_over=told.handed_over,
        said_by=told.said_by,
    )


def _taken_in(gone: Occasion, drawn: Sequence[Occasion]) -> Occasion | None:
    """The occasion that says now what one that is gone said, or denies it."""
    same = [each for each in drawn if any(word in each.words for word in gone.words)]
    return next(iter([*same, *(each for each in drawn if each.fact.negated != gone.fact.negated)]), None)


def _is_of(row: Support, said: Fact) -> bool:
    """Whether a row is of a word and not of another that the same event says of the claim."""
    return row.relation == Tie.HANDED_OVER_IN or row.since == (
        said.valid_to if row.relation == Tie.HELD_UNTIL else said.valid_from
    )
