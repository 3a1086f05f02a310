"""Whether a later turn answers anew, and whether the best turns hold an answer: figures of a pool, nothing of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from given import ALICE, NOON, TENANT, fact
from lamina.kernel.operations import Principal
from lamina.kernel.time import SECOND_US
from lamina.language.tokens import analyse
from lamina.models.ports import Encoded, TokenRows
from lamina.recall.answerable import ANSWERABLE_FROM, answer_strength
from lamina.recall.newer import newer_answers
from lamina.recall.plan import Plan, plan_recall
from lamina.recall.rank import Ranked
from lamina.recall.retrieve import EventPool
from lamina.recall.score import ScoredEvent, ScoredRecord
from lamina.recall.signals import SIGNALS, ScopeStatistics, Turns, term_counts
from lamina.types.recall import Recall

DAY_US = 86_400 * SECOND_US
QUESTION = "Where does Ana park her bicycle?"
OLD, NEW = "I park my bicycle in the yard", "I park the bicycle in the cellar now"


def planned(question: str = QUESTION) -> Plan:
    asked = Recall.model_validate({"scope": ALICE, "query": question})
    return plan_recall(asked, Principal(tenant_id=TENANT, actor="user:alice", channel="http"), [ALICE], NOON)


def pool(plan: Plan, texts: Sequence[str], days: Sequence[float], **more: np.ndarray) -> EventPool:
    """Turns a part of whose vectors is the same, so that they are near each other, from persons who take turns."""
    analysed = [analyse(text) for text in texts]
    count = len(texts)
    nothing = np.zeros(count)
    turns = Turns(
        counts=term_counts(analysed, plan.terms),
        lengths=np.array([len(each) for each in analysed], np.float32),
        tokens=TokenRows.joined([]),
        cosines=nothing,
        sessions=np.arange(count),
        previous=np.full(count, count, np.intp),
        following=np.full(count, count, np.intp),
        named=np.arange(count) % 2 == 0,
        by_assistant=np.zeros(count, np.bool_),
        observed_at=np.array([int(NOON + day * DAY_US) for day in days]),
        question_shares=nothing,
        self_shares=nothing,
    )
    turns = replace(turns, **more)
    pooled = np.tile(np.array([1.0, 0.0], np.float32), (count, 1))
    found = {term: sum(term in each for each in analysed) for term in plan.terms}
    statistics = ScopeStatistics(50, 6.0, 2, found)
    ids = [f"evt_{at}" for at in range(count)]
    encoded = Encoded(np.zeros((0, 2), np.float32), ())
    return EventPool(
        ids,
        turns,
        pooled,
        statistics,
        frozenset({"Ana"}),
        encoded,
        {},
        {},
        lambda _: (),
        (),
        lambda _: None,
        partial=False,
    )


def ranked(nearness: Sequence[float], scores: Sequence[float] | None = None) -> list[ScoredEvent]:
    parts = np.zeros(len(SIGNALS))
    return [
        ScoredEvent(at, f"evt_{at}", 1.0 - at / 10, Ranked(at, (scores or nearness)[at], near, parts))
        for at, near in enumerate(nearness)
    ]


def test_the_older_of_two_answers_may_have_changed_by_the_later() -> None:
    plan = planned()
    marks = newer_answers(pool(plan, [OLD, NEW], [0, 90]), ranked([0.6, 0.6]), plan)
    assert {i: (mark.event_id, mark.observed_at) for i, mark in marks.items()} == {
        "evt_0": ("evt_1", NOON + 90 * DAY_US)
    }


@pytest.mark.parametrize(
    ("question", "texts", "days", "nearness"),
    [
        ("Where did Ana park her bicycle before?", [OLD, NEW], [0, 90], [0.6, 0.6]),
        (QUESTION, [OLD, NEW], [0, 0.5], [0.6, 0.6]),  # one talk: the second goes on where the first ended
        (QUESTION, [OLD, "Lovely weather"], [0, 90], [0.6, 0.1]),
    ],
)
def test_what_was_and_what_is_beside_the_question_mark_nothing(
    question: str, texts: Sequence[str], days: Sequence[float], nearness: Sequence[float]
) -> None:
    plan = planned(question)
    assert newer_answers(pool(plan, texts, days), ranked(nearness), plan) == {}


def test_an_assistants_reply_is_marked_with_its_turn_and_marks_nothing_itself() -> None:
    plan = planned()
    replies = np.array([False, True, False])
    before = np.array([3, 0, 3], np.intp)
    texts = [OLD, "Noted, the yard", NEW]
    turns = pool(plan, texts, [0, 0.001, 90], by_assistant=replies, previous=before)
    marks = newer_answers(turns, ranked([0.6, 0.2, 0.6]), plan)
    assert {i: mark.event_id for i, mark in marks.items()} == {"evt_0": "evt_2", "evt_1": "evt_2"}
    alone = pool(plan, [OLD, NEW], [0, 90], by_assistant=np.array([False, True]))
    assert newer_answers(alone, ranked([0.6, 0.6]), plan) == {}


def test_an_answer_needs_the_questions_rare_words_in_one_turn_or_fact() -> None:
    plan = planned()
    holding = pool(plan, [OLD, NEW], [0, 90])
    assert answer_strength(holding, plan, ranked([0.6, 0.6]), []) >= ANSWERABLE_FROM
    without = pool(plan, ["I like the yard", "Lovely weather"], [0, 90])
    assert answer_strength(without, plan, ranked([0.3, 0.2]), []) < ANSWERABLE_FROM
    stated = [ScoredRecord(fact("f", text="Ana parks her bicycle in the yard"), 0.5, {})]
    assert answer_strength(without, plan, ranked([0.3, 0.2]), stated) >= ANSWERABLE_FROM
    assert answer_strength(without, plan, [], []) == 0.0


def test_who_takes_one_of_two_for_the_other_finds_the_others_words() -> None:
    plan = planned()
    turns = pool(plan, [OLD, OLD], [0, 1])
    of_ana = answer_strength(turns, plan, ranked([0.6, 0.6], [2.0, 0.5]), [])
    of_the_other = answer_strength(turns, plan, ranked([0.6, 0.6], [0.5, 2.0]), [])
    assert of_the_other < of_ana
    many = replace(turns, statistics=replace(turns.statistics, speakers=3))
    assert answer_strength(many, plan, ranked([0.6, 0.6], [2.0, 0.5]), []) == answer_strength(
        many, plan, ranked([0.6, 0.6], [0.5, 2.0]), []
    )
