"""What an answer from a pack is made from, once something of its scopes was cancelled."""

from __future__ import annotations

import pytest

from given import ALICE, NOON, TENANT, append
from lamina.access.policy import PolicyPermits
from lamina.kernel.operations import Call, Principal
from lamina.recall.grounds import GroundLine, Grounds
from lamina.recall.kept import Basis
from lamina.store.memory import MemoryStore
from lamina.types.recall import Pack, Provenance
from policies import OpenPolicy


@pytest.mark.parametrize(("cancelled", "answered_from"), [(0, ["event", "concept"]), (1, ["event"])])
def test_a_concept_is_answered_from_while_nothing_was_cancelled(
    cancelled: int, answered_from: list[str]
) -> None:
    """Not all that it rests on is cited: what was cancelled may be among the rest."""
    store, caller = MemoryStore(), Principal(TENANT, "user:alice", "http")
    call = Call(caller, "req_1", NOON, PolicyPermits(OpenPolicy(), caller))
    (event,) = append(store, "tea at five")
    pack = Pack.model_construct(
        scope=ALICE,
        scopes_traversed=None,
        provenance=Provenance(trail=[], citations={"concept_tea": [event.id]}, markers={}),
    )
    lines = [
        GroundLine(marker="[1]", layer="event", id=event.id, text="tea at five", score=1.0, at=0),
        GroundLine(marker="[2]", layer="concept", id="concept_tea", text="Tea: at five", score=1.0, at=0),
    ]
    now = Basis.of(store, [ALICE], call).removals
    grounds = Grounds.model_construct(pack=pack, lines=lines, removals=now - cancelled)
    assert [line.layer for line in grounds.standing(store, call).lines] == answered_from
