"""What a recall looks for, and when."""

from __future__ import annotations

from given import ALICE, NOON, TENANT
from lamina.kernel.operations import Principal
from lamina.kernel.time import Axes, Interval, instant
from lamina.recall.plan import plan_recall
from lamina.recall.requests import Recall


def test_the_times_of_a_recall_mean_what_they_mean_in_a_list() -> None:
    """``recorded_during`` reads from its own end, so that what was replaced since is seen."""
    between = {"recorded_during": ["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"]}
    request = Recall.model_validate({"scope": ALICE, "query": "where", "temporal": between})
    plan = plan_recall(
        request, Principal(tenant_id=TENANT, actor="user:alice", channel="http"), [ALICE], NOON
    )
    start, end = instant("2026-05-01T00:00:00Z"), instant("2026-05-02T00:00:00Z")
    assert plan.axes == Axes.asked(NOON, recorded_during=Interval(start, end))
    assert plan.axes.sees_recorded(start + 5, NOON - 1)


def test_a_question_without_apostrophes_is_the_same_question() -> None:
    def plan(question: str) -> tuple[str, tuple[str, ...], str | None]:
        request = Recall.model_validate({"scope": ALICE, "query": question})
        caller = Principal(tenant_id=TENANT, actor="user:alice", channel="http")
        found = plan_recall(request, caller, [ALICE], NOON)
        return found.kind, found.terms, found.asker

    assert plan("wheres um the passport that ive ordered") == plan("where's the passport that I've ordered")
    assert plan("what was my id") == plan("what was my ID")
