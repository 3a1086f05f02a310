"""What one scope may believe of another's words comes of those that were sent: it is the same where the others were never said.

The gate tries a few; ``SENT_CASES=400`` tries so many of each kind, ``SIMULATION_SEED`` begins at another seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest

from given import ManualClock, append
from lamina.kernel.events import Context, Directives, Origin, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Axes
from lamina.store.memory import MemoryStore
from lamina.store.ports.records import RecordQuery
from statements import DAYS, Reader, Said, history, of_ana, passing, with_ends
from told import DAY, START, Memory

CASES = int(os.environ.get("SENT_CASES", "30"))
FIRST_SEED = int(os.environ.get("SIMULATION_SEED", "1")) * 1_000_000
TENANT, OWN, TEAM = "acme", Scope("user:ana"), Scope("ws:launch")

Told = Callable[[random.Random], list[Said]]


def of_two_with_ends(chance: random.Random) -> list[Said]:
    return with_ends(of_ana(history(chance), chance), chance)


def believed(said: Sequence[Said], order: Sequence[int], sent: Collection[int], *, of_all: bool) -> list[Any]:
    """What the team believes once all is derived, of all that was said or of what was sent alone."""
    clock = ManualClock(START + 2 * DAYS * DAY)
    memory = Memory(MemoryStore(clock=clock, ids=RandomIds()), clock, Reader(said))
    for number in order:
        clock.at += SECOND_US
        each = said[number]
        if of_all or number in sent:
            append(
                memory.store,
                str(number),
                content={"kind": "message", "role": "user", "text": str(number)},
                scope=OWN,
                observed_actor=each.speaker,
                subject=each.speaker,
                origin=Origin(each.speaker.id, "http", Trust.EXTERNAL if each.is_read else Trust.PRINCIPAL),
                directives=Directives(consolidate_into=TEAM if number in sent else None),
                context=Context(observed_at=START + each.at * DAY),
            )
    memory.derive()
    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.BELIEFS, scopes=[TEAM], axes=Axes(seen_at=1 << 60), limit=200
    )
    return sorted(
        repr((b.claim_key, b.valid_from, b.valid_to, b.alpha, b.beta, b.stance.value, b.external, b.said_by))
        for b in memory.store.records.query(query)
    )  # fmt: skip


@pytest.mark.parametrize("of_kind", [history, of_two_with_ends, passing])
def test_what_was_not_sent_makes_no_difference(of_kind: Told) -> None:
    known = 0
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        chance = random.Random(seed)
        said = of_kind(chance)
        order = chance.sample(range(len(said)), len(said))
        sent = {number for number in order if chance.random() < 0.6}
        if of_kind is passing:  # decision 0097 says what denials do that were not sent
            sent |= {number for number in order if said[number].negated}
        alone = believed(said, order, sent, of_all=False)
        known += bool(alone)
        assert believed(said, order, sent, of_all=True) == alone, f"seed {seed}, sent {sent}, told {order}"
    assert known > CASES / 3
