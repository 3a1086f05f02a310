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
WIDTH = 16
BESIDE = ["Lovely weather", "We cooked rice", "The train was late", "I slept badly"]
"""Turns that were found, too, and say nothing of the question."""
OLD, NEW = "I park my bicycle in the yard", "I park the bicycle in the cellar now"


def planned(question: str = QUESTION) -> Plan:
    asked = Recall.model_validate({"scope": ALICE, "query": question})
    return plan_recall(asked, Principal(tenant_id=TENANT, actor="user:alice", channel="http"), [ALICE], NOON)


def pool(plan: Plan, texts: Sequence[str], days: Sequence[float], **more: np.ndarray) -> EventPool:
    """Turns from persons who take turns; those that speak of a bicycle or of a yard are near each other, and to nothing else."""
    analysed = [analyse(f"Ana: {text}") for text in texts]
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
    pooled = np.array([_vector(at, text) for at, text in enumerate(texts)])
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
        lambda _: None,
        (),
        lambda _: {},
        removals=0,
        partial=False,
    )


def _vector(at: int, text: str) -> np.ndarray:
    row = np.zeros(WIDTH, np.float32)
    row[0 if "bicycle" in text or "yard" in text else at + 1] = 1.0
    return row


def ranked(nearness: Sequence[float], scores: Sequence[float] | None = None) -> list[ScoredEvent]:
    parts = np.zeros(len(SIGNALS))
    return [
        ScoredEvent(
            at,
            f"evt_{at}",
            1.0 - at / 100,
            Ranked(at, (scores or nearness)[at], near, parts, np.array([near, near], np.float32)),
        )
        for at, near in enumerate(nearness)
    ]


def marks_of(
    texts: Sequence[str],
    days: Sequence[float],
    nearness: Sequence[float],
    question: str = QUESTION,
    **more: np.ndarray,
) -> dict[str, str]:
    """Which turn marks which, with four turns beside them; one person says them all, unless told otherwise."""
    plan = planned(question)
    more = {"named": np.ones(len(texts) + len(BESIDE), np.bool_), **more}
    turns = pool(plan, [*texts, *BESIDE], [*days, *(10.0 * at for at in range(1, 5))], **more)
    found = newer_answers(turns, ranked([*nearness, 0.3, 0.25, 0.2, 0.2]), plan).marks
    assert all(mark.observed_at == turns.turns.observed_at[int(mark.event_id[4:])] for mark in found.values())
    return {i: mark.event_id for i, mark in found.items()}


def test_the_older_of_two_answers_may_have_changed_by_the_later() -> None:
    assert marks_of([OLD, NEW], [0, 90], [0.6, 0.6]) == {"evt_0": "evt_1"}


def test_of_two_likely_later_turns_both_are_worth_what_the_older_is() -> None:
    plan = planned()
    texts = [OLD, NEW, "Ana's bicycle is in the yard of the school now"]
    days = [0, 90, 120, *(10.0 * at for at in range(1, 5))]
    turns = pool(plan, [*texts, *BESIDE], days, named=np.ones(7, np.bool_))
    found = newer_answers(turns, ranked([0.6, 0.6, 0.6, 0.3, 0.25, 0.2, 0.2]), plan)
    assert {found.marks["evt_0"].event_id, found.next_likeliest["evt_0"]} == {"evt_1", "evt_2"}
    assert found.worth_of_later({"evt_0": 0.8}) == {"evt_1": 0.8, "evt_2": 0.8}


@pytest.mark.parametrize(
    ("question", "texts", "days", "nearness"),
    [
        ("Where did Ana park her bicycle before?", [OLD, NEW], [0, 90], [0.6, 0.6]),
        ("Where was Ana's bicycle in March 2025?", [OLD, NEW], [0, 90], [0.6, 0.6]),
        (QUESTION, [OLD, "I met Tom in town"], [0, 90], [0.6, 0.3]),
    ],
)
def test_what_was_and_what_is_beside_the_question_mark_nothing(
    question: str, texts: Sequence[str], days: Sequence[float], nearness: Sequence[float]
) -> None:
    assert marks_of(texts, days, nearness, question) == {}


def test_a_time_that_is_not_over_is_no_question_of_the_past() -> None:
    assert marks_of([OLD, NEW], [0, 90], [0.6, 0.6], "Where does Ana park her bicycle in 2099?") == {
        "evt_0": "evt_1"
    }


def test_who_goes_on_talking_answers_nothing_again() -> None:
    one_session = np.array([0, 0, *range(1, 5)])
    assert marks_of([OLD, NEW], [0, 0.01], [0.6, 0.6], sessions=one_session) == {}
    assert marks_of([OLD, NEW], [0, 90], [0.6, 0.6], sessions=one_session) == {"evt_0": "evt_1"}
    assert marks_of([OLD, NEW], [0, 0.01], [0.6, 0.6]) == {"evt_0": "evt_1"}


def test_another_than_who_said_it_answers_it_again_less_likely() -> None:
    by_another = np.array([at != 1 for at in range(6)])
    assert marks_of([OLD, NEW], [0, 1], [0.6, 0.6]) == {"evt_0": "evt_1"}
    assert marks_of([OLD, NEW], [0, 1], [0.6, 0.6], named=by_another) == {}


def test_an_assistants_reply_is_marked_with_its_turn_and_marks_nothing_itself() -> None:
    replies = np.array([at == 1 for at in range(7)])
    before = np.array([7, 0, *[7] * 5], np.intp)
    texts = [OLD, "Noted, the yard", NEW]
    marks = marks_of(texts, [0, 0.001, 90], [0.6, 0.2, 0.6], by_assistant=replies, previous=before)
    assert marks == {"evt_0": "evt_2", "evt_1": "evt_2"}
    alone = np.array([at == 1 for at in range(6)])
    assert marks_of([OLD, NEW], [0, 90], [0.6, 0.6], by_assistant=alone) == {}


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


def test_a_right_name_does_not_make_up_for_words_that_were_never_said() -> None:
    plan = planned()
    barren = pool(plan, ["I like the yard", "Lovely weather"], [0, 1])
    leads = [answer_strength(barren, plan, ranked([0.3, 0.2], [lead, 0.0]), []) for lead in (1.0, 5.0, 50.0)]
    assert leads[0] <= leads[1] <= leads[2] < ANSWERABLE_FROM


def test_words_around_the_best_turn_speak_for_an_answer() -> None:
    plan = planned()
    texts = ["In the yard, why", "My bicycle, where to park it", "Lovely weather"]
    apart = pool(plan, texts, [0, 1, 2])
    together = pool(plan, texts, [0, 1, 2], following=np.array([1, 3, 3]))
    best = ranked([0.5, 0.4, 0.2])
    assert answer_strength(together, plan, best, []) > answer_strength(apart, plan, best, [])


def test_while_vectors_are_to_come_words_decide() -> None:
    plan = planned()
    strengths = []
    for texts in ([OLD, NEW], ["I like cheese", "Lovely weather"]):
        turns = pool(plan, texts, [0, 90])
        without = replace(turns, pooled=np.zeros_like(turns.pooled))
        strengths.append(answer_strength(without, plan, ranked([-1.0, -1.0], [0.5, 0.4]), []))
    assert strengths[0] >= ANSWERABLE_FROM
    assert strengths[0] > strengths[1]


def test_the_best_turn_speaks_less_where_it_lies_outside_the_time_asked_for() -> None:
    plan = planned("Where did Ana park her bicycle in March 2026?")
    turns = pool(plan, [OLD, NEW], [0, 90])
    inside, outside = np.zeros(len(SIGNALS)), np.zeros(len(SIGNALS))
    inside[SIGNALS.index("time")] = 3.0
    strengths = [
        answer_strength(
            turns, plan, [one._replace(ranked=one.ranked._replace(parts=parts)) for one in best], []
        )
        for best in [ranked([0.5, 0.4])]
        for parts in (inside, outside)
    ]
    assert strengths[0] > strengths[1]


def test_what_an_assistant_said_of_its_own_accord_speaks_less() -> None:
    by_assistant = np.array([True, True])
    ratios = []
    for question in (QUESTION, "What did you tell Ana, where to park her bicycle?"):
        plan = planned(question)
        own = answer_strength(pool(plan, [OLD, NEW], [0, 90]), plan, ranked([0.5, 0.4]), [])
        replies = pool(plan, [OLD, NEW], [0, 90], by_assistant=by_assistant)
        ratios.append(answer_strength(replies, plan, ranked([0.5, 0.4]), []) / own)
    assert ratios[0] < 1.0 == ratios[1]


def test_whose_turns_hold_what_is_asked_is_meant() -> None:
    plan = planned()
    strengths = [
        answer_strength(pool(plan, texts, [0, 1, 2, 3]), plan, ranked([0.6] * 4, [2.0] * 4), [])
        for texts in ((OLD, "I like rice", OLD, "I like rice"), (OLD, OLD, OLD, OLD))
    ]
    assert strengths[0] > strengths[1]
