"""What supports a fact and was placed at another one since: a support is never taken back, and says of its fact no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lamina.kernel.records import Fact, Support
from lamina.kernel.scopes import Scope
from lamina.pipeline.beside import is_of_matter, own_slot
from lamina.pipeline.matters import PASSING, is_denial, is_told_over, value_of
from lamina.pipeline.passing import OccasionPlacer, by_claim
from lamina.pipeline.slots import SlotPlacer
from lamina.pipeline.view import View

__all__ = ["is_inside", "leave_out_moved"]


def leave_out_moved(view: View, facts: Sequence[Fact], said: dict[str, list[Support]]) -> None:
    """Drop what supports one fact of a matter and was placed at another since; seldom is there any. ``facts`` are all of their matters, ``said``
    what was said of each."""
    _leave_out_of_slots(view, facts, said)
    _leave_out_of_claims(view, [fact for fact in facts if fact.slot is None and fact.kind in PASSING], said)


def _leave_out_of_slots(view: View, facts: Sequence[Fact], said: dict[str, list[Support]]) -> None:
    matters: dict[tuple[Scope, str], list[Fact]] = {}
    for fact in facts:
        if fact.slot is not None and fact.id in said:
            matters.setdefault((fact.scope, own_slot(fact)), []).append(fact)
    told_over = [fact for fact in facts if fact.slot is None and is_told_over(fact)]
    for (scope, slot), placed in matters.items():
        counts = Counter(
            (each.source_id, is_denial(fact), value_of(fact)) for fact in placed for each in said[fact.id]
        )
        moved = any(not is_inside(fact, each) for fact in placed for each in said[fact.id])
        apart = [each for each in told_over if each.scope == scope and is_of_matter(each, slot)]
        elsewhere = {support.source_id for each in apart for support in said.get(each.id, ())}
        moved = moved or any(source in elsewhere for source, _, _ in counts)
        if moved or max(counts.values(), default=0) > 1:
            for fact_id, sources in SlotPlacer(view).sources_of([*placed, *apart]).items():
                said[fact_id] = [each for each in said[fact_id] if each.source_id in sources]


def _leave_out_of_claims(view: View, facts: Sequence[Fact], said: dict[str, list[Support]]) -> None:
    for told in by_claim(facts).values():
        if len(told) > 1 or any(not is_inside(fact, each) for fact in told for each in said.get(fact.id, ())):
            for fact_id, sources in OccasionPlacer(view).sources_of(told).items():
                said[fact_id] = [each for each in said.get(fact_id, ()) if each.source_id in sources]


def is_inside(fact: Fact, said: Support) -> bool:
    """Whether what was said of a fact is of its time; what is not may have been placed elsewhere since."""
    return fact.valid_from <= said.since and (fact.valid_to is None or said.since < fact.valid_to)
