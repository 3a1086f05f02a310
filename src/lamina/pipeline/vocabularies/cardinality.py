"""Facts that are bound to a term, beside older ones of the same subject: from before the predicate was a term, or from when the term took
one value and now takes many, or the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.kernel.events import Event
from lamina.kernel.records import Fact
from lamina.pipeline.beside import ends
from lamina.pipeline.matters import is_shared, words_of
from lamina.pipeline.versions import put_version
from lamina.store.ports.writes import Writes

__all__ = ["end_denied_value", "end_values_before", "value_of_one"]


def end_values_before(event: Event, fact: Fact, held: Sequence[Fact], writes: Writes) -> None:
    """End what holds of the term's own and free predicates where a value takes its place: the term has one value at a time.

    ``held`` are the facts of the subject by these. Values in the slot of the fact itself are placed by their slot.
    """
    own = {record.id for record in writes.records}
    for each in held:
        in_own_slot = each.predicate == fact.predicate and not is_shared(each)
        if (
            each.id == fact.id
            or in_own_slot
            or each.slot is None
            or each.negated
            or each.valid_to is not None
        ):
            continue
        if each.valid_from <= fact.valid_from and ends(fact, each):
            _end(event, each, fact, writes, by=fact.id if fact.id in own else None)


def value_of_one(fact: Fact, held: Sequence[Fact]) -> Fact | None:
    """The fact that gives the value already, from the time when the term had one; a term with many goes on from there."""
    for each in held:
        alone = each.slot is not None and not is_shared(each) and each.predicate == fact.predicate
        if (
            alone
            and not each.negated
            and each.valid_to is None
            and words_of(each.object) == words_of(fact.object)
        ):
            return each
    return None


def end_denied_value(event: Event, denial: Fact, held: Fact, writes: Writes) -> None:
    """End such a value where it is denied."""
    if held.valid_from < denial.valid_from and ends(denial, held):
        _end(event, held, denial, writes, by=denial.id)


def _end(event: Event, held: Fact, by_fact: Fact, writes: Writes, *, by: str | None) -> None:
    end = max(by_fact.valid_from, held.valid_from + 1)
    ended = replace(held, valid_to=end, to_offset=by_fact.from_offset, superseded_by=by)
    put_version(event, held, ended, writes, superseded_by=by)
