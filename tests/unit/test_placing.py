"""Which turns may be shown, of those that were ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from test_newer_answers import pool, ranked

from given import ALICE, NOON, TENANT, append
from lamina.kernel.operations import Principal
from lamina.kernel.records import Layer
from lamina.models.ports import Encoded, TokenMatrix
from lamina.recall.changed import Changes
from lamina.recall.evidence import DerivedLayers, Displayed
from lamina.recall.newer import AnsweredAnew
from lamina.recall.placing import Answers, candidates, place
from lamina.recall.plan import Plan, plan_recall
from lamina.recall.score import ScoredEvent
from lamina.recall.superseded import Supersession
from lamina.store.memory import MemoryStore
from lamina.store.queries import Links
from lamina.types.recall import Recall

QUESTION = "Where does Ana park her bicycle?"
TEXTS = ["in the yard", "beside the door", "tea at five", "a long day"]
SCORES = (1.0, 0.3, 0.01, 0.001)
"""Two turns are far below the best."""


def planned(**more: object) -> Plan:
    asked = Recall.model_validate({"scope": ALICE, "query": QUESTION, **more})
    return plan_recall(asked, Principal(tenant_id=TENANT, actor="user:alice", channel="http"), [ALICE], NOON)


def placed(plan: Plan) -> tuple[Answers, Mapping[str, float]]:
    """What answers of four turns, and what each of them scored."""
    events = append(MemoryStore(), *TEXTS)
    nothing = TokenMatrix(np.zeros((0, 2), np.int8), np.zeros(0, np.float32))
    turns = replace(
        pool(plan, TEXTS, [0, 1, 2, 3]),
        record_ids=[event.id for event in events],
        encoded=Encoded(np.zeros((1, 2), np.float32), (nothing,)),
    )
    scored: list[ScoredEvent] = [
        one._replace(record_id=event.id, score=score)
        for one, event, score in zip(ranked(SCORES), events, SCORES, strict=True)
    ]
    of_events = candidates(turns, scored, plan, AnsweredAnew())
    displayed = Displayed(
        {event.id: event for event in events},
        DerivedLayers({}, 0, 0),
        Changes({}, {}),
        Links({}, {}, {}, {}, {}),
    )
    answers = place(plan, of_events, Supersession(), displayed, {}, turns, explained=False)
    return answers, {event.id: score for event, score in zip(events, SCORES, strict=True)}


def test_a_faint_turn_fills_no_room() -> None:
    answers, score_of = placed(planned())
    assert [score_of[one.value.id] for one in answers.values[Layer.EVENTS]] == [1.0, 0.3]
    assert not answers.more


def test_who_says_how_many_events_they_want_has_faint_ones_in_the_layer() -> None:
    answers, _ = placed(planned(budgets={"per_layer_limits": {"events": 4}}))
    assert len(answers.values[Layer.EVENTS]) == len(TEXTS)
